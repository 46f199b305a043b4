// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith_tokenizer_train, whose work is in task/convert/tokenizer_files.c.
#include "zenith/tokenizer.h"

#include "src/api/context.h"
#include "src/task/autoencode/autoencode.h"
#include "src/task/convert/tokenizer_files.h"

enum { SPECIAL_MOST = 1024 };

static zenith_status check_names(const char *const *names, size_t count, const char *what,
                                 zn_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (!names || !names[i])
            return zn_fail(err, ZENITH_INVALID_ARGUMENT, "%s %zu is NULL", what, i);
    return ZENITH_OK;
}

static zenith_status train(zenith_context *context, const zenith_tokenizer_params *params,
                           zenith_tokenizer_info *out)
{
    zn_error *err = &context->error;
    zenith_tokenizer_params p;
    zn_tokenizer_report report = {0};
    ZN_TRY(zn_params_copy(params, &p, sizeof p, err));
    if (p.count == 0 || !p.output)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "zenith_tokenizer_train needs files with texts and an output folder");
    if (p.special_count > SPECIAL_MOST)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "%zu special tokens are more than %d",
                       p.special_count, SPECIAL_MOST);
    if (p.special_count && !p.special)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "special is NULL, and special_count is %zu",
                       p.special_count);
    ZN_TRY(check_names(p.sources, p.count, "source", err));
    if (p.special) ZN_TRY(check_names(p.special, p.special_count, "special token", err));
    const zn_tokenizer_files call = {.sources = p.sources,
                                     .source_count = p.count,
                                     .output = p.output,
                                     .tokens = p.tokens,
                                     .special = p.special ? p.special : zn_tokenizer_special,
                                     .special_count = p.special ? p.special_count
                                                                : ZN_TOKENIZER_SPECIAL,
                                     .chat = !p.plain,
                                     .cancel = p.cancel ? &p.cancel->requested : NULL};
    ZN_TRY(zn_tokenizer_write(context->executor, &call, &report, err));
    const zenith_tokenizer_info info = {.texts = report.texts,
                                        .bytes = report.bytes,
                                        .tokens = (uint32_t)report.tokens,
                                        .encoded = report.encoded};
    if (out) zn_caller_struct_out(&info, sizeof info, out);
    return ZENITH_OK;
}

zenith_status zenith_tokenizer_train(zenith_context *context, const zenith_tokenizer_params *params,
                                     zenith_tokenizer_info *out)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, train(context, params, out));
}
