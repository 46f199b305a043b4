// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Tokenizers from vocab.json and merges.txt, and from the arrays of a GGUF file.
#include "src/base/memory.h"
#include "src/text/lines.h"
#include "src/text/tokenizer_json.h"

#include <string.h>

static bool is_header(zn_bytes line)
{
    static const char mark[] = "#version"; // "# #" is a merge, so not every # begins a comment
    return line.size >= sizeof mark - 1 && memcmp(line.data, mark, sizeof mark - 1) == 0;
}

static zenith_status read_merge_lines(zn_tokenizer *tokenizer, zn_bytes merges, zn_error *err)
{
    zn_bytes line;
    for (size_t rank = 0; zn_lines_next(&merges, &line);) {
        if (line.size == 0 || is_header(line)) continue;
        ZN_TRY(zn_tokenizer_add_merge_line(tokenizer, line, rank++, err));
    }
    return ZENITH_OK;
}

// "151643": {"content": ..}
static zenith_status add_from_config(void *cookie, const char *key, const zn_json *value,
                                     zn_error *err)
{
    int64_t id = 0;
    const size_t digits = strspn(key, "0123456789");
    if (digits == 0 || digits > 9 || key[digits])
        return zn_fail(err, ZENITH_BAD_FILE, "an added token has \"%.*s\" for its id", 40, key);
    for (const char *digit = key; *digit; digit++) id = id * 10 + (*digit - '0');
    return zn_tokenizer_read_added(cookie, value, id, err);
}

static zenith_status read_parts(const zn_json *vocabulary, zn_bytes merges, const zn_json *added,
                                const char *where, zn_tokenizer **out, zn_error *err)
{
    const size_t extra = added ? zn_json_size(added) : ZN_QWEN_ADDED;
    ZN_TRY(zn_tokenizer_create(zn_json_size(vocabulary), zn_lines_count(merges), extra, out, err));
    ZN_TRY(zn_tokenizer_read_vocabulary(*out, vocabulary, err));
    ZN_TRY(read_merge_lines(*out, merges, err));
    if (added)
        ZN_TRY(zn_json_each(added, add_from_config, *out, err));
    else
        ZN_TRY(zn_tokenizer_add_qwen(*out, err));
    return zn_tokenizer_finish(*out, zn_pattern_qwen2, where, err);
}

zenith_status zn_tokenizer_parse_merges(zn_bytes vocabulary, zn_bytes merges, zn_bytes config,
                                        const char *where, zn_tokenizer **out, zn_error *err)
{
    zn_json *words = NULL, *settings = NULL;
    const zn_json *added = NULL;
    zn_tokenizer *tokenizer = NULL;
    zenith_status status;
    ZN_GO(zn_json_parse(vocabulary.data, vocabulary.size, where, &words, err));
    if (config.size > 0) {
        ZN_GO(zn_json_parse(config.data, config.size, where, &settings, err));
        if (zn_json_has(settings, "added_tokens_decoder"))
            ZN_GO(zn_json_get_object(settings, "added_tokens_decoder", &added, err));
    }
    ZN_GO(read_parts(words, merges, added, where, &tokenizer, err));
    *out = tokenizer;
    tokenizer = NULL;
fail:
    if (status != ZENITH_OK) zn_error_prefix(err, where);
    zn_tokenizer_free(tokenizer);
    zn_json_free(words);
    zn_json_free(settings);
    return status;
}

static zenith_status choose_pattern(const char *pre, const char **out, zn_error *err)
{
    if (!pre || strcmp(pre, "qwen2") == 0)
        *out = zn_pattern_qwen2;
    else if (strcmp(pre, "gpt-2") == 0)
        *out = zn_pattern_gpt2;
    else
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "words are split as of \"%.*s\"; supported are qwen2 and gpt-2", 40, pre);
    return ZENITH_OK;
}

// Types as GGUF numbers them: 3 is control, 4 is user-defined; both are cut out of a text as they
// stand.
static zenith_status read_tokens(const zn_tokenizer_arrays *arrays, zn_tokenizer *tokenizer,
                                 zn_error *err)
{
    enum { CONTROL = 3, USER_DEFINED = 4 };
    for (size_t i = 0; i < arrays->token_count; i++) {
        const int32_t type = arrays->types ? arrays->types[i] : 1;
        if (type != CONTROL && type != USER_DEFINED) {
            ZN_TRY(zn_tokenizer_add_text(tokenizer, arrays->tokens[i], (int64_t)i, err));
            continue;
        }
        const zn_added_fact fact = {
            .text = arrays->tokens[i], .id = (int64_t)i, .special = type == CONTROL};
        ZN_TRY(zn_tokenizer_add_added(tokenizer, &fact, err));
    }
    return ZENITH_OK;
}

static zenith_status read_arrays(const zn_tokenizer_arrays *arrays, const char *where,
                                 zn_tokenizer **out, zn_error *err)
{
    const char *pattern = NULL;
    ZN_TRY(choose_pattern(arrays->pre, &pattern, err));
    ZN_TRY(zn_tokenizer_create(arrays->token_count, arrays->merge_count, 0, out, err));
    (*out)->nfc = pattern == zn_pattern_qwen2; // GPT-2 took text as it came
    ZN_TRY(read_tokens(arrays, *out, err));
    for (size_t i = 0; i < arrays->merge_count; i++)
        ZN_TRY(zn_tokenizer_add_merge_line(*out, arrays->merges[i], i, err));
    return zn_tokenizer_finish(*out, pattern, where, err);
}

zenith_status zn_tokenizer_from_arrays(const zn_tokenizer_arrays *arrays, const char *where,
                                       zn_tokenizer **out, zn_error *err)
{
    zn_tokenizer *tokenizer = NULL;
    zenith_status status = read_arrays(arrays, where, &tokenizer, err);
    if (status == ZENITH_OK) {
        *out = tokenizer;
        return ZENITH_OK;
    }
    zn_tokenizer_free(tokenizer);
    zn_error_prefix(err, where);
    return status;
}
