// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a model learns from that makes pictures from words: latents of pictures in one file
// (format/latent/file.h), and captions of each in another (format/archive/caption_ids.h).
#ifndef ZN_TRAIN_TASKS_TEXT_TO_IMAGE_DATA_H
#define ZN_TRAIN_TASKS_TEXT_TO_IMAGE_DATA_H

#include "src/format/archive/caption_ids.h"
#include "src/format/latent/file.h"
#include "src/text/tokenizer.h"

typedef struct zn_words_data {
    zn_latent_file *latents;
    zn_shape shape; // [N, C, h, w]
    zn_caption_ids captions;
} zn_words_data;

// How captions are read.
typedef struct zn_words_reading {
    int64_t vocabulary; // tokens are below it
    size_t most;        // tokens of a caption
    const zn_tokenizer
        *tokenizer; // of texts, in the template that prompts are put into; NULL: of numbers
} zn_words_reading;
zenith_status zn_words_data_open(const char *latents, const char *captions,
                                 const zn_words_reading *how, zn_words_data *out, zn_error *err);
void zn_words_data_free(zn_words_data *data); // zeroes it; a zeroed one is fine

static inline size_t zn_words_data_count(const zn_words_data *data)
{
    return data->captions.count;
}

// A row of latent `index`, [w, C], in the space of the diffusion model. Any thread may ask.
void zn_words_data_row(const zn_words_data *data, size_t index, int64_t row, float *dst);

// Of both files' bytes, and of the numbers of all tokens.
zenith_status zn_words_data_checksum(const zn_words_data *data, const char *latents,
                                     const char *captions, char hex[65], zn_error *err);

#endif
