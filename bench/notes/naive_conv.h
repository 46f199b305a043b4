// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A convolution and its gradients as plain loops, compiled with -O2: what the Zenith documents compare
// with. For bench_seeds alone.
#ifndef ZN_BENCH_NAIVE_CONV_H
#define ZN_BENCH_NAIVE_CONV_H

typedef struct naive_conv {
    int height, width; // of the result
    int src_height, src_width;
    int in, out, kernel, stride, pad;
} naive_conv;

typedef enum naive_what { NAIVE_FORWARD, NAIVE_DATA, NAIVE_WEIGHTS } naive_what;

// CPU seconds, measured on one in `rows` of the result's rows and multiplied.
double naive_conv_seconds(const naive_conv *conv, int rows, naive_what what);

#endif
