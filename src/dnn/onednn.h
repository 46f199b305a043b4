// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the files that speak to oneDNN share.
#ifndef ZN_DNN_ONEDNN_H
#define ZN_DNN_ONEDNN_H

#include "src/dnn/dnn.h"

#include <oneapi/dnnl/dnnl.h>

struct zn_dnn {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    struct zn_dnn_shared *shared; // primitives in use: see onednn_shared.h
};

// The status as ours; for a failure a sentence with what was tried.
zenith_status zn_dnn_check(dnnl_status_t status, const char *what, zn_error *err);

// false: oneDNN computes no such type, or we never ask it to.
bool zn_dnn_type(zn_type type, dnnl_data_type_t *out);

enum { ZN_DNN_MAP_RANK = 4 };

// What memory looks like: a channels-last map; weights [out, in, kh, kw] of these sizes in an order
// of their own or any; f32 numbers.
zenith_status zn_dnn_describe_map(dnnl_memory_desc_t *out, int64_t rows, int64_t width,
                                  int64_t channels, zn_type type, zn_error *err);
zenith_status zn_dnn_describe_weights(dnnl_memory_desc_t *out, const dnnl_dims_t dims, zn_type type,
                                      dnnl_format_tag_t tag, zn_error *err);
zenith_status zn_dnn_describe_vector(dnnl_memory_desc_t *out, int64_t length, zn_error *err);

// The name of the implementation behind a primitive; and whether we take it. Those named "ref"
// (plain loops, slower than our kernels) and "gemm" (which splits its sums among threads: other
// bits) are refused.
const char *zn_dnn_implementation(const_dnnl_primitive_desc_t primitive);
bool zn_dnn_is_welcome(const char *implementation);

#endif
