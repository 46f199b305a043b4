// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The anchor of compare.py: TAESD's chain of convolutions on oneDNN with nothing of Zenith in
// between. What Zenith is faster by, its own kernels and its order of work earned.
//
//     --bands planes    layer by layer, whole maps
//     --bands N         N rows of a resolution at a time through all its layers, so that they stay
//                       in the cache; rows that two bands need are computed twice. Between
//                       resolutions lie whole maps.
//
// A network is cut into stages, one for each resolution. The decoder's end by doubling the map
// (a copy), the encoder's by a convolution with stride 2. The plan of a run is a flat list of
// actions with fixed addresses. Three buffers serve every stage: a block reads `x`, computes into
// `a` and `b`, and adds its result to `x` in place, as oneDNN's sum does; two maps take turns as a
// stage's input and output.
//
// In int8 every convolution is u8 or s8 times s8. Ranges of values are assumed, not calibrated:
// times are right, pictures are not.
#include "bench/bare_conv.h"
#include "bench/contender.h"
#include "src/base/parallel.h"
#include "src/format/tensor/safetensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STAGES = 4, MOST_LAYERS = 16, FACTOR = 8, NAME_SIZE = 96, PATH_SIZE = 4096 };
static const float relu_range = 8, signed_range = 6, latent_range = 3; // assumed, for int8

typedef struct stage {
    bare_layer layers[MOST_LAYERS];
    int count;
    int64_t side; // of its input map
    bool doubles; // ends with a doubling of the map
} stage;

typedef enum action_kind { CONVOLVE, COPY, DOUBLE } action_kind;

typedef struct action {
    action_kind kind;
    bare_call call;
    const uint8_t *src; // of a copy or doubling
    uint8_t *dst;
    size_t rows, width, pixel_bytes;
} action;

typedef struct network {
    contender_options options;
    zn_safetensors *weights;
    stage stages[STAGES];
    bare_engine engine;
    zn_team *team;
    bare_call convert;
    float *input, *clamped, *output;
    int64_t channels_in, channels_out; // of the whole network
    uint8_t *maps[2], *x, *a, *b;
    action *actions;
    size_t actions_count, actions_capacity;
} network;

// --- the layers

static bare_number number_of(const network *n, float range, bool is_signed)
{
    if (strcmp(n->options.dtype, "f32") == 0) return (bare_number){dnnl_f32, 1};
    if (strcmp(n->options.dtype, "bf16") == 0) return (bare_number){dnnl_bf16, 1};
    return is_signed ? (bare_number){dnnl_s8, range / 127} : (bare_number){dnnl_u8, range / 255};
}

static bare_number network_input(const network *n)
{
    return n->options.encode ? number_of(n, 1, false) : number_of(n, latent_range, true);
}

static const float *read_tensor(const network *n, const char *name, const zn_file_tensor **found)
{
    size_t count;
    zn_error err = {0};
    *found = zn_safetensors_find(n->weights, name);
    if (!*found) return NULL;
    if (!zn_shape_elements(&(*found)->shape, &count)) contender_fail(name, "has no proper shape");
    float *values = contender_alloc(count * sizeof *values);
    if (zn_file_tensor_read(*found, values, &err) != ZENITH_OK) contender_fail(name, err.text);
    return values;
}

// A 3x3 convolution at the end of a stage; `src` is what the layer before it gives.
static bare_layer *add_conv(network *n, stage *s, const char *name, bare_number src)
{
    char path[NAME_SIZE + sizeof ".weight"];
    const zn_file_tensor *tensor, *bias;
    bare_layer *layer = &s->layers[s->count++];
    snprintf(path, sizeof path, "%s.weight", name);
    const float *weights = read_tensor(n, path, &tensor);
    if (!weights || tensor->shape.rank != 4 || tensor->shape.dim[2] != 3)
        contender_fail(path, "is not there, or no 3x3 convolution");
    snprintf(path, sizeof path, "%s.bias", name);
    *layer = (bare_layer){.channels_in = tensor->shape.dim[1],
                          .channels_out = tensor->shape.dim[0],
                          .stride = 1,
                          .src = src,
                          .dst = number_of(n, signed_range, true),
                          .weights = weights,
                          .bias = read_tensor(n, path, &bias)};
    return layer;
}

