// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See bare_conv.h.
#include "bench/bare_conv.h"

#include "bench/contender.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RANK = 4, KERNEL = 3, TAPS = KERNEL * KERNEL };

// What a primitive depends on. Compared as bytes, so made from a zeroed one.
typedef struct shape_key {
    bare_rows rows;
    int64_t channels_in, channels_out, stride;
    dnnl_data_type_t src, dst, sum;
    float sum_scale;
    bool relu, residual, bias;
} shape_key;

struct bare_made {
    shape_key key;
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t primitive;
    struct bare_made *next;
};

struct bare_packed {
    const_dnnl_memory_desc_t desc;
    dnnl_memory_t memory;
    float *scales; // of int8, one per output channel
    struct bare_packed *next;
};

void bare_check(dnnl_status_t status, const char *what)
{
    char text[48];
    if (status == dnnl_success) return;
    snprintf(text, sizeof text, "oneDNN failed with status %d", (int)status);
    contender_fail(what, text);
}

size_t bare_type_size(dnnl_data_type_t type)
{
    return type == dnnl_f32 ? 4 : type == dnnl_bf16 ? 2 : 1;
}

static bool is_integer(dnnl_data_type_t type)
{
    return type == dnnl_u8 || type == dnnl_s8;
}

bare_engine bare_engine_create(void)
{
    bare_engine e = {0};
    bare_check(dnnl_engine_create(&e.engine, dnnl_cpu, 0), "engine");
    bare_check(dnnl_stream_create(&e.stream, e.engine, dnnl_stream_default_flags), "stream");
    return e;
}

const char *bare_engine_newest(const bare_engine *engine)
{
    const char *name = "";
    if (engine->made)
        dnnl_primitive_desc_query(engine->made->desc, dnnl_query_impl_info_str, 0, (void *)&name);
    return name;
}

// --- primitives

static dnnl_memory_desc_t map_desc(int64_t channels, int64_t rows, int64_t width,
                                   dnnl_data_type_t type, dnnl_format_tag_t tag)
{
    const dnnl_dims_t dims = {1, channels, rows, width};
    dnnl_memory_desc_t md;
    bare_check(dnnl_memory_desc_create_with_tag(&md, RANK, dims, type, tag), "map");
    return md;
}

static dnnl_memory_desc_t weights_desc(const bare_layer *layer, dnnl_format_tag_t tag)
{
    const dnnl_dims_t dims = {layer->channels_out, layer->channels_in, KERNEL, KERNEL};
    dnnl_data_type_t type = is_integer(layer->src.type) ? dnnl_s8 : layer->src.type;
    dnnl_memory_desc_t md;
    bare_check(dnnl_memory_desc_create_with_tag(&md, RANK, dims, type, tag), "weights");
    return md;
}

static dnnl_memory_desc_t vector_desc(int64_t length)
{
    const dnnl_dims_t dims = {length};
    dnnl_memory_desc_t md;
    bare_check(dnnl_memory_desc_create_with_tag(&md, 1, dims, dnnl_f32, dnnl_a), "vector");
    return md;
}

static dnnl_primitive_attr_t conv_attributes(const bare_layer *layer)
{
    const int per_output_channel = 1 << 0;
    dnnl_post_ops_t ops;
    dnnl_primitive_attr_t attr;
    bare_check(dnnl_post_ops_create(&ops), "post-operations");
    if (layer->residual)
        bare_check(dnnl_post_ops_append_sum(ops, layer->sum.scale, 0, layer->sum.type), "sum");
    if (layer->relu) bare_check(dnnl_post_ops_append_eltwise(ops, dnnl_eltwise_relu, 0, 0), "relu");
    bare_check(dnnl_primitive_attr_create(&attr), "attributes");
    bare_check(dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user), "scratch");
    bare_check(dnnl_primitive_attr_set_post_ops(attr, ops), "post-operations");
    if (is_integer(layer->src.type)) {
        bare_check(dnnl_primitive_attr_set_scales_mask(attr, DNNL_ARG_SRC, 0), "scales");
        bare_check(dnnl_primitive_attr_set_scales_mask(attr, DNNL_ARG_WEIGHTS, per_output_channel),
                   "scales");
    }
    if (is_integer(layer->dst.type))
        bare_check(dnnl_primitive_attr_set_scales_mask(attr, DNNL_ARG_DST, 0), "scales");
    dnnl_post_ops_destroy(ops);
    return attr;
}

