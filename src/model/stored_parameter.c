// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/model/stored_parameter.h"

#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/format/tensor/elements.h"
#include "src/format/tensor/stored_weight.h"
#include "src/format/tensor/weight_scale.h"
#include "src/tensor/row_source.h"

#include <math.h>
#include <string.h>

// A matrix may be stored as the weights of a 1x1 convolution, a gain as [c, 1, 1]: with dimensions
// of 1 after those that are wanted; and a vector as a row [1, c].
static bool shape_fits(const zn_shape *found, const zn_shape *wanted)
{
    if (found->rank < wanted->rank) return false;
    if (wanted->rank == 1 && found->rank == 2 && found->dim[0] == 1)
        return wanted->dim[0] < 0 || wanted->dim[0] == found->dim[1];
    for (int i = wanted->rank; i < found->rank; i++)
        if (found->dim[i] != 1) return false;
    for (int i = 0; i < wanted->rank; i++) {
        if (wanted->dim[i] >= 0 && wanted->dim[i] != found->dim[i]) return false;
    }
    return true;
}

static bool computed_with(const zn_file_tensor *tensor)
{
    const zn_type type = tensor->type;
    return tensor->supported && (type == ZN_F32 || type == ZN_BF16 || type == ZN_F16 ||
                                 type == ZN_F8_E4M3 || type == ZN_F8_E5M2);
}

static zn_node *fail_parameter(zn_graph *graph, zenith_status status)
{
    if (graph->status == ZENITH_OK) graph->status = status;
    return NULL;
}

// What is asked for.
typedef struct wanted {
    const zn_weights *weights;
    const zn_stored_name *stored;
    const zn_file_tensor *tensor;
    const char *name; // of the parameter
    const zn_shape *shape;
    const zn_cut *cut; // NULL: all
} wanted;

static bool cut_at(const wanted *w, int dimension)
{
    return w->cut && w->cut->dimension == dimension;
}

static zn_node *fail_type(zn_graph *graph, const wanted *w)
{
    return fail_parameter(graph, zn_fail(graph->err, ZENITH_UNSUPPORTED,
                                         "%s: '%s' is stored in a type that is not computed with",
                                         zn_weights_file(w->weights, w->tensor), w->stored->name));
}

static zn_node *fail_shape(zn_graph *graph, const wanted *w, const zn_shape *there)
{
    char expected[96], found[96];
    zn_shape_text(w->shape, expected, sizeof expected);
    zn_shape_text(there, found, sizeof found);
    return fail_parameter(
        graph, zn_fail(graph->err, ZENITH_BAD_FILE, "%s: '%s' has shape %s where %s is expected",
                       zn_weights_file(w->weights, w->tensor), w->stored->name, found, expected));
}

// The shape of the piece that is meant; false where the rows do not divide so.
static bool piece_shape(const zn_shape *all, const zn_stored_name *stored, zn_shape *out)
{
    *out = *all;
    if (stored->pieces < 2) return true;
    if (out->rank < 1 || out->dim[0] % stored->pieces != 0) return false;
    out->dim[0] /= stored->pieces;
    return true;
}

// --- elements of a type -------------------------------------------------------------------------

static zn_node *as_array(zn_graph *graph, const wanted *w)
{
    const zn_file_tensor *tensor = w->tensor;
    const zn_stored_name *where = w->stored;
    zn_shape there;
    if (!piece_shape(&tensor->shape, where, &there) || !shape_fits(&there, w->shape))
        return fail_shape(graph, w, &tensor->shape);
    float scale = 1;
    zenith_status status = zn_weight_scale(w->weights, tensor, &scale, graph->err);
    if (status != ZENITH_OK) return fail_parameter(graph, status);
    const bool row = w->shape->rank == 1 && there.rank == 2 && there.dim[0] == 1;
    zn_shape taken = zn_shape_make(w->shape->rank, there.dim + row);
    const size_t before = where->pieces > 1 ? tensor->bytes / (size_t)where->pieces : 0;
    const uint8_t *data = (const uint8_t *)tensor->data + (size_t)where->piece * before;
    if (cut_at(w, 0)) { // whole rows
        const size_t piece = where->pieces > 1 ? before : tensor->bytes;
        data += piece / (size_t)there.dim[0] * (size_t)w->cut->begin;
        taken.dim[0] = w->cut->end - w->cut->begin;
    }
    zn_tensor constant = {.desc = zn_desc_make(tensor->type, taken),
                          .data = (void *)(uintptr_t)data};
    constant.desc.scale = scale;
    return zn_graph_parameter(graph, w->name, constant);
}

