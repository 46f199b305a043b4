// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The graph that training runs for one sample: what the task builds (task.h), from named inputs to
// a loss, and the gradients of the trained parameters.
//
// Outputs, in this order: the loss, each loss by itself, the task's error if it has one, the
// opponent's loss if there is one, and then either the gradients of the parameters or the result.
#ifndef ZN_TRAIN_NETWORK_TRAIN_GRAPH_H
#define ZN_TRAIN_NETWORK_TRAIN_GRAPH_H

#include "src/base/cpu.h"
#include "src/graph/passes.h"
#include "src/train/config/config.h"
#include "src/train/network/network.h"

enum { ZN_TRAIN_INPUTS = 8, ZN_TRAIN_KEPT = 8 };

// Numbers that are set for each run.
typedef enum zn_train_scalar {
    ZN_TRAIN_LOSS_SCALE = 0, // of gradients in f16
    ZN_TRAIN_ADVERSARY,      // of the adversarial loss, beside its weight
    ZN_TRAIN_NOISE,          // which noise a sampled latent has: one for each sample of the data
    ZN_TRAIN_SCALARS
} zn_train_scalar;
const char *zn_train_scalar_name(zn_train_scalar which); // its leaf's

typedef struct zn_train_building {
    const zn_train_config *config;
    const void *networks; // the task's own
    zn_graph *graph;
    bool gradients;
    // Set by the task. Any node may be NULL after a failure of the graph.
    zn_node *loss;
    zn_node *losses[ZN_TRAIN_LOSSES]; // as many as the config has
    zn_node *error;                   // a number beside them; NULL: none
    zn_node *opponent; // the loss of a network that learns against the others; NULL: none
    zn_node *result;   // what samples are judged and drawn by
    // By the functions below.
    zn_node **parameters; // of the trained networks; the opponent's behind them
    const zn_train_parameter **sources;
    size_t count, opponents;
    const zn_node *kept[ZN_TRAIN_KEPT];
    int kept_count;
    zn_node *loss_scale; // NULL: there is none
} zn_train_building;

// What a task builds its graphs with.
typedef struct zn_train_builder {
    void (*build)(zn_train_building *building);
    // Of values in bf16 that are not kept.
    zn_precision (*precision)(const zn_train_building *building, const zn_node *node);
    const void *networks;
    size_t parameters; // the most that all trained networks have
} zn_train_builder;

// Room for the nodes of a network that is trained, for zn_network_build. Opponents come after all
// others.
zn_node **zn_train_parameters(zn_train_building *building, const zn_network *network);
zn_node **zn_train_opponents(zn_train_building *building, const zn_network *network);
// A value that is stored as it was computed, in f32.
void zn_train_keep(zn_train_building *building, const zn_node *value);

typedef struct zn_train_graph {
    zn_graph plain;                            // owns constants that the other points to
    zn_graph graph;                            // fused and typed
    size_t numbers;                            // outputs before the gradients or the result
    zn_train_scalar scalars[ZN_TRAIN_SCALARS]; // that it has, in its order
    int scalars_count;
    const zn_node *inputs[ZN_TRAIN_INPUTS]; // in its order
    int inputs_count;
    size_t result_elements, result_row; // of the result, and of one of its rows
    // Of a graph with gradients: output numbers + i is that of gradients[i].
    const zn_train_parameter **gradients;
    size_t gradients_count;
} zn_train_graph;

zenith_status zn_train_graph_create(const zn_train_config *config, const zn_train_builder *builder,
                                    bool gradients, const zn_cpu *cpu, zn_train_graph *out,
                                    zn_error *err);
void zn_train_graph_free(zn_train_graph *graph); // zeroes it; a zeroed one is fine

#endif
