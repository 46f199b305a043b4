// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolution on oneDNN. The formula of dnn.h becomes a primitive like this:
//
//     integer src    Scales are attributes: one for src, one per output channel for the weights,
//                    one for dst. Their values are memories of the conv object. oneDNN adds the
//                    bias after scaling.
//     floating src   dst_scale is 1. src_scale, if not 1, is the first post-operation,
//                    (acc + bias / s) * s, so that weights keep the bits of the checkpoint.
//     then           sum (the residual, in its own type), then relu.
//
// Invariants
//   1. Memory objects are made once without data; run only sets their pointers. So an object
//      belongs to one thread, and run allocates nothing.
//   2. Implementations that zn_dnn_is_welcome turns away are not used.
//   3. The implementation, and so every bit of a row, depends on types, channels, kernel and ISA,
//      never on the size of a call. Left alone, oneDNN 3.2 breaks this in two places. For calls of
//      at most 4 pixels it turns from AMX to AVX-512: such calls are computed with more rows, see
//      `grow`. For integers with at most 16 channels it turns between two implementations by
//      width: one of them is refused.
#include "src/dnn/onednn_shared.h"

#include "src/base/memory.h"
#include "src/base/text.h"

#include <string.h>

enum { KEY_SIZE = 512, ID_SIZE = 96, MAX_ARGS = 8, LEAST_PIXELS = 5 };

struct zn_dnn_conv {
    zn_dnn *dnn;
    zn_dnn_conv_desc desc; // weight_scales: our copy
    zn_dnn_shared *shared;
    dnnl_memory_desc_t packed_desc; // the weights as the primitive wants them
    dnnl_memory_t src, weights, bias, dst, scratch;
    dnnl_memory_t src_scale, weight_scale, dst_scale;
    dnnl_exec_arg_t args[MAX_ARGS];
    int args_count;
    float *weight_scales; // channels_out
    float *unscaled_bias; // bias / src_scale, with a floating src whose scale is not 1
    // Of a call with fewer than LEAST_PIXELS: the rows that oneDNN sees, and where they are in
    // scratch.
    bool grown;
    size_t src_bytes, dst_bytes;            // of the caller's rows
    size_t grown_src_bytes, dst_at, own_at; // the grown src is at 0, oneDNN's own part at own_at
    size_t scratch_bytes;
    zn_layout layout;
    char key[KEY_SIZE];
    char id[ID_SIZE];
};

// The descriptors that a primitive is made from; freed when it is made.
typedef struct parts {
    dnnl_memory_desc_t src, weights, bias, dst;
    dnnl_post_ops_t post_ops;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t primitive; // until a zn_dnn_shared owns it
} parts;

static bool is_integer(zn_type type)
{
    return type == ZN_U8 || type == ZN_S8;
}

static bool scales_by_post_op(const zn_dnn_conv_desc *desc)
{
    return !is_integer(desc->src) && desc->src_scale != 1.0f;
}

static void parts_free(parts *p)
{
    if (p->primitive) dnnl_primitive_desc_destroy(p->primitive);
    if (p->attr) dnnl_primitive_attr_destroy(p->attr);
    if (p->post_ops) dnnl_post_ops_destroy(p->post_ops);
    if (p->dst) dnnl_memory_desc_destroy(p->dst);
    if (p->bias) dnnl_memory_desc_destroy(p->bias);
    if (p->weights) dnnl_memory_desc_destroy(p->weights);
    if (p->src) dnnl_memory_desc_destroy(p->src);
}

