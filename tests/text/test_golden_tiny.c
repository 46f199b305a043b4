// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The small tokenizer.json of tests/golden against the Hugging Face library's ids, and the same
// vocabulary through the other ways in: all must give the same ids.
#include "src/base/os.h"
#include "tests/text/golden_ids.h"

#include <stdlib.h>

enum { TOKENS = 603, TEXT_ROOM = 1 << 16 };

static const char *golden(const char *name)
{
    return zn_test_path(zn_test_path(zn_test_source(), "tests/golden/tokenizer_tiny"), name);
}

// The file taken apart; everything in it is borrowed from `root`.
typedef struct taken_apart {
    zn_json *root;
    const zn_json *vocabulary, *merges, *added;
} taken_apart;

static taken_apart take_apart(void)
{
    zn_error err = {{0}};
    taken_apart parts = {0};
    const zn_json *model;
    zn_test_ok(zn_json_open(golden("tokenizer.json"), &parts.root, &err), &err);
    zn_test_ok(zn_json_get_object(parts.root, "model", &model, &err), &err);
    zn_test_ok(zn_json_get_object(model, "vocab", &parts.vocabulary, &err), &err);
    zn_test_ok(zn_json_get_array(model, "merges", &parts.merges, &err), &err);
    zn_test_ok(zn_json_get_array(parts.root, "added_tokens", &parts.added, &err), &err);
    return parts;
}

// "left right", in the buffer; its size.
static size_t merge_line(const taken_apart *parts, size_t i, char *line, size_t room)
{
    const zn_json *pair = zn_json_at(parts->merges, i);
    const char *left = NULL, *right = NULL;
    assert_true(zn_json_as_text(zn_json_at(pair, 0), &left));
    assert_true(zn_json_as_text(zn_json_at(pair, 1), &right));
    const int size = snprintf(line, room, "%s %s", left, right);
    assert_true(size > 0 && (size_t)size < room);
    return (size_t)size;
}

static void check_and_free(zn_tokenizer *tokenizer)
{
    assert_int_equal(zn_tokenizer_count(tokenizer), TOKENS);
    assert_int_equal(zn_tokenizer_find(tokenizer, "<|im_end|>", 10), 602);
    check_golden(tokenizer, golden("golden.json"), 37);
    zn_tokenizer_free(tokenizer);
}

ZN_TEST(tokenizer_json)
{
    zn_error err = {{0}};
    zn_tokenizer *tokenizer = NULL;
    zn_test_ok(zn_tokenizer_open(golden("tokenizer.json"), &tokenizer, &err), &err);
    check_and_free(tokenizer);
    zn_test_ok(zn_tokenizer_open(golden("."), &tokenizer, &err), &err);
    check_and_free(tokenizer);
}

static const char *apart(const char *name)
{
    return zn_test_path(zn_test_path(zn_test_build(), "tokenizer_apart"), name);
}

