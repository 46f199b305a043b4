// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/text/training_words.h"

#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/text/added_tokens.h"
#include "src/text/chat.h"
#include "src/text/splitter.h"
#include "src/text/unicode.h"
#include "src/text/vocabulary.h"

#include <stdlib.h>
#include <string.h>

enum { JOIN_LEAST = 1 << 17 }; // words that are waited for: sorting them takes some 30 ms

typedef struct collector {
    const zn_tokenizer_training *training;
    zn_training_words *words;
    size_t join_at;  // words at which equal ones are joined
    uint64_t number; // how often the text in work counts
    zn_splitter *splitter;
    zn_added_tokens added;
    zn_nfc room;
} collector;

zenith_status zn_training_go_on(const zn_tokenizer_training *training, zn_error *err)
{
    if (!training->cancel || !atomic_load(training->cancel)) return ZENITH_OK;
    return zn_fail(err, ZENITH_CANCELLED, "training the tokenizer was cancelled");
}

// A word with its bytes at hand, for sorting; qsort passes no cookie.
typedef struct sorted_word {
    const uint8_t *bytes;
    zn_training_word word;
} sorted_word;

static int compare_words(const void *left, const void *right)
{
    const sorted_word *a = left, *b = right;
    const uint32_t size = a->word.size < b->word.size ? a->word.size : b->word.size;
    const int order = memcmp(a->bytes, b->bytes, size);
    return order ? order : (a->word.size > b->word.size) - (a->word.size < b->word.size);
}

// The sorted words back into the list, each once, with their bytes one after the other in `bytes`.
static void keep_each_once(zn_training_words *words, const sorted_word *sorted, uint8_t *bytes)
{
    size_t kept = 0, used = 0;
    for (size_t i = 0; i < words->count; i++) {
        if (i > 0 && compare_words(&sorted[i - 1], &sorted[i]) == 0) {
            words->words[kept - 1].number += sorted[i].word.number;
            continue;
        }
        memcpy(bytes + used, sorted[i].bytes, sorted[i].word.size);
        words->words[kept] = sorted[i].word;
        words->words[kept++].offset = used;
        used += sorted[i].word.size;
    }
    words->count = kept;
    words->used = used;
}

static zenith_status join_equal(zn_training_words *words, zn_error *err)
{
    size_t size;
    if (words->count == 0) return ZENITH_OK;
    if (!zn_mul_size(words->count, sizeof(sorted_word), &size))
        return zn_fail_memory(err, SIZE_MAX);
    sorted_word *sorted = zn_alloc(size);
    uint8_t *bytes = zn_alloc(words->bytes_room);
    if (!sorted || !bytes) {
        zn_free(sorted);
        zn_free(bytes);
        return zn_fail_memory(err, sorted ? words->bytes_room : size);
    }
    for (size_t i = 0; i < words->count; i++)
        sorted[i] = (sorted_word){words->bytes + words->words[i].offset, words->words[i]};
    qsort(sorted, words->count, sizeof *sorted, compare_words);
    keep_each_once(words, sorted, bytes);
    zn_free(sorted);
    zn_free(words->bytes);
    words->bytes = bytes;
    return ZENITH_OK;
}

static zenith_status collect_word(void *cookie, const char *text, size_t size, zn_error *err)
{
    collector *c = cookie;
    zn_training_words *words = c->words;
    if (size > ZN_VOCABULARY_TOKEN_MOST) return ZENITH_OK;
    ZN_TRY(zn_training_go_on(c->training, err));
    if (words->count >= c->join_at) {
        ZN_TRY(join_equal(words, err));
        c->join_at = 2 * words->count > JOIN_LEAST ? 2 * words->count : JOIN_LEAST;
    }
    if (words->count >= UINT32_MAX) return zn_fail(err, ZENITH_LIMIT, "too many words");
    ZN_TRY(
        zn_array_reserve((void **)&words->bytes, &words->bytes_room, words->used + size, 1, err));
    ZN_TRY(zn_array_reserve((void **)&words->words, &words->room, words->count + 1,
                            sizeof *words->words, err));
    memcpy(words->bytes + words->used, text, size);
    words->words[words->count++] = (zn_training_word){
        .offset = words->used, .size = (uint32_t)size, .number = c->number};
    words->used += size;
    return ZENITH_OK;
}

static zenith_status collect_piece(collector *c, const char *text, size_t size, zn_error *err)
{
    ZN_TRY(zn_nfc_apply(&c->room, text, size, &text, &size, err));
    return zn_splitter_each(c->splitter, text, size, collect_word, c, err);
}

static zenith_status collect_text(collector *c, zn_bytes text, zn_error *err)
{
    size_t at;
    ZN_TRY(zn_training_go_on(c->training, err));
    for (;;) {
        const zn_added *token = zn_added_tokens_search(&c->added, text.data, text.size, &at);
        ZN_TRY(collect_piece(c, text.data, token ? at : text.size, err));
        if (!token) return ZENITH_OK;
        text.data += at + token->size;
        text.size -= at + token->size;
    }
}

// The words around a prompt come with each text.
static zenith_status collect_chat(collector *c, zn_error *err)
{
    char *text = NULL;
    size_t size;
    c->number = c->training->text_count;
    if (c->number == 0) return ZENITH_OK;
    ZN_TRY(zn_chat_text("", 0, &text, &size, err));
    zenith_status status = collect_text(c, (zn_bytes){text, size}, err);
    zn_free(text);
    return status;
}

static zenith_status prepare(collector *c, zn_error *err)
{
    const zn_tokenizer_training *training = c->training;
    for (size_t i = 0; i < training->added_count; i++) {
        const char *token = training->added[i];
        const size_t size = strlen(token);
        if (size == 0 || size > ZN_VOCABULARY_TOKEN_MOST || zn_utf8_valid(token, size) < size)
            return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                           "special token %zu is empty, longer than %d bytes or not UTF-8", i,
                           ZN_VOCABULARY_TOKEN_MOST);
        for (size_t k = 0; k < i; k++)
            if (strcmp(training->added[k], token) == 0)
                return zn_fail(err, ZENITH_INVALID_ARGUMENT, "the special token %s is named twice",
                               token);
        ZN_TRY(zn_added_tokens_add(&c->added, token, size, (int32_t)i, err));
    }
    ZN_TRY(zn_added_tokens_finish(&c->added, err));
    return zn_splitter_create(zn_pattern_qwen2, "training", &c->splitter, err);
}

static zenith_status collect(collector *c, zn_error *err)
{
    ZN_TRY(prepare(c, err));
    for (size_t i = 0; i < c->training->text_count; i++) {
        const zn_bytes text = c->training->texts[i];
        if (zn_utf8_valid(text.data, text.size) < text.size)
            return zn_fail(err, ZENITH_INVALID_ARGUMENT, "text %zu is not UTF-8", i);
        ZN_TRY(collect_text(c, text, err));
    }
    if (c->training->chat) ZN_TRY(collect_chat(c, err));
    return join_equal(c->words, err);
}

zenith_status zn_training_words_collect(zn_training_words *words,
                                        const zn_tokenizer_training *training, zn_error *err)
{
    collector c = {.training = training, .words = words, .join_at = JOIN_LEAST, .number = 1};
    const zenith_status status = collect(&c, err);
    zn_nfc_free(&c.room);
    zn_added_tokens_free(&c.added);
    zn_splitter_free(c.splitter);
    return status;
}

void zn_training_words_free(zn_training_words *words)
{
    zn_free(words->bytes);
    zn_free(words->words);
    *words = (zn_training_words){0};
}
