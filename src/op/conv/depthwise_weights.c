// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/op/conv/depthwise_weights.h"

#include "src/op/op_values.h"

// What a packed form is of, and its key.
typedef struct packing {
    char kind;
    bool turned;
    float scale;
    int64_t groups;
} packing;

typedef struct source {
    packing how;
    const zn_tensor *weight;
} source;

static zenith_status pack_depthwise(void *arg, void *dst, zn_error *err)
{
    const source *s = arg;
    const size_t channels = (size_t)s->weight->desc.shape.dim[0];
    float *to = dst;
    (void)err;
    for (size_t tap = 0; tap < 9; tap++) {
        const size_t from = s->how.turned ? 8 - tap : tap;
        for (size_t c = 0; c < channels; c++)
            *to++ = zn_value_get(s->weight, c * 9 + from) * s->how.scale;
    }
    return ZENITH_OK;
}

static zenith_status pack_grouped(void *arg, void *dst, zn_error *err)
{
    const source *s = arg;
    const int64_t *dim = s->weight->desc.shape.dim;
    const size_t groups = (size_t)s->how.groups, in = (size_t)dim[1];
    const size_t out = (size_t)dim[0] / groups;
    float *to = dst;
    (void)err;
    for (size_t g = 0; g < groups; g++) {
        for (size_t k = 0; k < in * out; k++) {
            const size_t i = s->how.turned ? k % in : k / out, o = s->how.turned ? k / in : k % out;
            *to++ = zn_value_get(s->weight, (g * out + o) * in + i) * s->how.scale;
        }
    }
    return ZENITH_OK;
}

static zenith_status pack(zn_packs *packs, const zn_tensor *weight, const packing *how,
                          zn_pack_fn *make, const float **out, zn_error *err)
{
    source s = {*how, weight};
    const void *made = NULL;
    packing key; // without the bytes between its members
    memset(&key, 0, sizeof key);
    key.kind = how->kind;
    key.turned = how->turned;
    key.scale = how->scale;
    key.groups = how->groups;
    ZN_TRY(zn_packs_get(packs, weight->data, &key, sizeof key,
                        zn_value_count(weight) * sizeof(float), make, &s, &made, err));
    *out = made;
    return ZENITH_OK;
}

zenith_status zn_depthwise_pack(zn_packs *packs, const zn_tensor *weight, bool turned, float scale,
                                const float **out, zn_error *err)
{
    const packing how = {'d', turned, scale, 1};
    return pack(packs, weight, &how, pack_depthwise, out, err);
}

zenith_status zn_grouped_pack(zn_packs *packs, const zn_tensor *weight, int64_t groups, bool turned,
                              float scale, const float **out, zn_error *err)
{
    const packing how = {'g', turned, scale, groups};
    return pack(packs, weight, &how, pack_grouped, out, err);
}
