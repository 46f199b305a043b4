// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/model/diffae/recall.h"

#include "src/op/ops.h"

#include <math.h>
#include <string.h>

// --- ports --------------------------------------------------------------------------------------

// As `said`; of models that recall nothing, one of each, since all parts have ports.
static zn_diffae_shape shape_of(const char *said)
{
    zn_diffae_shape is;
    (void)!zn_diffae_shape_read(said, &is);
    if (!is.recall) is.recall = 1;
    if (!is.linear) is.linear = 1;
    return is;
}

void zn_diffae_views_ports(const zn_variant *variant, const char *said, const zn_sizes *sizes,
                           zn_ports *out)
{
    const zn_diffae_shape is = shape_of(said);
    (void)variant, (void)sizes;
    *out = zn_ports_one_to_one(zn_port_sequence("spread", 1, is.code),
                               zn_port_sequence("views", 1, ZN_DIFFAE_VIEWS));
}

void zn_diffae_tells_ports(const zn_variant *variant, const char *said, const zn_sizes *sizes,
                           zn_ports *out)
{
    (void)variant, (void)said, (void)sizes;
    *out = zn_ports_one_to_one(zn_port_sequence("views", ZN_DIFFAE_VIEWS, ZN_DIFFAE_VIEWS),
                               zn_port_sequence("tells", ZN_DIFFAE_VIEWS, ZN_DIFFAE_VIEWS));
}

void zn_diffae_norms_ports(const zn_variant *variant, const char *said, const zn_sizes *sizes,
                           zn_ports *out)
{
    const int64_t count = ZN_DIFFAE_CELLS * shape_of(said).recall;
    (void)variant, (void)sizes;
    *out = zn_ports_one_to_one(zn_port_sequence("ones", 1, count),
                               zn_port_sequence("norms", 1, count));
}

void zn_diffae_recall_ports(const zn_variant *variant, const char *said, const zn_sizes *sizes,
                            zn_ports *out)
{
    const zn_diffae_shape is = shape_of(said);
    (void)variant, (void)sizes;
    *out = zn_ports_one_to_one(zn_port_sequence("told", ZN_DIFFAE_CELLS, ZN_DIFFAE_VIEWS),
                               zn_port_sequence("products", ZN_DIFFAE_CELLS, is.recall));
}

void zn_diffae_recollect_ports(const zn_variant *variant, const char *said, const zn_sizes *sizes,
                               zn_ports *out)
{
    const zn_diffae_shape is = shape_of(said);
    (void)variant, (void)sizes;
    *out = zn_ports_one_to_one(zn_port_sequence("weights", ZN_DIFFAE_CELLS, is.recall),
                               zn_port_sequence("means", ZN_DIFFAE_CELLS, is.code));
}

// --- networks -----------------------------------------------------------------------------------

static bool recalls(const zn_scope *scope, zn_diffae_shape *is)
{
    if (!zn_diffae_shape_of(scope, is)) return false;
    if (is->linear && is->recall) return true;
    scope->graph->status = zn_fail(scope->graph->err, ZENITH_BAD_FILE,
                                   "config.json: these weights have recall.codes, which need "
                                   "\"linear_code\": 1 and \"recall\", how many there are");
    return false;
}

static zn_node *turned(const zn_scope *scope, const char *name, zn_node *x, zn_node *weight)
{
    char full[ZN_NAME_SIZE];
    return zn_linear_turned(scope->graph, zn_scope_name(scope, name, "", full), x, weight, NULL);
}

static zn_node *times(const zn_scope *scope, const char *name, zn_node *x, zn_node *vector)
{
    char full[ZN_NAME_SIZE];
    return zn_times_vector(scope->graph, zn_scope_name(scope, name, "", full), x, vector, NULL);
}

static zn_node *views_of(const zn_scope *scope, const zn_diffae_shape *is)
{
    return zn_scope_parameter(scope, "recall.views", ".weight",
                              ZN_SHAPE(ZN_DIFFAE_VIEWS, is->code));
}

void zn_diffae_views_build(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                           zn_node *const *inputs, zn_node **outputs)
{
    zn_diffae_shape is;
    char full[ZN_NAME_SIZE];
    (void)variant, (void)sizes;
    if (!recalls(scope, &is)) return;
    outputs[0] = zn_linear(scope->graph, zn_scope_name(scope, "recall.views", "", full), inputs[0],
                           views_of(scope, &is), NULL);
}

// Row i of what comes out is row i of the weight.
void zn_diffae_tells_build(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                           zn_node *const *inputs, zn_node **outputs)
{
    (void)variant, (void)sizes;
    zn_node *weight = zn_scope_parameter(scope, "recall.tells", ".weight",
                                         ZN_SHAPE(ZN_DIFFAE_VIEWS, ZN_DIFFAE_VIEWS));
    outputs[0] = turned(scope, "recall.tells", inputs[0], weight);
}

// Norms are a vector, which is not rounded when a file is written in 8 bits.
void zn_diffae_norms_build(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                           zn_node *const *inputs, zn_node **outputs)
{
    zn_diffae_shape is;
    (void)variant, (void)sizes;
    if (!recalls(scope, &is)) return;
    zn_node *norms = zn_scope_parameter(scope, "recall.norms", "",
                                        ZN_SHAPE(ZN_DIFFAE_CELLS * is.recall));
    outputs[0] = times(scope, "recall.norm", inputs[0], norms);
}

