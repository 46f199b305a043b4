// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Products of tokens with a matrix on oneDNN's matmul. Any implementation is taken: which one it is
// depends on the number of tokens, so nothing whose bits must not may be computed by it.
#include "tests/kernel/onednn_matmul.h"

#include "src/base/memory.h"
#include "src/dnn/onednn.h"

struct zn_dnn_matmul {
    zn_dnn *dnn;
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t primitive;
    dnnl_memory_t src, weights, dst;
    void *packed;
};

// The descriptors that the primitive is made from; freed when it is made.
typedef struct parts {
    dnnl_memory_desc_t src, dense, weights, dst;
    dnnl_memory_t from;
    dnnl_primitive_desc_t reorder_desc;
    dnnl_primitive_t reorder;
} parts;

static void parts_free(parts *p)
{
    if (p->reorder) dnnl_primitive_destroy(p->reorder);
    if (p->reorder_desc) dnnl_primitive_desc_destroy(p->reorder_desc);
    if (p->from) dnnl_memory_destroy(p->from);
    if (p->dst) dnnl_memory_desc_destroy(p->dst);
    if (p->weights) dnnl_memory_desc_destroy(p->weights);
    if (p->dense) dnnl_memory_desc_destroy(p->dense);
    if (p->src) dnnl_memory_desc_destroy(p->src);
}

static zenith_status describe(dnnl_memory_desc_t *out, int64_t rows, int64_t columns, zn_type type,
                              dnnl_format_tag_t tag, zn_error *err)
{
    const dnnl_dims_t dims = {rows, columns};
    dnnl_data_type_t data_type;
    if (!zn_dnn_type(type, &data_type))
        return zn_fail(err, ZENITH_UNSUPPORTED, "oneDNN multiplies no %s", zn_type_name(type));
    return zn_dnn_check(dnnl_memory_desc_create_with_tag(out, 2, dims, data_type, tag), "matrix",
                        err);
}

static zenith_status make_primitive(zn_dnn_matmul *m, parts *p, const zn_dnn_matmul_desc *d,
                                    zn_error *err)
{
    ZN_TRY(describe(&p->src, d->tokens, d->inputs, d->type, dnnl_ab, err));
    ZN_TRY(describe(&p->dense, d->inputs, d->outputs, d->type, dnnl_ba, err));
    ZN_TRY(describe(&p->weights, d->inputs, d->outputs, d->type, dnnl_format_tag_any, err));
    ZN_TRY(describe(&p->dst, d->tokens, d->outputs, d->dst, dnnl_ab, err));
    ZN_TRY(zn_dnn_check(dnnl_matmul_primitive_desc_create(&m->desc, m->dnn->engine, p->src,
                                                          p->weights, NULL, p->dst, NULL),
                        "product of matrices", err));
    return zn_dnn_check(dnnl_primitive_create(&m->primitive, m->desc), "product of matrices", err);
}

// Into the order that the primitive asks for.
static zenith_status pack(zn_dnn_matmul *m, parts *p, const void *weights, zn_error *err)
{
    const_dnnl_memory_desc_t wanted = dnnl_primitive_desc_query_md(m->desc, dnnl_query_weights_md,
                                                                   0);
    const size_t bytes = dnnl_memory_desc_get_size(wanted);
    dnnl_engine_t engine = m->dnn->engine;
    m->packed = zn_alloc(bytes);
    if (!m->packed) return zn_fail_memory(err, bytes);
    ZN_TRY(zn_dnn_check(dnnl_memory_create(&m->weights, wanted, engine, m->packed), "memory", err));
    ZN_TRY(zn_dnn_check(dnnl_memory_create(&p->from, p->dense, engine, (void *)weights), "memory",
                        err));
    ZN_TRY(zn_dnn_check(dnnl_reorder_primitive_desc_create(&p->reorder_desc, p->dense, engine,
                                                           wanted, engine, NULL),
                        "packing of weights", err));
    ZN_TRY(zn_dnn_check(dnnl_primitive_create(&p->reorder, p->reorder_desc), "packing of weights",
                        err));
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, p->from}, {DNNL_ARG_TO, m->weights}};
    ZN_TRY(zn_dnn_check(dnnl_primitive_execute(p->reorder, m->dnn->stream, 2, args),
                        "packing of weights", err));
    return zn_dnn_check(dnnl_stream_wait(m->dnn->stream), "packing of weights", err);
}

static zenith_status build(zn_dnn_matmul *m, parts *p, const zn_dnn_matmul_desc *desc,
                           const void *weights, zn_error *err)
{
    ZN_TRY(make_primitive(m, p, desc, err));
    ZN_TRY(pack(m, p, weights, err));
    ZN_TRY(zn_dnn_check(dnnl_memory_create(&m->src, p->src, m->dnn->engine, DNNL_MEMORY_NONE),
                        "memory", err));
    return zn_dnn_check(dnnl_memory_create(&m->dst, p->dst, m->dnn->engine, DNNL_MEMORY_NONE),
                        "memory", err);
}

zenith_status zn_dnn_matmul_create(zn_dnn *dnn, const zn_dnn_matmul_desc *desc, const void *weights,
                                   zn_dnn_matmul **out, zn_error *err)
{
    parts p = {0};
    zn_dnn_matmul *m = zn_alloc_zero(sizeof *m);
    if (!m) return zn_fail_memory(err, sizeof *m);
    m->dnn = dnn;
    const zenith_status status = build(m, &p, desc, weights, err);
    parts_free(&p);
    if (status != ZENITH_OK)
        zn_dnn_matmul_free(m);
    else
        *out = m;
    return status;
}

void zn_dnn_matmul_free(zn_dnn_matmul *m)
{
    if (!m) return;
    if (m->dst) dnnl_memory_destroy(m->dst);
    if (m->src) dnnl_memory_destroy(m->src);
    if (m->weights) dnnl_memory_destroy(m->weights);
    if (m->primitive) dnnl_primitive_destroy(m->primitive);
    if (m->desc) dnnl_primitive_desc_destroy(m->desc);
    zn_free(m->packed);
    zn_free(m);
}

// The C API has no const pointers to data; what is an input is only read.
zenith_status zn_dnn_matmul_run(const zn_dnn_matmul *m, const void *src, void *dst, zn_error *err)
{
    const dnnl_exec_arg_t args[] = {
        {DNNL_ARG_SRC, m->src}, {DNNL_ARG_WEIGHTS, m->weights}, {DNNL_ARG_DST, m->dst}};
    dnnl_status_t status = dnnl_memory_set_data_handle(m->src, (void *)src);
    if (status == dnnl_success) status = dnnl_memory_set_data_handle(m->dst, dst);
    if (status == dnnl_success)
        status = dnnl_primitive_execute(m->primitive, m->dnn->stream, 3, args);
    if (status == dnnl_success) status = dnnl_stream_wait(m->dnn->stream);
    return zn_dnn_check(status, "running a product of matrices", err);
}
