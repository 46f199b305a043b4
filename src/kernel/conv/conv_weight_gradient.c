// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What an output pixel reads of a row of src, (kernel column, input channel), is one run of
// numbers. So the gradient is a sum over pixels of outer products of a run with the pixel's dy:
//
//     sums[ky][k][o] += src[r * stride + ky][x * stride * channels_in + k] * dy[r][x][o]
//
// A block of CONV_PIXELS k x 2 vectors of o stays in registers while the pixels of a band of rows
// pass: of a deep layer, whose sums are many and whose map is small, all of them. Rows are copied
// to scratch first, as f32 with zeros at their ends, dy by panels of output channels: that is one
// load for each of some hundred products, and leaves one loop for all types and borders. Threads
// share the blocks of k; each copies rows for itself.
#include "src/kernel/conv/conv_weight_gradient.h"

#include "src/kernel/conv/conv_weight_gradient_layout.h"
#include "src/kernel/unroll.h"
#include "src/kernel/vector.h"

#include <string.h>

#ifdef ZN_BASELINE // the specification

// Weight number `weight` of output channel `out`, in the order of dw.
static double sum_at(const zn_conv_weight_gradient_args *a, int64_t out, int64_t weight)
{
    const int64_t kx = weight % a->kernel_w, ky = weight / a->kernel_w % a->kernel_h;
    const int64_t in = weight / a->kernel_w / a->kernel_h;
    double sum = 0;
    for (int64_t i = 0; i < a->rows * a->width_out; i++) {
        const int64_t row = i / a->width_out, x = i % a->width_out;
        const int64_t column = x * a->stride + kx - a->pad_left;
        if (column < 0 || column >= a->width_in) continue;
        const int64_t from = (row * a->stride + ky) * a->width_in + column;
        sum += (double)zn_type_load(a->type, a->dy, (size_t)(i * a->channels_out + out)) *
               (double)zn_type_load(a->type, a->src, (size_t)(from * a->channels_in + in));
    }
    return sum;
}

void zn_conv_weight_gradient_reference(const zn_conv_weight_gradient_args *a, void *scratch)
{
    const int64_t weights = a->channels_in * a->kernel_h * a->kernel_w;
    const unit_range own = units_of_part(a, a->channels_out * weights);
    (void)scratch;
    for (int64_t i = own.begin; i < own.end; i++) {
        const float sum = (float)sum_at(a, i / weights, i % weights);
        a->dw[i] = a->add ? a->dw[i] + sum : sum;
    }
    for (int64_t out = 0; has_bias(a) && out < a->channels_out; out++) {
        double sum = 0;
        for (int64_t i = 0; i < a->rows * a->width_out; i++)
            sum += (double)zn_type_load(a->type, a->dy, (size_t)(i * a->channels_out + out));
        a->db[out] = a->add ? a->db[out] + (float)sum : (float)sum;
    }
}

size_t zn_conv_weight_gradient_scratch(const zn_conv_weight_gradient_args *args)
{
    const size_t vectors = vector_layout_make(args).floats * sizeof(float);
    const size_t tiles = args->type == ZN_BF16 ? tile_layout_make(args).bytes : 0;
    return vectors > tiles ? vectors : tiles; // of the version that needs most
}

#endif

typedef struct weight_gradient_job {
    const zn_conv_weight_gradient_args *a;
    vector_layout layout;
    unit_range own;      // of blocks of k: a kernel row's, then the next one's
    float *sums;         // [panel][kernel_h][runs][VECTOR_PANEL]
    float *src;          // [row of the band][src_row]
    float *dy;           // [panel][row of the band][width_out][VECTOR_PANEL]
    int64_t first, rows; // of dy, of the band
} weight_gradient_job;

static void copy_as_f32(zn_type type, const void *src, int64_t from, int64_t count, float *dst)
{
    int64_t i = 0;
    if (type == ZN_F32) {
        memcpy(dst, (const float *)src + from, (size_t)count * sizeof *dst);
        return;
    }
    const uint16_t *bits = (const uint16_t *)src + from;
    for (; i + LANES <= count; i += LANES) vec_store_f32(dst + i, vec_load_bf16(bits + i));
    for (; i < count; i++) dst[i] = zn_bf16_to_f32(bits[i]);
}

// Row `row` of the band.
static void copy_src(const weight_gradient_job *j, int64_t row)
{
    const zn_conv_weight_gradient_args *a = j->a;
    const int64_t left = a->pad_left < j->layout.columns ? a->pad_left : j->layout.columns;
    const int64_t room = j->layout.columns - left;
    const int64_t inside = (a->width_in < room ? a->width_in : room) * a->channels_in;
    const int64_t begin = left * a->channels_in, from = j->first * a->stride + row;
    float *dst = j->src + row * j->layout.src_row;
    memset(dst, 0, (size_t)begin * sizeof *dst);
    copy_as_f32(a->type, a->src, from * a->width_in * a->channels_in, inside, dst + begin);
    memset(dst + begin + inside, 0, (size_t)(j->layout.src_row - begin - inside) * sizeof *dst);
}