// --- matrices that are read by rows -------------------------------------------------------------

typedef struct stored_rows {
    zn_row_source base;
    zn_stored_weight weight;
    size_t first; // row of the weight
    size_t left;  // its first column, where not all are meant
    size_t width; // columns that are meant
} stored_rows;

// Some columns. Those of a type of ours without scales are read alone, so that other pages of the
// file are not touched; else each row is read whole.
static void read_columns(const zn_row_source *base, int64_t begin, int64_t end, float *dst)
{
    const stored_rows *rows = (const stored_rows *)base;
    const zn_stored_weight *weight = &rows->weight;
    const size_t last = rows->first + (size_t)end, columns = weight->columns;
    const bool plain = weight->form == ZN_WEIGHT_PLAIN && !weight->scales && weight->scale == 1.0f;
    float *row = plain ? NULL : zn_alloc(columns * sizeof *row);
    for (size_t at = rows->first + (size_t)begin; at < last; at++, dst += rows->width) {
        if (plain) {
            zn_elements_to_f32(weight->numbers->type, weight->numbers->data,
                               at * columns + rows->left, rows->width, dst);
        } else if (row) {
            zn_stored_weight_read(weight, at, at + 1, row);
            memcpy(dst, row + rows->left, rows->width * sizeof *dst);
        } else { // no memory: what is computed with it is no number
            for (size_t i = 0; i < rows->width; i++) dst[i] = NAN;
        }
    }
    zn_free(row);
}

static void read_rows(const zn_row_source *base, int64_t begin, int64_t end, float *dst)
{
    const stored_rows *rows = (const stored_rows *)base;
    zn_stored_weight_read(&rows->weight, rows->first + (size_t)begin, rows->first + (size_t)end,
                          dst);
}

static void read_int8(const zn_row_source *base, int64_t begin, int64_t end, int8_t *dst,
                      float *scales)
{
    const stored_rows *rows = (const stored_rows *)base;
    const zn_stored_weight *weight = &rows->weight;
    const size_t from = rows->first + (size_t)begin, count = (size_t)(end - begin);
    for (size_t i = 0; i < count; i++) {
        memcpy(dst + i * rows->width,
               weight->numbers->data + (from + i) * weight->columns + rows->left, rows->width);
        scales[i] = weight->scale;
        if (weight->scales)
            zn_elements_to_f32(weight->scales->type, weight->scales->data, from + i, 1, scales + i);
    }
}

static void read_panels(const zn_row_source *base, int64_t begin, int64_t end, int8_t *dst,
                        float *scales)
{
    const stored_rows *rows = (const stored_rows *)base;
    const zn_panels *panels = &rows->weight.panels;
    const int64_t padded = (int64_t)zn_round_up((size_t)panels->inputs, ZN_PANEL_FILL);
    for (int64_t row = (int64_t)rows->first + begin; begin < end; begin++, row++) {
        for (size_t k = rows->left; k < rows->left + rows->width; k++)
            *dst++ = (int8_t)zn_panels_byte(panels, padded, row, (int64_t)k);
        *scales++ = panels->scales[row];
    }
}

static void read_four(const zn_row_source *base, int64_t row, const zn_four_row *dst)
{
    const stored_rows *rows = (const stored_rows *)base;
    zn_stored_weight_read_four(&rows->weight, rows->first + (size_t)row, rows->left, rows->width,
                               dst->numbers, dst->factors, dst->offsets);
}

// What products in 8 bits keep in 4.
static void offer_fours(stored_rows *rows)
{
    zn_stored_four four;
    if (!zn_stored_weight_is_four(&rows->weight, &four) || rows->left % four.unit != 0 ||
        rows->width % four.unit != 0)
        return;
    rows->base.fours = (zn_fours){.read = read_four,
                                  .levels = four.levels,
                                  .group = (int64_t)four.group,
                                  .offsets = four.offsets};
}

// What products in 8 bits take as it is. Features that were rotated together are of use together;
// panels lie as they are used where all columns are meant.
static void offer_bytes(stored_rows *rows, int64_t count)
{
    const zn_stored_weight *weight = &rows->weight;
    const size_t turned = weight->rotated_by ? weight->rotated_by : 1;
    const bool turns = rows->left % turned == 0 && rows->width % turned == 0;
    const bool panels = weight->form == ZN_WEIGHT_PANELS;
    if (!turns || (!panels && weight->form != ZN_WEIGHT_INT8)) return;
    rows->base.rotated_by = (int64_t)weight->rotated_by;
    rows->base.read_bytes = panels ? read_panels : read_int8;
    if (panels && rows->width == weight->columns &&
        !zn_panels_slice(&weight->panels, (int64_t)rows->first, count, &rows->base.panels))
        rows->base.panels.bits = 0; // a piece that begins inside a panel is packed
}

