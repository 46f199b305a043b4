// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The packing of weights, and the order in which a call goes through tokens, runs of k and panels.
// See linear.h.
#include "src/kernel/linear/linear.h"

#include "src/base/memory.h"

#include <math.h>

// --- weights ------------------------------------------------------------------------------------

bool zn_linear_measure(const zn_linear_version *v, int64_t outputs, int64_t inputs,
                       zn_linear_size *out)
{
    const int64_t block = (int64_t)ZN_LINEAR_PANELS * v->panel;
    if (outputs < 1 || inputs < 1 || outputs > INT32_MAX || inputs > INT32_MAX) return false;
    zn_linear_size size = {.outputs = outputs, .inputs = inputs};
    size.blocks = (outputs + block - 1) / block;
    size.padded_outputs = (outputs + v->panel - 1) / v->panel * v->panel;
    size.padded_k = (inputs + v->step - 1) / v->step * v->step;
    const size_t row = (size_t)size.padded_k * zn_type_size(v->weights);
    if (!zn_mul_size(row, (size_t)size.padded_outputs, &size.panels_bytes)) return false;
    size.panels_bytes = zn_round_up(size.panels_bytes, ZN_ALIGN);
    size.bytes = size.panels_bytes;
    if (v->weights == ZN_S8)
        size.bytes += (size_t)size.padded_outputs * (sizeof(float) + sizeof(int32_t));
    *out = size;
    return true;
}

bool zn_linear_measure_panels(const zn_linear_version *v, const zn_panels *panels,
                              zn_linear_size *out)
{
    zn_panels_size there;
    if (!zn_panels_measure(panels->outputs, panels->inputs, panels->bits, &there) ||
        !zn_linear_measure(v, panels->outputs, panels->inputs, out))
        return false;
    out->panels_bytes = out->bytes = 0;
    out->unpacked_bytes = (size_t)ZN_LINEAR_PANELS * (size_t)v->panel * (size_t)v->run;
    return true;
}

static const float *scales_of(const zn_linear_size *size, const void *packed)
{
    return (const float *)(const void *)((const char *)packed + size->panels_bytes);
}

static int64_t at_most(int64_t number, int64_t limit)
{
    return number < limit ? number : limit;
}

// Panels of a block: the last block may have fewer.
static int64_t panels_of(const zn_linear_version *v, const zn_linear_size *size, int64_t block)
{
    return at_most(ZN_LINEAR_PANELS, size->padded_outputs / v->panel - block * ZN_LINEAR_PANELS);
}

// Where a panel's numbers of the run that begins at k lie, in elements.
static int64_t panel_at(const zn_linear_version *v, const zn_linear_size *size, int64_t block,
                        int64_t panel, int64_t k)
{
    const int64_t run = at_most(v->run, size->padded_k - k);
    const int64_t before = block * ZN_LINEAR_PANELS * size->padded_k;
    return (before + panels_of(v, size, block) * k + panel * run) * v->panel;
}

// The scale of a row of weights in 8 bits.
static float row_scale(const float *row, int64_t inputs)
{
    const float scale = zn_linear_largest(row, inputs) / ZN_LINEAR_LEVELS;
    return isnormal(scale) ? scale : 1.0f; // all zero, or no finite number
}

// value / scale rounded to the next even integer, which adding and taking away a large number does:
// loops of rintf become no vectors on every CPU.
static void round_weights(const float *row, int64_t count, float scale, int8_t *dst)
{
    static const float large = 0x1.8p23f;
    for (int64_t k = 0; k < count; k++) {
        float value = row[k] / scale;
        value = value >= -ZN_LINEAR_LEVELS ? value : -ZN_LINEAR_LEVELS;
        value = value <= ZN_LINEAR_LEVELS ? value : ZN_LINEAR_LEVELS;
        dst[k] = (int8_t)(int)(value + large - large);
    }
}