static const float *dy_panel(const weight_gradient_job *j, int64_t panel)
{
    return j->dy + panel * j->layout.band * j->a->width_out * VECTOR_PANEL;
}

static void copy_dy(const weight_gradient_job *j)
{
    const zn_conv_weight_gradient_args *a = j->a;
    const int64_t channels = a->channels_out, from = j->first * a->width_out;
    const int64_t pixels = j->rows * a->width_out;
    for (int64_t panel = 0; panel < j->layout.panels; panel++) {
        const int64_t out = panel * VECTOR_PANEL, left = channels - out;
        const int64_t count = left < VECTOR_PANEL ? left : VECTOR_PANEL;
        float *dst = j->dy + panel * j->layout.band * a->width_out * VECTOR_PANEL;
        for (int64_t x = 0; x < pixels; x++, dst += VECTOR_PANEL) {
            copy_as_f32(a->type, a->dy, (from + x) * channels + out, count, dst);
            memset(dst + count, 0, (size_t)(VECTOR_PANEL - count) * sizeof *dst);
        }
    }
}

// Adds the band to a block of sums; `vectors` is a constant where this is inlined.
static inline __attribute__((always_inline)) void
add_block(const weight_gradient_job *j, const float *src, const float *dy, float *sums, int vectors)
{
    const int64_t step = j->a->stride * j->a->channels_in, width = j->a->width_out;
    const int64_t row_step = j->a->stride * j->layout.src_row;
    vec acc[CONV_PIXELS][2];
    UNROLL
    for (int k = 0; k < CONV_PIXELS; k++) {
        acc[k][0] = j->first ? vec_load_f32(sums + k * VECTOR_PANEL) : vec_zero();
        acc[k][1] = j->first && vectors > 1 ? vec_load_f32(sums + k * VECTOR_PANEL + LANES)
                                            : vec_zero();
    }
    for (int64_t row = 0; row < j->rows; row++, src += row_step) {
        const float *at = src;
        for (int64_t x = 0; x < width; x++, at += step, dy += VECTOR_PANEL) {
            const vec d0 = vec_load_f32(dy), d1 = vectors > 1 ? vec_load_f32(dy + LANES) : d0;
            UNROLL
            for (int k = 0; k < CONV_PIXELS; k++) {
                const vec value = vec_set1(at[k]);
                acc[k][0] = vec_fmadd(value, d0, acc[k][0]);
                if (vectors > 1) acc[k][1] = vec_fmadd(value, d1, acc[k][1]);
            }
        }
    }
    UNROLL
    for (int k = 0; k < CONV_PIXELS; k++) {
        vec_store_f32(sums + k * VECTOR_PANEL, acc[k][0]);
        if (vectors > 1) vec_store_f32(sums + k * VECTOR_PANEL + LANES, acc[k][1]);
    }
}

static int64_t blocks_of_run(const vector_layout *l)
{
    return (l->run + CONV_PIXELS - 1) / CONV_PIXELS;
}

static void add_products(const weight_gradient_job *j)
{
    const vector_layout *l = &j->layout;
    const int64_t blocks = blocks_of_run(l), panel_sums = j->a->kernel_h * l->runs * VECTOR_PANEL;
    for (int64_t out = 0; out < j->a->channels_out; out += 2 * LANES) {
        const int64_t lane = out % VECTOR_PANEL;
        const float *dy = dy_panel(j, out / VECTOR_PANEL) + lane;
        float *panel = j->sums + out / VECTOR_PANEL * panel_sums + lane;
        for (int64_t unit = j->own.begin; unit < j->own.end; unit++) {
            const int64_t ky = unit / blocks, k = unit % blocks * CONV_PIXELS;
            const float *src = j->src + ky * l->src_row + k;
            float *sums = panel + (ky * l->runs + k) * VECTOR_PANEL;
            if (out + LANES < j->a->channels_out)
                add_block(j, src, dy, sums, 2);
            else
                add_block(j, src, dy, sums, 1);
        }
    }
}

static void add_bias(const weight_gradient_job *j, int64_t row)
{
    const int64_t width = j->a->width_out;
    for (int64_t out = 0; out < j->a->channels_out; out += LANES) {
        const float *dy = dy_panel(j, out / VECTOR_PANEL) + row * width * VECTOR_PANEL;
        vec sum = vec_zero();
        float lanes[LANES];
        for (int64_t x = 0; x < width; x++)
            sum = vec_add(sum, vec_load_f32(dy + x * VECTOR_PANEL + out % VECTOR_PANEL));
        vec_store_f32(lanes, sum);
        for (int64_t i = 0; i < LANES && out + i < j->a->channels_out; i++)
            j->a->db[out + i] += lanes[i];
    }
}

// Output channels of a panel.
static int64_t panel_outs(const weight_gradient_job *j, int64_t panel)
{
    const int64_t left = j->a->channels_out - panel * VECTOR_PANEL;
    return left < VECTOR_PANEL ? left : VECTOR_PANEL;
}

