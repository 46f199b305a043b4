// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/text/vocabulary_json.h"

#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/text/splitter.h"
#include "src/text/unicode.h"

#include <string.h>

// The first failure stays; what follows it does nothing.
typedef struct json_text {
    char *data;
    size_t size, room;
    zenith_status status;
    zn_error *err;
} json_text;

static void put_bytes(json_text *text, const char *data, size_t size)
{
    if (text->status == ZENITH_OK)
        text->status = zn_array_reserve((void **)&text->data, &text->room, text->size + size + 1, 1,
                                        text->err);
    if (text->status != ZENITH_OK) return;
    memcpy(text->data + text->size, data, size);
    text->size += size;
    text->data[text->size] = '\0';
}

static void put_plain(json_text *text, const char *data)
{
    put_bytes(text, data, strlen(data));
}

static void put_number(json_text *text, size_t number)
{
    char digits[24];
    put_bytes(text, digits, zn_text_format(digits, sizeof digits, "%zu", number));
}

static void put_quoted(json_text *text, const char *data, size_t size)
{
    size_t done = 0; // what needs no escape is put in one piece
    put_plain(text, "\"");
    for (size_t i = 0; i < size; i++) {
        char escape[8];
        const uint8_t c = (uint8_t)data[i];
        if (c >= 0x20 && c != '"' && c != '\\') continue;
        put_bytes(text, data + done, i - done);
        put_bytes(text, escape, zn_text_format(escape, sizeof escape, "\\u%04x", (unsigned)c));
        done = i + 1;
    }
    put_bytes(text, data + done, size - done);
    put_plain(text, "\"");
}

static void put_token(json_text *text, const zn_vocabulary *vocabulary, int32_t id)
{
    char written[2 * ZN_VOCABULARY_TOKEN_MOST];
    const zn_token *token = zn_vocabulary_get(vocabulary, id);
    put_quoted(text, written,
               zn_byte_alphabet_write(vocabulary->bytes + token->offset, token->size, written));
}

static void put_added(json_text *text, const char *const *added, size_t count, size_t first)
{
    put_plain(text, "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":[");
    for (size_t i = 0; i < count; i++) {
        put_plain(text, i ? ",\n{\"id\":" : "\n{\"id\":");
        put_number(text, first + i);
        put_plain(text, ",\"content\":");
        put_quoted(text, added[i], strlen(added[i]));
        put_plain(text, ",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,"
                        "\"normalized\":false,\"special\":true}");
    }
    put_plain(text, "],\n");
}

static void put_words(json_text *text)
{
    put_plain(text, "\"normalizer\":{\"type\":\"NFC\"},\n\"pre_tokenizer\":{\"type\":\"Sequence\","
                    "\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":");
    put_quoted(text, zn_pattern_qwen2, strlen(zn_pattern_qwen2));
    put_plain(text, "},\"behavior\":\"Isolated\",\"invert\":false},{\"type\":\"ByteLevel\","
                    "\"add_prefix_space\":false,\"trim_offsets\":false,\"use_regex\":false}]},\n"
                    "\"post_processor\":null,\n\"decoder\":{\"type\":\"ByteLevel\","
                    "\"add_prefix_space\":false,\"trim_offsets\":false,\"use_regex\":false},\n");
}

static void put_model(json_text *text, const zn_vocabulary *vocabulary, const zn_merge *merges,
                      size_t merge_count)
{
    put_plain(text,
              "\"model\":{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":null,"
              "\"continuing_subword_prefix\":\"\",\"end_of_word_suffix\":\"\","
              "\"fuse_unk\":false,\"byte_fallback\":false,\"ignore_merges\":false,\n\"vocab\":{");
    for (size_t id = 0; id < vocabulary->count; id++) {
        put_plain(text, id ? ",\n" : "\n");
        put_token(text, vocabulary, (int32_t)id);
        put_plain(text, ":");
        put_number(text, id);
    }
    put_plain(text, "},\n\"merges\":[");
    for (size_t i = 0; i < merge_count; i++) {
        put_plain(text, i ? ",\n[" : "\n[");
        put_token(text, vocabulary, merges[i].left);
        put_plain(text, ",");
        put_token(text, vocabulary, merges[i].right);
        put_plain(text, "]");
    }
    put_plain(text, "]}}\n");
}

zenith_status zn_vocabulary_json(const zn_vocabulary *vocabulary, const zn_merge *merges,
                                 size_t merge_count, const char *const *added, size_t added_count,
                                 char **json, size_t *size, zn_error *err)
{
    json_text text = {.status = ZENITH_OK, .err = err};
    put_added(&text, added, added_count, vocabulary->count);
    put_words(&text);
    put_model(&text, vocabulary, merges, merge_count);
    if (text.status != ZENITH_OK) {
        zn_free(text.data);
        return text.status;
    }
    *json = text.data;
    *size = text.size;
    return ZENITH_OK;
}
