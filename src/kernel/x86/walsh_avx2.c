// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// kernel/walsh.c in AVX2.
#include "src/kernel/x86/vector_avx2.h"

#include "src/kernel/walsh_body.h"

#include "src/kernel/walsh_tile_body.h"

const zn_walsh zn_walsh_avx2 = {
    .gate = gate_lines,
    .lines = scale_lines,
    .products = multiply_lines,
    .vectors = transform_vectors,
    .tile = gate_tile,
    .tile_gradient = gradient_of_tile,
    .tile_sums = sums_of_tile,
};