static bare_number add_block(network *n, stage *s, int index, bare_number src)
{
    const bare_number relu = number_of(n, relu_range, false);
    for (int i = 0; i < 3; i++) {
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "%d.conv.%d", index, 2 * i);
        bare_layer *layer = add_conv(n, s, name, i == 0 ? src : relu);
        layer->relu = true;
        layer->dst = relu;
        layer->residual = i == 2;
        layer->sum = src;
    }
    return relu;
}

static void describe_decoder(network *n)
{
    static const char *const first[STAGES] = {"1", "7", "12", "17"};
    static const int block[STAGES] = {3, 8, 13, 18}, blocks[STAGES] = {3, 3, 3, 1};
    bare_number value = network_input(n);
    for (int i = 0; i < STAGES; i++) {
        stage *s = &n->stages[i];
        s->side = (int64_t)n->options.size / FACTOR << i;
        s->doubles = i + 1 < STAGES;
        bare_layer *layer = add_conv(n, s, first[i], value);
        if (i == 0) {
            layer->relu = true;
            layer->dst = number_of(n, relu_range, false);
        }
        value = layer->dst;
        for (int k = 0; k < blocks[i]; k++) value = add_block(n, s, block[i] + k, value);
    }
    add_conv(n, &n->stages[STAGES - 1], "19", value)->dst = (bare_number){dnnl_f32, 1};
}

static void describe_encoder(network *n)
{
    static const char *const last[STAGES] = {"2", "6", "10", "14"};
    static const int block[STAGES] = {1, 3, 7, 11}, blocks[STAGES] = {1, 3, 3, 3};
    bare_number value = network_input(n);
    for (int i = 0; i < STAGES; i++) {
        stage *s = &n->stages[i];
        s->side = (int64_t)n->options.size >> i;
        if (i == 0) value = add_conv(n, s, "0", value)->dst;
        for (int k = 0; k < blocks[i]; k++) value = add_block(n, s, block[i] + k, value);
        bare_layer *layer = add_conv(n, s, last[i], value);
        if (i + 1 < STAGES)
            layer->stride = 2;
        else
            layer->dst = (bare_number){dnnl_f32, 1};
        value = layer->dst;
    }
}

static void refuse_other_blocks(const network *n)
{
    for (size_t i = 0; i < zn_safetensors_count(n->weights); i++) {
        const char *name = zn_safetensors_get(n->weights, i)->name;
        if (strstr(name, ".pool.")) contender_fail(name, "blocks with pooling are not built here");
    }
}

static void describe(network *n)
{
    const contender_options *o = &n->options;
    zn_error err = {0};
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s_%s.safetensors", o->weights, o->model,
             o->encode ? "encoder" : "decoder");
    if (zn_safetensors_open(path, &n->weights, &err) != ZENITH_OK) contender_fail(path, err.text);
    refuse_other_blocks(n);
    if (o->encode)
        describe_encoder(n);
    else
        describe_decoder(n);
    const stage *last = &n->stages[STAGES - 1];
    n->channels_in = n->stages[0].layers[0].channels_in;
    n->channels_out = last->layers[last->count - 1].channels_out;
    zn_safetensors_free(n->weights);
}

// --- the plan

typedef struct span {
    int64_t begin, end; // rows
} span;

// A value inside a band: where row rows.begin of it lies.
typedef struct value {
    uint8_t *data;
    span rows;
    int64_t width;
    size_t row_bytes;
} value;

static int64_t height_out(const stage *s, const bare_layer *layer)
{
    return s->side / layer->stride;
}

// Rows of its input that a layer needs for `rows` of its output; what is outside the map is cut.
static span rows_needed(const stage *s, const bare_layer *layer, span rows)
{
    span need = {rows.begin * layer->stride - 1, (rows.end - 1) * layer->stride + 2};
    if (need.begin < 0) need.begin = 0;
    if (need.end > s->side) need.end = s->side;
    return need;
}

static value value_at(uint8_t *base, span rows, int64_t width, int64_t channels, bare_number number)
{
    return (value){.data = base,
                   .rows = rows,
                   .width = width,
                   .row_bytes = (size_t)(width * channels) * bare_type_size(number.type)};
}

static uint8_t *row_of(const value *v, int64_t row)
{
    return v->data + (size_t)(row - v->rows.begin) * v->row_bytes;
}

static void add_action(network *n, action act)
{
    if (n->actions_count == n->actions_capacity) {
        n->actions_capacity = n->actions_capacity ? 2 * n->actions_capacity : 64;
        n->actions = realloc(n->actions, n->actions_capacity * sizeof *n->actions);
        if (!n->actions) contender_fail("memory", "there is not enough");
    }
    n->actions[n->actions_count++] = act;
}

