// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A word is a row of symbols in one block; a merge rewrites the rows of the words that have the
// pair and corrects the counts of their pairs.
#include "src/text/tokenizer_train.h"

#include "src/base/memory.h"
#include "src/text/pair_counts.h"
#include "src/text/training_words.h"
#include "src/text/vocabulary_json.h"

#include <string.h>

enum { TOKENS_MOST = 1 << 18, LEAST = 2 };

typedef struct trainer {
    zn_training_words words; // a word's offset and size are those of its row, too
    int32_t *symbols;        // a symbol for each byte at first
    zn_pair_counts counts;
    zn_vocabulary vocabulary;
    zn_merge *merges; // by rank
    size_t merge_count;
} trainer;

static zenith_status count_word(trainer *work, uint32_t number, int32_t fresh, zn_error *err)
{
    const zn_training_word *it = &work->words.words[number];
    const int32_t *row = work->symbols + it->offset;
    for (uint32_t i = 0; i + 1 < it->size; i++) {
        const bool listed = fresh < 0 || row[i] == fresh || row[i + 1] == fresh;
        ZN_TRY(
            zn_pair_counts_add(&work->counts, row[i], row[i + 1], it->number, number, listed, err));
    }
    return ZENITH_OK;
}

static zenith_status offer_word(trainer *work, uint32_t number, int32_t fresh, zn_error *err)
{
    const zn_training_word *it = &work->words.words[number];
    const int32_t *row = work->symbols + it->offset;
    for (uint32_t i = 0; i + 1 < it->size; i++)
        if (row[i] == fresh || row[i + 1] == fresh)
            ZN_TRY(zn_pair_counts_offer(&work->counts, row[i], row[i + 1], err));
    return ZENITH_OK;
}

static zenith_status begin(trainer *work, size_t tokens, zn_error *err)
{
    size_t bytes;
    ZN_TRY(zn_vocabulary_init(&work->vocabulary, tokens, 2 * tokens, err));
    for (int32_t b = 0; b < 256; b++) {
        const uint8_t byte = (uint8_t)b;
        ZN_TRY(zn_vocabulary_add(&work->vocabulary, &byte, 1, false, b, err));
    }
    work->merges = zn_alloc(2 * tokens * sizeof *work->merges);
    if (!work->merges) return zn_fail_memory(err, 2 * tokens * sizeof *work->merges);
    if (!zn_mul_size(work->words.used, sizeof *work->symbols, &bytes))
        return zn_fail_memory(err, SIZE_MAX);
    work->symbols = zn_alloc(bytes);
    if (!work->symbols) return zn_fail_memory(err, bytes);
    for (size_t i = 0; i < work->words.used; i++) work->symbols[i] = work->words.bytes[i];
    for (size_t i = 0; i < work->words.count; i++) ZN_TRY(count_word(work, (uint32_t)i, -1, err));
    for (size_t i = 0; i < work->counts.slots; i++) {
        const zn_pair pair = work->counts.pairs[i];
        if (pair.used) ZN_TRY(zn_pair_counts_offer(&work->counts, pair.left, pair.right, err));
    }
    return ZENITH_OK;
}

// The id of the joined token, which may be there already: "a bc" and "ab c" are one.
static zenith_status join_tokens(trainer *work, int32_t left, int32_t right, int32_t *id,
                                 zn_error *err)
{
    uint8_t joined[2 * ZN_VOCABULARY_TOKEN_MOST];
    const zn_token *first = zn_vocabulary_get(&work->vocabulary, left);
    const zn_token *second = zn_vocabulary_get(&work->vocabulary, right);
    const size_t size = (size_t)first->size + second->size;
    memcpy(joined, work->vocabulary.bytes + first->offset, first->size);
    memcpy(joined + first->size, work->vocabulary.bytes + second->offset, second->size);
    *id = zn_vocabulary_find(&work->vocabulary, joined, size, false);
    if (*id >= 0) return ZENITH_OK;
    *id = (int32_t)work->vocabulary.count;
    return zn_vocabulary_add(&work->vocabulary, joined, size, false, *id, err);
}

static void merge_word(trainer *work, uint32_t number, const zn_merge *merge)
{
    zn_training_word *it = &work->words.words[number];
    int32_t *row = work->symbols + it->offset;
    uint32_t kept = 0;
    for (uint32_t i = 0; i + 1 < it->size; i++)
        zn_pair_counts_take(&work->counts, row[i], row[i + 1], it->number);
    for (uint32_t i = 0; i < it->size;) {
        const bool both = i + 1 < it->size && row[i] == merge->left && row[i + 1] == merge->right;
        row[kept++] = both ? merge->id : row[i];
        i += both ? 2 : 1;
    }
    it->size = kept;
}

// A token that is made in a second way can bring a merge up again, which is then no new one.
static zenith_status note_merge(trainer *work, const zn_merge *merge, zn_error *err)
{
    if (zn_vocabulary_merge(&work->vocabulary, merge->left, merge->right)) return ZENITH_OK;
    ZN_TRY(zn_vocabulary_add_merge(&work->vocabulary, merge->left, merge->right,
                                   (uint32_t)work->merge_count, err));
    work->merges[work->merge_count++] = *merge;
    return ZENITH_OK;
}

// Rewrites every word that has the pair. Places may be out of date; rewriting then changes nothing.
static zenith_status merge_pair(trainer *work, const zn_pair *pair, zn_error *err)
{
    zn_merge joined = {.left = pair->left, .right = pair->right};
    ZN_TRY(join_tokens(work, pair->left, pair->right, &joined.id, err));
    ZN_TRY(note_merge(work, &joined, err));
    for (uint32_t at = pair->places; at; at = work->counts.places[at - 1].next) {
        const uint32_t number = work->counts.places[at - 1].word;
        merge_word(work, number, &joined);
        ZN_TRY(count_word(work, number, joined.id, err));
    }
    for (uint32_t at = pair->places; at; at = work->counts.places[at - 1].next)
        ZN_TRY(offer_word(work, work->counts.places[at - 1].word, joined.id, err));
    return ZENITH_OK;
}

static zenith_status train(trainer *work, const zn_tokenizer_training *training, zn_error *err)
{
    const uint64_t least = training->least ? training->least : LEAST;
    ZN_TRY(zn_training_words_collect(&work->words, training, err));
    ZN_TRY(begin(work, training->tokens, err));
    while (work->vocabulary.count < training->tokens && work->merge_count < 2 * training->tokens) {
        zn_pair best = {0};
        bool found;
        ZN_TRY(zn_training_go_on(training, err));
        ZN_TRY(zn_pair_counts_best(&work->counts, &best, &found, err));
        if (!found || best.count < least) break;
        ZN_TRY(merge_pair(work, &best, err));
    }
    return ZENITH_OK;
}

zenith_status zn_tokenizer_train(const zn_tokenizer_training *training, char **json, size_t *size,
                                 zn_error *err)
{
    if (training->tokens < 256 || training->tokens > TOKENS_MOST)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "a vocabulary of %zu tokens, and it must have 256 to %d", training->tokens,
                       TOKENS_MOST);
    trainer work = {0};
    zenith_status status = train(&work, training, err);
    if (status == ZENITH_OK)
        status = zn_vocabulary_json(&work.vocabulary, work.merges, work.merge_count,
                                    training->added, training->added_count, json, size, err);
    zn_training_words_free(&work.words);
    zn_free(work.symbols);
    zn_free(work.merges);
    zn_pair_counts_free(&work.counts);
    zn_vocabulary_free(&work.vocabulary);
    return status;
}
