// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// qwen.tiktoken. The file has no merges: there, any two neighbours whose bytes together are a token
// may join, the smallest rank first. That is the same as one merge for each token. Say that two
// neighbours are together the token T. No join crossed their ends, so what happened inside was what
// happens to T's bytes alone; and that always comes to the same two parts. So each token's bytes
// are encoded with the merges of the tokens before it, and the two symbols that are left are its
// merge. A token that leaves more than two can never come up, and has no merge.
#include "src/text/bpe.h"
#include "src/text/lines.h"
#include "src/text/tokenizer_parts.h"

static int digit_of(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// Four characters are three bytes; the last group may end in one or two '='.
static bool read_base64(zn_bytes text, uint8_t *bytes, size_t room, size_t *count)
{
    if (text.size == 0 || text.size % 4 || text.size / 4 * 3 > room) return false;
    size_t padding = text.data[text.size - 1] == '=';
    if (padding && text.data[text.size - 2] == '=') padding = 2;
    size_t used = 0;
    for (size_t at = 0; at < text.size; at += 4) {
        uint32_t group = 0;
        for (size_t i = 0; i < 4; i++) {
            const int digit = at + i >= text.size - padding ? 0 : digit_of(text.data[at + i]);
            if (digit < 0) return false;
            group = group << 6 | (uint32_t)digit;
        }
        for (int shift = 16; shift >= 0; shift -= 8) bytes[used++] = (uint8_t)(group >> shift);
    }
    *count = used - padding;
    return true;
}

static bool read_rank(zn_bytes text, int64_t *rank)
{
    *rank = 0;
    if (text.size == 0 || text.size > 9) return false;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') return false;
        *rank = *rank * 10 + (text.data[i] - '0');
    }
    return true;
}

static zenith_status read_line(zn_tokenizer *tokenizer, zn_bytes line, size_t number, zn_error *err)
{
    uint8_t bytes[ZN_VOCABULARY_TOKEN_MOST + 3];
    size_t size;
    int64_t rank;
    const char *space = memchr(line.data, ' ', line.size);
    const size_t before = space ? (size_t)(space - line.data) : 0;
    if (!space || !read_base64((zn_bytes){line.data, before}, bytes, sizeof bytes, &size) ||
        !read_rank((zn_bytes){space + 1, line.size - before - 1}, &rank))
        return zn_fail(err, ZENITH_BAD_FILE, "line %zu is not a token in base64 and its rank",
                       number);
    return zn_vocabulary_add(&tokenizer->vocabulary, bytes, size, false, rank, err);
}

static zenith_status read_lines(zn_tokenizer *tokenizer, zn_bytes file, zn_error *err)
{
    zn_bytes line;
    for (size_t number = 1; zn_lines_next(&file, &line); number++)
        if (line.size > 0) ZN_TRY(read_line(tokenizer, line, number, err));
    return ZENITH_OK;
}

static zenith_status find_merges(zn_tokenizer *tokenizer, zn_error *err)
{
    zn_vocabulary *vocabulary = &tokenizer->vocabulary;
    zn_bpe bpe = {0};
    zenith_status status = ZENITH_OK;
    for (size_t id = 0; id < vocabulary->count; id++) {
        const zn_token *token = zn_vocabulary_get(vocabulary, (int64_t)id);
        if (!token || token->size < 2) continue;
        bpe.count = 0;
        ZN_GO(zn_bpe_word(&bpe, vocabulary, tokenizer->byte_ids, vocabulary->bytes + token->offset,
                          token->size, err));
        if (bpe.count == 2)
            ZN_GO(zn_vocabulary_add_merge(vocabulary, bpe.ids[0], bpe.ids[1], (uint32_t)id, err));
    }
fail:
    zn_bpe_free(&bpe);
    return status;
}

static zenith_status read_file(zn_bytes file, const char *where, zn_tokenizer **out, zn_error *err)
{
    const size_t lines = zn_lines_count(file);
    ZN_TRY(zn_tokenizer_create(lines, lines, ZN_QWEN_ADDED, out, err));
    ZN_TRY(read_lines(*out, file, err));
    ZN_TRY(zn_tokenizer_find_bytes(*out, err));
    ZN_TRY(find_merges(*out, err));
    ZN_TRY(zn_tokenizer_add_qwen(*out, err));
    return zn_tokenizer_finish(*out, zn_pattern_qwen2, where, err);
}

zenith_status zn_tokenizer_parse_tiktoken(zn_bytes file, const char *where, zn_tokenizer **out,
                                          zn_error *err)
{
    zn_tokenizer *tokenizer = NULL;
    zenith_status status = read_file(file, where, &tokenizer, err);
    if (status == ZENITH_OK) {
        *out = tokenizer;
        return ZENITH_OK;
    }
    zn_tokenizer_free(tokenizer);
    zn_error_prefix(err, where);
    return status;
}
