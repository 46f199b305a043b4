// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Each allocation of opening a tokenizer, in every way, and of encoding and decoding fails in turn.
// jansson's allocations fail in task.oom.
#include "src/base/memory.h"
#include "src/text/captions.h"
#include "src/text/chat.h"
#include "src/text/tokenizer_train.h"
#include "tests/oom/oom.h"
#include "tests/text/made_tokenizer.h"

static made_text json, vocabulary, ranks;

static zenith_status parse_json(zn_error *err)
{
    zn_tokenizer *tokenizer = NULL;
    ZN_TRY(zn_tokenizer_parse_json(bytes_of(&json), "made", &tokenizer, err));
    zn_tokenizer_free(tokenizer);
    return ZENITH_OK;
}

static zenith_status parse_merges(zn_error *err)
{
    static const char config[] = "{\"added_tokens_decoder\":{\"300\":{\"content\":\"<s>\"}}}";
    zn_tokenizer *tokenizer = NULL;
    ZN_TRY(zn_tokenizer_parse_merges(bytes_of(&vocabulary), (zn_bytes){"a b\n", 4},
                                     (zn_bytes){config, sizeof config - 1}, "made", &tokenizer,
                                     err));
    zn_tokenizer_free(tokenizer);
    return ZENITH_OK;
}

static zenith_status parse_tiktoken(zn_error *err)
{
    zn_tokenizer *tokenizer = NULL;
    ZN_TRY(zn_tokenizer_parse_tiktoken(bytes_of(&ranks), "made", &tokenizer, err));
    zn_tokenizer_free(tokenizer);
    return ZENITH_OK;
}

static zenith_status open_folder(zn_error *err)
{
    zn_tokenizer *tokenizer = NULL;
    ZN_TRY(zn_tokenizer_open(zn_test_path(zn_test_source(), "tests/golden/tokenizer_tiny"),
                             &tokenizer, err));
    zn_tokenizer_free(tokenizer);
    return ZENITH_OK;
}

static zn_tokenizer *opened;

static zenith_status encode_and_decode(zn_error *err)
{
    static const char prompt[] = "ab a\xcc\x81\xcc\xa7 <s>  e\xcc\x81! x";
    int32_t *ids = NULL;
    size_t count, size;
    char *text = NULL;
    ZN_TRY(zn_chat_encode(opened, prompt, sizeof prompt - 1, 512, &ids, &count, NULL, err));
    const zenith_status status = zn_tokenizer_decode(opened, ids, count, true, &text, &size, err);
    zn_free(ids);
    zn_free(text);
    return status;
}

static zenith_status train(zn_error *err)
{
    static const char text[] = "caf\xc3\xa9 cafe\xcc\x81 xyz xyz xy xy xyz";
    static const char *const added[] = {"<s>"};
    const zn_bytes texts = {text, sizeof text - 1};
    const zn_tokenizer_training training = {.texts = &texts,
                                            .text_count = 1,
                                            .tokens = 300,
                                            .added = added,
                                            .added_count = 1,
                                            .chat = true};
    char *made = NULL;
    size_t size;
    ZN_TRY(zn_tokenizer_train(&training, &made, &size, err));
    zn_free(made);
    return ZENITH_OK;
}

static zenith_status read_captions(zn_error *err)
{
    static const char text[] = "{\"caption\":\"a\"}\n{\"captions\":[\"b\",\"c\"]}\n";
    zn_captions captions = {0};
    zenith_status status = zn_captions_read(&captions, (zn_bytes){text, sizeof text - 1},
                                            "made.jsonl", NULL, err);
    zn_captions_free(&captions);
    return status;
}

static int open_tokenizer(void **state)
{
    (void)state;
    put_json(&json,
             &(made_json){.tokens = ",\"ab\":256",
                          .merges = "\"a b\"",
                          .added = "{\"content\":\"<|im_start|>\",\"id\":300},"
                                   "{\"content\":\"<|im_end|>\",\"id\":301},"
                                   "{\"content\":\"\xc3\xa9!\",\"id\":302,\"normalized\":true}"});
    put_vocabulary(&vocabulary, ",\"ab\":256");
    for (unsigned b = 0; b < 256; b++) {
        static const char digits[] =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        put(&ranks, "%c%c== %u\n", digits[b >> 2], digits[(b & 3) << 4], b);
    }
    put(&ranks, "YWI= 256\nYWJj 257\n");
    zn_error err = {{0}};
    zn_test_ok(zn_tokenizer_parse_json(bytes_of(&json), "made", &opened, &err), &err);
    return 0;
}

static int close_tokenizer(void **state)
{
    (void)state;
    zn_tokenizer_free(opened);
    return 0;
}

const oom_program program_text_oom = {
    .open = open_tokenizer,
    .close = close_tokenizer,
    .calls = {OOM_CALL(parse_json, ZENITH_OK, 10), OOM_CALL(parse_merges, ZENITH_OK, 10),
              OOM_CALL(parse_tiktoken, ZENITH_OK, 10), OOM_CALL(open_folder, ZENITH_OK, 10),
              OOM_CALL(encode_and_decode, ZENITH_OK, 10), OOM_CALL(train, ZENITH_OK, 10),
              OOM_CALL(read_captions, ZENITH_OK, 2)},
};
