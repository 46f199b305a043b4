// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Training a vocabulary: a case by hand, random words against a trainer that counts every pair anew
// for each merge, and what the file promises: it opens, and its bytes depend on the texts alone.
#include "src/base/json.h"
#include "src/base/memory.h"
#include "src/base/random.h"
#include "src/text/tokenizer_train.h"
#include "tests/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const special[] = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};

static char *train(const zn_bytes *texts, size_t count, size_t tokens, uint64_t least)
{
    zn_error err = {{0}};
    const zn_tokenizer_training training = {.texts = texts,
                                            .text_count = count,
                                            .tokens = tokens,
                                            .least = least,
                                            .added = special,
                                            .added_count = 3};
    char *json = NULL;
    size_t size;
    zn_test_ok(zn_tokenizer_train(&training, &json, &size, &err), &err);
    assert_int_equal(size, strlen(json));
    return json;
}

static zn_tokenizer *parse(const char *json)
{
    zn_error err = {{0}};
    zn_tokenizer *tokenizer = NULL;
    const zn_bytes file = {json, strlen(json)};
    zn_test_ok(zn_tokenizer_parse_json(file, "trained", &tokenizer, &err), &err);
    return tokenizer;
}

ZN_TEST(by_hand)
{
    static const char text[] = "xy xy xy xyz";
    const zn_bytes texts = {text, sizeof text - 1};
    char *json = train(&texts, 1, 1000, 0);
    zn_tokenizer *tokenizer = parse(json);
    zn_error err = {{0}};
    int32_t *ids = NULL;
    size_t count;
    // "xy" occurs four times, then " xy" three times; " xyz" once is too seldom.
    static const int32_t wanted[] = {256, 257, 257, 257, 'z', 260};
    assert_int_equal(zn_tokenizer_count(tokenizer), 258 + 3);
    zn_test_ok(zn_tokenizer_encode(tokenizer, "xy xy xy xyz<|im_end|>", 22, &ids, &count, &err),
               &err);
    assert_int_equal(count, 6);
    assert_memory_equal(ids, wanted, sizeof wanted);
    zn_free(ids);
    zn_tokenizer_free(tokenizer);
    zn_free(json);
}

// The plain trainer: words of symbols, where a symbol is a text.
enum { WORDS = 60, LETTERS = 8, SYMBOL = 16 };

typedef struct plain_word {
    char symbols[LETTERS + 1][SYMBOL];
    size_t count;
} plain_word;

typedef struct plain_pair {
    char left[SYMBOL], right[SYMBOL];
    size_t count;
} plain_pair;

static size_t count_plain(const plain_word *words, plain_pair *pairs)
{
    size_t found = 0;
    for (size_t w = 0; w < WORDS; w++)
        for (size_t i = 0; i + 1 < words[w].count; i++) {
            size_t at = 0;
            while (at < found && (strcmp(pairs[at].left, words[w].symbols[i]) != 0 ||
                                  strcmp(pairs[at].right, words[w].symbols[i + 1]) != 0))
                at++;
            if (at == found) {
                strcpy(pairs[at].left, words[w].symbols[i]);
                strcpy(pairs[at].right, words[w].symbols[i + 1]);
                pairs[found++].count = 0;
            }
            pairs[at].count++;
        }
    return found;
}

static void merge_plain(plain_word *word, const plain_pair *pair)
{
    size_t kept = 0;
    for (size_t i = 0; i < word->count; kept++) {
        const bool both = i + 1 < word->count && strcmp(word->symbols[i], pair->left) == 0 &&
                          strcmp(word->symbols[i + 1], pair->right) == 0;
        char joined[2 * SYMBOL];
        snprintf(joined, sizeof joined, "%s%s", word->symbols[i], both ? pair->right : "");
        memcpy(word->symbols[kept], joined, SYMBOL);
        i += both ? 2 : 1;
    }
    word->count = kept;
}

// The merge of the file with this number. A space is written as U+0120.
static void read_merge(const zn_json *merges, size_t number, plain_pair *out)
{
    const zn_json *pair = zn_json_at(merges, number);
    char *const parts[] = {out->left, out->right};
    for (size_t i = 0; i < 2; i++) {
        const char *text = NULL;
        assert_true(zn_json_as_text(zn_json_at(pair, i), &text));
        size_t used = 0;
        for (; *text; text++) {
            if (*text == '\xc4') continue;
            assert_true(used + 1 < SYMBOL);
            parts[i][used++] = *text == '\xa0' ? ' ' : *text;
        }
        parts[i][used] = '\0';
    }
}

// Symbols by number: bytes, then what merges have made, in their order.
typedef struct plain_tokens {
    char made[WORDS * LETTERS][SYMBOL];
    size_t count;
} plain_tokens;

