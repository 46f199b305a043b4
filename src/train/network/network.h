// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A part of a model as training sees it: a list of parameters by name, and the network that reads
// them. Parameters of a frozen network lie where the weights file has them. Those of trained ones
// become f32 in one flat block, one after the other: what optimisers, checkpoints and ranks work
// on.
#ifndef ZN_TRAIN_NETWORK_NETWORK_H
#define ZN_TRAIN_NETWORK_NETWORK_H

#include "src/model/model.h"
#include "src/train/config/config.h"

typedef struct zn_train_parameter {
    char name[ZN_NAME_SIZE]; // "decoder.3.conv.0.weight"
    zn_tensor tensor;        // data NULL: not there yet
    size_t offset, elements; // in the flat block
    int64_t inputs; // numbers that each result of its layer is a sum of; 0: it is no layer's weight
    int64_t bias_inputs; // of a layer's bias: the `inputs` of its weights; 0: it is none
    float scale;         // of random values, beside what `inputs` says
    zn_type rounded;     // ZN_S8 or an 8-bit float: as what the network sees it (quantise.h)
} zn_train_parameter;

typedef struct zn_network {
    const zn_family *family;
    const zn_variant *variant;
    const zn_part *part;
    zn_train_parameter *parameters;
    size_t count, capacity;
    int64_t width;               // of a network without weights
    char layout[ZN_LAYOUT_SIZE]; // see zn_scope; "": none is said
} zn_network;

static inline const char *zn_network_layout(const zn_network *network)
{
    return *network->layout ? network->layout : NULL;
}

// The parameters of a model, where its files have them; the model must outlive the network.
zenith_status zn_network_of_model(const zn_model *model, const zn_part *part, zn_network *out,
                                  zn_error *err);
// What the weights decide where there are some.
typedef struct zn_network_shape {
    int64_t width;
    const char *layout; // see zn_scope; NULL: the usual one
    zn_sizes sizes;     // for families that are made for one size
    bool residual;      // what it makes is added to something: it begins with nothing
} zn_network_shape;
// The parameters that the variant's network would have in that shape, without values.
zenith_status zn_network_of_variant(const zn_variant *variant, const zn_part *part,
                                    const zn_network_shape *shape, zn_network *out, zn_error *err);
void zn_network_free(zn_network *network); // zeroes it; a zeroed one is fine

// Gives each parameter its place in a flat block, from `offset` on; the elements after them.
size_t zn_network_place(zn_network *network, size_t offset);
// Copies values into the block, as f32, and reads them from there from now on.
void zn_network_move(zn_network *network, float *block);
// The same with random values: weights of layers by He's rule (variance 2 / inputs), rows of tables
// with variance one, gains of norms one, scores of masks `score`, all else zero. The last layer of
// a residual branch is smaller by the root of the number of branches, so that their sum does not
// grow with it; that of a picture is a tenth, so that it begins with a dark picture rather than a
// loud one, or zero (`residual`). With ZN_INIT_PYTORCH layers begin as torch.nn.Conv2d and Linear
// do: weights and biases are uniform in -1 / sqrt(inputs) .. 1 / sqrt(inputs). A parameter's values
// depend on the seed and its number only.
void zn_network_randomise(zn_network *network, float *block, uint64_t seed, float score,
                          zn_init_rule rule);
// Then takes what a network of another model has under the same name and in the same shape; how
// many parameters these were.
size_t zn_network_take(zn_network *network, const zn_network *donor, float *block);

// Adds the network to a graph: see zn_part_build. Names of values begin with `prefix` ("" or
// "feature."). Where nodes is not NULL, nodes[i] becomes the node of parameter i.
void zn_network_build(const zn_network *network, const zn_sizes *sizes, zn_graph *graph,
                      const char *prefix, zn_node *const *inputs, zn_node **outputs,
                      zn_node **nodes);
// The same of a part from one map to another, for the sizes that its input has.
zn_node *zn_network_apply(const zn_network *network, zn_graph *graph, const char *prefix,
                          zn_node *x, zn_node **nodes);

#endif
