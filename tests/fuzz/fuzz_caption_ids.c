// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as captions: each has some tokens and not too many, and each token is of the
// vocabulary.
#include "src/format/archive/caption_ids.h"

#include "src/base/memory.h"

#include <string.h>

enum { VOCABULARY = 50, MOST = 6 };

static void look(zn_caption caption)
{
    if (caption.count > MOST) __builtin_trap();
    for (size_t i = 0; i < caption.count; i++)
        if (caption.ids[i] < 0 || caption.ids[i] >= VOCABULARY) __builtin_trap();
}

// A number for each byte, and one before them.
static zenith_status encode(const void *cookie, const char *text, int32_t **ids, size_t *count,
                            zn_error *err)
{
    (void)cookie;
    *count = 1 + strlen(text);
    *ids = zn_alloc(*count * sizeof **ids);
    if (!*ids) return zn_fail_memory(err, *count);
    for (size_t i = 0; i < *count; i++) (*ids)[i] = i == 0 ? 1 : (int32_t)(text[i - 1] & 63);
    return ZENITH_OK;
}

static void read_by(const zn_caption_reader *by, const uint8_t *data, size_t size)
{
    zn_caption_ids captions;
    if (zn_caption_ids_read(data, size, by, &captions, NULL) != ZENITH_OK) return;
    for (size_t i = 0; i < captions.count; i++) {
        const size_t several = zn_caption_ids_several(&captions, i);
        if (several == 0) __builtin_trap();
        for (size_t k = 0; k < several; k++) {
            const zn_caption caption = zn_caption_ids_get(&captions, i, k);
            if (caption.count == 0) __builtin_trap();
            look(caption);
        }
    }
    look(zn_caption_ids_empty(&captions));
    zn_caption_ids_free(&captions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    zn_caption_reader by = {.name = "fuzz", .vocabulary = VOCABULARY, .most = MOST};
    read_by(&by, data, size);
    by.encode = encode;
    read_by(&by, data, size);
    return 0;
}
