// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The engine, and the two settings of oneDNN that are one per process by its design: the cap on
// instruction sets and the size of the primitive cache.
#include "src/dnn/onednn.h"

#include "src/base/memory.h"
#include "src/base/text.h"

#include <string.h>

zenith_status zn_dnn_check(dnnl_status_t status, const char *what, zn_error *err)
{
    switch (status) {
    case dnnl_success:
        return ZENITH_OK;
    case dnnl_out_of_memory:
        return zn_fail(err, ZENITH_OUT_OF_MEMORY, "oneDNN had no memory left for %s", what);
    case dnnl_unimplemented:
    case dnnl_last_impl_reached:
        return zn_fail(err, ZENITH_UNSUPPORTED, "oneDNN %s has no %s on this CPU", zn_dnn_version(),
                       what);
    default:
        return zn_fail(err, ZENITH_INTERNAL, "oneDNN %s failed at %s (its status %d)",
                       zn_dnn_version(), what, (int)status);
    }
}

bool zn_dnn_type(zn_type type, dnnl_data_type_t *out)
{
    switch (type) {
    case ZN_F32:
        *out = dnnl_f32;
        return true;
    case ZN_BF16:
        *out = dnnl_bf16;
        return true;
    case ZN_U8:
        *out = dnnl_u8;
        return true;
    case ZN_S8:
        *out = dnnl_s8;
        return true;
    default:
        return false;
    }
}

zenith_status zn_dnn_describe_map(dnnl_memory_desc_t *out, int64_t rows, int64_t width,
                                  int64_t channels, zn_type type, zn_error *err)
{
    const dnnl_dims_t dims = {1, channels, rows, width};
    dnnl_data_type_t data_type;
    if (!zn_dnn_type(type, &data_type))
        return zn_fail(err, ZENITH_UNSUPPORTED, "oneDNN takes no %s maps", zn_type_name(type));
    return zn_dnn_check(
        dnnl_memory_desc_create_with_tag(out, ZN_DNN_MAP_RANK, dims, data_type, dnnl_nhwc), "map",
        err);
}

zenith_status zn_dnn_describe_weights(dnnl_memory_desc_t *out, const dnnl_dims_t dims, zn_type type,
                                      dnnl_format_tag_t tag, zn_error *err)
{
    dnnl_data_type_t data_type;
    if (!zn_dnn_type(type, &data_type))
        return zn_fail(err, ZENITH_UNSUPPORTED, "oneDNN takes no %s weights", zn_type_name(type));
    return zn_dnn_check(
        dnnl_memory_desc_create_with_tag(out, ZN_DNN_MAP_RANK, dims, data_type, tag), "weights",
        err);
}

zenith_status zn_dnn_describe_vector(dnnl_memory_desc_t *out, int64_t length, zn_error *err)
{
    const dnnl_dims_t dims = {length};
    return zn_dnn_check(dnnl_memory_desc_create_with_tag(out, 1, dims, dnnl_f32, dnnl_a), "vector",
                        err);
}

const char *zn_dnn_implementation(const_dnnl_primitive_desc_t primitive)
{
    const char *name = "";
    dnnl_primitive_desc_query(primitive, dnnl_query_impl_info_str, 0, (void *)&name);
    return name;
}

bool zn_dnn_is_welcome(const char *implementation)
{
    return !strstr(implementation, "ref") && !strstr(implementation, "gemm");
}

static dnnl_cpu_isa_t isa_cap(const zn_cpu *cpu)
{
    const unsigned flags = cpu->flags;
    if (zn_cpu_has(flags, ZN_CPU_AMX)) return dnnl_cpu_isa_default;
    if (zn_cpu_has(flags, ZN_CPU_AVX512_VNNI | ZN_CPU_AVX512_BF16))
        return dnnl_cpu_isa_avx512_core_bf16;
    if (flags & ZN_CPU_AVX512_VNNI) return dnnl_cpu_isa_avx512_core_vnni;
    if (flags & ZN_CPU_AVX512) return dnnl_cpu_isa_avx512_core;
    if (flags & ZN_CPU_AVX_VNNI) return dnnl_cpu_isa_avx2_vnni;
    return flags & ZN_CPU_AVX2 ? dnnl_cpu_isa_avx2 : dnnl_cpu_isa_sse41;
}

// oneDNN itself guards the cap: it takes one value, before the first primitive, and refuses every
// later one. So the first context of the process decides, and a refusal is no failure. Plans hold
// their primitives, so a cache would only keep dead ones alive.
static void set_process_settings(const zn_cpu *cpu)
{
    dnnl_cpu_isa_t cap = isa_cap(cpu);
    if (cap != dnnl_cpu_isa_default) (void)dnnl_set_max_cpu_isa(cap);
    (void)dnnl_set_primitive_cache_capacity(0);
}

zenith_status zn_dnn_create(const zn_cpu *cpu, zn_dnn **out, zn_error *err)
{
    zenith_status status;
    zn_dnn *dnn = zn_alloc_zero(sizeof *dnn);
    if (!dnn) return zn_fail_memory(err, sizeof *dnn);
    set_process_settings(cpu);
    ZN_GO(zn_dnn_check(dnnl_engine_create(&dnn->engine, dnnl_cpu, 0), "CPU engine", err));
    ZN_GO(zn_dnn_check(dnnl_stream_create(&dnn->stream, dnn->engine, dnnl_stream_default_flags),
                       "stream", err));
    *out = dnn;
    return ZENITH_OK;
fail:
    zn_dnn_free(dnn);
    return status;
}

void zn_dnn_free(zn_dnn *dnn)
{
    if (!dnn) return;
    if (dnn->stream) dnnl_stream_destroy(dnn->stream);
    if (dnn->engine) dnnl_engine_destroy(dnn->engine);
    zn_free(dnn);
}

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

const char *zn_dnn_version(void)
{
    return TEXT(DNNL_VERSION_MAJOR) "." TEXT(DNNL_VERSION_MINOR) "." TEXT(DNNL_VERSION_PATCH);
}