// A run of one output in floating numbers: its groups lie a panel apart. 0 beyond its inputs.
static void pack_run(const zn_linear_version *v, const float *row, int64_t count, int64_t k_count,
                     int64_t output, void *dst)
{
    const int64_t half = v->panel / 2;
    const int64_t place = !v->paired      ? output
                          : output < half ? 2 * output
                                          : 2 * (output - half) + 1;
    for (int64_t k = 0; k < k_count; k += v->group) {
        const int64_t at = k * v->panel + place * v->group;
        for (int64_t i = 0; i < v->group; i++) {
            const float value = k + i < count ? row[k + i] : 0.0f;
            if (v->weights == ZN_F32)
                ((float *)dst)[at + i] = value;
            else
                ((uint16_t *)dst)[at + i] = zn_f32_to_bf16(value);
        }
    }
}

static void pack_output(const zn_linear_version *v, const zn_linear_size *size, int64_t output,
                        const float *row, void *packed)
{
    const int64_t panel = output / v->panel, inputs = row ? size->inputs : 0;
    for (int64_t k = 0; k < size->padded_k; k += v->run) {
        const int64_t at = panel_at(v, size, panel / ZN_LINEAR_PANELS, panel % ZN_LINEAR_PANELS, k);
        pack_run(v, row ? row + k : NULL, inputs - k, at_most(v->run, size->padded_k - k),
                 output % v->panel, (char *)packed + (size_t)at * zn_type_size(v->weights));
    }
}

// A row of weights in 8 bits: bytes, or numbers to round.
typedef struct byte_row {
    const int8_t *bytes;  // or NULL
    const float *numbers; // or NULL
    float scale;
} byte_row;

enum { CHUNK = 256 }; // of k; a run is a multiple of it

// Some k of one output of a panel, which are in one run.
static void spread_bytes(const zn_linear_version *v, const int8_t *bytes, int64_t count,
                         int64_t output, int8_t *dst)
{
    dst += output * v->group;
    if (v->group == 4) {
        for (int64_t k = 0; k < count; k += 4) memcpy(dst + k * v->panel, bytes + k, 4);
        return;
    }
    for (int64_t k = 0; k < count; k += v->group)
        memcpy(dst + k * v->panel, bytes + k, (size_t)v->group);
}

static void pack_bytes(const zn_linear_version *v, const zn_linear_size *size, int64_t output,
                       const byte_row *row, void *packed)
{
    const int64_t panel = output / v->panel;
    int32_t sum = 0;
    for (int64_t k = 0; k < size->padded_k; k += CHUNK) {
        const int64_t run = k / v->run * v->run, left = size->inputs - k;
        const int64_t here = left < 0 ? 0 : at_most(left, CHUNK);
        int8_t chunk[CHUNK] = {0};
        if (row->bytes) memcpy(chunk, row->bytes + k, (size_t)here);
        if (row->numbers) round_weights(row->numbers + k, here, row->scale, chunk);
        for (int64_t i = 0; i < here; i++) sum += chunk[i];
        const int64_t at = panel_at(v, size, panel / ZN_LINEAR_PANELS, panel % ZN_LINEAR_PANELS,
                                    run);
        spread_bytes(v, chunk, at_most(CHUNK, size->padded_k - k), output % v->panel,
                     (int8_t *)packed + at + (k - run) * v->panel);
    }
    float *scales = (float *)(void *)((char *)packed + size->panels_bytes);
    int32_t *starts = (int32_t *)(void *)(scales + size->padded_outputs);
    scales[output] = row->scale;
    starts[output] = v->placed == ZN_U8 ? -128 * sum : 0;
}

void zn_linear_pack(const zn_linear_version *v, const zn_linear_size *size, int64_t first,
                    int64_t count, const float *rows, void *packed)
{
    const bool last = first + count == size->outputs;
    const int64_t end = last ? size->padded_outputs : first + count;
    for (int64_t o = first; o < end; o++) {
        const float *row = o < first + count ? rows + (o - first) * size->inputs : NULL;
        if (v->weights == ZN_S8)
            pack_bytes(v, size, o,
                       &(byte_row){.numbers = row, .scale = row_scale(row, row ? size->inputs : 0)},
                       packed);
        else
            pack_output(v, size, o, row, packed);
    }
}

