// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Gates over lines of a map, along its width or its height, by kernel/spectral/walsh. Inputs: the map, the gate.
#ifndef ZN_OP_WALSH_GATE_LOWERING_H
#define ZN_OP_WALSH_GATE_LOWERING_H

#include "src/graph/op.h"

// dimension: 2 for the width (any rows of the result), 1 for the height (a barrier).
zenith_status zn_walsh_gate_lower(const zn_lowering_request *request, int dimension,
                                  zn_lowering **out, zn_error *err);

#endif
