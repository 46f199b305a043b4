// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/text/tokenizer_parts.h"
#include "src/text/unicode.h"

#include <string.h>

enum {
    TEXT_MOST = 2 * ZN_VOCABULARY_TOKEN_MOST,
    SHOWN = 40
}; // a byte is at most two in the alphabet

zenith_status zn_tokenizer_create(size_t tokens, size_t merges, size_t added, zn_tokenizer **out,
                                  zn_error *err)
{
    size_t all;
    if (!zn_add_size(tokens, added, &all)) return zn_fail_memory(err, SIZE_MAX);
    zn_tokenizer *tokenizer = zn_alloc_zero(sizeof *tokenizer);
    if (!tokenizer) return zn_fail_memory(err, sizeof *tokenizer);
    tokenizer->nfc = true;
    zenith_status status = zn_vocabulary_init(&tokenizer->vocabulary, all, merges, err);
    if (status != ZENITH_OK)
        zn_tokenizer_free(tokenizer);
    else
        *out = tokenizer;
    return status;
}

// The bytes that a token's text stands for: literally itself where it is not of the byte alphabet.
typedef struct content {
    const void *bytes;
    size_t size;
    bool literal;
    uint8_t read[TEXT_MOST];
} content;

static void read_content(zn_bytes text, content *out)
{
    out->literal = text.size > TEXT_MOST ||
                   !zn_byte_alphabet_read(text.data, text.size, out->read, &out->size);
    out->bytes = out->literal ? (const void *)text.data : out->read;
    if (out->literal) out->size = text.size;
}

static int32_t find_text(const zn_tokenizer *tokenizer, zn_bytes text)
{
    content found;
    read_content(text, &found);
    return zn_vocabulary_find(&tokenizer->vocabulary, found.bytes, found.size, found.literal);
}

zenith_status zn_tokenizer_add_text(zn_tokenizer *tokenizer, zn_bytes text, int64_t id,
                                    zn_error *err)
{
    content token;
    read_content(text, &token);
    return zn_vocabulary_add(&tokenizer->vocabulary, token.bytes, token.size, token.literal, id,
                             err);
}

static zenith_status find_part(const zn_tokenizer *tokenizer, zn_bytes text, size_t rank,
                               int32_t *out, zn_error *err)
{
    const int32_t id = find_text(tokenizer, text);
    if (id < 0)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "merge %zu has \"%.*s\", which is no token of the vocabulary", rank,
                       text.size < SHOWN ? (int)text.size : SHOWN, text.data);
    *out = id;
    return ZENITH_OK;
}

zenith_status zn_tokenizer_add_merge(zn_tokenizer *tokenizer, zn_bytes left, zn_bytes right,
                                     size_t rank, zn_error *err)
{
    int32_t first = -1, second = -1;
    ZN_TRY(find_part(tokenizer, left, rank, &first, err));
    ZN_TRY(find_part(tokenizer, right, rank, &second, err));
    return zn_vocabulary_add_merge(&tokenizer->vocabulary, first, second, (uint32_t)rank, err);
}

// A space is not of the byte alphabet, so there is exactly one.
zenith_status zn_tokenizer_add_merge_line(zn_tokenizer *tokenizer, zn_bytes line, size_t rank,
                                          zn_error *err)
{
    const char *space = line.size ? memchr(line.data, ' ', line.size) : NULL;
    if (!space)
        return zn_fail(err, ZENITH_BAD_FILE, "merge %zu is not two tokens with a space between",
                       rank);
    const size_t before = (size_t)(space - line.data);
    return zn_tokenizer_add_merge(tokenizer, (zn_bytes){line.data, before},
                                  (zn_bytes){space + 1, line.size - before - 1}, rank, err);
}