static zenith_status check_desc(const zn_dnn_conv_desc *desc, zn_error *err)
{
    bool fits = desc->src == ZN_F32 ? desc->weights == ZN_F32 && desc->dst == ZN_F32
                : desc->src == ZN_BF16
                    ? desc->weights == ZN_BF16 && (desc->dst == ZN_BF16 || desc->dst == ZN_F32)
                    : is_integer(desc->src) && desc->weights == ZN_S8;
    if (!fits)
        return zn_fail(err, ZENITH_UNSUPPORTED, "no convolution of %s with %s weights into %s",
                       zn_type_name(desc->src), zn_type_name(desc->weights),
                       zn_type_name(desc->dst));
    if (!is_integer(desc->dst) && desc->dst_scale != 1.0f)
        return zn_fail(err, ZENITH_UNSUPPORTED, "a convolution's %s result cannot have a scale",
                       zn_type_name(desc->dst));
    if (desc->residual && zn_type_size(desc->residual_type) != zn_type_size(desc->dst))
        return zn_fail(err, ZENITH_UNSUPPORTED, "a residual of %s does not fit under %s",
                       zn_type_name(desc->residual_type), zn_type_name(desc->dst));
    return ZENITH_OK;
}

static zenith_status make_weights(dnnl_memory_desc_t *out, const zn_dnn_conv_desc *desc,
                                  dnnl_format_tag_t tag, zn_error *err)
{
    const dnnl_dims_t dims = {desc->channels_out, desc->channels_in, desc->kernel_h,
                              desc->kernel_w};
    return zn_dnn_describe_weights(out, dims, desc->weights, tag, err);
}

static zenith_status make_descs(parts *p, const zn_dnn_conv_desc *desc, zn_error *err)
{
    ZN_TRY(zn_dnn_describe_map(&p->src, desc->rows_in, desc->width_in, desc->channels_in, desc->src,
                               err));
    ZN_TRY(zn_dnn_describe_map(&p->dst, desc->rows_out, desc->width_out, desc->channels_out,
                               desc->dst, err));
    ZN_TRY(make_weights(&p->weights, desc, dnnl_format_tag_any, err));
    if (desc->bias) ZN_TRY(zn_dnn_describe_vector(&p->bias, desc->channels_out, err));
    return ZENITH_OK;
}

static zenith_status make_post_ops(parts *p, const zn_dnn_conv_desc *desc, zn_error *err)
{
    ZN_TRY(zn_dnn_check(dnnl_post_ops_create(&p->post_ops), "post-operations", err));
    if (scales_by_post_op(desc))
        ZN_TRY(zn_dnn_check(
            dnnl_post_ops_append_eltwise(p->post_ops, dnnl_eltwise_linear, desc->src_scale, 0.0f),
            "scale after a convolution", err));
    if (desc->residual) {
        dnnl_data_type_t type;
        if (!zn_dnn_type(desc->residual_type, &type))
            return zn_fail(err, ZENITH_UNSUPPORTED, "oneDNN adds no %s residual",
                           zn_type_name(desc->residual_type));
        ZN_TRY(zn_dnn_check(dnnl_post_ops_append_sum(p->post_ops, desc->residual_scale, 0, type),
                            "sum after a convolution", err));
    }
    if (desc->relu)
        ZN_TRY(
            zn_dnn_check(dnnl_post_ops_append_eltwise(p->post_ops, dnnl_eltwise_relu, 0.0f, 0.0f),
                         "relu after a convolution", err));
    return ZENITH_OK;
}

static zenith_status make_attributes(parts *p, const zn_dnn_conv_desc *desc, zn_error *err)
{
    const char *what = "attributes of a convolution";
    ZN_TRY(make_post_ops(p, desc, err));
    ZN_TRY(zn_dnn_check(dnnl_primitive_attr_create(&p->attr), what, err));
    ZN_TRY(zn_dnn_check(dnnl_primitive_attr_set_scratchpad_mode(p->attr, dnnl_scratchpad_mode_user),
                        what, err));
    ZN_TRY(zn_dnn_check(dnnl_primitive_attr_set_post_ops(p->attr, p->post_ops), what, err));
    if (is_integer(desc->src)) {
        const int per_output_channel = 1 << 0;
        ZN_TRY(
            zn_dnn_check(dnnl_primitive_attr_set_scales_mask(p->attr, DNNL_ARG_SRC, 0), what, err));
        ZN_TRY(zn_dnn_check(
            dnnl_primitive_attr_set_scales_mask(p->attr, DNNL_ARG_WEIGHTS, per_output_channel),
            what, err));
    }
    if (is_integer(desc->dst))
        ZN_TRY(
            zn_dnn_check(dnnl_primitive_attr_set_scales_mask(p->attr, DNNL_ARG_DST, 0), what, err));
    return ZENITH_OK;
}

