// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
//     original       ── SqueezeNet ── features 0 .. 7 ── unit_norm ──┐
//     reconstruction ── SqueezeNet ── features 0 .. 7 ── unit_norm ──┴─ mse, times channels ── sum
//
// Squares are summed over the channels of a feature and averaged over its pixels: its mean square
// times its channels. Only the reconstruction leads to trained parameters, so the original's half
// gets no gradient.
#include "src/train/loss/squeezenet_loss.h"

#include "src/base/os.h"
#include "src/model/locate.h"
#include "src/model/stored_parameter.h"
#include "src/nn/squeezenet.h"
#include "src/op/ops.h"

#include <string.h>

// --- weights ------------------------------------------------------------------------------------

static zenith_status find_file(const char *models, char path[ZN_PATH_SIZE], zn_error *err)
{
    for (int i = 0; zn_locate_squeezenet(models, i, path); i++)
        if (zn_path_is_file(path)) return ZENITH_OK;
    return zn_fail(err, ZENITH_NOT_FOUND,
                   "the loss \"squeezenet\" needs squeezenet1_0_dc.safetensors, which is neither "
                   "beside the weights nor on the search path of models: say where it is with the "
                   "key \"squeezenet\"");
}

zenith_status zn_squeezenet_loss_open(const char *path, const char *models, zn_weights **out,
                                      zn_error *err)
{
    char found[ZN_PATH_SIZE];
    zn_weights *weights;
    if (!path) {
        ZN_TRY(find_file(models, found, err));
        path = found;
    }
    zenith_status status = zn_weights_open(path, &weights, err);
    if (status != ZENITH_OK) {
        zn_error_prefix(err, "\"squeezenet\"");
        return status;
    }
    if (!zn_weights_find(weights, "conv1.weight")) {
        zn_weights_free(weights);
        return zn_fail(err, ZENITH_BAD_FILE,
                       "'%s' has no tensor 'conv1.weight': \"squeezenet\" must be the file that "
                       "zenith_judge_params.squeezenet takes",
                       path);
    }
    *out = weights;
    return ZENITH_OK;
}

// --- the graph ----------------------------------------------------------------------------------

typedef struct binding {
    const zn_weights *weights;
    size_t skip; // letters of the prefix that tensors have not
} binding;

static zn_node *parameter(void *cookie, zn_graph *graph, const char *name, const zn_shape *shape)
{
    const binding *b = cookie;
    return zn_stored_parameter(b->weights, name + b->skip, graph, name, shape);
}

static void build_features(zn_graph *graph, const zn_weights *weights, const char *prefix,
                           zn_node *picture, zn_node *features[ZN_SQUEEZENET_FEATURES])
{
    binding b = {weights, strlen(prefix)};
    const zn_scope scope = {.graph = graph, .parameter = parameter, .cookie = &b, .prefix = prefix};
    zn_nn_squeezenet(&scope, picture, features);
    for (int i = 0; i < ZN_SQUEEZENET_FEATURES; i++)
        features[i] = zn_unit_norm(graph, "squeezenet.unit", features[i], ZN_FEATURE_EPSILON);
}

zn_node *zn_squeezenet_loss(zn_graph *graph, const zn_weights *weights, zn_node *reconstruction,
                            zn_node *original)
{
    zn_node *a[ZN_SQUEEZENET_FEATURES], *b[ZN_SQUEEZENET_FEATURES];
    zn_node *distances[ZN_SQUEEZENET_FEATURES];
    float channels[ZN_SQUEEZENET_FEATURES];
    const zn_difference_attributes squares = {.kind = ZN_DIFFERENCE_MSE};
    build_features(graph, weights, "squeezenet.", reconstruction, a);
    build_features(graph, weights, "original.squeezenet.", original, b);
    for (int i = 0; i < ZN_SQUEEZENET_FEATURES; i++) {
        distances[i] = zn_difference_loss(graph, "squeezenet.distance", a[i], b[i], squares);
        channels[i] = a[i] ? (float)a[i]->desc.shape.dim[3] : 0;
    }
    _Static_assert((int)ZN_SQUEEZENET_FEATURES == 2 * (int)ZN_SCALAR_SUM_INPUTS, "two sums");
    enum { HALF = ZN_SCALAR_SUM_INPUTS };
    zn_node *halves[2];
    for (int i = 0; i < 2; i++)
        halves[i] = zn_scalar_sum(graph, "squeezenet", distances + i * HALF, channels + i * HALF,
                                  HALF);
    return zn_scalar_sum(graph, "squeezenet", halves, (const float[]){1, 1}, 2);
}
