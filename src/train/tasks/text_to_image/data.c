// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/train/tasks/text_to_image/data.h"

#include "src/base/os.h"
#include "src/base/sha256.h"
#include "src/text/chat.h"

#include <string.h>

// As prompts are encoded when pictures are made. One that is too long is whole, and refused for it.
static zenith_status encode(const void *tokenizer, const char *text, int32_t **ids, size_t *count,
                            zn_error *err)
{
    return zn_chat_encode(tokenizer, text, strlen(text), ZN_CHAT_TOKENS_MOST, ids, count, NULL,
                          err);
}

static zenith_status open_captions(const char *path, const zn_words_reading *how,
                                   zn_caption_ids *out, zn_error *err)
{
    const zn_caption_reader by = {.name = path,
                                  .vocabulary = how->vocabulary,
                                  .most = how->most,
                                  .encode = how->tokenizer ? encode : NULL,
                                  .cookie = how->tokenizer};
    zn_mapped file = {0};
    ZN_TRY(zn_mapped_open(path, &file, err));
    zenith_status status = zn_caption_ids_read(file.data, file.size, &by, out, err);
    zn_mapped_close(&file);
    return status;
}

// Channels have one scale or one each; a file that says neither must be in the model's space
// already.
static zenith_status check_space(const char *path, const zn_words_data *data, zn_error *err)
{
    const zn_latent_facts *facts = zn_latent_file_facts(data->latents);
    if (strcmp(facts->space, "raw") != 0 || facts->has_scale ||
        facts->statistics == data->shape.dim[1])
        return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "the latents of '%s' are raw, and the file does not say by which scale they "
                   "become those of the diffusion model: encode the pictures with --space model",
                   path);
}

zenith_status zn_words_data_open(const char *latents, const char *captions,
                                 const zn_words_reading *how, zn_words_data *out, zn_error *err)
{
    zn_words_data data = {.latents = NULL};
    zenith_status status = zn_latent_file_open(latents, &data.latents, err);
    if (status == ZENITH_OK) data.shape = zn_latent_file_shape(data.latents);
    if (status == ZENITH_OK) status = check_space(latents, &data, err);
    if (status == ZENITH_OK) status = open_captions(captions, how, &data.captions, err);
    if (status == ZENITH_OK && (int64_t)data.captions.count != data.shape.dim[0])
        status = zn_fail(err, ZENITH_INVALID_ARGUMENT,
                         "'%s' has captions of %zu pictures and '%s' %lld latents: there must be "
                         "one of each",
                         captions, data.captions.count, latents, (long long)data.shape.dim[0]);
    if (status == ZENITH_OK)
        *out = data;
    else
        zn_words_data_free(&data);
    return status;
}

void zn_words_data_free(zn_words_data *data)
{
    zn_latent_file_free(data->latents);
    zn_caption_ids_free(&data->captions);
    *data = (zn_words_data){.latents = NULL};
}

void zn_words_data_row(const zn_words_data *data, size_t index, int64_t row, float *dst)
{
    const zn_latent_facts *facts = zn_latent_file_facts(data->latents);
    const int64_t *dim = data->shape.dim;
    const size_t channels = (size_t)dim[1], count = channels * (size_t)dim[3];
    // A row of a latent that is there: it cannot fail.
    (void)!zn_latent_file_read_rows(data->latents, (int64_t)index, row, 1, dst, NULL);
    if (strcmp(facts->space, "raw") != 0) return;
    for (size_t i = 0; i < count; i++) {
        const size_t c = i % channels;
        dst[i] = facts->statistics ? (dst[i] - facts->mean[c]) / facts->std[c]
                                   : (dst[i] - facts->shift) * facts->scale;
    }
}

static zenith_status add_file(zn_sha256 *hash, const char *path, zn_error *err)
{
    zn_mapped file = {0};
    ZN_TRY(zn_mapped_open(path, &file, err));
    zn_sha256_add(hash, file.data, file.size);
    zn_mapped_close(&file);
    return ZENITH_OK;
}

zenith_status zn_words_data_checksum(const zn_words_data *data, const char *latents,
                                     const char *captions, char hex[65], zn_error *err)
{
    const zn_caption_ids *c = &data->captions;
    zn_sha256 hash;
    zn_sha256_begin(&hash);
    ZN_TRY(add_file(&hash, latents, err));
    ZN_TRY(add_file(&hash, captions, err));
    zn_sha256_add(&hash, c->ids, c->begin[c->captions] * sizeof *c->ids);
    zn_sha256_add(&hash, c->empty, c->empty_count * sizeof *c->empty);
    zn_sha256_end(&hash, hex);
    return ZENITH_OK;
}
