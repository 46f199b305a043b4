// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of max_pool: each window's dy goes to the pixel that was its largest; of several, to
// the first by rows (as in PyTorch). A pixel adds up what its windows give it, in their order.
#include "src/op/operator.h"

#include <string.h>

enum { DY, X, INPUTS };

static zenith_status infer(zn_node *node, zn_error *err)
{
    const zn_max_pool_attributes *a = node->attributes;
    ZN_TRY(zn_check_inputs(node, INPUTS, INPUTS, err));
    ZN_TRY(zn_check_map(node, DY, err));
    ZN_TRY(zn_check_map(node, X, err));
    const int64_t *dy = node->inputs[DY]->desc.shape.dim, *x = node->inputs[X]->desc.shape.dim;
    bool fits = a->stride >= 1 && a->kernel >= a->stride && dy[0] == x[0] && dy[3] == x[3];
    for (int i = 1; i <= 2 && fits; i++) fits = dy[i] == zn_max_pool_length(x[i], a);
    if (!fits) {
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "max_pool_gradient: windows of %d pixels at every %d do not make "
                       "%lld x %lld of %lld x %lld pixels",
                       a->kernel, a->stride, (long long)dy[2], (long long)dy[1], (long long)x[2],
                       (long long)x[1]);
    }
    zn_infer_like_input(node);
    node->desc.shape = node->inputs[X]->desc.shape;
    return ZENITH_OK;
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

// The rows of windows that see rows [begin, end) of x.
static zn_rows windows_of(const zn_max_pool_attributes *a, zn_rows rows)
{
    return (zn_rows){floor_divide(rows.begin - a->kernel + a->stride, a->stride),
                     floor_divide(rows.end - 1, a->stride) + 1};
}

static zn_rows rows(const zn_node *node, int input, zn_rows out)
{
    const zn_max_pool_attributes *a = node->attributes;
    const zn_rows windows = windows_of(a, out);
    if (input == DY) return windows;
    return (zn_rows){windows.begin * a->stride, (windows.end - 1) * a->stride + a->kernel};
}

// Maps of one image, with the number of their first row in memory.
typedef struct pooling {
    const zn_max_pool_attributes *window;
    const zn_tensor *dy, *x;
    int64_t dy_row, x_row;
    const int64_t *pooled, *size; // shapes of dy and x
} pooling;

// The place of the first largest value of a window's channel c, by row and column of x.
static void find_largest(const pooling *p, int64_t top, int64_t left, int64_t c, int64_t *row,
                         int64_t *column)
{
    float best = 0;
    bool found = false;
    for (int64_t h = top; h < top + p->window->kernel && h < p->size[1]; h++) {
        for (int64_t v = left; v < left + p->window->kernel && v < p->size[2]; v++) {
            const float value = zn_type_load(
                p->x->desc.type, p->x->data,
                (size_t)(((h - p->x_row) * p->size[2] + v) * p->size[3] + c));
            if (found && !(value > best || (value != value && best == best))) continue;
            best = value;
            found = true;
            *row = h;
            *column = v;
        }
    }
}

// Channels are taken a piece at a time, all of a piece at once.
enum { PIECE = 64 };

static void load(const zn_tensor *tensor, int64_t index, size_t count, float *dst)
{
    if (tensor->desc.type == ZN_F32) {
        memcpy(dst, (const float *)tensor->data + index, count * sizeof *dst);
    } else if (tensor->desc.type == ZN_BF16) {
        const uint16_t *src = (const uint16_t *)tensor->data + index;
        for (size_t c = 0; c < count; c++) dst[c] = zn_bf16_to_f32(src[c]);
    } else {
        for (size_t c = 0; c < count; c++)
            dst[c] = zn_type_load(tensor->desc.type, tensor->data, (size_t)index + c);
    }
}

// A window's part that lies in the map.
typedef struct window {
    int64_t top, left, bottom, right;
} window;