static void add_convolve(network *n, const stage *s, bare_layer *layer, const value *src,
                         const value *dst)
{
    span need = rows_needed(s, layer, dst->rows);
    const bare_rows rows = {
        .width_in = src->width,
        .rows_in = need.end - need.begin,
        .width_out = dst->width,
        .rows_out = dst->rows.end - dst->rows.begin,
        .pad_top = dst->rows.begin == 0,
        .pad_bottom = layer->stride == 1 && dst->rows.end == s->side,
        .pad_right = layer->stride == 1, // an even width leaves stride 2 nothing to pad
    };
    add_action(n, (action){.kind = CONVOLVE,
                           .call = bare_call_conv(&n->engine, layer, &rows, row_of(src, need.begin),
                                                  dst->data)});
}

static void add_copy(network *n, action_kind kind, const value *src, uint8_t *dst)
{
    add_action(n, (action){.kind = kind,
                           .src = src->data,
                           .dst = dst,
                           .rows = (size_t)(src->rows.end - src->rows.begin),
                           .width = (size_t)src->width,
                           .pixel_bytes = src->row_bytes / (size_t)src->width});
}

// Where layer i of a stage writes. Blocks are what has three layers ending in a residual one.
static uint8_t *target_of(const network *n, const stage *s, int i, const value *x, span rows,
                          uint8_t *out)
{
    if (s->layers[i].residual) return row_of(x, rows.begin);
    if (i + 1 < s->count && s->layers[i + 1].residual) return n->b;
    if (i + 2 < s->count && s->layers[i + 2].residual) return n->a;
    return i + 1 == s->count ? out : n->x;
}

// Adds what computes rows [begin, end) of the last layer of a stage from its whole input map.
static void plan_band(network *n, stage *s, span rows, uint8_t *in, uint8_t *out, bool whole)
{
    span rows_of[MOST_LAYERS + 1]; // [i]: of the input of layer i
    rows_of[s->count] = rows;
    for (int i = s->count - 1; i >= 0; i--)
        rows_of[i] = rows_needed(s, &s->layers[i], rows_of[i + 1]);
    const bare_layer *first = &s->layers[0];
    value v = value_at(in, (span){0, s->side}, s->side, first->channels_in, first->src);
    value x = v;
    if (s->layers[2].residual && !whole) { // the first block would spoil rows of the next band
        value part = v;
        part.data = row_of(&v, rows_of[0].begin);
        part.rows = rows_of[0];
        add_copy(n, COPY, &part, n->x);
        x = v = value_at(n->x, rows_of[0], s->side, first->channels_in, first->src);
    }
    for (int i = 0; i < s->count; i++) {
        bare_layer *layer = &s->layers[i];
        value dst = value_at(target_of(n, s, i, &x, rows_of[i + 1], out), rows_of[i + 1],
                             height_out(s, layer), layer->channels_out, layer->dst);
        if (i + 1 == s->count && !layer->residual)
            dst.data += (size_t)rows.begin * dst.row_bytes; // straight into the whole map
        add_convolve(n, s, layer, &v, &dst);
        v = dst;
        if (layer->residual || dst.data == n->x) x = dst;
    }
    if (s->doubles) add_copy(n, DOUBLE, &v, out + 4 * (size_t)rows.begin * v.row_bytes);
}