static dnnl_primitive_desc_t conv_desc(const bare_engine *engine, const bare_layer *layer,
                                       const bare_rows *rows)
{
    const dnnl_dims_t strides = {layer->stride, layer->stride}, dilates = {0, 0};
    const dnnl_dims_t before = {rows->pad_top, 1}, after = {rows->pad_bottom, rows->pad_right};
    dnnl_memory_desc_t src = map_desc(layer->channels_in, rows->rows_in, rows->width_in,
                                      layer->src.type, dnnl_nhwc);
    dnnl_memory_desc_t dst = map_desc(layer->channels_out, rows->rows_out, rows->width_out,
                                      layer->dst.type, dnnl_nhwc);
    dnnl_memory_desc_t weights = weights_desc(layer, dnnl_format_tag_any);
    dnnl_memory_desc_t bias = layer->bias ? vector_desc(layer->channels_out) : NULL;
    dnnl_primitive_attr_t attr = conv_attributes(layer);
    dnnl_primitive_desc_t desc;
    bare_check(dnnl_convolution_forward_primitive_desc_create(
                   &desc, engine->engine, dnnl_forward_inference, dnnl_convolution_direct, src,
                   weights, bias, dst, strides, dilates, before, after, attr),
               "convolution");
    dnnl_primitive_attr_destroy(attr);
    dnnl_memory_desc_destroy(src);
    dnnl_memory_desc_destroy(dst);
    dnnl_memory_desc_destroy(weights);
    if (bias) dnnl_memory_desc_destroy(bias);
    return desc;
}

static shape_key key_of(const bare_layer *layer, const bare_rows *rows)
{
    shape_key key;
    memset(&key, 0, sizeof key);
    key.rows = *rows;
    key.channels_in = layer->channels_in;
    key.channels_out = layer->channels_out;
    key.stride = layer->stride;
    key.src = layer->src.type;
    key.dst = layer->dst.type;
    key.sum = layer->sum.type;
    key.sum_scale = layer->sum.scale;
    key.relu = layer->relu;
    key.residual = layer->residual;
    key.bias = layer->bias != NULL;
    return key;
}

static size_t scratch_of(const_dnnl_primitive_desc_t desc)
{
    const_dnnl_memory_desc_t md = dnnl_primitive_desc_query_md(desc, dnnl_query_scratchpad_md, 0);
    return md ? dnnl_memory_desc_get_size(md) : 0;
}

static const struct bare_made *find_or_make(bare_engine *engine, const bare_layer *layer,
                                            const bare_rows *rows)
{
    const shape_key key = key_of(layer, rows);
    for (struct bare_made *m = engine->made; m; m = m->next) {
        if (memcmp(&m->key, &key, sizeof key) == 0) return m;
    }
    struct bare_made *made = contender_alloc(sizeof *made);
    memcpy(&made->key, &key, sizeof key);
    made->desc = conv_desc(engine, layer, rows);
    bare_check(dnnl_primitive_create(&made->primitive, made->desc), "convolution");
    made->next = engine->made;
    engine->made = made;
    size_t scratch = scratch_of(made->desc);
    if (scratch > engine->scratch_bytes) engine->scratch_bytes = scratch;
    return made;
}

// --- weights

// Rounds weights to 8 bits, symmetrically, with one scale per output channel.
static void quantise(const bare_layer *layer, int8_t *dst, float *scales)
{
    int64_t taps = layer->channels_in * TAPS;
    for (int64_t o = 0; o < layer->channels_out; o++) {
        const float *row = layer->weights + o * taps;
        float most = 1e-8f;
        for (int64_t i = 0; i < taps; i++) most = fmaxf(most, fabsf(row[i]));
        scales[o] = most / 127;
        for (int64_t i = 0; i < taps; i++) dst[o * taps + i] = (int8_t)lrintf(row[i] / scales[o]);
    }
}

