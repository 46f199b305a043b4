// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/task/diffae_recall_run.h"

#include "src/model/diffae.h"

#include <math.h>
#include <string.h>

enum { CELLS = ZN_DIFFAE_CELLS };
// Of edits: shares in a step, of that of the cell with the largest, from which a cell is drawn anew a little and wholly; and
// how sharply known pictures are told apart for that, which is that of a tenth of noise.
static const double LITTLE = 0.03, ENOUGH = 0.1, SHARPNESS = 9;

// --- what does not change from guess to guess ---------------------------------------------------

static zenith_status floats(zn_arena *arena, size_t rows, size_t width, float **out, zn_error *err)
{
    size_t count = 0, bytes = 0;
    if (!zn_mul_size(rows, width, &count) || !zn_mul_size(count, sizeof(float), &bytes))
        return zn_fail_memory(err, SIZE_MAX);
    *out = zn_arena_alloc(arena, bytes);
    return *out ? ZENITH_OK : zn_fail_memory(err, bytes);
}

static zenith_status call_part(const zn_recall *r, const char *part, const float *input,
                               float *output, zn_error *err)
{
    const zn_part_call call = {.model = r->model,
                               .part = part,
                               .sizes = {.tokens = 1},
                               .dtype = ZENITH_DTYPE_F32, // small differences of large numbers
                               .inputs = {input},
                               .outputs = {output}};
    return zn_part_call_run(r->place, &call, err);
}

static zenith_status read_columns(zn_recall *r, const zn_diffae_shape *is, zn_arena *arena,
                                  zn_error *err)
{
    const size_t values = (size_t)zn_diffae_values(is), bytes = values * sizeof *r->cells.place;
    float *row = NULL;
    r->cells.place = zn_arena_alloc(arena, bytes);
    if (!r->cells.place) return zn_fail_memory(err, bytes);
    ZN_TRY(floats(arena, values, (size_t)is->code, &r->cells.columns, err));
    ZN_TRY(floats(arena, values, 1, &row, err));
    zn_diffae_cells_of(is, &r->cells);
    for (size_t i = 0; i < r->cells.code; i++) {
        ZN_TRY(zn_diffae_component(r->model, i, row, err));
        for (size_t v = 0; v < values; v++)
            r->cells.columns[r->cells.place[v] * r->cells.code + i] = row[v];
    }
    return ZENITH_OK;
}

static zenith_status read_tells(zn_recall *r, zn_arena *arena, zn_error *err)
{
    enum { VIEWS = ZN_DIFFAE_VIEWS };
    float *unit = NULL;
    ZN_TRY(floats(arena, VIEWS, VIEWS, &unit, err));
    ZN_TRY(floats(arena, VIEWS, VIEWS, &r->tells, err));
    for (int i = 0; i < VIEWS * VIEWS; i++) unit[i] = i % (VIEWS + 1) == 0;
    return call_part(r, "tells", unit, r->tells, err);
}

static zenith_status read_norms(zn_recall *r, zn_arena *arena, zn_error *err)
{
    ZN_TRY(floats(arena, CELLS, r->known, &r->norms, err));
    ZN_TRY(floats(arena, CELLS, r->known, &r->products, err));
    for (size_t i = 0; i < CELLS * r->known; i++) r->products[i] = 1;
    return call_part(r, "norms", r->products, r->norms, err);
}

zenith_status zn_recall_begin(zn_model *model, const zn_part_place *place, zn_arena *arena,
                              zn_recall *out, zn_error *err)
{
    const zn_diffae_shape is = zn_diffae_facts_of(model).shape;
    *out = (zn_recall){.model = model, .place = place, .known = (size_t)is.recall};
    ZN_TRY(read_columns(out, &is, arena, err));
    ZN_TRY(floats(arena, 1, out->cells.code, &out->spread, err));
    ZN_TRY(zn_diffae_spread(model, out->spread, err));
    ZN_TRY(floats(arena, CELLS, out->cells.code, &out->own, err));
    ZN_TRY(floats(arena, CELLS, out->cells.code, &out->all, err));
    ZN_TRY(floats(arena, 1, ZN_DIFFAE_VIEWS, &out->views, err));
    ZN_TRY(floats(arena, CELLS, ZN_DIFFAE_VIEWS, &out->told, err));
    ZN_TRY(read_tells(out, arena, err));
    return read_norms(out, arena, err);
}

// --- a guess ------------------------------------------------------------------------------------

// What the loops over cells share.
typedef struct guessing {
    const zn_recall *r;
    double sharpness;
} guessing;

static void tell(void *arg, size_t begin, size_t end)
{
    const zn_recall *r = ((const guessing *)arg)->r;
    for (size_t i = begin; i < end; i++)
        zn_diffae_tell(r->tells, (int)i, r->views, r->told + i * ZN_DIFFAE_VIEWS);
}

static void take_own(void *arg, size_t begin, size_t end)
{
    const zn_recall *r = ((const guessing *)arg)->r;
    for (size_t i = begin; i < end; i++)
        zn_diffae_in_cell(&r->cells, (int)i, r->all + i * r->cells.code,
                          r->own + i * r->cells.code);
}

static void weigh(void *arg, size_t begin, size_t end)
{
    const guessing *g = arg;
    const zn_recall *r = g->r;
    for (size_t i = begin; i < end; i++)
        zn_diffae_weigh(g->sharpness, r->norms + i * r->known, r->products + i * r->known,
                        r->known);
}

