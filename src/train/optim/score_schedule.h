// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Pruning while weights are trained: models whose blocks have scores for the rectangles of their
// maps (zn_tile_mask) leave out those with a negative one. A score learns straight through its
// mask: it sinks where the rectangle's branch makes the loss larger, whether it is masked or not
// (movement pruning, arXiv 2005.07683). Here a schedule says how many are left out:
//
//     share                                        at step t, for u = (t - begin) / (end - begin):
//     target ┤          ___----------- fixed       target (1 - (1 - u)^3)    (arXiv 1710.01878)
//            │      _--                            so most go early, when there is time to make up
//          0 ┼_____/                               for them
//            0   begin        end         steps
//
// After each step up to `end` the lowest score that stays is taken from all scores: the sign of a
// score is its mask then, in training and in what is written. At `end` scores become 1 or -1, and
// are held from there on: the rest of the run fits the weights to the mask. Averaged weights have
// the scores of the weights themselves, since the mean of two masks is none.
#ifndef ZN_TRAIN_OPTIM_SCORE_SCHEDULE_H
#define ZN_TRAIN_OPTIM_SCORE_SCHEDULE_H

#include "src/train/network/network.h"
#include "src/train/optim/optimizer.h"

typedef struct zn_ranked_score {
    float value;
    size_t place; // in the flat block
} zn_ranked_score;

typedef struct zn_score_schedule {
    zn_train_prune settings;
    zn_ranked_score *scores; // of all networks
    size_t count;            // 0: nothing is scheduled
} zn_score_schedule;

// The scores of networks whose parameters have their places. Fails where there are none to
// schedule.
zenith_status zn_score_schedule_create(const zn_train_prune *settings, const zn_network *networks,
                                       size_t count, zn_score_schedule *out, zn_error *err);
void zn_score_schedule_free(zn_score_schedule *schedule); // zeroes it; a zeroed one is fine

// How many of `count` rectangles are left out after `steps` steps.
size_t zn_score_schedule_pruned(const zn_train_prune *settings, uint64_t steps, size_t count);

// Before a step of the optimiser: scores that are fixed get no gradient. After it, if it was done:
// the mask of this step; the share of rectangles that it leaves out.
void zn_score_schedule_hold(const zn_score_schedule *schedule, zn_optimizer *optimizer);
double zn_score_schedule_apply(const zn_score_schedule *schedule, zn_optimizer *optimizer);

#endif
