// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith_convert, whose work is in task/convert/few_bits_files.c.
#include "zenith/generate.h"

#include "src/api/context.h"
#include "src/base/memory.h"
#include "src/task/autoencode/autoencode.h"
#include "src/task/convert/few_bits_files.h"

static int on_step(void *cookie, const zn_few_bits_report *inner)
{
    const zenith_convert_params *params = cookie;
    const zenith_convert_report report = {.size = sizeof report,
                                          .part = inner->part,
                                          .tensor = inner->tensor,
                                          .index = inner->index,
                                          .count = inner->count,
                                          .done = inner->done,
                                          .bytes = inner->bytes};
    return params->report ? params->report(params->report_cookie, &report) : 0;
}

static zenith_status convert(zenith_context *context, const zenith_convert_params *params,
                             char **out)
{
    zn_error *err = &context->error;
    zenith_convert_params p;
    char *text = NULL;
    ZN_TRY(zn_params_copy(params, &p, sizeof p, err));
    if (!p.source || !p.output)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "zenith_convert needs a source and an output");
    if ((int)p.recipe < 0 || p.recipe > ZENITH_RECIPE_Q8)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "unknown recipe %d", (int)p.recipe);
    const zn_few_bits call = {.source = p.source,
                              .output = p.output,
                              .recipe = (zn_recipe)p.recipe,
                              .rotate = !p.unrotated,
                              .cancel = p.cancel ? &p.cancel->requested : NULL,
                              .report = on_step,
                              .cookie = &p};
    ZN_TRY(zn_write_few_bits(context->executor, &call, &text, err));
    if (out)
        *out = text;
    else
        zn_free(text);
    return ZENITH_OK;
}

zenith_status zenith_convert(zenith_context *context, const zenith_convert_params *params,
                             char **out)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, convert(context, params, out));
}
