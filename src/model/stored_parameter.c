// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/model/stored_parameter.h"

#include "src/base/text.h"
#include "src/format/weight_scale.h"

// A matrix may be stored as the weights of a 1x1 convolution, a gain as [c, 1, 1]: with dimensions of 1 after
// those that are wanted; and a vector as a row [1, c].
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

static bool computed_with(zn_type type)
{
    return type == ZN_F32 || type == ZN_BF16 || type == ZN_F16 || type == ZN_F8_E4M3 ||
           type == ZN_F8_E5M2;
}

static zn_node *fail_parameter(zn_graph *graph, zenith_status status)
{
    if (graph->status == ZENITH_OK) graph->status = status;
    return NULL;
}

// The shape of the piece that is meant; false where the rows do not divide so.
static bool piece_shape(const zn_file_tensor *tensor, const zn_stored_name *stored, zn_shape *out)
{
    *out = tensor->shape;
    if (stored->pieces < 2) return true;
    if (out->rank < 1 || out->dim[0] % stored->pieces != 0) return false;
    out->dim[0] /= stored->pieces;
    return true;
}

zn_node *zn_stored_piece(const zn_weights *weights, const zn_stored_name *where, zn_graph *graph,
                         const char *name, const zn_shape *shape)
{
    char wanted[96], found[96];
    const char *stored = where->name;
    const zn_file_tensor *tensor = zn_weights_find(weights, stored);
    zn_shape there;
    if (!tensor) {
        return fail_parameter(graph, zn_fail(graph->err, ZENITH_BAD_FILE,
                                             "the weights lack the tensor '%s'", stored));
    }
    if (!tensor->supported || !computed_with(tensor->type)) {
        return fail_parameter(graph,
                              zn_fail(graph->err, ZENITH_UNSUPPORTED,
                                      "%s: '%s' is stored in a type that is not computed with",
                                      zn_weights_file(weights, tensor), stored));
    }
    if (!piece_shape(tensor, where, &there) || !shape_fits(&there, shape)) {
        zn_shape_text(shape, wanted, sizeof wanted);
        zn_shape_text(&tensor->shape, found, sizeof found);
        return fail_parameter(graph,
                              zn_fail(graph->err, ZENITH_BAD_FILE,
                                      "%s: '%s' has shape %s where %s is expected",
                                      zn_weights_file(weights, tensor), stored, found, wanted));
    }
    float scale = 1;
    zenith_status status = zn_weight_scale(weights, tensor, &scale, graph->err);
    if (status != ZENITH_OK) return fail_parameter(graph, status);
    const bool row = shape->rank == 1 && there.rank == 2 && there.dim[0] == 1;
    const zn_shape taken = zn_shape_make(shape->rank, there.dim + row);
    const size_t before = where->pieces > 1 ? tensor->bytes / (size_t)where->pieces : 0;
    const uint8_t *data = (const uint8_t *)tensor->data + (size_t)where->piece * before;
    zn_tensor constant = {zn_desc_make(tensor->type, taken), (void *)(uintptr_t)data};
    constant.desc.scale = scale;
    return zn_graph_parameter(graph, name, constant);
}

zn_node *zn_stored_parameter(const zn_weights *weights, const char *stored, zn_graph *graph,
                             const char *name, const zn_shape *shape)
{
    zn_stored_name whole = {.piece = 0};
    zn_text_format(whole.name, sizeof whole.name, "%s", stored);
    return zn_stored_piece(weights, &whole, graph, name, shape);
}