// Which of oneDNN's implementations we take; see invariants 2 and 3.
static bool is_welcome(const zn_dnn_conv_desc *desc, const char *name)
{
    bool by_width = is_integer(desc->src) && desc->channels_in <= 16 && desc->kernel_w > 1;
    // Version 3.2 for CPUs with AVX-512 and without VNNI: of one pixel a row and 256 channels with
    // a residual, two threads had other numbers than one.
    bool by_threads = strcmp(name, "jit_int8_1x1:avx512_core") == 0;
    return zn_dnn_is_welcome(name) && !by_threads && !(by_width && strstr(name, "brgconv"));
}

static zenith_status choose_implementation(parts *p, const zn_dnn *dnn,
                                           const zn_dnn_conv_desc *desc, zn_error *err)
{
    const dnnl_dims_t strides = {desc->stride, desc->stride};
    const dnnl_dims_t dilates = {0, 0};
    const dnnl_dims_t before = {0, desc->pad_left};
    const dnnl_dims_t after = {0, desc->pad_right};
    ZN_TRY(zn_dnn_check(dnnl_convolution_forward_primitive_desc_create(
                            &p->primitive, dnn->engine, dnnl_forward_inference,
                            dnnl_convolution_direct, p->src, p->weights, p->bias, p->dst, strides,
                            dilates, before, after, p->attr),
                        "convolution of these types", err));
    while (!is_welcome(desc, zn_dnn_implementation(p->primitive)))
        ZN_TRY(zn_dnn_check(dnnl_primitive_desc_next_impl(p->primitive),
                            "fast convolution of these types", err));
    return ZENITH_OK;
}

static size_t append_dims(char *dst, size_t size, const char *label, int count,
                          const dnnl_dims_t dims)
{
    size_t used = zn_text_format(dst, size, " %s", label);
    for (int i = 0; i < count; i++)
        used += zn_text_format(dst + used, size - used, ",%lld", (long long)dims[i]);
    return used;
}

// Equal keys must mean equal layouts. Version 3.2 cannot serialise a descriptor, so the key is what
// it lets us see (sizes, strides, blocks), and for what it hides (compensation terms behind the
// weights) what decides them: the implementation and the type of src.
static void make_layout(zn_dnn_conv *conv)
{
    dnnl_memory_desc_t md = conv->packed_desc;
    const dnnl_dims_t *padded = NULL, *strides = NULL, *blocks = NULL, *order = NULL;
    int blocks_count = 0;
    dnnl_memory_desc_query(md, dnnl_query_padded_dims, (void *)&padded);
    dnnl_memory_desc_query(md, dnnl_query_strides, (void *)&strides);
    dnnl_memory_desc_query(md, dnnl_query_inner_nblks_s32, &blocks_count);
    dnnl_memory_desc_query(md, dnnl_query_inner_blks, (void *)&blocks);
    dnnl_memory_desc_query(md, dnnl_query_inner_idxs, (void *)&order);
    conv->layout.bytes = dnnl_memory_desc_get_size(md);
    size_t used = zn_text_format(conv->key, KEY_SIZE, "%s %s %s %zu bytes", conv->id,
                                 zn_type_name(conv->desc.src), zn_type_name(conv->desc.weights),
                                 conv->layout.bytes);
    if (padded)
        used += append_dims(conv->key + used, KEY_SIZE - used, "padded", ZN_DNN_MAP_RANK, *padded);
    if (strides)
        used += append_dims(conv->key + used, KEY_SIZE - used, "strides", ZN_DNN_MAP_RANK,
                            *strides);
    if (blocks)
        used += append_dims(conv->key + used, KEY_SIZE - used, "blocks", blocks_count, *blocks);
    if (order)
        used += append_dims(conv->key + used, KEY_SIZE - used, "order", blocks_count, *order);
    conv->layout.key = conv->key;
    conv->layout.key_size = used;
}