// The numbers of one k, panel after panel; NULL: zero.
static void pack_k(const zn_linear_version *v, const zn_linear_size *size, int64_t k,
                   const zn_linear_columns *columns, const char *src, void *packed)
{
    const int64_t run = k / v->run * v->run, panels = size->padded_outputs / v->panel;
    for (int64_t p = 0; p < panels; p++) {
        const int64_t at = panel_at(v, size, p / ZN_LINEAR_PANELS, p % ZN_LINEAR_PANELS, run);
        const int64_t first = p * v->panel;
        const int64_t there = src ? at_most(v->panel, size->outputs - first) : 0;
        float *dst = (float *)packed + at + (k - run) * v->panel;
        if (there && columns->type == ZN_F32)
            memcpy(dst, src + (size_t)first * sizeof *dst, (size_t)there * sizeof *dst);
        else if (there)
            columns->widen(src + (size_t)first * zn_type_size(columns->type), 1, dst, 1,
                           (size_t)there);
        for (int64_t o = there; o < v->panel; o++) dst[o] = 0;
    }
}

void zn_linear_pack_columns(const zn_linear_version *v, const zn_linear_size *size, int64_t begin,
                            int64_t end, const zn_linear_columns *columns, void *packed)
{
    const size_t row = (size_t)columns->stride * zn_type_size(columns->type);
    for (int64_t k = begin; k < end; k++)
        pack_k(v, size, k, columns, (const char *)columns->data + (size_t)k * row, packed);
    for (int64_t k = end; end == size->inputs && k < size->padded_k; k++)
        pack_k(v, size, k, columns, NULL, packed);
}

void zn_linear_pack_bytes(const zn_linear_version *v, const zn_linear_size *size, int64_t first,
                          int64_t count, const int8_t *rows, const float *scales, void *packed)
{
    const bool last = first + count == size->outputs;
    const int64_t end = last ? size->padded_outputs : first + count;
    for (int64_t o = first; o < end; o++) {
        byte_row row = {.scale = 1};
        if (o < first + count)
            row = (byte_row){.bytes = rows + (o - first) * size->inputs,
                             .scale = scales[o - first]};
        pack_bytes(v, size, o, &row, packed);
    }
}

// --- tokens -------------------------------------------------------------------------------------

static int64_t padded_tokens(const zn_linear_version *v, int64_t tokens)
{
    return (tokens + v->tokens - 1) / v->tokens * v->tokens;
}

// The numbers, and in 8 bits the scale of each token before them.
static size_t scales_bytes(const zn_linear_version *v, int64_t tokens)
{
    if (v->weights != ZN_S8) return 0;
    return zn_round_up((size_t)padded_tokens(v, tokens) * sizeof(float), ZN_ALIGN);
}

size_t zn_linear_placed_bytes(const zn_linear_version *v, const zn_linear_size *size,
                              int64_t tokens)
{
    const size_t token = (size_t)size->padded_k * zn_type_size(v->placed);
    return scales_bytes(v, tokens) + (size_t)padded_tokens(v, tokens) * token + ZN_LINEAR_FILL;
}

static char *placed_at(const zn_linear_args *a, int64_t token, int64_t k)
{
    const int64_t run = at_most(a->version->run, a->size.padded_k - k);
    const int64_t at = padded_tokens(a->version, a->tokens) * k + token * run;
    return (char *)a->placed + scales_bytes(a->version, a->tokens) +
           (size_t)at * zn_type_size(a->version->placed);
}

// One token into its runs: `row` has padded_k numbers of the placed type.
static void place_row(const zn_linear_args *a, int64_t token, const void *row)
{
    const size_t bytes = zn_type_size(a->version->placed);
    for (int64_t k = 0; k < a->size.padded_k; k += a->version->run) {
        const int64_t run = at_most(a->version->run, a->size.padded_k - k);
        memcpy(placed_at(a, token, k), (const char *)row + (size_t)k * bytes, (size_t)run * bytes);
    }
}

