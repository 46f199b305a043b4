// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/op/convert_parallel.h"
#include "src/kernel/kernels.h"

#include "src/op/op_values.h"

#include <string.h>

// Elements of a tile: its two sides fit the first-level cache, and waking a thread pays.
enum { TILE = 8192 };

zenith_status zn_conversion_make(const zn_kernels *kernels, zn_type from, float from_scale,
                                 zn_type to, float to_scale, zn_conversion *out, zn_error *err)
{
    zn_convert_fn *run = kernels->convert(from, to);
    if (!run)
        return zn_fail(err, ZENITH_UNSUPPORTED, "there is no conversion from %s to %s",
                       zn_type_name(from), zn_type_name(to));
    *out = (zn_conversion){run, from, to, from_scale, to_scale};
    return ZENITH_OK;
}

zenith_status zn_conversion_widen(const zn_lowering_request *request, int input, zn_conversion *out,
                                  zn_error *err)
{
    const zn_desc *x = &request->node->inputs[input]->desc;
    return zn_conversion_make(request->kernels, x->type, x->scale, ZN_F32, 1, out, err);
}

zenith_status zn_conversion_narrow(const zn_lowering_request *request, zn_conversion *out,
                                   zn_error *err)
{
    const zn_desc *y = &request->node->desc;
    return zn_conversion_make(request->kernels, ZN_F32, 1, y->type, y->scale, out, err);
}

zenith_status zn_conversion_pass(const zn_lowering_request *request, int input, zn_conversion *out,
                                 zn_error *err)
{
    const zn_desc *x = &request->node->inputs[input]->desc, *y = &request->node->desc;
    return zn_conversion_make(request->kernels, x->type, x->scale, y->type, y->scale, out, err);
}

typedef struct job {
    const zn_conversion *conversion;
    const uint8_t *src;
    uint8_t *dst;
} job;

static void convert_tile(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    const zn_conversion *c = j->conversion;
    c->run(j->src + begin * zn_type_size(c->from), c->from_scale,
           j->dst + begin * zn_type_size(c->to), c->to_scale, end - begin);
}

void zn_conversion_run(const zn_conversion *conversion, zn_team *team, const void *src, void *dst,
                       size_t count)
{
    job j = {conversion, src, dst};
    zn_parallel(team, count, TILE, convert_tile, &j);
}

static void copy_tile(void *arg, size_t begin, size_t end)
{
    const job *j = arg;
    memcpy(j->dst + begin, j->src + begin, end - begin);
}

void zn_copy_parallel(zn_team *team, const void *src, void *dst, size_t bytes)
{
    if (src == dst) return;
    job j = {NULL, src, dst};
    zn_parallel(team, bytes, (size_t)TILE * sizeof(float), copy_tile, &j);
}

static zenith_status widen(void *arg, void *dst, zn_error *err)
{
    (void)err;
    const zn_tensor *vector = arg;
    size_t count = zn_value_count(vector);
    for (size_t i = 0; i < count; i++) ((float *)dst)[i] = zn_value_get(vector, i);
    return ZENITH_OK;
}

zenith_status zn_pack_vector(zn_packs *packs, const zn_tensor *bias, const void **out,
                             zn_error *err)
{
    static const char key[] = "vector f32";
    zn_tensor vector = *bias;
    return zn_packs_get(packs, bias->data, key, sizeof key, zn_value_count(bias) * sizeof(float),
                        widen, &vector, out, err);
}
