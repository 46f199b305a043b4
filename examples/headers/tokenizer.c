// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith/tokenizer.h: a tokenizer of 4,096 tokens from a file of captions.
#include <zenith/tokenizer.h>

zenith_status captions_to_tokenizer(zenith_context *context, const char *captions, uint64_t *texts);

zenith_status captions_to_tokenizer(zenith_context *context, const char *captions, uint64_t *texts)
{
    zenith_tokenizer_params params;
    zenith_tokenizer_info info;
    zenith_tokenizer_params_init(&params);
    zenith_tokenizer_info_init(&info);
    params.sources = &captions;
    params.count = 1;
    params.output = "tokenizer";
    params.tokens = 4096;
    const zenith_status status = zenith_tokenizer_train(context, &params, &info);
    *texts = info.texts;
    return status;
}