// In scratch: the token in f32, then in 8 bits, then in 16.
static void round_row(const zn_linear_args *a, int64_t token, float *row)
{
    const zn_linear_version *v = a->version;
    const int64_t padded = a->size.padded_k;
    int8_t *bytes = (int8_t *)(row + padded);
    float *scales = a->placed;
    scales[token] = v->round(row, padded, v->placed == ZN_U8 ? 128 : 0, bytes);
    if (v->placed != ZN_S16) {
        place_row(a, token, bytes);
        return;
    }
    int16_t *wide = (int16_t *)(void *)row; // the row is read no more
    for (int64_t k = 0; k < padded; k++) wide[k] = bytes[k];
    place_row(a, token, wide);
}

static void place_token(const zn_linear_args *a, int64_t token, float *row)
{
    const size_t inputs = (size_t)a->size.inputs, size = zn_type_size(a->src_type);
    const char *src = (const char *)a->src + (size_t)token * inputs * size;
    if (a->version->placed == ZN_BF16) {
        memcpy(row, src, inputs * size);
        place_row(a, token, row);
        return;
    }
    a->widen(src, 1, row, 1, inputs);
    if (a->rotate) a->rotate(row, a->size.inputs, a->rotated_by);
    if (a->version->weights == ZN_S8)
        round_row(a, token, row);
    else
        place_row(a, token, row);
}

// A token that is placed as it is, without a row between; 0 beyond the inputs.
static void copy_token(const zn_linear_args *a, int64_t token)
{
    const float *src = (const float *)a->src + token * a->size.inputs;
    for (int64_t k = 0; k < a->size.padded_k; k += a->version->run) {
        const int64_t run = at_most(a->version->run, a->size.padded_k - k);
        const int64_t there = at_most(run, a->size.inputs - k);
        float *dst = (float *)(void *)placed_at(a, token, k);
        memcpy(dst, src + k, (size_t)there * sizeof *dst);
        for (int64_t i = there; i < run; i++) dst[i] = 0;
    }
}

void zn_linear_place(const zn_linear_args *a, int64_t begin, int64_t end, void *scratch)
{
    const size_t row_bytes = (size_t)a->size.padded_k * sizeof(float);
    const bool as_it_is = a->version->placed == ZN_F32 && a->src_type == ZN_F32 && !a->rotate;
    for (int64_t t = begin; t < end; t++) {
        if (as_it_is) {
            copy_token(a, t);
            continue;
        }
        memset(scratch, 0, row_bytes); // what is beyond the inputs
        place_token(a, t, scratch);
    }
    memset(scratch, 0, row_bytes);
    if (end != a->tokens) return;
    for (int64_t t = end; t < padded_tokens(a->version, a->tokens); t++) place_row(a, t, scratch);
}

// --- products -----------------------------------------------------------------------------------

// Of zn_linear_place: a token in f32 and in 8 bits. Of zn_linear_multiply: the numbers of a run and
// what offsets add to sums, of weights that lie in panels; the result for one token, and the sums
// of a part.
size_t zn_linear_scratch_bytes(const zn_linear_version *v, const zn_linear_size *size,
                               int64_t tokens)
{
    const size_t place = (size_t)size->padded_k * (sizeof(float) + 1);
    const size_t outputs = (size_t)ZN_LINEAR_PANELS * (size_t)v->panel;
    const size_t sums = ((size_t)padded_tokens(v, tokens) + 1) * outputs * sizeof(float);
    const size_t starts = size->unpacked_bytes ? outputs * sizeof(int32_t) : 0;
    const size_t multiply = size->unpacked_bytes + starts + sums;
    return zn_round_up(place > multiply ? place : multiply, ZN_ALIGN);
}

typedef struct job {
    const zn_linear_args *a;
    const zn_linear_part *part;
    int64_t first, outputs; // of the part
    const float *scales;    // of its outputs, in 8 bits
    const int32_t *starts;
    int8_t *unpacked;      // numbers of a run, of weights that lie in panels
    int64_t padded_inputs; // of those panels
    char *sums;
    size_t group_bytes; // of the sums of the tokens that go together
    float *row;         // the result for one token
} job;

