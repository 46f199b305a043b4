// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/task/diffae_recall_run.h"

#include "src/model/diffae.h"

#include <math.h>
#include <string.h>

enum { CELLS = ZN_DIFFAE_CELLS };

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

static zenith_status read_looks(zn_recall *r, zn_arena *arena, zn_error *err)
{
    float *unit = NULL;
    ZN_TRY(floats(arena, CELLS, CELLS, &unit, err));
    ZN_TRY(floats(arena, CELLS, CELLS, &r->looks, err));
    for (int i = 0; i < CELLS * CELLS; i++) unit[i] = i % (CELLS + 1) == 0;
    return call_part(r, "looks", unit, r->looks, err);
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
    ZN_TRY(read_looks(out, arena, err));
    return read_norms(out, arena, err);
}

// --- a guess ------------------------------------------------------------------------------------

// What the loops over cells share.
typedef struct guessing {
    const zn_recall *r;
    const float *spread; // a code for all cells, or one for each: `step` apart
    size_t step;
    double sharpness;
} guessing;

static void take_own(void *arg, size_t begin, size_t end)
{
    const guessing *g = arg;
    const zn_diffae_cells *cells = &g->r->cells;
    for (size_t i = begin; i < end; i++)
        zn_diffae_in_cell(cells, (int)i, g->spread + i * g->step, g->r->own + i * cells->code);
}

static void look(void *arg, size_t begin, size_t end)
{
    const zn_recall *r = ((const guessing *)arg)->r;
    const size_t code = r->cells.code;
    for (size_t i = begin; i < end; i++) {
        float *all = r->all + i * code;
        memset(all, 0, code * sizeof *all);
        for (size_t other = 0; other < CELLS; other++) {
            const float much = r->looks[i * CELLS + other], *own = r->own + other * code;
            for (size_t k = 0; k < code; k++) all[k] += much * own[k];
        }
    }
}

static void weigh(void *arg, size_t begin, size_t end)
{
    const guessing *g = arg;
    const zn_recall *r = g->r;
    for (size_t i = begin; i < end; i++)
        zn_diffae_weigh(g->sharpness, r->norms + i * r->known, r->products + i * r->known,
                        r->known);
}

zenith_status zn_recall_guess(const zn_recall *r, double a, const float *x, float *answer,
                              zn_error *err)
{
    const size_t code = r->cells.code;
    guessing g = {.r = r, .spread = answer, .sharpness = a / (1 - a)};
    for (size_t i = 0; i < code; i++) answer[i] = (float)((double)x[i] / sqrt(a));
    zn_parallel(r->place->team, CELLS, 1, take_own, &g);
    zn_parallel(r->place->team, CELLS, 1, look, &g);
    ZN_TRY(call_part(r, "recall", r->all, r->products, err));
    zn_parallel(r->place->team, CELLS, 1, weigh, &g);
    ZN_TRY(call_part(r, "recollect", r->products, r->all, err));
    g.spread = r->all;
    g.step = code;
    zn_parallel(r->place->team, CELLS, 1, take_own, &g);
    memset(answer, 0, code * sizeof *answer);
    for (size_t i = 0; i < CELLS * code; i++) answer[i % code] += r->own[i];
    return ZENITH_OK;
}
