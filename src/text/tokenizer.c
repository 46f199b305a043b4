// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Encoding and decoding; tokenizer_build.c puts a tokenizer together.
#include "src/text/tokenizer.h"

#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/text/bpe.h"
#include "src/text/tokenizer_parts.h"
#include "src/text/unicode.h"

#include <string.h>

typedef struct encoder {
    const zn_tokenizer *tokenizer;
    zn_bpe bpe;
    zn_nfc nfc;
} encoder;

static zenith_status encode_word(void *cookie, const char *word, size_t size, zn_error *err)
{
    encoder *work = cookie;
    const zn_tokenizer *tokenizer = work->tokenizer;
    if (tokenizer->whole_words) {
        const int32_t id = zn_vocabulary_find(&tokenizer->vocabulary, word, size, false);
        if (id >= 0) return zn_bpe_append(&work->bpe, id, err);
    }
    return zn_bpe_word(&work->bpe, &tokenizer->vocabulary, tokenizer->byte_ids,
                       (const uint8_t *)word, size, err);
}

typedef zenith_status piece_fn(encoder *work, const char *text, size_t size, zn_error *err);

// Cuts the tokens of the set out of the text: their ids are appended, and what is between goes on.
static zenith_status cut(encoder *work, const zn_added_tokens *set, const char *text, size_t size,
                         piece_fn *between, zn_error *err)
{
    while (size > 0) {
        size_t at = size;
        const zn_added *token = zn_added_tokens_search(set, text, size, &at);
        if (at > 0) ZN_TRY(between(work, text, at, err));
        if (!token) break;
        ZN_TRY(zn_bpe_append(&work->bpe, token->id, err));
        text += at + token->size;
        size -= at + token->size;
    }
    return ZENITH_OK;
}

static zenith_status encode_normalised(encoder *work, const char *text, size_t size, zn_error *err)
{
    return zn_splitter_each(work->tokenizer->splitter, text, size, encode_word, work, err);
}

static zenith_status encode_piece(encoder *work, const char *text, size_t size, zn_error *err)
{
    if (work->tokenizer->nfc) ZN_TRY(zn_nfc_apply(&work->nfc, text, size, &text, &size, err));
    return cut(work, &work->tokenizer->normalised, text, size, encode_normalised, err);
}

zenith_status zn_tokenizer_encode(const zn_tokenizer *tokenizer, const char *text, size_t size,
                                  int32_t **ids, size_t *count, zn_error *err)
{
    if (size > ZN_TOKENIZER_TEXT_MOST)
        return zn_fail(err, ZENITH_LIMIT, "a text of %zu bytes, more than the limit of %zu", size,
                       ZN_TOKENIZER_TEXT_MOST);
    const size_t valid = zn_utf8_valid(text, size);
    if (valid < size)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the text is not UTF-8 from byte %zu on (0x%02x): convert it first", valid,
                       (unsigned)(uint8_t)text[valid]);
    encoder work = {.tokenizer = tokenizer};
    zenith_status status = cut(&work, &tokenizer->added, text, size, encode_piece, err);
    if (status == ZENITH_OK) {
        *ids = work.bpe.ids;
        *count = work.bpe.count;
        work.bpe.ids = NULL;
    }
    zn_bpe_free(&work.bpe);
    zn_nfc_free(&work.nfc);
    return status;
}

static zenith_status decoded_size(const zn_tokenizer *tokenizer, const int32_t *ids, size_t count,
                                  bool leave_out_special, size_t *size, zn_error *err)
{
    size_t total = 1; // the closing zero
    for (size_t i = 0; i < count; i++) {
        const zn_token *token = zn_vocabulary_get(&tokenizer->vocabulary, ids[i]);
        if (!token)
            return zn_fail(err, ZENITH_INVALID_ARGUMENT, "id %d (number %zu) is no token", ids[i],
                           i);
        if (token->special && leave_out_special) continue;
        if (!zn_add_size(total, token->size, &total)) return zn_fail_memory(err, SIZE_MAX);
    }
    *size = total;
    return ZENITH_OK;
}

zenith_status zn_tokenizer_decode(const zn_tokenizer *tokenizer, const int32_t *ids, size_t count,
                                  bool leave_out_special, char **text, size_t *size, zn_error *err)
{
    size_t room = 1, used = 0;
    ZN_TRY(decoded_size(tokenizer, ids, count, leave_out_special, &room, err));
    char *made = zn_alloc(room);
    if (!made) return zn_fail_memory(err, room);
    for (size_t i = 0; i < count; i++) {
        const zn_token *token = zn_vocabulary_get(&tokenizer->vocabulary, ids[i]);
        if (token->special && leave_out_special) continue;
        memcpy(made + used, tokenizer->vocabulary.bytes + token->offset, token->size);
        used += token->size;
    }
    made[used] = '\0';
    *text = made;
    *size = used;
    return ZENITH_OK;
}

size_t zn_tokenizer_count(const zn_tokenizer *tokenizer)
{
    return tokenizer->vocabulary.count;
}

int32_t zn_tokenizer_find(const zn_tokenizer *tokenizer, const char *text, size_t size)
{
    const int32_t literal = zn_vocabulary_find(&tokenizer->vocabulary, text, size, true);
    return literal >= 0 ? literal : zn_vocabulary_find(&tokenizer->vocabulary, text, size, false);
}

void zn_tokenizer_free(zn_tokenizer *tokenizer)
{
    if (!tokenizer) return;
    zn_vocabulary_free(&tokenizer->vocabulary);
    zn_added_tokens_free(&tokenizer->added);
    zn_added_tokens_free(&tokenizer->normalised);
    zn_splitter_free(tokenizer->splitter);
    zn_free(tokenizer);
}
