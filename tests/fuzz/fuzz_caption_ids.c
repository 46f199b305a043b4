// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as captions: each has some tokens and not too many, and each token is of the vocabulary.
#include "src/format/caption_ids.h"

enum { VOCABULARY = 50, MOST = 6 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(zn_caption caption)
{
    if (caption.count > MOST) __builtin_trap();
    for (size_t i = 0; i < caption.count; i++)
        if (caption.ids[i] < 0 || caption.ids[i] >= VOCABULARY) __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    zn_caption_ids captions;
    if (zn_caption_ids_read(data, size, "fuzz", VOCABULARY, MOST, &captions, NULL) != ZENITH_OK)
        return 0;
    for (size_t i = 0; i < captions.count; i++) {
        const zn_caption caption = zn_caption_ids_get(&captions, i);
        if (caption.count == 0) __builtin_trap();
        look(caption);
    }
    look(zn_caption_ids_empty(&captions));
    zn_caption_ids_free(&captions);
    return 0;
}
