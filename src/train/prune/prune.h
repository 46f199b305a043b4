// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Pruning: a smaller network out of a trained one, by leaving out what matters least.
//
// Blocks: each in turn is left out, and the loss measured; the one without which it grows least for
// the operations that are saved goes, and so on. That takes pictures, so it takes a training
// config.
//
// Channels inside of residual blocks go in groups of `multiple`, since kernels compute so many at
// once. A layer's channels are ordered by what they are worth, and groups of all layers go in the
// order of worth over operations, until the wanted share of channels is left. A layer keeps one
// group. What a channel is worth:
//   - by the weights: the sum of |w| into it times the sum of |w| out of it, of the layer's whole;
//   - with a training config: the square of the loss's derivative by a factor on the channel, which
//     is the sum of w dL/dw over its outgoing weights (Molchanov et al., arXiv 1906.10771), summed
//     over batches.
//
// Frequencies: of models whose blocks gate the Walsh frequencies of tiles, each block keeps the
// lowest along each side. Their layout says so, and blocks then compute a smaller transform of the
// means of pixels; gates keep their shape, and those that are left out are not read.
//
// Still parts: of models with scores, cells of a block's map over which no channel changes by
// `still` are left out, picture by picture. The layout says so.
#ifndef ZN_TRAIN_PRUNE_PRUNE_H
#define ZN_TRAIN_PRUNE_PRUNE_H

#include "src/base/cpu.h"
#include "src/base/log.h"
#include "src/model/model.h"

typedef struct zn_prune_options {
    zn_model *model;
    const char *output; // a folder, made if it is not there; gets all parts of the model
    unsigned parts;     // to prune; 0: those that the config trains, or all
    double channels;    // share of the channels inside blocks that stays; 0: all do
    int blocks;         // to leave out
    int64_t multiple;   // of channels
    int frequencies;    // along each side of a tile, that stay: 1, 2 or 4; 0: as before
    double still;       // what changes by less is left out of each picture; 0: as before
    const char *config; // path of a training config; NULL: only the weights are looked at
    size_t batches;     // of the config, for channels
    int threads;        // where the config does not say
    zn_cpu cpu;
    const atomic_int *cancel; // may be NULL
    const zn_log *log;
} zn_prune_options;

// Of the parts that were pruned; operations for a picture of 512x512.
typedef struct zn_prune_count {
    uint64_t parameters, channels;
    uint32_t blocks, frequencies; // the latter along each side of a tile; 0: there are no tiles
    double operations;
} zn_prune_count;

typedef struct zn_prune_report {
    unsigned parts;
    zn_prune_count before, after;
} zn_prune_report;

zenith_status zn_prune(const zn_prune_options *options, zn_prune_report *out, zn_error *err);

#endif
