// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See estimates.h.
#include "apps/serve/models/estimates.h"

static const uint32_t sides[SERVE_SIDES] = {512, 1024}; // multiples of all factors
static const char *const names[SERVE_TYPES] = {"f32", "bf16", "int8"};
static const unsigned parts[2] = {ZENITH_ENCODER, ZENITH_DECODER};

static zenith_dtype type_at(int index)
{
    return (zenith_dtype)(ZENITH_DTYPE_F32 + index);
}

// Pictures come and go by rows in the server. *usual becomes the type that the library takes.
static uint64_t ask(zenith_context *context, zenith_model *model, unsigned part, uint32_t side,
                    const zenith_run_params *run, zenith_dtype *usual)
{
    zenith_estimate_info info = {.size = sizeof info};
    if (zenith_estimate(context, model, part, side, side, true, run, &info) != ZENITH_OK) return 0;
    *usual = info.dtype;
    return info.total_bytes;
}

static void fill_type(serve_estimates *estimates, int type, zenith_context *context,
                      zenith_model *model, unsigned found, const zenith_run_params *run)
{
    zenith_run_params one = *run;
    one.dtype = type_at(type);
    for (int s = 0; s < SERVE_SIDES; s++)
        for (int p = 0; p < 2; p++) {
            zenith_dtype is = one.dtype;
            if (!(found & parts[p])) continue;
            const uint64_t bytes = ask(context, model, parts[p], sides[s], &one, &is);
            if (is == one.dtype) estimates->bytes[type][s][p] = bytes;
        }
}

void serve_estimates_fill(serve_estimates *estimates, zenith_context *context, zenith_model *model,
                          const zenith_model_info *info, const zenith_run_params *run)
{
    const unsigned part = info->parts & ZENITH_DECODER ? ZENITH_DECODER : ZENITH_ENCODER;
    *estimates = (serve_estimates){.usual = ZENITH_DTYPE_F32};
    (void)ask(context, model, part, sides[0], run, &estimates->usual);
    for (int t = 0; t < SERVE_TYPES; t++) {
        const bool fixed = run->dtype != ZENITH_DTYPE_DEFAULT && type_at(t) != estimates->usual;
        if (fixed || (type_at(t) == ZENITH_DTYPE_INT8 && !info->has_int8)) continue;
        fill_type(estimates, t, context, model, info->parts, run);
    }
}

static bool offered(const serve_estimates *estimates, int type)
{
    for (int s = 0; s < SERVE_SIDES; s++)
        if (estimates->bytes[type][s][0] || estimates->bytes[type][s][1]) return true;
    return false;
}

unsigned serve_estimates_types(const serve_estimates *estimates)
{
    unsigned types = 0;
    for (int t = 0; t < SERVE_TYPES; t++)
        if (offered(estimates, t)) types |= 1u << type_at(t);
    return types;
}

static json_t *describe_type(const serve_estimates *estimates, int type)
{
    json_t *memory = json_array();
    for (int s = 0; s < SERVE_SIDES; s++) {
        const uint64_t *bytes = estimates->bytes[type][s];
        json_t *row = json_pack("{s:I}", "side", (json_int_t)sides[s]);
        if (bytes[0]) json_object_set_new(row, "encode", json_integer((json_int_t)bytes[0]));
        if (bytes[1]) json_object_set_new(row, "decode", json_integer((json_int_t)bytes[1]));
        if (bytes[0] || bytes[1])
            json_array_append_new(memory, row);
        else
            json_decref(row);
    }
    return json_pack("{s:s, s:o}", "type", names[type], "memory", memory);
}

json_t *serve_estimates_describe(const serve_estimates *estimates)
{
    json_t *list = json_array();
    for (int t = 0; t < SERVE_TYPES; t++) {
        if (!offered(estimates, t)) continue;
        json_t *type = describe_type(estimates, t);
        if (type_at(t) == estimates->usual)
            json_array_insert_new(list, 0, type);
        else
            json_array_append_new(list, type);
    }
    return list;
}
