// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A 1x1 convolution in groups of channels: each pixel's channels are cut into `groups`, and each
// group has a matrix of its own.
//
//     dst[p, g O + o] = sum over i of src[p, g I + i] * weights[g, i, o]
//                       (+ bias + added, then relu)
//
// Products are summed in f32 in the order of i, from the bias on; then `added` is added. So bits do
// not depend on pixels per call or threads. AVX2 and AVX-512 fuse products and sums and agree where
// O is whole vectors of both.
#ifndef ZN_KERNEL_GROUPED_PRODUCT_H
#define ZN_KERNEL_GROUPED_PRODUCT_H

#include "src/kernel/versions.h"
#include "src/tensor/type.h"

enum { ZN_GROUPED_INPUTS = 256 }; // most inputs of a group where src is bf16

// Maps are f32 or bf16, dense; src, added and dst each in its own type.
typedef struct zn_grouped_product_args {
    zn_type src_type, added_type, dst_type;
    const void *src;      // [pixels, groups * inputs]
    const float *weights; // [groups, inputs, outputs]
    const float *bias;    // [groups * outputs] or NULL
    const void *added;    // [pixels, groups * outputs] or NULL; may be dst where the types are one
    void *dst;            // [pixels, groups * outputs]; not src
    int64_t groups, inputs, outputs;
    bool relu;
} zn_grouped_product_args;

// Computes the pixels [begin, end).
typedef void zn_grouped_product_fn(const zn_grouped_product_args *args, int64_t begin, int64_t end);
ZN_VERSIONS(zn_grouped_product_fn, zn_grouped_product);

#endif