static zenith_status copy_scales(zn_dnn_conv *conv, zn_error *err)
{
    size_t count = (size_t)conv->desc.channels_out, bytes = count * sizeof(float);
    if (scales_by_post_op(&conv->desc) && conv->desc.bias) {
        conv->unscaled_bias = zn_alloc(bytes);
        if (!conv->unscaled_bias) return zn_fail_memory(err, bytes);
    }
    if (is_integer(conv->desc.src)) {
        conv->weight_scales = zn_alloc(bytes);
        if (!conv->weight_scales) return zn_fail_memory(err, bytes);
        for (size_t o = 0; o < count; o++)
            conv->weight_scales[o] = conv->desc.weight_scales ? conv->desc.weight_scales[o] : 1.0f;
    }
    conv->desc.weight_scales = conv->weight_scales;
    return ZENITH_OK;
}

// A memory object as an argument of every run; data NULL means that the run sets it.
static zenith_status add_argument(zn_dnn_conv *conv, int argument, const_dnnl_memory_desc_t md,
                                  void *data, dnnl_memory_t *memory, zn_error *err)
{
    ZN_TRY(zn_dnn_check(
        dnnl_memory_create(memory, md, conv->dnn->engine, data ? data : DNNL_MEMORY_NONE),
        "memory object", err));
    conv->args[conv->args_count++] = (dnnl_exec_arg_t){argument, *memory};
    return ZENITH_OK;
}

static zenith_status add_scale(zn_dnn_conv *conv, int argument, float *scales, int64_t count,
                               dnnl_memory_t *memory, zn_error *err)
{
    dnnl_memory_desc_t md = NULL;
    ZN_TRY(zn_dnn_describe_vector(&md, count, err));
    zenith_status status = add_argument(conv, DNNL_ARG_ATTR_SCALES | argument, md, scales, memory,
                                        err);
    dnnl_memory_desc_destroy(md);
    return status;
}

static zenith_status make_arguments(zn_dnn_conv *conv, const parts *p, zn_error *err)
{
    zn_dnn_conv_desc *desc = &conv->desc;
    const_dnnl_memory_desc_t scratch = dnnl_primitive_desc_query_md(conv->shared->desc,
                                                                    dnnl_query_scratchpad_md, 0);
    size_t own_bytes = scratch ? dnnl_memory_desc_get_size(scratch) : 0;
    conv->own_at = conv->scratch_bytes;
    conv->scratch_bytes += own_bytes;
    ZN_TRY(add_argument(conv, DNNL_ARG_SRC, p->src, NULL, &conv->src, err));
    ZN_TRY(add_argument(conv, DNNL_ARG_WEIGHTS, conv->packed_desc, NULL, &conv->weights, err));
    ZN_TRY(add_argument(conv, DNNL_ARG_DST, p->dst, NULL, &conv->dst, err));
    if (desc->bias) ZN_TRY(add_argument(conv, DNNL_ARG_BIAS, p->bias, NULL, &conv->bias, err));
    if (own_bytes)
        ZN_TRY(add_argument(conv, DNNL_ARG_SCRATCHPAD, scratch, NULL, &conv->scratch, err));
    if (is_integer(desc->src)) {
        ZN_TRY(add_scale(conv, DNNL_ARG_SRC, &desc->src_scale, 1, &conv->src_scale, err));
        ZN_TRY(add_scale(conv, DNNL_ARG_WEIGHTS, conv->weight_scales, desc->channels_out,
                         &conv->weight_scale, err));
    }
    if (is_integer(desc->dst))
        ZN_TRY(add_scale(conv, DNNL_ARG_DST, &desc->dst_scale, 1, &conv->dst_scale, err));
    return ZENITH_OK;
}

