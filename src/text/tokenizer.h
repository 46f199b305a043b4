// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Text to token ids and back: byte-level BPE, as Qwen's models use it. Encoding goes in this order:
//
//     text ──added tokens cut out──> pieces ──NFC──> pieces ──pattern──> words ──BPE──> ids
//
// A tokenizer does not change after it is opened; any number of threads may use it. Its files may
// be hostile: whatever is broken is ZENITH_BAD_FILE, and what another tokenizer does and this one
// does not (another normal form, another kind of model) is ZENITH_UNSUPPORTED, never a different
// result.
//
// Text that is not UTF-8 is refused (ZENITH_INVALID_ARGUMENT, with the byte's place): a model never
// saw such bytes in training, and whatever they were replaced by would be a guess. Zeros are text.
#ifndef ZN_TEXT_TOKENIZER_H
#define ZN_TEXT_TOKENIZER_H

#include "src/base/status.h"
#include "src/format/tensor/gguf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZN_TOKENIZER_TEXT_MOST ((size_t)16 * 1024 * 1024) // bytes of one text; more is ZENITH_LIMIT

typedef struct zn_tokenizer zn_tokenizer;

// A folder (with tokenizer.json; else vocab.json and merges.txt, and tokenizer_config.json where it
// is there; else qwen.tiktoken), or one of these files by its path (*.json, *.tiktoken), or a GGUF
// file of a text model, which carries its tokenizer.
zenith_status zn_tokenizer_open(const char *path, zn_tokenizer **out, zn_error *err);
void zn_tokenizer_free(zn_tokenizer *tokenizer); // NULL is fine

// Bytes that need no closing zero: `where` names them in messages.
typedef struct zn_bytes {
    const char *data;
    size_t size;
} zn_bytes;

// tokenizer.json of the Hugging Face library: a BPE model; merges as "a b" or as pairs; NFC or no
// normaliser; Split by a pattern and ByteLevel, or ByteLevel alone.
zenith_status zn_tokenizer_parse_json(zn_bytes file, const char *where, zn_tokenizer **out,
                                      zn_error *err);

// vocab.json ({"token": id}) and merges.txt (a pair in each line). `config` is
// tokenizer_config.json, whose added_tokens_decoder names the added tokens. Where it is empty, or
// names none, they are those of Qwen3, after the last id. Normaliser and pattern are Qwen's.
zenith_status zn_tokenizer_parse_merges(zn_bytes vocabulary, zn_bytes merges, zn_bytes config,
                                        const char *where, zn_tokenizer **out, zn_error *err);

// qwen.tiktoken: in each line a token in base64 and its rank, which is its id. Merges follow from
// the ranks: a token is made of the two parts that the tokens before it leave of its bytes. Added
// tokens, normaliser and pattern are Qwen3's.
zenith_status zn_tokenizer_parse_tiktoken(zn_bytes file, const char *where, zn_tokenizer **out,
                                          zn_error *err);

// The arrays of a GGUF file's metadata: tokenizer.ggml.tokens, .token_type, .merges and .pre. A
// control token (type 3) is a special one, a user-defined one (type 4) is cut out of texts too.
typedef struct zn_tokenizer_arrays {
    const zn_bytes *tokens;
    const int32_t *types; // NULL: all are normal
    size_t token_count;
    const zn_bytes *merges; // "a b"
    size_t merge_count;
    const char *pre; // "qwen2" or "gpt-2"; NULL is "qwen2"
} zn_tokenizer_arrays;
zenith_status zn_tokenizer_from_arrays(const zn_tokenizer_arrays *arrays, const char *where,
                                       zn_tokenizer **out, zn_error *err);

// What a GGUF file has of them. ZENITH_NOT_FOUND where it has none.
zenith_status zn_tokenizer_from_gguf(const zn_gguf *file, const char *where, zn_tokenizer **out,
                                     zn_error *err);

// *ids is the caller's, by zn_free; NULL where *count is 0.
zenith_status zn_tokenizer_encode(const zn_tokenizer *tokenizer, const char *text, size_t size,
                                  int32_t **ids, size_t *count, zn_error *err);

// The bytes of the ids, one after the other; special tokens too unless they are left out. *text is
// the caller's, by zn_free, with a closing zero that *size does not count. Ids that do not come
// from encoding may make bytes that are not UTF-8. An id without a token is
// ZENITH_INVALID_ARGUMENT.
zenith_status zn_tokenizer_decode(const zn_tokenizer *tokenizer, const int32_t *ids, size_t count,
                                  bool leave_out_special, char **text, size_t *size, zn_error *err);

size_t zn_tokenizer_count(const zn_tokenizer *tokenizer); // one more than the largest id
// The id of a token by what it decodes to; -1 where there is none.
int32_t zn_tokenizer_find(const zn_tokenizer *tokenizer, const char *text, size_t size);

#endif