// The tokens that go together: their sums become results.
static void finish_group(const job *j, int64_t token, const char *sums)
{
    const zn_linear_args *a = j->a;
    const zn_linear_version *v = a->version;
    const bool integer = v->weights == ZN_S8;
    const int64_t count = at_most(v->tokens, j->part->token_end - token);
    const bool direct = a->dst_type == ZN_F32 && a->dst_scale == 1; // nothing to convert
    for (int64_t i = 0; i < count; i++) {
        const size_t to = (size_t)((token + i) * a->size.outputs + j->first);
        float *row = direct ? (float *)a->dst + to : j->row;
        for (int64_t o = 0; o < j->outputs; o += v->panel) {
            const int64_t at = (o / v->panel * v->tokens + i) * v->panel;
            v->end(&(zn_linear_end){
                .sums = sums + (size_t)at * sizeof(float),
                .scale = integer ? ((const float *)a->placed)[token + i] * a->src_scale
                                 : a->src_scale,
                .scales = integer ? j->scales + o : NULL,
                .starts = integer ? j->starts + o : NULL,
                .bias = a->bias ? a->bias + j->first + o : NULL,
                .dst = row + o,
                .n = at_most(v->panel, j->outputs - o),
            });
        }
        if (direct) continue;
        a->narrow(j->row, 1, (char *)a->dst + to * zn_type_size(a->dst_type), a->dst_scale,
                  (size_t)j->outputs);
    }
}

// Memory to bring near for the next run while the last groups of this one are computed; brought
// earlier, it would have left the cache again. Weights that lie in panels: one panel a group.
typedef struct ahead {
    const char *first;
    size_t share, step; // bytes of a turn, and from one turn's to the next's
    int64_t turns;
} ahead;

static ahead ahead_of_packed(const job *j, int64_t k, int64_t run, int64_t groups)
{
    const zn_linear_args *a = j->a;
    const zn_linear_version *v = a->version;
    const int64_t at = panel_at(v, &a->size, j->part->block, j->part->first_panel, k);
    const int64_t region = panels_of(v, &a->size, j->part->block) * v->panel * run;
    const size_t size = zn_type_size(v->weights);
    ahead next = {.first = (const char *)a->packed + (size_t)(at + region) * size,
                  .turns = at_most(groups, 4)};
    next.share = (size_t)(j->part->panels * v->panel * run) * size / (size_t)next.turns + 1;
    next.step = next.share;
    return next;
}

static ahead ahead_of_panels(const job *j, int64_t k, int64_t run, int64_t groups)
{
    const zn_linear_args *a = j->a;
    const bool last = k + run == a->size.padded_k;
    const int64_t next_k = last ? 0 : k + run;
    const int64_t next_run = at_most(a->version->run, a->size.padded_k - next_k);
    const int64_t block = (int64_t)ZN_LINEAR_PANELS * a->version->panel;
    const int64_t panel = (j->first + (last ? block : 0)) / ZN_PANEL_OUTPUTS;
    const int64_t panels = (j->part->panels * a->version->panel + ZN_PANEL_OUTPUTS - 1) /
                           ZN_PANEL_OUTPUTS;
    const size_t bits = (size_t)a->panels->bits;
    const size_t begin = (size_t)(panel * j->padded_inputs + next_k) * ZN_PANEL_OUTPUTS * bits / 8;
    ahead next = {.first = (const char *)a->panels->numbers + begin,
                  .share = (size_t)next_run * ZN_PANEL_OUTPUTS * bits / 8,
                  .step = (size_t)j->padded_inputs * ZN_PANEL_OUTPUTS * bits / 8,
                  .turns = at_most(groups, panels)};
    if (last && j->first + block >= a->size.padded_outputs) next.share = 0;
    return next;
}