// The number, by rows, of the pixel where each channel of a piece has its first largest value.
static void find_places(const pooling *p, const window *w, int64_t c, size_t count, int32_t *place)
{
    float best[PIECE] = {0}, x[PIECE]; // the first pixel does not look at best, but reads it
    int32_t number = 0;
    for (int64_t h = w->top; h < w->bottom; h++) {
        for (int64_t v = w->left; v < w->right; v++, number++) {
            load(p->x, ((h - p->x_row) * p->size[2] + v) * p->size[3] + c, count, x);
            for (size_t i = 0; i < count; i++) {
                const bool more = x[i] > best[i] || (x[i] != x[i] && best[i] == best[i]);
                const bool larger = number == 0 || more;
                best[i] = larger ? x[i] : best[i];
                place[i] = larger ? number : place[i];
            }
        }
    }
}

// Adds a piece of dy where its place is, in rows [out.begin, out.end). Adding zero elsewhere
// changes no bits.
static void add_to_places(const pooling *p, const window *w, const int32_t *place, const float *dy,
                          size_t count, zn_rows out, float *dst)
{
    const int64_t width = p->size[2], channels = p->size[3];
    int32_t number = 0;
    for (int64_t h = w->top; h < w->bottom; h++) {
        for (int64_t v = w->left; v < w->right; v++, number++) {
            if (h < out.begin || h >= out.end) continue;
            float *sums = dst + ((h - out.begin) * width + v) * channels;
            for (size_t i = 0; i < count; i++) sums[i] += place[i] == number ? dy[i] : 0;
        }
    }
}

// Adds what the windows give to rows [out.begin, out.end) of dx, whose first row is at dst.
static void scatter(const pooling *p, zn_rows out, float *dst)
{
    const int64_t channels = p->size[3];
    const int kernel = p->window->kernel, stride = p->window->stride;
    zn_rows windows = windows_of(p->window, out);
    if (windows.begin < 0) windows.begin = 0;
    if (windows.end > p->pooled[1]) windows.end = p->pooled[1];
    for (int64_t i = windows.begin; i < windows.end; i++) {
        for (int64_t j = 0; j < p->pooled[2]; j++) {
            window w = {i * stride, j * stride, i * stride + kernel, j * stride + kernel};
            if (w.bottom > p->size[1]) w.bottom = p->size[1];
            if (w.right > p->size[2]) w.right = p->size[2];
            for (int64_t c = 0; c < channels; c += PIECE) {
                const size_t count = (size_t)(channels - c < PIECE ? channels - c : PIECE);
                int32_t place[PIECE];
                float dy[PIECE];
                find_places(p, &w, c, count, place);
                load(p->dy, ((i - p->dy_row) * p->pooled[2] + j) * channels + c, count, dy);
                for (size_t k = 0; k < count; k++) dy[k] *= p->dy->desc.scale;
                add_to_places(p, &w, place, dy, count, out, dst + c);
            }
        }
    }
}

static void reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output)
{
    const int64_t *pooled = inputs[DY].desc.shape.dim, *size = inputs[X].desc.shape.dim;
    const zn_max_pool_attributes *a = node->attributes;
    const pooling p = {a, &inputs[DY], &inputs[X], 0, 0, pooled, size};
    const size_t line = (size_t)(size[2] * size[3]);
    const size_t dy_size = (size_t)(pooled[1] * pooled[2] * pooled[3]);
    for (size_t i = 0; i < zn_value_count(output); i++) { // one pixel's channel at a time
        const size_t image = i / (line * (size_t)size[1]);
        const int64_t h = (int64_t)(i / line % (size_t)size[1]);
        const int64_t v = (int64_t)(i % line / (size_t)size[3]), c = (int64_t)(i % (size_t)size[3]);
        pooling one = p;
        one.x_row = -(int64_t)image * size[1];
        float sum = 0;
        for (size_t w = 0; w < dy_size / (size_t)size[3]; w++) {
            int64_t row = -1, column = -1;
            find_largest(&one, (int64_t)(w / (size_t)pooled[2]) * a->stride,
                         (int64_t)(w % (size_t)pooled[2]) * a->stride, c, &row, &column);
            if (row != h || column != v) continue;
            sum += zn_value_get(&inputs[DY], image * dy_size + w * (size_t)size[3] + (size_t)c);
        }
        zn_value_set(output, i, sum);
    }
}