// Adds rows to a call that is too small, and places them in scratch before oneDNN's own part.
static void grow(zn_dnn_conv *conv)
{
    zn_dnn_conv_desc *desc = &conv->desc;
    size_t src_row = (size_t)(desc->width_in * desc->channels_in) * zn_type_size(desc->src);
    size_t dst_row = (size_t)(desc->width_out * desc->channels_out) * zn_type_size(desc->dst);
    conv->grown = desc->rows_out * desc->width_out < LEAST_PIXELS;
    if (!conv->grown) return;
    conv->src_bytes = (size_t)desc->rows_in * src_row;
    conv->dst_bytes = (size_t)desc->rows_out * dst_row;
    desc->rows_out = LEAST_PIXELS;
    desc->rows_in = (desc->rows_out - 1) * desc->stride + desc->kernel_h;
    conv->grown_src_bytes = (size_t)desc->rows_in * src_row;
    conv->dst_at = zn_round_up(conv->grown_src_bytes, ZN_ALIGN);
    conv->scratch_bytes = conv->dst_at + zn_round_up((size_t)desc->rows_out * dst_row, ZN_ALIGN);
}

static zenith_status find_primitive(zn_dnn_conv *conv, parts *p, zn_error *err)
{
    conv->shared = zn_dnn_shared_find(conv->dnn, &conv->desc);
    if (conv->shared) return ZENITH_OK;
    ZN_TRY(make_attributes(p, &conv->desc, err));
    ZN_TRY(choose_implementation(p, conv->dnn, &conv->desc, err));
    ZN_TRY(zn_dnn_shared_add(conv->dnn, &conv->desc, p->primitive, &conv->shared, err));
    p->primitive = NULL;
    return ZENITH_OK;
}

static zenith_status build(zn_dnn_conv *conv, parts *p, zn_error *err)
{
    ZN_TRY(check_desc(&conv->desc, err));
    grow(conv);
    ZN_TRY(make_descs(p, &conv->desc, err));
    ZN_TRY(find_primitive(conv, p, err));
    zn_text_format(conv->id, ID_SIZE, "onednn:%s", zn_dnn_implementation(conv->shared->desc));
    ZN_TRY(copy_scales(conv, err));
    ZN_TRY(zn_dnn_check(dnnl_memory_desc_clone(&conv->packed_desc,
                                               dnnl_primitive_desc_query_md(
                                                   conv->shared->desc, dnnl_query_weights_md, 0)),
                        "weights", err));
    make_layout(conv);
    return make_arguments(conv, p, err);
}

zenith_status zn_dnn_conv_create(zn_dnn *dnn, const zn_dnn_conv_desc *desc, zn_dnn_conv **out,
                                 zn_error *err)
{
    parts p = {0};
    zn_dnn_conv *conv = zn_alloc_zero(sizeof *conv);
    if (!conv) return zn_fail_memory(err, sizeof *conv);
    conv->dnn = dnn;
    conv->desc = *desc;
    zenith_status status = build(conv, &p, err);
    parts_free(&p);
    if (status != ZENITH_OK)
        zn_dnn_conv_free(conv);
    else
        *out = conv;
    return status;
}

void zn_dnn_conv_free(zn_dnn_conv *conv)
{
    if (!conv) return;
    for (int i = 0; i < conv->args_count; i++) dnnl_memory_destroy(conv->args[i].memory);
    zn_dnn_shared_release(conv->dnn, conv->shared);
    if (conv->packed_desc) dnnl_memory_desc_destroy(conv->packed_desc);
    zn_free(conv->weight_scales);
    zn_free(conv->unscaled_bias);
    zn_free(conv);
}

const char *zn_dnn_conv_id(const zn_dnn_conv *conv)
{
    return conv->id;
}

const zn_layout *zn_dnn_conv_layout(const zn_dnn_conv *conv)
{
    return &conv->layout;
}

size_t zn_dnn_conv_scratch(const zn_dnn_conv *conv)
{
    return conv->scratch_bytes;
}

// What a reorder of the weights is made of, freed together.
typedef struct reorder {
    dnnl_memory_desc_t dense_desc;
    dnnl_memory_t dense, packed;
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t primitive;
} reorder;