static zenith_status add_to_search(zn_tokenizer *tokenizer, const zn_added_fact *fact,
                                   zn_error *err)
{
    const zn_bytes text = fact->text;
    if (zn_utf8_valid(text.data, text.size) < text.size)
        return zn_fail(err, ZENITH_BAD_FILE, "the added token %lld is not UTF-8",
                       (long long)fact->id);
    if (!fact->normalised || !tokenizer->nfc)
        return zn_added_tokens_add(fact->normalised ? &tokenizer->normalised : &tokenizer->added,
                                   text.data, text.size, (int32_t)fact->id, err);
    zn_nfc room = {0};
    const char *normal;
    size_t size;
    zenith_status status = zn_nfc_apply(&room, text.data, text.size, &normal, &size, err);
    if (status == ZENITH_OK)
        status = zn_added_tokens_add(&tokenizer->normalised, normal, size, (int32_t)fact->id, err);
    zn_nfc_free(&room);
    return status;
}

zenith_status zn_tokenizer_add_added(zn_tokenizer *tokenizer, const zn_added_fact *fact,
                                     zn_error *err)
{
    int32_t known = find_text(tokenizer, fact->text);
    if (known < 0) // an added token of before
        known = zn_vocabulary_find(&tokenizer->vocabulary, fact->text.data, fact->text.size, true);
    if (known >= 0 && known != fact->id)
        return zn_fail(err, ZENITH_BAD_FILE, "\"%.*s\" is token %d and is added as token %lld",
                       fact->text.size < SHOWN ? (int)fact->text.size : SHOWN, fact->text.data,
                       known, (long long)fact->id);
    if (known < 0)
        ZN_TRY(zn_vocabulary_add(&tokenizer->vocabulary, fact->text.data, fact->text.size, true,
                                 fact->id, err));
    tokenizer->vocabulary.tokens[fact->id].special = fact->special;
    return add_to_search(tokenizer, fact, err);
}

zenith_status zn_tokenizer_add_qwen(zn_tokenizer *tokenizer, zn_error *err)
{
    static const char *const names[ZN_QWEN_ADDED] = {
        "<|endoftext|>",
        "<|im_start|>",
        "<|im_end|>",
        "<|object_ref_start|>",
        "<|object_ref_end|>",
        "<|box_start|>",
        "<|box_end|>",
        "<|quad_start|>",
        "<|quad_end|>",
        "<|vision_start|>",
        "<|vision_end|>",
        "<|vision_pad|>",
        "<|image_pad|>",
        "<|video_pad|>",
        "<tool_call>",
        "</tool_call>",
        "<|fim_prefix|>",
        "<|fim_middle|>",
        "<|fim_suffix|>",
        "<|fim_pad|>",
        "<|repo_name|>",
        "<|file_sep|>",
        "<tool_response>",
        "</tool_response>",
        "<think>",
        "</think>",
    };
    enum { SPECIAL = 14 }; // the first ones; the others are text to the model
    const int64_t after = (int64_t)tokenizer->vocabulary.count;
    for (int64_t i = 0; i < ZN_QWEN_ADDED; i++) {
        const zn_added_fact fact = {
            .text = {names[i], strlen(names[i])}, .id = after + i, .special = i < SPECIAL};
        ZN_TRY(zn_tokenizer_add_added(tokenizer, &fact, err));
    }
    return ZENITH_OK;
}

zenith_status zn_tokenizer_find_bytes(zn_tokenizer *tokenizer, zn_error *err)
{
    for (unsigned b = 0; b < 256; b++) {
        const uint8_t byte = (uint8_t)b;
        tokenizer->byte_ids[b] = zn_vocabulary_find(&tokenizer->vocabulary, &byte, 1, false);
        if (tokenizer->byte_ids[b] < 0)
            return zn_fail(err, ZENITH_BAD_FILE,
                           "the vocabulary has no token of the byte 0x%02x: it is not byte-level",
                           b);
    }
    return ZENITH_OK;
}

zenith_status zn_tokenizer_finish(zn_tokenizer *tokenizer, const char *pattern, const char *where,
                                  zn_error *err)
{
    ZN_TRY(zn_tokenizer_find_bytes(tokenizer, err));
    ZN_TRY(zn_added_tokens_finish(&tokenizer->added, err));
    ZN_TRY(zn_added_tokens_finish(&tokenizer->normalised, err));
    return zn_splitter_create(pattern, where, &tokenizer->splitter, err);
}
