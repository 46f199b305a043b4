// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients of convolutions on oneDNN: its primitives backward_data and backward_weights.
//
// The primitive works on weights in an order that it chooses. They lie in scratch, and a reorder
// brings them there from the caller's dense ones before a run (data), or from there into them after
// it (weights): unlike those of inference they are other weights after every step.
//
// As in onednn_conv.c memory objects are made once, and a run sets their pointers: an object belongs
// to one thread, and a run allocates nothing.
#include "src/dnn/onednn.h"

#include "src/base/memory.h"
#include "src/base/text.h"

enum { ID_SIZE = 96, MAX_ARGS = 5 };

struct zn_dnn_gradient {
    zn_dnn *dnn;
    zn_dnn_gradient_desc desc;
    dnnl_primitive_desc_t primitive_desc, reorder_desc;
    dnnl_primitive_t primitive, reorder;
    dnnl_memory_t src, dy, packed, bias, own; // src: or dx. packed: the weights, in scratch
    dnnl_memory_t dense;                      // the caller's weights, or dw
    dnnl_exec_arg_t args[MAX_ARGS];
    int args_count;
    size_t own_at, scratch_bytes; // packed weights are at 0
    char id[ID_SIZE];
};

// The descriptors that the primitives are made from; freed when they are made.
typedef struct parts {
    dnnl_memory_desc_t src, weights, dense, bias, dy;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t forward; // the convolution whose gradient this is: oneDNN wants to see it
} parts;

static void parts_free(parts *p)
{
    if (p->forward) dnnl_primitive_desc_destroy(p->forward);
    if (p->attr) dnnl_primitive_attr_destroy(p->attr);
    if (p->dy) dnnl_memory_desc_destroy(p->dy);
    if (p->bias) dnnl_memory_desc_destroy(p->bias);
    if (p->dense) dnnl_memory_desc_destroy(p->dense);
    if (p->weights) dnnl_memory_desc_destroy(p->weights);
    if (p->src) dnnl_memory_desc_destroy(p->src);
}

static bool is_of_weights(const zn_dnn_gradient *g)
{
    return g->desc.kind == ZN_DNN_GRADIENT_WEIGHTS;
}

static zenith_status check_desc(const zn_dnn_gradient_desc *d, zn_error *err)
{
    if (d->type != ZN_F32 && d->type != ZN_BF16)
        return zn_fail(err, ZENITH_UNSUPPORTED, "no gradients of a convolution of %s",
                       zn_type_name(d->type));
    if (d->kind == ZN_DNN_GRADIENT_DATA && d->dx != ZN_F32 && d->dx != d->type)
        return zn_fail(err, ZENITH_UNSUPPORTED, "no gradient in %s of a convolution of %s",
                       zn_type_name(d->dx), zn_type_name(d->type));
    return ZENITH_OK;
}

static zenith_status describe(parts *p, const zn_dnn_gradient_desc *d, zn_error *err)
{
    const dnnl_dims_t dims = {d->channels_out, d->channels_in, d->kernel_h, d->kernel_w};
    const bool of_weights = d->kind == ZN_DNN_GRADIENT_WEIGHTS;
    const zn_type weights = of_weights ? ZN_F32 : d->type;
    ZN_TRY(zn_dnn_describe_map(&p->src, d->rows_in, d->width_in, d->channels_in,
                               of_weights ? d->type : d->dx, err));
    ZN_TRY(zn_dnn_describe_map(&p->dy, d->rows_out, d->width_out, d->channels_out, d->type, err));
    ZN_TRY(zn_dnn_describe_weights(&p->weights, dims, weights, dnnl_format_tag_any, err));
    ZN_TRY(zn_dnn_describe_weights(&p->dense, dims, weights, dnnl_oihw, err));
    if (of_weights && d->bias) ZN_TRY(zn_dnn_describe_vector(&p->bias, d->channels_out, err));
    ZN_TRY(zn_dnn_check(dnnl_primitive_attr_create(&p->attr), "attributes of a gradient", err));
    return zn_dnn_check(dnnl_primitive_attr_set_scratchpad_mode(p->attr, dnnl_scratchpad_mode_user),
                        "attributes of a gradient", err);
}