static zenith_status run_reorder(reorder *r, const zn_dnn_conv *conv, const void *weights,
                                 void *packed, zn_error *err)
{
    const char *what = "packing of weights";
    dnnl_engine_t engine = conv->dnn->engine;
    ZN_TRY(make_weights(&r->dense_desc, &conv->desc, dnnl_oihw, err));
    // The C API has no const pointers to data; a reorder only reads its source.
    ZN_TRY(zn_dnn_check(dnnl_memory_create(&r->dense, r->dense_desc, engine, (void *)weights), what,
                        err));
    ZN_TRY(
        zn_dnn_check(dnnl_memory_create(&r->packed, conv->packed_desc, engine, packed), what, err));
    ZN_TRY(zn_dnn_check(dnnl_reorder_primitive_desc_create(&r->desc, r->dense_desc, engine,
                                                           conv->packed_desc, engine, NULL),
                        what, err));
    ZN_TRY(zn_dnn_check(dnnl_primitive_create(&r->primitive, r->desc), what, err));
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, r->dense}, {DNNL_ARG_TO, r->packed}};
    ZN_TRY(
        zn_dnn_check(dnnl_primitive_execute(r->primitive, conv->dnn->stream, 2, args), what, err));
    return zn_dnn_check(dnnl_stream_wait(conv->dnn->stream), what, err);
}

zenith_status zn_dnn_conv_pack(const zn_dnn_conv *conv, const void *weights, void *packed,
                               zn_error *err)
{
    reorder r = {0};
    zenith_status status = run_reorder(&r, conv, weights, packed, err);
    if (r.primitive) dnnl_primitive_destroy(r.primitive);
    if (r.desc) dnnl_primitive_desc_destroy(r.desc);
    if (r.packed) dnnl_memory_destroy(r.packed);
    if (r.dense) dnnl_memory_destroy(r.dense);
    if (r.dense_desc) dnnl_memory_desc_destroy(r.dense_desc);
    return status;
}

static dnnl_status_t set_bias(const zn_dnn_conv *conv, const float *bias)
{
    if (!conv->unscaled_bias) return dnnl_memory_set_data_handle(conv->bias, (void *)bias);
    for (int64_t o = 0; o < conv->desc.channels_out; o++)
        conv->unscaled_bias[o] = bias[o] / conv->desc.src_scale;
    return dnnl_memory_set_data_handle(conv->bias, conv->unscaled_bias);
}

static zenith_status execute(const zn_dnn_conv *conv, const void *src, const void *packed,
                             const float *bias, void *dst, void *scratch, zn_error *err)
{
    dnnl_status_t status = dnnl_memory_set_data_handle(conv->src, (void *)src);
    if (status == dnnl_success) status = dnnl_memory_set_data_handle(conv->weights, (void *)packed);
    if (status == dnnl_success) status = dnnl_memory_set_data_handle(conv->dst, dst);
    if (status == dnnl_success && conv->bias) status = set_bias(conv, bias);
    if (status == dnnl_success && conv->scratch)
        status = dnnl_memory_set_data_handle(conv->scratch, scratch);
    if (status == dnnl_success)
        status = dnnl_primitive_execute(conv->shared->primitive, conv->dnn->stream,
                                        conv->args_count, conv->args);
    if (status == dnnl_success) status = dnnl_stream_wait(conv->dnn->stream);
    return zn_dnn_check(status, "running a convolution", err);
}

zenith_status zn_dnn_conv_run(const zn_dnn_conv *conv, const void *src, const void *packed,
                              const float *bias, void *dst, void *scratch, zn_error *err)
{
    uint8_t *own = (uint8_t *)scratch + conv->own_at;
    if (!conv->grown) return execute(conv, src, packed, bias, dst, own, err);
    uint8_t *grown_src = scratch, *grown_dst = grown_src + conv->dst_at;
    memcpy(grown_src, src, conv->src_bytes);
    memset(grown_src + conv->src_bytes, 0, conv->grown_src_bytes - conv->src_bytes);
    memset(grown_dst, 0, conv->own_at - conv->dst_at);
    if (conv->desc.residual) memcpy(grown_dst, dst, conv->dst_bytes);
    ZN_TRY(execute(conv, grown_src, packed, bias, grown_dst, own, err));
    memcpy(dst, grown_dst, conv->dst_bytes);
    return ZENITH_OK;
}