static void reorder(const bare_engine *engine, dnnl_memory_t from, dnnl_memory_t to)
{
    const_dnnl_memory_desc_t from_desc, to_desc;
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t primitive;
    bare_check(dnnl_memory_get_memory_desc(from, &from_desc), "weights");
    bare_check(dnnl_memory_get_memory_desc(to, &to_desc), "weights");
    bare_check(dnnl_reorder_primitive_desc_create(&desc, from_desc, engine->engine, to_desc,
                                                  engine->engine, NULL),
               "packing of weights");
    bare_check(dnnl_primitive_create(&primitive, desc), "packing of weights");
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    bare_check(dnnl_primitive_execute(primitive, engine->stream, 2, args), "packing of weights");
    bare_check(dnnl_stream_wait(engine->stream), "packing of weights");
    dnnl_primitive_destroy(primitive);
    dnnl_primitive_desc_destroy(desc);
}

// The weights in oihw: as they are, or in 8 bits. oneDNN itself narrows f32 to bf16.
static dnnl_memory_t dense_weights(const bare_engine *engine, const bare_layer *layer,
                                   float *scales)
{
    const dnnl_dims_t dims = {layer->channels_out, layer->channels_in, KERNEL, KERNEL};
    bool integer = scales != NULL;
    dnnl_memory_desc_t md;
    dnnl_memory_t memory;
    void *data;
    bare_check(
        dnnl_memory_desc_create_with_tag(&md, RANK, dims, integer ? dnnl_s8 : dnnl_f32, dnnl_oihw),
        "weights");
    bare_check(dnnl_memory_create(&memory, md, engine->engine, DNNL_MEMORY_ALLOCATE), "weights");
    bare_check(dnnl_memory_get_data_handle(memory, &data), "weights");
    if (integer)
        quantise(layer, data, scales);
    else
        memcpy(data, layer->weights, dnnl_memory_desc_get_size(md));
    dnnl_memory_desc_destroy(md);
    return memory;
}

static const struct bare_packed *pack(const bare_engine *engine, bare_layer *layer,
                                      const_dnnl_primitive_desc_t desc)
{
    const_dnnl_memory_desc_t wanted = dnnl_primitive_desc_query_md(desc, dnnl_query_weights_md, 0);
    for (struct bare_packed *p = layer->packed; p; p = p->next) {
        if (dnnl_memory_desc_equal(p->desc, wanted)) return p;
    }
    struct bare_packed *packed = contender_alloc(sizeof *packed);
    if (is_integer(layer->src.type))
        packed->scales = contender_alloc((size_t)layer->channels_out * sizeof(float));
    packed->desc = wanted;
    bare_check(dnnl_memory_create(&packed->memory, wanted, engine->engine, DNNL_MEMORY_ALLOCATE),
               "weights");
    dnnl_memory_t dense = dense_weights(engine, layer, packed->scales);
    reorder(engine, dense, packed->memory);
    dnnl_memory_destroy(dense);
    packed->next = layer->packed;
    layer->packed = packed;
    return packed;
}

// --- calls

static void add_argument(bare_call *call, int argument, dnnl_memory_t memory)
{
    call->args[call->args_count++] = (dnnl_exec_arg_t){argument, memory};
}

static dnnl_memory_t memory_on(const bare_engine *engine, const_dnnl_memory_desc_t md,
                               const void *data)
{
    dnnl_memory_t memory;
    // The C interface has no const pointers to data; arguments that are inputs are only read.
    bare_check(dnnl_memory_create(&memory, md, engine->engine, (void *)(uintptr_t)data), "memory");
    return memory;
}

static dnnl_memory_t vector_on(const bare_engine *engine, const float *values, int64_t count)
{
    dnnl_memory_desc_t md = vector_desc(count);
    dnnl_memory_t memory = memory_on(engine, md, values);
    dnnl_memory_desc_destroy(md);
    return memory;
}

