// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Weights of depthwise and grouped convolutions as their kernels want them, packed once.
#ifndef ZN_OP_DEPTHWISE_WEIGHTS_H
#define ZN_OP_DEPTHWISE_WEIGHTS_H

#include "src/graph/packs.h"

// [c, 1, 3, 3] -> [9, c], the last tap first if turned, times `scale` (of the map they multiply).
zenith_status zn_depthwise_pack(zn_packs *packs, const zn_tensor *weight, bool turned, float scale,
                                const float **out, zn_error *err);

// [groups O, I, 1, 1] -> [groups, I, O], times `scale`; turned: [groups, O, I], as its gradient has
// it.
zenith_status zn_grouped_pack(zn_packs *packs, const zn_tensor *weight, int64_t groups, bool turned,
                              float scale, const float **out, zn_error *err);

#endif
