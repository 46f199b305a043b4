// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What gaussian_sample and its gradient share: both compute each element from a value, the logarithm of the
// variance and the noise of its place. Drawing the noise twice is cheaper than keeping a map of it.
#ifndef ZN_OP_POINTWISE_GAUSSIAN_NOISE_H
#define ZN_OP_POINTWISE_GAUSSIAN_NOISE_H

#include "src/graph/op.h"

// Normal numbers of the elements [begin, begin + count) of a map, one after the other in memory. Each is a
// pure function of the seed, the bits of `number` and the element's place.
void zn_gaussian_noise(uint64_t seed, float number, uint64_t begin, size_t count, float *dst);

// Inputs of both: a map, its logvar, and the number that each run sets.
enum { ZN_GAUSSIAN_VALUE, ZN_GAUSSIAN_LOGVAR, ZN_GAUSSIAN_NUMBER, ZN_GAUSSIAN_INPUTS };
typedef float zn_gaussian_fn(float value, float logvar, float noise);

zenith_status zn_gaussian_infer(zn_node *node, zn_error *err);
double zn_gaussian_flops(const zn_node *node);
void zn_gaussian_reference(zn_gaussian_fn *fn, const zn_node *node, const zn_tensor *inputs,
                           zn_tensor *output);
void zn_gaussian_row(zn_gaussian_fn *fn, const zn_node *node, const float *const *inputs,
                     int64_t place, float *dst);

#endif
