// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Lowerings of sums and of gradients of relu by the kernel masked_sum, where all maps are of one
// floating type.
#ifndef ZN_OP_MASKED_SUM_LOWERING_H
#define ZN_OP_MASKED_SUM_LOWERING_H

#include "src/graph/op.h"

bool zn_masked_sum_fits(const zn_node *node);
// Input 0, plus input b, where input y is positive; b or y may be -1: without.
zenith_status zn_masked_sum_lower(const zn_lowering_request *request, int b, int y,
                                  zn_lowering **out, zn_error *err);

#endif