static void put_file(const char *name, const char *text, size_t size)
{
    FILE *file = fopen(apart(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

ZN_TEST(vocabulary_and_merges)
{
    static char text[TEXT_ROOM];
    zn_error err = {{0}};
    zn_tokenizer *tokenizer = NULL;
    taken_apart parts = take_apart();
    char *dumped = NULL;
    size_t size;
    zn_test_ok(zn_directory_make(zn_test_path(zn_test_build(), "tokenizer_apart"), &err), &err);
    zn_test_ok(zn_json_dump(parts.vocabulary, &dumped, &size, &err), &err);
    put_file("vocab.json", dumped, size);
    zn_free(dumped);
    size = (size_t)snprintf(text, sizeof text, "#version: 0.2\n");
    for (size_t i = 0; i < zn_json_size(parts.merges); i++) {
        size += merge_line(&parts, i, text + size, sizeof text - size - 2);
        size += (size_t)snprintf(text + size, 3, i % 2 ? "\r\n" : "\n");
    }
    put_file("merges.txt", text, size);
    size = (size_t)snprintf(text, sizeof text, "{\"added_tokens_decoder\":{");
    for (size_t i = 0; i < zn_json_size(parts.added); i++) {
        int64_t id;
        zn_test_ok(zn_json_get_integer(zn_json_at(parts.added, i), "id", 0, TOKENS, &id, &err),
                   &err);
        zn_test_ok(zn_json_dump(zn_json_at(parts.added, i), &dumped, NULL, &err), &err);
        size += (size_t)snprintf(text + size, sizeof text - size, "%s\"%d\":%s", i ? "," : "",
                                 (int)id, dumped);
        assert_true(size < sizeof text - 8);
        zn_free(dumped);
    }
    size += (size_t)snprintf(text + size, 4, "}}");
    put_file("tokenizer_config.json", text, size);
    zn_test_ok(zn_tokenizer_open(apart("vocab.json"), &tokenizer, &err), &err);
    check_and_free(tokenizer);
    zn_test_ok(zn_tokenizer_open(apart("."), &tokenizer, &err), &err);
    check_and_free(tokenizer);
    zn_json_free(parts.root);
}

static zenith_status take_token(void *cookie, const char *key, const zn_json *value, zn_error *err)
{
    (void)err;
    zn_bytes *tokens = cookie;
    int64_t id = -1;
    assert_true(zn_json_as_integer(value, &id) && id >= 0 && id < TOKENS);
    tokens[id] = (zn_bytes){key, strlen(key)};
    return ZENITH_OK;
}

// --- GGUF ---------------------------------------------------------------------------------------

typedef struct gguf_bytes {
    uint8_t data[1 << 17];
    size_t size;
} gguf_bytes;

static void put(gguf_bytes *file, const void *data, size_t size)
{
    assert_true(file->size + size <= sizeof file->data);
    memcpy(file->data + file->size, data, size);
    file->size += size;
}

static void put_number(gguf_bytes *file, uint64_t number, size_t size)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)(number >> (8 * i));
    put(file, bytes, size);
}

static void put_text(gguf_bytes *file, const char *text, size_t size)
{
    put_number(file, size, 8);
    put(file, text, size);
}

static void put_key(gguf_bytes *file, const char *key, uint32_t type)
{
    put_text(file, key, strlen(key));
    put_number(file, type, 4);
}

static void put_texts(gguf_bytes *file, const char *key, const zn_bytes *texts, size_t count)
{
    put_key(file, key, ZN_GGUF_ARRAY);
    put_number(file, ZN_GGUF_TEXT, 4);
    put_number(file, count, 8);
    for (size_t i = 0; i < count; i++) put_text(file, texts[i].data, texts[i].size);
}

// kind: of the tokenizer; types: how many of them the file has.
static void fill_gguf(gguf_bytes *file, const zn_tokenizer_arrays *all, const char *kind,
                      size_t types)
{
    file->size = 0;
    put(file, "GGUF", 4);
    put_number(file, 3, 4);
    put_number(file, 0, 8);
    put_number(file, 5, 8);
    put_key(file, "tokenizer.ggml.model", ZN_GGUF_TEXT);
    put_text(file, kind, strlen(kind));
    put_key(file, "tokenizer.ggml.pre", ZN_GGUF_TEXT);
    put_text(file, all->pre, strlen(all->pre));
    put_texts(file, "tokenizer.ggml.tokens", all->tokens, all->token_count);
    put_texts(file, "tokenizer.ggml.merges", all->merges, all->merge_count);
    put_key(file, "tokenizer.ggml.token_type", ZN_GGUF_ARRAY);
    put_number(file, ZN_GGUF_I32, 4);
    put_number(file, types, 8);
    for (size_t i = 0; i < types; i++) put_number(file, (uint64_t)all->types[i], 4);
}

static zenith_status read_gguf(const gguf_bytes *file, zn_tokenizer **out, zn_error *err)
{
    zn_gguf *gguf = NULL;
    zn_test_ok(zn_gguf_open_memory(file->data, file->size, "made.gguf", &gguf, err), err);
    zenith_status status = zn_tokenizer_from_gguf(gguf, "made.gguf", out, err);
    zn_gguf_free(gguf);
    return status;
}

static void check_gguf(const zn_tokenizer_arrays *all)
{
    static gguf_bytes file;
    static const uint8_t none[32] = "GGUF\3";
    zn_error err = {{0}};
    zn_tokenizer *tokenizer = NULL;
    fill_gguf(&file, all, "gpt2", all->token_count);
    zn_test_ok(read_gguf(&file, &tokenizer, &err), &err);
    check_and_free(tokenizer);
    fill_gguf(&file, all, "gpt2", all->token_count - 1);
    assert_int_equal(read_gguf(&file, &tokenizer, &err), ZENITH_BAD_FILE);
    assert_non_null(strstr(err.text, "602 items for 603 tokens"));
    err = (zn_error){{0}};
    fill_gguf(&file, all, "llama", all->token_count);
    assert_int_equal(read_gguf(&file, &tokenizer, &err), ZENITH_UNSUPPORTED);
    err = (zn_error){{0}};
    file.size = 0;
    put(&file, none, sizeof none);
    assert_int_equal(read_gguf(&file, &tokenizer, &err), ZENITH_NOT_FOUND);
}

ZN_TEST(arrays)
{
    static char text[TEXT_ROOM];
    static zn_bytes tokens[TOKENS], merges[TOKENS];
    static int32_t types[TOKENS];
    zn_error err = {{0}};
    zn_tokenizer *tokenizer = NULL;
    taken_apart parts = take_apart();
    const size_t merge_count = zn_json_size(parts.merges);
    for (size_t i = 0; i < TOKENS; i++) types[i] = 1;
    zn_test_ok(zn_json_each(parts.vocabulary, take_token, tokens, &err), &err);
    for (size_t i = 0; i < zn_json_size(parts.added); i++) {
        const char *content;
        int64_t id;
        zn_test_ok(zn_json_get_integer(zn_json_at(parts.added, i), "id", 0, TOKENS - 1, &id, &err),
                   &err);
        zn_test_ok(zn_json_get_text(zn_json_at(parts.added, i), "content", &content, &err), &err);
        tokens[id] = (zn_bytes){content, strlen(content)};
        types[id] = 3;
    }
    assert_true(merge_count < TOKENS);
    for (size_t i = 0, used = 0; i < merge_count; i++) {
        merges[i] = (zn_bytes){text + used, merge_line(&parts, i, text + used, sizeof text - used)};
        used += merges[i].size;
    }
    const zn_tokenizer_arrays all = {.tokens = tokens,
                                     .types = types,
                                     .token_count = TOKENS,
                                     .merges = merges,
                                     .merge_count = merge_count,
                                     .pre = "qwen2"};
    zn_test_ok(zn_tokenizer_from_arrays(&all, "arrays", &tokenizer, &err), &err);
    check_and_free(tokenizer);
    check_gguf(&all);
    zn_json_free(parts.root);
}
