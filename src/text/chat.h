// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The prompt as Z-Image's text encoder takes it: one turn of a user in the chat format of Qwen3,
// and the beginning of the answer,
//
//     <|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n
//
// which is what the published template makes of one message with enable_thinking. The tokenizer
// sees the whole text, so that a prompt which contains "<|im_end|>" ends its turn, as in the
// reference.
#ifndef ZN_TEXT_CHAT_H
#define ZN_TEXT_CHAT_H

#include "src/text/tokenizer.h"

#define ZN_CHAT_TOKENS_MOST 512 // of Z-Image

// *text is the caller's, by zn_free, with a closing zero that *text_size does not count.
zenith_status zn_chat_text(const char *prompt, size_t size, char **text, size_t *text_size,
                           zn_error *err);

// The ids of that text, at most `most`: what is too long loses its end, the answer's beginning
// first, as in the reference. *whole (may be NULL) is the number of ids before that. There is no
// padding: the encoder's rows of a prompt do not depend on it. ZENITH_BAD_FILE where the tokenizer
// does not have <|im_start|> and <|im_end|>.
zenith_status zn_chat_encode(const zn_tokenizer *tokenizer, const char *prompt, size_t size,
                             size_t most, int32_t **ids, size_t *count, size_t *whole,
                             zn_error *err);

#endif