static dnnl_memory_t scale_on(const bare_engine *engine, float scale)
{
    float *value = contender_alloc(sizeof *value);
    *value = scale;
    return vector_on(engine, value, 1);
}

bare_call bare_call_conv(bare_engine *engine, bare_layer *layer, const bare_rows *rows, void *src,
                         void *dst)
{
    const struct bare_made *made = find_or_make(engine, layer, rows);
    const struct bare_packed *packed = pack(engine, layer, made->desc);
    const_dnnl_memory_desc_t src_md = dnnl_primitive_desc_query_md(made->desc, dnnl_query_src_md,
                                                                   0);
    const_dnnl_memory_desc_t dst_md = dnnl_primitive_desc_query_md(made->desc, dnnl_query_dst_md,
                                                                   0);
    bare_call call = {.primitive = made->primitive};
    add_argument(&call, DNNL_ARG_SRC, memory_on(engine, src_md, src));
    add_argument(&call, DNNL_ARG_WEIGHTS, packed->memory);
    add_argument(&call, DNNL_ARG_DST, memory_on(engine, dst_md, dst));
    if (layer->bias)
        add_argument(&call, DNNL_ARG_BIAS, vector_on(engine, layer->bias, layer->channels_out));
    if (is_integer(layer->src.type)) {
        add_argument(&call, DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC,
                     scale_on(engine, layer->src.scale));
        add_argument(&call, DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS,
                     vector_on(engine, packed->scales, layer->channels_out));
    }
    if (is_integer(layer->dst.type))
        add_argument(&call, DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST,
                     scale_on(engine, layer->dst.scale));
    if (scratch_of(made->desc) > 0)
        add_argument(
            &call, DNNL_ARG_SCRATCHPAD,
            memory_on(engine, dnnl_primitive_desc_query_md(made->desc, dnnl_query_scratchpad_md, 0),
                      DNNL_MEMORY_NONE));
    return call;
}

bare_call bare_call_input(bare_engine *engine, int64_t channels, int64_t side, bare_number number,
                          float *src, void *dst)
{
    dnnl_memory_desc_t from = map_desc(channels, side, side, dnnl_f32, dnnl_nchw);
    dnnl_memory_desc_t to = map_desc(channels, side, side, number.type, dnnl_nhwc);
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t desc;
    bare_call call = {0};
    bare_check(dnnl_primitive_attr_create(&attr), "attributes");
    if (is_integer(number.type))
        bare_check(dnnl_primitive_attr_set_scales_mask(attr, DNNL_ARG_DST, 0), "scales");
    bare_check(
        dnnl_reorder_primitive_desc_create(&desc, from, engine->engine, to, engine->engine, attr),
        "conversion of the input");
    bare_check(dnnl_primitive_create(&call.primitive, desc), "conversion of the input");
    add_argument(&call, DNNL_ARG_FROM, memory_on(engine, from, src));
    add_argument(&call, DNNL_ARG_TO, memory_on(engine, to, dst));
    if (is_integer(number.type))
        add_argument(&call, DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, scale_on(engine, number.scale));
    dnnl_primitive_attr_destroy(attr);
    dnnl_primitive_desc_destroy(desc);
    dnnl_memory_desc_destroy(from);
    dnnl_memory_desc_destroy(to);
    return call;
}

void bare_engine_seal(bare_engine *engine)
{
    engine->scratch = contender_alloc(engine->scratch_bytes);
}

void bare_call_run(const bare_engine *engine, const bare_call *call)
{
    const dnnl_exec_arg_t *last = &call->args[call->args_count - 1];
    if (last->arg == DNNL_ARG_SCRATCHPAD)
        bare_check(dnnl_memory_set_data_handle(last->memory, engine->scratch), "scratch");
    bare_check(
        dnnl_primitive_execute(call->primitive, engine->stream, call->args_count, call->args),
        "convolution");
}