static const float *sums_of(const weight_gradient_job *j, int64_t panel, int64_t ky, int64_t k)
{
    const int64_t at = (panel * j->a->kernel_h + ky) * j->layout.runs + k;
    return j->sums + at * VECTOR_PANEL;
}

// The weights of a panel that this part has, in the order of dw.
static void write_own(const weight_gradient_job *j, int64_t panel)
{
    const zn_conv_weight_gradient_args *a = j->a;
    const int64_t weights = (int64_t)a->kernel_h * a->kernel_w * a->channels_in;
    const int64_t blocks = blocks_of_run(&j->layout), count = panel_outs(j, panel);
    float *dw = a->dw + panel * VECTOR_PANEL * weights;
    for (int64_t in = 0; in < a->channels_in; in++) {
        for (int64_t ky = 0; ky < a->kernel_h; ky++) {
            for (int64_t kx = 0; kx < a->kernel_w; kx++, dw++) {
                const int64_t k = kx * a->channels_in + in, unit = ky * blocks + k / CONV_PIXELS;
                const float *sums = sums_of(j, panel, ky, k);
                if (unit < j->own.begin || unit >= j->own.end) continue;
                for (int64_t out = 0; out < count; out++) {
                    float *to = dw + out * weights;
                    *to = a->add ? *to + sums[out] : sums[out];
                }
            }
        }
    }
}

// Of the weights of a panel's output channels: what lies in a stage between sums, which have
// outputs side by side, and dw, whose rows may lie at a distance that gives them few sets of the
// cache.
enum { STAGE_WEIGHTS = 72, STAGE_ROW = 80 }; // 10 kB: two threads of a core share its first cache

// Of some input channels: sums are read as they lie.
static void stage_channels(const weight_gradient_job *j, int64_t panel, int64_t first,
                           int64_t count, float *stage)
{
    const int64_t taps = (int64_t)j->a->kernel_h * j->a->kernel_w;
    for (int64_t tap = 0; tap < taps; tap++) {
        const int64_t k = tap % j->a->kernel_w * j->a->channels_in + first;
        const float *sums = sums_of(j, panel, tap / j->a->kernel_w, k);
        float *dst = stage + tap;
        for (int64_t in = 0; in < count; in++, sums += VECTOR_PANEL, dst += taps) {
            UNROLL
            for (int out = 0; out < VECTOR_PANEL; out++) dst[out * STAGE_ROW] = sums[out];
        }
    }
}

// Vectors by hand: compilers make a string instruction of a copy, which takes longer to begin than
// to end here.
static void write_stage(const float *stage, int64_t count, bool add, float *dw)
{
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        const vec value = vec_load_f32(stage + i);
        vec_store_f32(dw + i, add ? vec_add(vec_load_f32(dw + i), value) : value);
    }
    for (; i < count; i++) dw[i] = add ? dw[i] + stage[i] : stage[i];
}

static void write_all(const weight_gradient_job *j, int64_t panel)
{
    const zn_conv_weight_gradient_args *a = j->a;
    const int64_t taps = (int64_t)a->kernel_h * a->kernel_w, weights = taps * a->channels_in;
    const int64_t most = STAGE_WEIGHTS / taps, outs = panel_outs(j, panel);
    float stage[VECTOR_PANEL * STAGE_ROW];
    for (int64_t first = 0; first < a->channels_in; first += most) {
        const int64_t left = a->channels_in - first, count = left < most ? left : most;
        stage_channels(j, panel, first, count, stage);
        for (int64_t out = 0; out < outs; out++) {
            float *dw = a->dw + (panel * VECTOR_PANEL + out) * weights + first * taps;
            write_stage(stage + out * STAGE_ROW, count * taps, a->add, dw);
        }
    }
}

void VERSION(zn_conv_weight_gradient)(const zn_conv_weight_gradient_args *a, void *scratch)
{
    weight_gradient_job j = {.a = a, .layout = vector_layout_make(a), .sums = scratch};
    j.own = units_of_part(a, a->kernel_h * blocks_of_run(&j.layout));
    if (j.own.begin == j.own.end && !has_bias(a)) return;
    j.src = j.sums + j.layout.src_at;
    j.dy = j.sums + j.layout.dy_at;
    if (has_bias(a) && !a->add) memset(a->db, 0, (size_t)a->channels_out * sizeof *a->db);
    for (; j.first < a->rows; j.first += j.layout.band) {
        const int64_t left = a->rows - j.first;
        j.rows = left < j.layout.band ? left : j.layout.band;
        const int64_t src_rows = (j.rows - 1) * a->stride + a->kernel_h;
        for (int64_t row = 0; row < src_rows; row++) copy_src(&j, row);
        copy_dy(&j);
        add_products(&j);
        for (int64_t row = 0; row < j.rows && has_bias(a); row++) add_bias(&j, row);
    }
    const bool whole = a->parts == 1 && (int64_t)a->kernel_h * a->kernel_w <= STAGE_WEIGHTS;
    for (int64_t panel = 0; panel < j.layout.panels; panel++)
        (whole ? write_all : write_own)(&j, panel);
}
