// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The tokenizer that a GGUF file of a text model carries: values tokenizer.ggml.*.
#include "src/base/memory.h"
#include "src/text/tokenizer.h"

#include <string.h>

static zenith_status read_texts(const zn_gguf_value *value, const zn_bytes **out, size_t *count,
                                zn_error *err)
{
    zn_gguf_text text;
    zn_gguf_items items = zn_gguf_items_of(value);
    size_t bytes = 0, filled = 0;
    *out = NULL;
    *count = 0;
    if (!items.left) return ZENITH_OK;
    if (!zn_mul_size(items.left, sizeof(zn_bytes), &bytes)) return zn_fail_memory(err, SIZE_MAX);
    zn_bytes *texts = zn_alloc(bytes);
    if (!texts) return zn_fail_memory(err, bytes);
    *out = texts; // the caller frees it
    while (zn_gguf_next_text(&items, &text)) texts[filled++] = (zn_bytes){text.data, text.length};
    *count = filled;
    if (!items.left) return ZENITH_OK;
    return zn_fail(err, ZENITH_BAD_FILE, "%s is no array of texts", value->key);
}

// One for each token; *out stays NULL where the file has none.
static zenith_status read_types(const zn_gguf_value *value, size_t tokens, int32_t **out,
                                zn_error *err)
{
    zn_gguf_items items = zn_gguf_items_of(value);
    int64_t type;
    *out = NULL;
    if (!value) return ZENITH_OK;
    if (items.left != tokens)
        return zn_fail(err, ZENITH_BAD_FILE, "%s has %zu items for %zu tokens", value->key,
                       items.left, tokens);
    int32_t *types = zn_alloc(tokens * sizeof *types);
    if (!types) return zn_fail_memory(err, tokens * sizeof *types);
    *out = types;
    for (size_t i = 0; i < tokens; i++) {
        if (!zn_gguf_next_integer(&items, &type) || type < 0 || type > INT32_MAX)
            return zn_fail(err, ZENITH_BAD_FILE, "%s is no array of small whole numbers",
                           value->key);
        types[i] = (int32_t)type;
    }
    return ZENITH_OK;
}

static zenith_status check_kind(const zn_gguf *file, const char *where, zn_error *err)
{
    const zn_gguf_value *kind = zn_gguf_value_find(file, "tokenizer.ggml.model");
    if (!zn_gguf_value_find(file, "tokenizer.ggml.tokens"))
        return zn_fail(err, ZENITH_NOT_FOUND, "%s carries no tokenizer", where);
    if (kind && kind->text && strcmp(kind->text, "gpt2") == 0) return ZENITH_OK;
    return zn_fail(err, ZENITH_UNSUPPORTED,
                   "%s: its tokenizer is of the kind '%s', and only 'gpt2' is read", where,
                   kind && kind->text ? kind->text : "unknown");
}

zenith_status zn_tokenizer_from_gguf(const zn_gguf *file, const char *where, zn_tokenizer **out,
                                     zn_error *err)
{
    zn_tokenizer_arrays arrays = {.token_count = 0};
    int32_t *types = NULL;
    zenith_status status;
    ZN_TRY(check_kind(file, where, err));
    const zn_gguf_value *pre = zn_gguf_value_find(file, "tokenizer.ggml.pre");
    if (pre) arrays.pre = pre->text;
    ZN_GO(read_texts(zn_gguf_value_find(file, "tokenizer.ggml.tokens"), &arrays.tokens,
                     &arrays.token_count, err));
    ZN_GO(read_texts(zn_gguf_value_find(file, "tokenizer.ggml.merges"), &arrays.merges,
                     &arrays.merge_count, err));
    ZN_GO(read_types(zn_gguf_value_find(file, "tokenizer.ggml.token_type"), arrays.token_count,
                     &types, err));
    arrays.types = types;
    status = zn_tokenizer_from_arrays(&arrays, where, out, err);
fail:
    zn_free((void *)(uintptr_t)arrays.tokens);
    zn_free((void *)(uintptr_t)arrays.merges);
    zn_free(types);
    return status;
}
