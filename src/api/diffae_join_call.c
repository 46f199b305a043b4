// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith_diffae_join, whose work is in task/diffae/join.c.
#include "zenith/diffae.h"

#include "src/api/context.h"
#include "src/api/models.h"
#include "src/base/text.h"
#include "src/task/diffae/join.h"

static zenith_status join(const zenith_diffae_join_params *theirs, zn_error *err)
{
    zenith_diffae_join_params params;
    ZN_TRY(zn_caller_struct_in(theirs, ZN_SIZE_UP_TO(zenith_diffae_join_params, force), &params,
                               sizeof params, err));
    zn_diffae_join call = {.sources = params.sources,
                           .count = params.count,
                           .output = params.output,
                           .force = params.force};
    if (!call.sources || !call.output || !zn_text_ends_with(call.output, ".safetensors"))
        return zn_fail(
            err, ZENITH_INVALID_ARGUMENT,
            "zenith_diffae_join needs sources and an output that ends with .safetensors");
    for (size_t i = 0; i < call.count; i++)
        if (!call.sources[i]) return zn_fail(err, ZENITH_INVALID_ARGUMENT, "source %zu is NULL", i);
    ZN_TRY(zn_weight_type(params.number, &call.type, err));
    return zn_diffae_join_write(&call, err);
}

zenith_status zenith_diffae_join(zenith_context *context, const zenith_diffae_join_params *params)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, join(params, &context->error));
}