// The numbers of a run as tiles take them.
static const void *weights_of(const job *j, int64_t k, int64_t run)
{
    const zn_linear_args *a = j->a;
    const zn_linear_version *v = a->version;
    if (!a->panels) {
        const int64_t at = panel_at(v, &a->size, j->part->block, j->part->first_panel, k);
        return (const char *)a->packed + (size_t)at * zn_type_size(v->weights);
    }
    for (int64_t p = 0; p < j->part->panels; p++)
        v->unpack(&(zn_linear_unpack){.panels = a->panels,
                                      .padded_inputs = j->padded_inputs,
                                      .output = j->first + p * v->panel,
                                      .k = k,
                                      .count = run,
                                      .outputs = v->panel,
                                      .group = v->group,
                                      .dst = j->unpacked + p * v->panel * run});
    return j->unpacked;
}

// One run of k for all tokens of the part.
static void multiply_run(const job *j, int64_t k)
{
    const zn_linear_args *a = j->a;
    const zn_linear_version *v = a->version;
    const zn_linear_part *part = j->part;
    const int64_t run = at_most(v->run, a->size.padded_k - k);
    const int64_t groups = (part->token_end - part->token_begin + v->tokens - 1) / v->tokens;
    const void *weights = weights_of(j, k, run);
    const ahead next = a->panels ? ahead_of_panels(j, k, run, groups)
                                 : ahead_of_packed(j, k, run, groups);
    for (int64_t g = 0; g < groups; g++) {
        const int64_t token = part->token_begin + g * v->tokens;
        const int64_t turn = g - (groups - next.turns);
        char *sums = j->sums + (size_t)g * j->group_bytes;
        v->tile(&(zn_linear_tile){
            .placed = placed_at(a, token, k),
            .stride = run * (int64_t)zn_type_size(v->placed),
            .weights = weights,
            .k = run,
            .sums = sums,
            .tokens = (int)at_most(v->tokens, part->token_end - token),
            .panels = part->panels,
            .first = k == 0,
            .ahead = next.first + (turn < 0 ? 0 : (size_t)turn * next.step),
            .ahead_bytes = turn < 0 ? 0 : next.share,
        });
        if (k + run == a->size.padded_k) finish_group(j, token, sums);
    }
}

// Scales and starts of the part, in 8 bits; the starts of panels follow from their sums.
static void find_scales(job *j, int32_t *starts)
{
    const zn_linear_args *a = j->a;
    const uint32_t factor = a->version->placed == ZN_U8 ? (uint32_t)-128 : 0;
    if (!a->panels) {
        j->scales = scales_of(&a->size, a->packed);
        j->starts = (const int32_t *)(const void *)(j->scales + a->size.padded_outputs) + j->first;
        j->scales += j->first;
        return;
    }
    for (int64_t o = 0; o < j->outputs; o++) // sums of a damaged file may be anything
        starts[o] = (int32_t)(factor * (uint32_t)a->panels->sums[j->first + o]);
    j->scales = a->panels->scales + j->first;
    j->starts = starts;
    j->padded_inputs = (a->panels->inputs + ZN_PANEL_FILL - 1) / ZN_PANEL_FILL * ZN_PANEL_FILL;
}

void zn_linear_multiply(const zn_linear_args *a, const zn_linear_part *part, void *scratch)
{
    const zn_linear_version *v = a->version;
    const int64_t outputs = (int64_t)part->panels * v->panel;
    char *at = scratch;
    job j = {.a = a, .part = part, .unpacked = scratch};
    j.first = (part->block * ZN_LINEAR_PANELS + part->first_panel) * v->panel;
    j.outputs = at_most(outputs, a->size.outputs - j.first);
    at += a->size.unpacked_bytes;
    if (v->weights == ZN_S8) find_scales(&j, (int32_t *)(void *)at);
    if (a->panels) at += (size_t)outputs * sizeof(int32_t);
    j.row = (float *)(void *)at;
    j.sums = at + (size_t)outputs * sizeof(float);
    j.group_bytes = (size_t)(v->tokens * outputs) * sizeof(float);
    for (int64_t k = 0; k < a->size.padded_k; k += v->run) multiply_run(&j, k);
}