// The codes of known pictures, and the deviations that make spread codes of them.
static void find(const zn_scope *scope, const zn_diffae_shape *is, zn_node **codes,
                 zn_node **deviation)
{
    *codes = zn_scope_parameter(scope, "recall.codes", ".weight", ZN_SHAPE(is->recall, is->code));
    *deviation = zn_scope_parameter(scope, "encoder.components", ".deviation", ZN_SHAPE(is->code));
}

void zn_diffae_recall_build(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                            zn_node *const *inputs, zn_node **outputs)
{
    zn_diffae_shape is;
    zn_node *codes, *deviation;
    char full[ZN_NAME_SIZE];
    (void)variant, (void)sizes;
    if (!recalls(scope, &is)) return;
    find(scope, &is, &codes, &deviation);
    zn_node *x = turned(scope, "recall.told", inputs[0], views_of(scope, &is));
    x = times(scope, "recall.query", x, deviation);
    outputs[0] = zn_linear(scope->graph, zn_scope_name(scope, "recall.products", "", full), x,
                           codes, NULL);
}

void zn_diffae_recollect_build(const zn_scope *scope, const zn_variant *variant,
                               const zn_sizes *sizes, zn_node *const *inputs, zn_node **outputs)
{
    zn_diffae_shape is;
    zn_node *codes, *deviation;
    (void)variant, (void)sizes;
    if (!recalls(scope, &is)) return;
    find(scope, &is, &codes, &deviation);
    outputs[0] = times(scope, "recollect.means", turned(scope, "recollect.codes", inputs[0], codes),
                       deviation);
}

// --- between them -------------------------------------------------------------------------------

// Components have pieces first, row by row, then the pixels inside a piece, then channels; cells
// are squares of pieces, or, on maps with fewer than ZN_DIFFAE_CELLS_ROW pixels a side, not all
// there.
static int cell_of(const zn_diffae_shape *is, int64_t value)
{
    const int64_t pieces = is->linear > ZN_DIFFAE_PIECE ? ZN_DIFFAE_PIECE : is->linear;
    const int64_t piece = value / (zn_diffae_linear_values(is) / (pieces * pieces));
    const int64_t y = piece / pieces * ZN_DIFFAE_CELLS_ROW / pieces;
    const int64_t x = piece % pieces * ZN_DIFFAE_CELLS_ROW / pieces;
    return (int)(y * ZN_DIFFAE_CELLS_ROW + x);
}

void zn_diffae_cells_of(const zn_diffae_shape *is, zn_diffae_cells *out)
{
    size_t next[ZN_DIFFAE_CELLS] = {0};
    const int64_t values = zn_diffae_linear_values(is);
    out->code = (size_t)is->code;
    for (int64_t v = 0; v < values; v++) next[cell_of(is, v)]++;
    out->first[0] = 0;
    for (int i = 0; i < ZN_DIFFAE_CELLS; i++) out->first[i + 1] = out->first[i] + next[i];
    memcpy(next, out->first, sizeof next);
    for (int64_t v = 0; v < values; v++) out->place[v] = next[cell_of(is, v)]++;
}

// Sixteen sums side by side, which are vectors; the same bits on every CPU.
static float product(const float *a, const float *b, size_t count)
{
    enum { SUMS = 16 };
    float sums[SUMS] = {0}, total = 0;
    size_t i = 0;
    for (; i + SUMS <= count; i += SUMS)
        for (size_t k = 0; k < SUMS; k++) sums[k] += a[i + k] * b[i + k];
    for (; i < count; i++) total += a[i] * b[i];
    for (size_t k = 0; k < SUMS; k++) total += sums[k];
    return total;
}

void zn_diffae_tell(const float *tells, int cell, const float *views, float *told)
{
    enum { ONE = ZN_DIFFAE_VIEWS / ZN_DIFFAE_CELLS };
    const float *rows = tells + (size_t)cell * ONE * ZN_DIFFAE_VIEWS;
    for (int other = 0; other < ZN_DIFFAE_VIEWS; other += ONE)
        for (int i = 0; i < ONE; i++)
            told[other + i] = product(rows + i * ZN_DIFFAE_VIEWS + other, views + other, ONE);
}

void zn_diffae_in_cell(const zn_diffae_cells *cells, int cell, const float *spread, float *dst)
{
    memset(dst, 0, cells->code * sizeof *dst);
    for (size_t v = cells->first[cell]; v < cells->first[cell + 1]; v++) {
        const float *column = cells->columns + v * cells->code;
        const float value = product(column, spread, cells->code);
        for (size_t i = 0; i < cells->code; i++) dst[i] += value * column[i];
    }
}

void zn_diffae_weigh(double sharpness, const float *norms, float *products, size_t count)
{
    enum { FAR = -60 }; // whose weights are too small to matter
    double largest = -INFINITY, total = 0;
    // No fmax: with it gcc 12 for Arm does not get through this function.
    for (size_t i = 0; i < count; i++) {
        const double closeness = (double)products[i] - (double)norms[i];
        if (closeness > largest) largest = closeness;
    }
    for (size_t i = 0; i < count; i++) {
        const double behind = sharpness * ((double)products[i] - (double)norms[i] - largest);
        const double weight = behind < FAR ? 0 : exp(behind);
        products[i] = (float)weight;
        total += weight;
    }
    for (size_t i = 0; i < count; i++) products[i] = (float)((double)products[i] / total);
}
