// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See packed_latent.h.
#include "apps/cli/commands/images/packed_latent.h"

#include <stdlib.h>

enum { TOKEN_CHANNELS = 16, TOKEN_PIXELS = 4, TOKEN_SIZE = TOKEN_CHANNELS * TOKEN_PIXELS };

bool cli_latent_is_packed(const zenith_latent_info *stored, const zenith_model_info *model)
{
    return stored->count == 1 && stored->channels == 1 && stored->width == TOKEN_SIZE &&
           model->latent_channels == TOKEN_CHANNELS;
}

// Tokens in a row and in a column: as --size says, or as many in both.
static bool choose_shape(const cli_dimensions *size, uint32_t pixels, uint32_t tokens,
                         uint32_t *across, uint32_t *down, cli_failure *failure)
{
    if (size->width != 0 && size->height != 0) {
        *across = size->width / pixels;
        *down = size->height / pixels;
    } else {
        for (*across = 1; (uint64_t)*across * *across < tokens; (*across)++) continue;
        *down = *across;
    }
    bool whole = size->width % pixels == 0 && size->height % pixels == 0 &&
                 (size->width == 0) == (size->height == 0);
    if (whole && (uint64_t)*across * *down == tokens) return true;
    return cli_fail_text(
        failure, ZENITH_INVALID_ARGUMENT,
        "the latent is packed into %u tokens of %ux%u pixels, which %s: give --size "
        "WxH, the size of the picture",
        (unsigned)tokens, (unsigned)pixels, (unsigned)pixels,
        size->width + size->height != 0 ? "make no picture of this --size" : "make no square");
}

static void unpack_token(const float *token, uint32_t x, uint32_t y, uint32_t width,
                         uint32_t height, float *planes)
{
    for (uint32_t c = 0; c < TOKEN_CHANNELS; c++)
        for (uint32_t i = 0; i < TOKEN_PIXELS; i++)
            planes[((size_t)c * height + 2 * y + i / 2) * width + 2 * x + i % 2] =
                token[c * TOKEN_PIXELS + i];
}

bool cli_latent_unpack(cli_session *session, const zenith_model_info *model, zenith_latent *latent,
                       float **planes, cli_failure *failure)
{
    uint32_t across, down;
    const uint32_t tokens = latent->height;
    const cli_dimensions *size = &session->settings->source.size;
    if (!choose_shape(size, 2 * model->factor, tokens, &across, &down, failure)) return false;
    float *packed = malloc((size_t)tokens * TOKEN_SIZE * sizeof *packed);
    *planes = malloc((size_t)tokens * TOKEN_SIZE * sizeof *packed);
    zenith_status status = packed != NULL && *planes != NULL
                               ? latent->rows(latent->cookie, 0, tokens, packed)
                               : ZENITH_OUT_OF_MEMORY;
    for (uint32_t i = 0; status == ZENITH_OK && i < tokens; i++)
        unpack_token(packed + (size_t)i * TOKEN_SIZE, i % across, i / across, 2 * across, 2 * down,
                     *planes);
    free(packed);
    if (status != ZENITH_OK) return cli_fail(session, failure, status, NULL);
    *latent = (zenith_latent){.size = sizeof *latent,
                              .width = 2 * across,
                              .height = 2 * down,
                              .channels = TOKEN_CHANNELS,
                              .space = latent->space,
                              .number = ZENITH_F32,
                              .order = ZENITH_CHW,
                              .data = *planes};
    return true;
}