// Eight-bit floats with a scale for each row.
static bool scaled_by_row(const wanted *w)
{
    const zn_file_tensor *scales = zn_weight_scale_find(w->weights, w->tensor->name);
    size_t count = 0;
    const bool f8 = w->tensor->type == ZN_F8_E4M3 || w->tensor->type == ZN_F8_E5M2;
    return f8 && scales && zn_shape_elements(&scales->shape, &count) && count > 1;
}

// MLX's numbers need the shape that the model expects, of all pieces together.
static zenith_status find_stored(const wanted *w, zn_stored_weight *out, zn_error *err)
{
    zn_shape all = *w->shape;
    if (w->stored->pieces > 1) all.dim[0] *= w->stored->pieces;
    const bool known = w->shape->dim[0] >= 0 && w->shape->dim[1] >= 0;
    return zn_stored_weight_of(w->weights, w->tensor, known ? &all : NULL, out, err);
}

// Which of the weight's rows and columns are meant, and in `there` the shape of these.
static void take_cut(const wanted *w, stored_rows *rows, zn_shape *there)
{
    const size_t begin = w->cut ? (size_t)w->cut->begin : 0;
    rows->first = (size_t)w->stored->piece * (size_t)there->dim[0] + (cut_at(w, 0) ? begin : 0);
    rows->left = cut_at(w, 1) ? begin : 0;
    if (w->cut) there->dim[w->cut->dimension] = w->cut->end - w->cut->begin;
    if (cut_at(w, 1)) rows->base.read = read_columns;
    rows->width = (size_t)there->dim[1];
}

static zn_node *as_rows(zn_graph *graph, const wanted *w)
{
    stored_rows rows = {.base = {.bytes = sizeof rows, .read = read_rows}};
    zn_stored_weight *weight = &rows.weight;
    zn_shape there;
    if (w->shape->rank != 2) return fail_type(graph, w);
    zenith_status status = find_stored(w, weight, graph->err);
    if (status != ZENITH_OK) return fail_parameter(graph, status);
    if (weight->form == ZN_WEIGHT_PLAIN && !computed_with(w->tensor)) return fail_type(graph, w);
    if (!piece_shape(&weight->shape, w->stored, &there) || !shape_fits(&there, w->shape) ||
        weight->rows < 1 || weight->columns < 1)
        return fail_shape(graph, w, &weight->shape);
    take_cut(w, &rows, &there);
    rows.base.address = weight->numbers->data + weight->numbers->bytes / weight->rows * rows.first;
    offer_bytes(&rows, there.dim[0]);
    offer_fours(&rows);
    const zn_tensor constant = {.desc = zn_desc_make(ZN_F32, zn_shape_make(2, there.dim)),
                                .rows = &rows.base};
    return zn_graph_parameter(graph, w->name, constant);
}

zn_node *zn_stored_cut(const zn_weights *weights, const zn_stored_name *where, zn_graph *graph,
                       const char *name, const zn_shape *shape, const zn_cut *cut)
{
    const wanted w = {weights, where, zn_weights_find(weights, where->name), name, shape, cut};
    if (!w.tensor) {
        return fail_parameter(graph, zn_fail(graph->err, ZENITH_BAD_FILE,
                                             "the weights lack the tensor '%s'", where->name));
    }
    const bool array = computed_with(w.tensor) && !scaled_by_row(&w) && !cut_at(&w, 1);
    return array ? as_array(graph, &w) : as_rows(graph, &w);
}

zn_node *zn_stored_piece(const zn_weights *weights, const zn_stored_name *where, zn_graph *graph,
                         const char *name, const zn_shape *shape)
{
    return zn_stored_cut(weights, where, graph, name, shape, NULL);
}

zn_node *zn_stored_parameter(const zn_weights *weights, const char *stored, zn_graph *graph,
                             const char *name, const zn_shape *shape)
{
    zn_stored_name whole = {.piece = 0};
    zn_text_format(whole.name, sizeof whole.name, "%s", stored);
    return zn_stored_piece(weights, &whole, graph, name, shape);
}
