// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// An attribute is put on a code by known pictures, in two ways, and the answer lies in the middle.
// One adds what known pictures with the attribute and those without it expect differently: it
// leaves alone what neither says. The other draws anew what comes of that, by those with it alone:
// it leaves nothing half done.
#include "src/task/diffae/recall_run.h"

#include "src/model/diffae/diffae.h"

#include <math.h>
#include <string.h>

enum { CELLS = ZN_DIFFAE_CELLS, WITHOUT = 0, WITH = 1 };

// From a little of something to enough of it, as 0 .. 1.
typedef struct ramp {
    double little, enough;
} ramp;

// By which a cell is drawn anew: how much of its variance the attribute explains, and that beside
// the cell of which it explains the most.
static const ramp BY_SHARE = {0.0003, 0.001}, BY_MOST = {0.01, 0.03};
static const double SHARPNESS = 30; // nearly the best of all
// The strength that is all of the way, at which moves along a direction show.
static const double ALL = 0.3;

typedef struct edit {
    zn_recall r; // its norms are those of the side that is asked
    float *norms[2];
    size_t counts[2];                    // of known pictures
    float *direction, *mean, *deviation; // [code], of the classifier and of codes
    float *one;                          // [code]: what is read
    float *step; // [code], spread: from the mean of those on the other side to that of those wanted
    float *before, *after, *drawn; // [code], spread
    float *own;                    // [cells, code]: what is expected on the other side
    double offset;
    double much[CELLS]; // is drawn anew of each cell
} edit;

// --- who has the attribute ----------------------------------------------------------------------

static zenith_status begin(const zn_recall *r, int attribute, zn_arena *arena, edit *e,
                           zn_error *err)
{
    float **const vectors[] = {&e->direction, &e->mean,   &e->deviation, &e->one,
                               &e->step,      &e->before, &e->after,     &e->drawn};
    const size_t size = CELLS * r->known * sizeof(float);
    *e = (edit){.r = *r};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        ZN_TRY(zn_arena_floats(arena, 1, r->cells.code, vectors[i], err));
    ZN_TRY(zn_arena_floats(arena, CELLS, r->cells.code, &e->own, err));
    for (int side = WITHOUT; side <= WITH; side++) {
        ZN_TRY(zn_arena_floats(arena, CELLS, r->known, &e->norms[side], err));
        memcpy(e->norms[side], r->norms, size);
    }
    ZN_TRY(zn_diffae_statistics(r->model, e->mean, e->deviation, err));
    return zn_diffae_direction(r->model, attribute, e->direction, &e->offset, err);
}

// Above 0: a picture of this code has the attribute.
static double score(const edit *e, const float *code)
{
    double sum = e->offset;
    for (size_t i = 0; i < e->r.cells.code; i++)
        sum += (double)e->direction[i] * (double)(code[i] - e->mean[i]) / (double)e->deviation[i];
    return sum;
}

// A known picture counts on its own side alone.
static void count_known(edit *e, size_t k, float *sums[2])
{
    const size_t known = e->r.known;
    const int side = score(e, e->one) > 0 ? WITH : WITHOUT;
    e->counts[side]++;
    for (size_t i = 0; i < e->r.cells.code; i++) sums[side][i] += e->one[i];
    for (size_t i = 0; i < CELLS; i++) e->norms[!side][i * known + k] = INFINITY;
}

// Which known pictures count on which side, and the step between their means.
static zenith_status part_known(edit *e, int wanted, zn_error *err)
{
    float *sums[2] = {e->before, e->after}; // zeroed, and not needed yet
    for (size_t k = 0; k < e->r.known; k++) {
        ZN_TRY(zn_diffae_known(e->r.model, k, e->one, err));
        count_known(e, k, sums);
    }
    if (!e->counts[WITHOUT] || !e->counts[WITH])
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "all pictures that this model knows are alike in that attribute");
    for (size_t i = 0; i < e->r.cells.code; i++)
        e->step[i] = (float)(((double)sums[wanted][i] / (double)e->counts[wanted] -
                              (double)sums[!wanted][i] / (double)e->counts[!wanted]) *
                             (double)e->r.spread[i]);
    return ZENITH_OK;
}

// --- where it is --------------------------------------------------------------------------------