// The convolution itself, all of one type: only a hint.
static zenith_status describe_forward(parts *p, zn_dnn_gradient *g, zn_error *err)
{
    const zn_dnn_gradient_desc *d = &g->desc;
    const dnnl_dims_t dims = {d->channels_out, d->channels_in, d->kernel_h, d->kernel_w};
    const dnnl_dims_t strides = {d->stride, d->stride}, dilates = {0, 0};
    const dnnl_dims_t before = {0, d->pad_left}, after = {0, d->pad_right};
    dnnl_memory_desc_t src = NULL, weights = NULL;
    zenith_status status;
    ZN_GO(zn_dnn_describe_map(&src, d->rows_in, d->width_in, d->channels_in, d->type, err));
    ZN_GO(zn_dnn_describe_weights(&weights, dims, d->type, dnnl_format_tag_any, err));
    ZN_GO(zn_dnn_check(dnnl_convolution_forward_primitive_desc_create(
                           &p->forward, g->dnn->engine, dnnl_forward_training,
                           dnnl_convolution_direct, src, weights, p->bias, p->dy, strides, dilates,
                           before, after, p->attr),
                       "convolution of these types", err));
fail:
    if (src) dnnl_memory_desc_destroy(src);
    if (weights) dnnl_memory_desc_destroy(weights);
    return status;
}

static zenith_status choose_implementation(zn_dnn_gradient *g, const parts *p, zn_error *err)
{
    const zn_dnn_gradient_desc *d = &g->desc;
    const dnnl_dims_t strides = {d->stride, d->stride}, dilates = {0, 0};
    const dnnl_dims_t before = {0, d->pad_left}, after = {0, d->pad_right};
    const dnnl_status_t made = is_of_weights(g)
                                   ? dnnl_convolution_backward_weights_primitive_desc_create(
                                         &g->primitive_desc, g->dnn->engine,
                                         dnnl_convolution_direct, p->src, p->weights, p->bias,
                                         p->dy, strides, dilates, before, after, p->forward,
                                         p->attr)
                                   : dnnl_convolution_backward_data_primitive_desc_create(
                                         &g->primitive_desc, g->dnn->engine,
                                         dnnl_convolution_direct, p->src, p->weights, p->dy,
                                         strides, dilates, before, after, p->forward, p->attr);
    ZN_TRY(zn_dnn_check(made, "gradient of a convolution of these types", err));
    while (!zn_dnn_is_welcome(zn_dnn_implementation(g->primitive_desc)))
        ZN_TRY(zn_dnn_check(dnnl_primitive_desc_next_impl(g->primitive_desc),
                            "fast gradient of a convolution of these types", err));
    return ZENITH_OK;
}

static zenith_status make_memory(const zn_dnn_gradient *g, const_dnnl_memory_desc_t md,
                                 dnnl_memory_t *memory, zn_error *err)
{
    return zn_dnn_check(dnnl_memory_create(memory, md, g->dnn->engine, DNNL_MEMORY_NONE),
                        "memory object", err);
}

static zenith_status add_argument(zn_dnn_gradient *g, int argument, const_dnnl_memory_desc_t md,
                                  dnnl_memory_t *memory, zn_error *err)
{
    ZN_TRY(make_memory(g, md, memory, err));
    g->args[g->args_count++] = (dnnl_exec_arg_t){argument, *memory};
    return ZENITH_OK;
}

static zenith_status make_arguments(zn_dnn_gradient *g, const parts *p,
                                    const_dnnl_memory_desc_t packed, zn_error *err)
{
    const_dnnl_memory_desc_t own = dnnl_primitive_desc_query_md(g->primitive_desc,
                                                                dnnl_query_scratchpad_md, 0);
    const size_t own_bytes = own ? dnnl_memory_desc_get_size(own) : 0;
    const bool of_weights = is_of_weights(g);
    g->own_at = zn_round_up(dnnl_memory_desc_get_size(packed), ZN_ALIGN);
    g->scratch_bytes = g->own_at + own_bytes;
    ZN_TRY(add_argument(g, of_weights ? DNNL_ARG_SRC : DNNL_ARG_DIFF_SRC, p->src, &g->src, err));
    ZN_TRY(add_argument(g, DNNL_ARG_DIFF_DST, p->dy, &g->dy, err));
    ZN_TRY(add_argument(g, of_weights ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, packed,
                        &g->packed, err));
    if (p->bias) ZN_TRY(add_argument(g, DNNL_ARG_DIFF_BIAS, p->bias, &g->bias, err));
    if (own_bytes) ZN_TRY(add_argument(g, DNNL_ARG_SCRATCHPAD, own, &g->own, err));
    return make_memory(g, p->dense, &g->dense, err);
}

