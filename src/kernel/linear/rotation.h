// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Tokens by the rotation of rotated weights (tensor/panels.h): each run of G numbers, G a power of
// four, by
//
//     R = H x H x ... x H / sqrt(G)   (a Kronecker product),   H = [ 1  1  1 -1 ]
//                                                                  [ 1  1 -1  1 ]
//                                                                  [ 1 -1  1  1 ]
//                                                                  [-1  1  1  1 ]
//
// It is its own inverse. Each H is one pass of additions over the run, from neighbours to the
// farthest, so all versions have the same bits.
#ifndef ZN_KERNEL_ROTATION_H
#define ZN_KERNEL_ROTATION_H

#include "src/kernel/versions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ZN_ROTATION_MOST = 1024 };

bool zn_rotation_fits(int64_t count, int64_t group); // whole runs of a power of four, 4 to the most

// Rotates each run of `group` among `count` numbers in place.
typedef void zn_rotation_fn(float *values, int64_t count, int64_t group);
ZN_VERSIONS(zn_rotation_fn, zn_rotation);

#endif