// --- lowering -----------------------------------------------------------------------------------

typedef struct gradient_lowering {
    zn_lowering base;
    const zn_node *node;
} gradient_lowering;

typedef struct job {
    const zn_node *node;
    const zn_call *call;
} job;

// In f32 the sums are made in the result, else in scratch and then converted.
static void run_rows(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const zn_node *node = j->node;
    const zn_call *call = j->call;
    const zn_tensor dy = {.desc = node->inputs[DY]->desc,
                          .data = (void *)(uintptr_t)call->inputs[DY]};
    const zn_tensor x = {.desc = node->inputs[X]->desc, .data = (void *)(uintptr_t)call->inputs[X]};
    zn_tensor dst = {.desc = node->desc, .data = call->output};
    const zn_rows whole = {call->row, call->row + call->rows};
    const pooling p = {.window = node->attributes,
                       .dy = &dy,
                       .x = &x,
                       .dy_row = rows(node, DY, whole).begin,
                       .x_row = rows(node, X, whole).begin,
                       .pooled = dy.desc.shape.dim,
                       .size = x.desc.shape.dim};
    const size_t line = (size_t)(p.size[2] * p.size[3]);
    float *sums = (float *)(node->desc.type == ZN_F32 ? call->output : call->scratch) +
                  begin * line;
    memset(sums, 0, (end - begin) * line * sizeof *sums);
    scatter(&p, (zn_rows){call->row + (int64_t)begin, call->row + (int64_t)end}, sums);
    if (node->desc.type == ZN_F32) return;
    if (node->desc.type == ZN_BF16) {
        uint16_t *narrow = (uint16_t *)call->output + begin * line;
        for (size_t i = 0; i < (end - begin) * line; i++) narrow[i] = zn_f32_to_bf16(sums[i]);
        return;
    }
    for (size_t i = 0; i < (end - begin) * line; i++) zn_value_set(&dst, begin * line + i, sums[i]);
}

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    enum { TILE = 8 }; // a window is looked at again for each tile that it touches
    job j = {((const gradient_lowering *)base)->node, call};
    zn_parallel(call->team, (size_t)call->rows, TILE, run_rows, &j);
    return ZENITH_OK;
}

static zenith_status lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    gradient_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    const int64_t *dim = request->node->desc.shape.dim;
    l->base = (zn_lowering){.run = run, .free = zn_lowering_free, .id = "kernel"};
    if (request->node->desc.type != ZN_F32)
        l->base.scratch_bytes = (size_t)(request->rows * dim[2] * dim[3]) * sizeof(float);
    l->node = request->node;
    *out = &l->base;
    return ZENITH_OK;
}

static double flops(const zn_node *node)
{
    const zn_max_pool_attributes *a = node->attributes;
    size_t windows = 0;
    if (!zn_shape_elements(&node->inputs[DY]->desc.shape, &windows)) return 0;
    return (double)windows * a->kernel * a->kernel;
}

static const zn_max_pool_attributes three = {3, 2}, two = {2, 2};

const zn_op zn_op_max_pool_gradient = {
    .name = "max_pool_gradient",
    .summary = "the gradient of max_pool: to the largest of each window",
    .attributes_size = sizeof(zn_max_pool_attributes),
    .result_types = ZN_FLOAT_TYPES,
    .infer = infer,
    .rows = rows,
    .reference = reference,
    .lower = lower,
    .flops = flops,
    .no_gradient = ZN_SECOND_GRADIENT,
    .samples = ZN_SAMPLES(ZN_SAMPLE("corner", &three, 0, ZN_MAP(1, 1, 4), ZN_MAP(2, 2, 4)),
                          ZN_SAMPLE("odd", &three, 0, ZN_MAP(3, 4, 3), ZN_MAP(7, 9, 3)),
                          ZN_SAMPLE("beyond", &three, 0, ZN_MAP(4, 5, 16), ZN_MAP(8, 10, 16)),
                          ZN_SAMPLE("tiles", &two, 0, ZN_MAP(3, 9, 64), ZN_MAP(6, 18, 64))),
};