static zenith_status build(zn_dnn_gradient *g, parts *p, zn_error *err)
{
    ZN_TRY(check_desc(&g->desc, err));
    ZN_TRY(describe(p, &g->desc, err));
    ZN_TRY(describe_forward(p, g, err));
    ZN_TRY(choose_implementation(g, p, err));
    ZN_TRY(zn_dnn_check(dnnl_primitive_create(&g->primitive, g->primitive_desc),
                        "gradient of a convolution", err));
    const_dnnl_memory_desc_t packed = dnnl_primitive_desc_query_md(
        g->primitive_desc, is_of_weights(g) ? dnnl_query_diff_weights_md : dnnl_query_weights_md,
        0);
    const_dnnl_memory_desc_t from = is_of_weights(g) ? packed : p->dense;
    const_dnnl_memory_desc_t to = is_of_weights(g) ? p->dense : packed;
    ZN_TRY(zn_dnn_check(dnnl_reorder_primitive_desc_create(&g->reorder_desc, from, g->dnn->engine,
                                                           to, g->dnn->engine, p->attr),
                        "packing of weights", err));
    ZN_TRY(zn_dnn_check(dnnl_primitive_create(&g->reorder, g->reorder_desc), "packing of weights",
                        err));
    zn_text_format(g->id, ID_SIZE, "onednn:%s", zn_dnn_implementation(g->primitive_desc));
    return make_arguments(g, p, packed, err);
}

zenith_status zn_dnn_gradient_create(zn_dnn *dnn, const zn_dnn_gradient_desc *desc,
                                     zn_dnn_gradient **out, zn_error *err)
{
    parts p = {0};
    zn_dnn_gradient *g = zn_alloc_zero(sizeof *g);
    if (!g) return zn_fail_memory(err, sizeof *g);
    g->dnn = dnn;
    g->desc = *desc;
    zenith_status status = build(g, &p, err);
    parts_free(&p);
    if (status != ZENITH_OK)
        zn_dnn_gradient_free(g);
    else
        *out = g;
    return status;
}

void zn_dnn_gradient_free(zn_dnn_gradient *g)
{
    if (!g) return;
    for (int i = 0; i < g->args_count; i++) dnnl_memory_destroy(g->args[i].memory);
    if (g->dense) dnnl_memory_destroy(g->dense);
    if (g->reorder) dnnl_primitive_destroy(g->reorder);
    if (g->reorder_desc) dnnl_primitive_desc_destroy(g->reorder_desc);
    if (g->primitive) dnnl_primitive_destroy(g->primitive);
    if (g->primitive_desc) dnnl_primitive_desc_destroy(g->primitive_desc);
    zn_free(g);
}

const char *zn_dnn_gradient_id(const zn_dnn_gradient *g)
{
    return g->id;
}

size_t zn_dnn_gradient_scratch(const zn_dnn_gradient *g)
{
    return g->scratch_bytes;
}

static dnnl_status_t execute_reorder(const zn_dnn_gradient *g)
{
    const dnnl_memory_t from = is_of_weights(g) ? g->packed : g->dense;
    const dnnl_memory_t to = is_of_weights(g) ? g->dense : g->packed;
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    return dnnl_primitive_execute(g->reorder, g->dnn->stream, 2, args);
}

// The C API has no const pointers to data; what is an input is only read.
static zenith_status execute(const zn_dnn_gradient *g, const void *src, const void *dy,
                             const void *weights, float *db, void *scratch, zn_error *err)
{
    dnnl_status_t status = dnnl_memory_set_data_handle(g->src, (void *)src);
    if (status == dnnl_success) status = dnnl_memory_set_data_handle(g->dy, (void *)dy);
    if (status == dnnl_success) status = dnnl_memory_set_data_handle(g->packed, scratch);
    if (status == dnnl_success) status = dnnl_memory_set_data_handle(g->dense, (void *)weights);
    if (status == dnnl_success && g->bias) status = dnnl_memory_set_data_handle(g->bias, db);
    if (status == dnnl_success && g->own)
        status = dnnl_memory_set_data_handle(g->own, (uint8_t *)scratch + g->own_at);
    if (status == dnnl_success && !is_of_weights(g)) status = execute_reorder(g);
    if (status == dnnl_success)
        status = dnnl_primitive_execute(g->primitive, g->dnn->stream, g->args_count, g->args);
    if (status == dnnl_success && is_of_weights(g)) status = execute_reorder(g);
    if (status == dnnl_success) status = dnnl_stream_wait(g->dnn->stream);
    return zn_dnn_check(status, "running the gradient of a convolution", err);
}

zenith_status zn_dnn_gradient_run_data(const zn_dnn_gradient *g, const void *dy,
                                       const void *weights, void *dx, void *scratch, zn_error *err)
{
    return execute(g, dx, dy, weights, NULL, scratch, err);
}

zenith_status zn_dnn_gradient_run_weights(const zn_dnn_gradient *g, const void *src, const void *dy,
                                          float *dw, float *db, void *scratch, zn_error *err)
{
    return execute(g, src, dy, dw, db, scratch, err);
}
