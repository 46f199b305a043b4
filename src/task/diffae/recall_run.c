// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/task/diffae/recall_run.h"

#include "src/model/diffae/diffae.h"

#include <math.h>
#include <string.h>

enum { CELLS = ZN_DIFFAE_CELLS };

// --- what does not change from guess to guess ---------------------------------------------------

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
    const size_t values = (size_t)zn_diffae_linear_values(is),
                 bytes = values * sizeof *r->cells.place;
    float *row = NULL;
    r->cells.place = zn_arena_alloc(arena, bytes);
    if (!r->cells.place) return zn_fail_memory(err, bytes);
    ZN_TRY(zn_arena_floats(arena, values, (size_t)is->code, &r->cells.columns, err));
    ZN_TRY(zn_arena_floats(arena, values, 1, &row, err));
    zn_diffae_cells_of(is, &r->cells);
    for (size_t i = 0; i < r->cells.code; i++) {
        ZN_TRY(zn_diffae_component(r->model, i, row, err));
        for (size_t v = 0; v < values; v++)
            r->cells.columns[r->cells.place[v] * r->cells.code + i] = row[v];
    }
    return ZENITH_OK;
}

zenith_status zn_recall_begin(zn_model *model, const zn_part_place *place, zn_arena *arena,
                              zn_recall *out, zn_error *err)
{
    const zn_diffae_shape is = zn_diffae_facts_of(model).shape;
    *out = (zn_recall){.model = model, .place = place, .known = (size_t)is.recall};
    ZN_TRY(read_columns(out, &is, arena, err));
    ZN_TRY(zn_arena_floats(arena, 1, out->cells.code, &out->spread, err));
    ZN_TRY(zn_diffae_spread(model, out->spread, err));
    ZN_TRY(zn_arena_floats(arena, CELLS, out->cells.code, &out->own, err));
    ZN_TRY(zn_arena_floats(arena, CELLS, out->cells.code, &out->all, err));
    ZN_TRY(zn_arena_floats(arena, 1, ZN_DIFFAE_VIEWS, &out->views, err));
    ZN_TRY(zn_arena_floats(arena, CELLS, ZN_DIFFAE_VIEWS, &out->told, err));
    ZN_TRY(zn_arena_floats(arena, ZN_DIFFAE_VIEWS, ZN_DIFFAE_VIEWS, &out->tells, err));
    ZN_TRY(zn_diffae_tells(model, out->tells, err));
    ZN_TRY(zn_arena_floats(arena, CELLS, out->known, &out->products, err));
    ZN_TRY(zn_arena_floats(arena, CELLS, out->known, &out->norms, err));
    return zn_diffae_norms(model, out->norms, err);
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

zenith_status zn_recall_expect(const zn_recall *r, double sharpness, const float *x, zn_error *err)
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
    ZN_TRY(zn_recall_expect(r, a / (1 - a), answer, err));
    memset(answer, 0, code * sizeof *answer);
    for (size_t i = 0; i < CELLS * code; i++) answer[i % code] += r->own[i];
    return ZENITH_OK;
}