// What each cell is expected to be, into r->own, of a spread code with noise over it.
static zenith_status expect(const zn_recall *r, double sharpness, const float *x, zn_error *err)
{
    guessing g = {r, sharpness};
    ZN_TRY(call_part(r, "views", x, r->views, err));
    zn_parallel(r->place->team, CELLS, 1, tell, &g);
    ZN_TRY(call_part(r, "recall", r->told, r->products, err));
    zn_parallel(r->place->team, CELLS, 1, weigh, &g);
    ZN_TRY(call_part(r, "recollect", r->products, r->all, err));
    zn_parallel(r->place->team, CELLS, 1, take_own, &g);
    return ZENITH_OK;
}

zenith_status zn_recall_guess(const zn_recall *r, double a, const float *x, float *answer,
                              zn_error *err)
{
    const size_t code = r->cells.code;
    for (size_t i = 0; i < code; i++) answer[i] = (float)((double)x[i] / sqrt(a));
    ZN_TRY(expect(r, a / (1 - a), answer, err));
    memset(answer, 0, code * sizeof *answer);
    for (size_t i = 0; i < CELLS * code; i++) answer[i % code] += r->own[i];
    return ZENITH_OK;
}

// --- an edit ------------------------------------------------------------------------------------

typedef struct edit {
    zn_recall *r;
    float *direction, *mean, *deviation; // [code], of the classifier and of codes
    float *code, *step; // [code]: one that is read; from there to the attribute, as a spread code
    double offset;
} edit;

static zenith_status begin_edit(zn_recall *r, int attribute, zn_arena *arena, edit *e,
                                zn_error *err)
{
    float **const arrays[] = {&e->direction, &e->mean, &e->deviation, &e->code, &e->step};
    *e = (edit){.r = r};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        ZN_TRY(floats(arena, 1, r->cells.code, arrays[i], err));
    ZN_TRY(zn_diffae_statistics(r->model, e->mean, e->deviation, err));
    return zn_diffae_direction(r->model, attribute, e->direction, &e->offset, err);
}

// Above 0: a picture of this code has the attribute.
static double score(const edit *e, const float *code)
{
    double sum = e->offset;
    for (size_t i = 0; i < e->r->cells.code; i++)
        sum += (double)e->direction[i] * (double)(code[i] - e->mean[i]) / (double)e->deviation[i];
    return sum;
}

// Only known pictures with the attribute (or without it) count from here on. How far the score of those with it lies from
// that of the others, into `far`.
static zenith_status choose_known(const edit *e, bool wanted, double *far, zn_error *err)
{
    const zn_recall *r = e->r;
    double sums[2] = {0}, counts[2] = {0};
    for (size_t k = 0; k < r->known; k++) {
        ZN_TRY(zn_diffae_known(r->model, k, e->code, err));
        const double scored = score(e, e->code);
        sums[scored > 0] += scored;
        counts[scored > 0]++;
        for (size_t i = 0; (scored > 0) != wanted && i < CELLS; i++)
            r->norms[i * r->known + k] = INFINITY;
    }
    if (!(counts[0] > 0 && counts[1] > 0))
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "all pictures that this model knows are alike in that attribute");
    *far = sums[1] / counts[1] - sums[0] / counts[0];
    return ZENITH_OK;
}

// The step from the mean of those without the attribute to the mean of those with it, along the classifier's direction.
static void make_step(const edit *e, double far)
{
    double squares = 0;
    for (size_t i = 0; i < e->r->cells.code; i++)
        squares += (double)e->direction[i] * (double)e->direction[i];
    for (size_t i = 0; i < e->r->cells.code; i++)
        e->step[i] = (float)(far / squares * (double)e->direction[i] * (double)e->deviation[i] *
                             (double)e->r->spread[i]);
}

// How much each cell tells of the attribute, 0 .. 1, by its share in the step.
static void find_cells(const edit *e, double much[CELLS])
{
    const zn_recall *r = e->r;
    double largest = 0;
    for (int c = 0; c < CELLS; c++) {
        zn_diffae_in_cell(&r->cells, c, e->step, r->all);
        much[c] = 0;
        for (size_t i = 0; i < r->cells.code; i++)
            much[c] += (double)r->all[i] * (double)e->step[i];
        largest = fmax(largest, much[c]);
    }
    for (int c = 0; c < CELLS; c++)
        much[c] = fmin(1, fmax(0, (much[c] / largest - LITTLE) / (ENOUGH - LITTLE)));
}

// The code with these cells as expected, `amount` of the way.
static void mix_cells(const edit *e, const double much[CELLS], double amount, float *code)
{
    const zn_recall *r = e->r;
    const size_t size = r->cells.code;
    for (size_t i = 0; i < size; i++) e->code[i] = code[i] * r->spread[i];
    for (int c = 0; c < CELLS; c++) {
        if (!(much[c] > 0)) continue;
        zn_diffae_in_cell(&r->cells, c, e->code, r->all);
        for (size_t i = 0; i < size; i++)
            code[i] += (float)(amount * much[c] *
                               (double)(r->own[(size_t)c * size + i] - r->all[i]) /
                               (double)r->spread[i]);
    }
}

zenith_status zn_recall_edit(zn_recall *r, int attribute, double amount, zn_arena *arena,
                             float *code, zn_error *err)
{
    double far = 0, much[CELLS];
    edit e;
    ZN_TRY(begin_edit(r, attribute, arena, &e, err));
    ZN_TRY(choose_known(&e, amount > 0, &far, err));
    make_step(&e, amount > 0 ? far : -far);
    find_cells(&e, much);
    for (size_t i = 0; i < r->cells.code; i++) e.code[i] = code[i] * r->spread[i] + e.step[i];
    ZN_TRY(expect(r, SHARPNESS, e.code, err));
    mix_cells(&e, much, fabs(amount), code);
    return ZENITH_OK;
}