static void plan_stage(network *n, int index, int64_t band)
{
    stage *s = &n->stages[index];
    const bare_layer *last = &s->layers[s->count - 1];
    int64_t height = height_out(s, last), step = band / last->stride;
    bool whole = step >= height;
    uint8_t *in = n->maps[index % 2];
    uint8_t *out = index + 1 < STAGES ? n->maps[(index + 1) % 2] : (uint8_t *)n->output;
    for (int64_t begin = 0; begin < height; begin += step) {
        int64_t end = begin + step < height ? begin + step : height;
        plan_band(n, s, (span){begin, end}, in, out, whole);
    }
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

// Sizes the buffers for the largest stage: rows of a band with those that its layers need around.
static void make_buffers(network *n, int64_t band)
{
    size_t rows_bytes = 0, map_bytes[2] = {0, 0};
    for (int i = 0; i < STAGES; i++) {
        const stage *s = &n->stages[i];
        int64_t rows = band + 2 * (s->count + 1);
        if (rows > s->side) rows = s->side;
        const bare_layer *first = &s->layers[0];
        size_t widest = (size_t)s->layers[1].channels_in * bare_type_size(s->layers[1].src.type);
        size_t pixel = (size_t)first->channels_in * bare_type_size(first->src.type);
        rows_bytes = larger(rows_bytes, (size_t)(rows * s->side) * widest);
        map_bytes[i % 2] = larger(map_bytes[i % 2], (size_t)(s->side * s->side) * pixel);
    }
    n->x = contender_alloc(rows_bytes);
    n->a = contender_alloc(rows_bytes);
    n->b = contender_alloc(rows_bytes);
    for (int i = 0; i < 2; i++) n->maps[i] = contender_alloc(map_bytes[i]);
}

static size_t side_out(const network *n)
{
    return n->options.encode ? n->options.size / FACTOR : n->options.size;
}

static void plan(network *n)
{
    bool planes = strcmp(n->options.bands, "planes") == 0;
    int64_t band = planes ? (int64_t)n->options.size : atoi(n->options.bands) / 2 * 2;
    int64_t side_in = n->stages[0].side;
    size_t in_count = (size_t)(n->channels_in * side_in * side_in);
    if (band < 2) contender_fail("--bands", "must be planes or a number of rows");
    make_buffers(n, band);
    n->input = contender_read_input(&n->options, in_count);
    n->clamped = n->options.encode ? n->input : contender_alloc(in_count * sizeof(float));
    n->output = contender_alloc((size_t)n->channels_out * side_out(n) * side_out(n) *
                                sizeof(float));
    n->convert = bare_call_input(&n->engine, n->channels_in, side_in, network_input(n), n->clamped,
                                 n->maps[0]);
    for (int i = 0; i < STAGES; i++) plan_stage(n, i, band);
    bare_engine_seal(&n->engine);
}

// --- the run

static void copy_rows(void *arg, size_t begin, size_t end)
{
    const action *act = arg;
    size_t row_bytes = act->width * act->pixel_bytes;
    memcpy(act->dst + begin * row_bytes, act->src + begin * row_bytes, (end - begin) * row_bytes);
}

static void double_rows(void *arg, size_t begin, size_t end)
{
    const action *act = arg;
    size_t bytes = act->pixel_bytes, row_bytes = act->width * bytes;
    for (size_t y = begin; y < end; y++) {
        const uint8_t *src = act->src + y * row_bytes;
        uint8_t *dst = act->dst + 4 * y * row_bytes;
        for (size_t i = 0; i < act->width; i++) {
            memcpy(dst + 2 * i * bytes, src + i * bytes, bytes);
            memcpy(dst + (2 * i + 1) * bytes, src + i * bytes, bytes);
        }
        memcpy(dst + 2 * row_bytes, dst, 2 * row_bytes);
    }
}

static void clamp_latent(const network *n)
{
    size_t count = (size_t)(n->channels_in * n->stages[0].side * n->stages[0].side);
    for (size_t i = 0; i < count; i++) n->clamped[i] = 3 * tanhf(n->input[i] / 3);
}

static void run_once(void *cookie)
{
    network *n = cookie;
    if (!n->options.encode) clamp_latent(n);
    bare_call_run(&n->engine, &n->convert);
    for (size_t i = 0; i < n->actions_count; i++) {
        action *act = &n->actions[i];
        if (act->kind == CONVOLVE)
            bare_call_run(&n->engine, &act->call);
        else
            zn_parallel(n->team, act->rows, 1, act->kind == COPY ? copy_rows : double_rows, act);
    }
    bare_check(dnnl_stream_wait(n->engine.stream), "run");
}

int main(int argc, char **argv)
{
    network n = {.options = contender_parse(argc, argv)};
    const dnnl_version_t *version = dnnl_version();
    zn_error err = {0};
    char note[256];
    // Its threads are OpenMP's, as many as for oneDNN's own loops.
    if (zn_team_create(n.options.threads, &n.team, &err) != ZENITH_OK)
        contender_fail("threads", err.text);
    n.engine = bare_engine_create();
    describe(&n);
    plan(&n);
    snprintf(note, sizeof note, "oneDNN %d.%d.%d, %s", version->major, version->minor,
             version->patch, bare_engine_newest(&n.engine));
    const contender c = {.run = run_once,
                         .cookie = &n,
                         .output = n.output,
                         .channels = (size_t)n.channels_out,
                         .pixels = side_out(&n) * side_out(&n),
                         .channels_last = true,
                         .note = note};
    int code = contender_serve(&c);
    zn_team_free(n.team);
    return code;
}
