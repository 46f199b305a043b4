// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// One convolution as a plain oneDNN primitive, for the anchor of the comparison (bare_onednn.c):
// 3x3, maps in nhwc, weights in whatever layout oneDNN prefers, bias, residual and relu fused as
// its post-operations. The implementation is the first that oneDNN offers.
//
// Everything made here lives as long as the program; every failure ends it.
#ifndef ZN_BENCH_BARE_CONV_H
#define ZN_BENCH_BARE_CONV_H

#include <dnnl.h>
#include <stdbool.h>
#include <stdint.h>

enum { BARE_MOST_ARGS = 9 };

// A map's numbers: real = scale * stored; scale is 1 for floats.
typedef struct bare_number {
    dnnl_data_type_t type;
    float scale;
} bare_number;

typedef struct bare_layer {
    int64_t channels_in, channels_out, stride;
    bool relu, residual;
    bare_number src, dst, sum;  // sum: what a residual adds, in place, from where dst goes
    const float *weights;       // oihw
    const float *bias;          // or NULL
    struct bare_packed *packed; // the weights as primitives wanted them
} bare_layer;

// Rows that one call computes. Rows above and below that are not there read as zero.
typedef struct bare_rows {
    int64_t width_in, rows_in, width_out, rows_out;
    int64_t pad_top, pad_bottom, pad_right;
} bare_rows;

typedef struct bare_call {
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t args[BARE_MOST_ARGS];
    int args_count;
} bare_call;

typedef struct bare_engine {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    struct bare_made *made; // primitives by shape: many calls share one
    void *scratch;          // for one call at a time; made by bare_engine_seal
    size_t scratch_bytes;
} bare_engine;

void bare_check(dnnl_status_t status, const char *what);
size_t bare_type_size(dnnl_data_type_t type);

bare_engine bare_engine_create(void);
// To be called once between the last bare_call_* and the first run.
void bare_engine_seal(bare_engine *engine);

bare_call bare_call_conv(bare_engine *engine, bare_layer *layer, const bare_rows *rows, void *src,
                         void *dst);
// f32 nchw to `number` nhwc.
bare_call bare_call_input(bare_engine *engine, int64_t channels, int64_t side, bare_number number,
                          float *src, void *dst);
void bare_call_run(const bare_engine *engine, const bare_call *call);

// What oneDNN calls the implementation of the newest primitive.
const char *bare_engine_newest(const bare_engine *engine);

#endif