static double climb(ramp r, double x)
{
    return fmin(1, fmax(0, (x - r.little) / (r.enough - r.little)));
}

// The variance of codes in a cell: their numbers are not correlated.
static double variance_of(const zn_recall *r, int cell)
{
    double sum = 0;
    for (size_t v = r->cells.first[cell]; v < r->cells.first[cell + 1]; v++)
        for (size_t i = 0; i < r->cells.code; i++) {
            const double part = (double)r->cells.columns[v * r->cells.code + i] *
                                (double)r->spread[i];
            sum += part * part;
        }
    return sum;
}

// The share of a cell's variance that the attribute explains, without what chance lets two means
// differ.
static double explained_in(const edit *e, int cell)
{
    const double with = (double)e->counts[WITH], without = (double)e->counts[WITHOUT];
    const double variance = variance_of(&e->r, cell);
    double squares = 0;
    zn_diffae_in_cell(&e->r.cells, cell, e->step, e->one);
    for (size_t i = 0; i < e->r.cells.code; i++) squares += (double)e->one[i] * (double)e->step[i];
    squares -= variance * (1 / with + 1 / without);
    if (!(squares > 0 && variance > 0)) return 0;
    return squares / variance * with * without / ((with + without) * (with + without));
}

static void find_cells(edit *e)
{
    double explained[CELLS], most = 0;
    for (int c = 0; c < CELLS; c++) {
        explained[c] = explained_in(e, c);
        most = fmax(most, explained[c]);
    }
    for (int c = 0; c < CELLS; c++)
        e->much[c] = most > 0 ? climb(BY_SHARE, explained[c]) * climb(BY_MOST, explained[c] / most)
                              : 0;
}

// --- the code -----------------------------------------------------------------------------------

static void add_cell(const edit *e, int cell, const float *own, float *dst)
{
    for (size_t i = 0; i < e->r.cells.code; i++)
        dst[i] += (float)(e->much[cell] *
                          (double)(e->r.own[(size_t)cell * e->r.cells.code + i] - own[i]));
}

// `after`: the code and what both sides expect differently.
static zenith_status add_difference(edit *e, int wanted, zn_error *err)
{
    const size_t code = e->r.cells.code;
    e->r.norms = e->norms[!wanted];
    ZN_TRY(zn_recall_expect(&e->r, SHARPNESS, e->before, err));
    memcpy(e->own, e->r.own, CELLS * code * sizeof *e->own);
    e->r.norms = e->norms[wanted];
    for (size_t i = 0; i < code; i++) e->after[i] = e->before[i] + e->step[i];
    ZN_TRY(zn_recall_expect(&e->r, SHARPNESS, e->after, err));
    memcpy(e->after, e->before, code * sizeof *e->after);
    for (int c = 0; c < CELLS; c++) add_cell(e, c, e->own + (size_t)c * code, e->after);
    return ZENITH_OK;
}

// `drawn`: the code with the cells that are expected of `after`.
static zenith_status draw_anew(edit *e, zn_error *err)
{
    ZN_TRY(zn_recall_expect(&e->r, SHARPNESS, e->after, err));
    memcpy(e->drawn, e->before, e->r.cells.code * sizeof *e->drawn);
    for (int c = 0; c < CELLS; c++) {
        zn_diffae_in_cell(&e->r.cells, c, e->before, e->one);
        add_cell(e, c, e->one, e->drawn);
    }
    return ZENITH_OK;
}

zenith_status zn_recall_edit(const zn_recall *r, int attribute, double strength, zn_arena *arena,
                             float *code, zn_error *err)
{
    const int wanted = strength > 0 ? WITH : WITHOUT;
    const double amount = fmin(1, fabs(strength) / ALL);
    edit e;
    ZN_TRY(begin(r, attribute, arena, &e, err));
    ZN_TRY(part_known(&e, wanted, err));
    find_cells(&e);
    for (size_t i = 0; i < r->cells.code; i++) e.before[i] = code[i] * r->spread[i];
    ZN_TRY(add_difference(&e, wanted, err));
    ZN_TRY(draw_anew(&e, err));
    for (size_t i = 0; i < r->cells.code; i++)
        code[i] += (float)(amount / (double)r->spread[i] *
                           (((double)e.after[i] + (double)e.drawn[i]) / 2 - (double)e.before[i]));
    return ZENITH_OK;
}
