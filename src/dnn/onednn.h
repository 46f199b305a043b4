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

#endif