static size_t number_of(const plain_tokens *tokens, const char *symbol)
{
    if (symbol[1] == '\0') return (unsigned char)symbol[0];
    for (size_t i = 0; i < tokens->count; i++)
        if (strcmp(tokens->made[i], symbol) == 0) return 256 + i;
    return SIZE_MAX;
}

static void note_token(plain_tokens *tokens, const plain_pair *pair)
{
    char joined[2 * SYMBOL];
    snprintf(joined, sizeof joined, "%s%s", pair->left, pair->right);
    if (number_of(tokens, joined) == SIZE_MAX)
        memcpy(tokens->made[tokens->count++], joined, SYMBOL);
}

// The more frequent one; of equally frequent ones that with the smaller numbers, left before right.
static bool comes_before(const plain_tokens *tokens, const plain_pair *a, const plain_pair *b)
{
    const size_t left = number_of(tokens, a->left), other_left = number_of(tokens, b->left);
    if (a->count != b->count) return a->count > b->count;
    if (left != other_left) return left < other_left;
    return number_of(tokens, a->right) < number_of(tokens, b->right);
}

// Every merge of the file is the first pair of its moment, and no frequent one is left.
static void check_merges(plain_word *words, const zn_json *merges)
{
    static plain_pair pairs[WORDS * LETTERS];
    static plain_tokens tokens;
    tokens.count = 0;
    for (size_t number = 0; number <= zn_json_size(merges); number++) {
        const size_t found = count_plain(words, pairs);
        plain_pair merge = {.count = 0}, first = {.count = 0};
        for (size_t i = 0; i < found; i++)
            if (first.count == 0 || comes_before(&tokens, &pairs[i], &first)) first = pairs[i];
        if (number == zn_json_size(merges)) {
            assert_true(first.count < 2);
            return;
        }
        read_merge(merges, number, &merge);
        assert_string_equal(merge.left, first.left);
        assert_string_equal(merge.right, first.right);
        note_token(&tokens, &merge);
        for (size_t w = 0; w < WORDS; w++) merge_plain(&words[w], &merge);
    }
}

ZN_TEST(against_a_plain_trainer)
{
    zn_random random = {.seed = 3};
    for (int round = 0; round < 20; round++) {
        static plain_word words[WORDS];
        char text[WORDS * (LETTERS + 2)] = "";
        zn_error err = {{0}};
        for (size_t w = 0; w < WORDS; w++) {
            words[w].count = 0;
            if (w > 0) strcpy(words[w].symbols[words[w].count++], " ");
            for (uint32_t left = 1 + zn_random_below(&random, LETTERS - 2); left > 0; left--) {
                const char letter[] = {(char)('a' + (int)zn_random_below(&random, 3)), '\0'};
                strcpy(words[w].symbols[words[w].count++], letter);
            }
            for (size_t i = 0; i < words[w].count; i++) strcat(text, words[w].symbols[i]);
        }
        const zn_bytes texts = {text, strlen(text)};
        char *json = train(&texts, 1, 4096, 2);
        zn_json *root = NULL;
        const zn_json *model, *merges;
        zn_test_ok(zn_json_parse(json, strlen(json), "trained", &root, &err), &err);
        zn_test_ok(zn_json_get_object(root, "model", &model, &err), &err);
        zn_test_ok(zn_json_get_array(model, "merges", &merges, &err), &err);
        assert_true(zn_json_size(merges) > 20);
        check_merges(words, merges);
        zn_tokenizer_free(parse(json));
        zn_json_free(root);
        zn_free(json);
    }
}

// The order of texts changes nothing; the size of the vocabulary cuts the list of merges.
ZN_TEST(bytes_depend_on_texts_alone)
{
    const zn_bytes texts[] = {{"a photo of a red cat", 20},
                              {"a photo of a red chair", 22},
                              {"caf\xc3\xa9 cafe\xcc\x81", 12},
                              {"", 0}};
    const zn_bytes turned[] = {texts[3], texts[2], texts[1], texts[0]};
    char *json = train(texts, 4, 400, 0), *again = train(turned, 4, 400, 0);
    char *shorter = train(texts, 4, 260, 0);
    assert_string_equal(json, again);
    zn_tokenizer *tokenizer = parse(json), *small = parse(shorter);
    assert_int_equal(zn_tokenizer_count(small), 263);
    assert_true(zn_tokenizer_count(tokenizer) > 263);
    assert_true(zn_tokenizer_find(tokenizer, "af\xc3\xa9", 4) >= 256); // twice, once by NFC
    zn_tokenizer_free(tokenizer);
    zn_tokenizer_free(small);
    zn_free(json);
    zn_free(again);
    zn_free(shorter);
}

