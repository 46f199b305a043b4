// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/text/chat.h"

#include "src/base/memory.h"

#include <string.h>

static const char before[] = "<|im_start|>user\n";
static const char after[] = "<|im_end|>\n<|im_start|>assistant\n";

zenith_status zn_chat_text(const char *prompt, size_t size, char **text, size_t *text_size,
                           zn_error *err)
{
    const size_t head = sizeof before - 1, tail = sizeof after - 1;
    size_t room;
    if (!zn_add_size(size, head + tail + 1, &room)) return zn_fail_memory(err, SIZE_MAX);
    char *made = zn_alloc(room);
    if (!made) return zn_fail_memory(err, room);
    memcpy(made, before, head);
    if (size > 0) memcpy(made + head, prompt, size);
    memcpy(made + head + size, after, tail + 1);
    *text = made;
    *text_size = room - 1;
    return ZENITH_OK;
}

static zenith_status check_marks(const zn_tokenizer *tokenizer, zn_error *err)
{
    static const char *const marks[] = {"<|im_start|>", "<|im_end|>"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        int32_t *ids = NULL;
        size_t count = 0;
        ZN_TRY(zn_tokenizer_encode(tokenizer, marks[i], strlen(marks[i]), &ids, &count, err));
        zn_free(ids);
        if (count != 1)
            return zn_fail(err, ZENITH_BAD_FILE,
                           "the tokenizer has no token %s, so it is not one of a chat model",
                           marks[i]);
    }
    return ZENITH_OK;
}

zenith_status zn_chat_encode(const zn_tokenizer *tokenizer, const char *prompt, size_t size,
                             size_t most, int32_t **ids, size_t *count, size_t *whole,
                             zn_error *err)
{
    char *text = NULL;
    size_t text_size = 0, made = 0;
    ZN_TRY(check_marks(tokenizer, err));
    ZN_TRY(zn_chat_text(prompt, size, &text, &text_size, err));
    zenith_status status = zn_tokenizer_encode(tokenizer, text, text_size, ids, &made, err);
    zn_free(text);
    if (status != ZENITH_OK) return status;
    *count = made < most ? made : most;
    if (whole) *whole = made;
    return ZENITH_OK;
}