// So many words that equal ones are joined on the way: the same merges as from the words once.
ZN_TEST(many_texts)
{
    enum { TIMES = 20000 };
    static zn_bytes texts[TIMES];
    for (size_t i = 0; i < TIMES; i++)
        texts[i] = (zn_bytes){"red rose, red road: a rosy dress", 32};
    char *many = train(texts, TIMES, 300, TIMES), *once = train(texts, 1, 300, 1);
    assert_string_equal(many, once);
    zn_free(many);
    zn_free(once);
}

// What is encoded is decoded to the same text, whether its words were seen or not.
ZN_TEST(there_and_back)
{
    static const char text[] = "a red  caf\xc3\xa9\n\t12 <|im_end|> \xf0\x9f\x8d\x8e quartz";
    const zn_bytes texts = {"a red rose of a red cafe, a caf\xc3\xa9 of 12 12", 43};
    char *json = train(&texts, 1, 400, 0), *back = NULL;
    zn_tokenizer *tokenizer = parse(json);
    zn_error err = {{0}};
    int32_t *ids = NULL;
    size_t count, size;
    zn_test_ok(zn_tokenizer_encode(tokenizer, text, sizeof text - 1, &ids, &count, &err), &err);
    assert_true(count < sizeof text - 1 - 12);
    zn_test_ok(zn_tokenizer_decode(tokenizer, ids, count, false, &back, &size, &err), &err);
    assert_int_equal(size, sizeof text - 1);
    assert_memory_equal(back, text, size);
    zn_free(back);
    zn_free(ids);
    zn_free(json);
    zn_tokenizer_free(tokenizer);
}

// With the chat's words each of them is one token; special tokens inside texts teach nothing.
ZN_TEST(words_of_the_chat)
{
    const zn_bytes texts[] = {{"<|im_start|>", 12}, {"im im", 5}};
    zn_tokenizer_training training = {.texts = texts,
                                      .text_count = 2,
                                      .tokens = 300,
                                      .added = special,
                                      .added_count = 3,
                                      .chat = true};
    zn_error err = {{0}};
    char *json = NULL, *plain = NULL;
    size_t size;
    zn_test_ok(zn_tokenizer_train(&training, &json, &size, &err), &err);
    zn_tokenizer *tokenizer = parse(json);
    assert_true(zn_tokenizer_find(tokenizer, "user", 4) >= 256);
    assert_true(zn_tokenizer_find(tokenizer, "assistant", 9) >= 256);
    assert_int_equal(zn_tokenizer_find(tokenizer, "start", 5), -1);
    training.chat = false;
    zn_test_ok(zn_tokenizer_train(&training, &plain, &size, &err), &err);
    assert_null(strstr(plain, "user"));
    zn_tokenizer_free(tokenizer);
    zn_free(json);
    zn_free(plain);
}

ZN_TEST(on_request_it_stops)
{
    const zn_bytes texts = {"red red", 7};
    atomic_int cancel = 1;
    zn_tokenizer_training training = {
        .texts = &texts, .text_count = 1, .tokens = 300, .cancel = &cancel};
    char *json = NULL;
    size_t size;
    assert_int_equal(zn_tokenizer_train(&training, &json, &size, NULL), ZENITH_CANCELLED);
    assert_null(json);
}

ZN_TEST(what_is_refused)
{
    const zn_bytes bad[] = {{"a", 1}, {"\xff", 1}};
    zn_error err = {{0}};
    char *json = NULL;
    size_t size;
    zn_tokenizer_training training = {.texts = bad, .text_count = 2, .tokens = 300};
    assert_int_equal(zn_tokenizer_train(&training, &json, &size, &err), ZENITH_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "text 1 is not UTF-8"));
    training = (zn_tokenizer_training){.tokens = 255};
    assert_int_equal(zn_tokenizer_train(&training, &json, &size, NULL), ZENITH_INVALID_ARGUMENT);
    static const char *const twice[] = {"<s>", "<s>"}, *const empty[] = {"<s>", ""};
    training = (zn_tokenizer_training){.tokens = 300, .added = twice, .added_count = 2};
    err = (zn_error){{0}};
    assert_int_equal(zn_tokenizer_train(&training, &json, &size, &err), ZENITH_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "<s> is named twice"));
    training.added = empty;
    assert_int_equal(zn_tokenizer_train(&training, &json, &size, NULL), ZENITH_INVALID_ARGUMENT);
    training = (zn_tokenizer_training){.tokens = (size_t)1 << 30};
    assert_int_equal(zn_tokenizer_train(&training, &json, &size, NULL), ZENITH_INVALID_ARGUMENT);
    assert_null(json);
    json = train(NULL, 0, 256, 0); // no texts: bytes alone
    zn_tokenizer_free(parse(json));
    zn_free(json);
}
