// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// PNG written row by row through libspng: 8-bit RGB, with an sRGB chunk, because that is what our
// pixels are. A picture without its ground is RGBA, and held until its last row.
#include "src/format/image/png.h"

#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/format/image/codec.h"
#include "src/format/image/cut_out.h"

#include <string.h>

typedef struct png_encoder {
    spng_ctx *context;
    zn_writer *file;
    size_t row_bytes;
    uint32_t width, height;
    uint8_t *held; // RGB of the whole picture, then RGBA; NULL: rows are written as they come
    uint32_t rows; // of them
    zenith_status status; // of a write that failed inside libspng
    zn_error error;
} png_encoder;

static int write_bytes(spng_ctx *context, void *user, void *src, size_t length)
{
    (void)context;
    png_encoder *encoder = user;
    encoder->status = zn_writer_write(encoder->file, src, length, &encoder->error);
    return encoder->status == ZENITH_OK ? 0 : SPNG_IO_ERROR;
}

static zenith_status hand_on(png_encoder *encoder, int code, zn_error *err)
{
    if (encoder->status != ZENITH_OK)
        return zn_fail(err, encoder->status, "%s", encoder->error.text);
    return zn_png_check(code, err);
}

// ASCII is tEXt, which every reader knows; what has other letters is iTXt. The former takes no
// control characters but line ends.
static bool is_plain(const char *text)
{
    for (; *text; text++)
        if ((*text < ' ' || *text > '~') && *text != '\n') return false;
    return true;
}

static int set_parameters(spng_ctx *context, const char *parameters)
{
    static const char none[] = "";
    struct spng_text text = {
        .keyword = "parameters",
        .type = is_plain(parameters) ? SPNG_TEXT : SPNG_ITXT,
        .length = strlen(parameters),
        .text = (char *)parameters, // libspng keeps the pointers, and only reads
        .language_tag = (char *)none,
        .translated_keyword = (char *)none};
    return text.length ? spng_set_text(context, &text, 1) : 0;
}

static zenith_status hold(png_encoder *encoder, zn_error *err)
{
    size_t pixels, bytes;
    if (!zn_mul_size(encoder->width, encoder->height, &pixels) || !zn_mul_size(pixels, 7, &bytes))
        return zn_fail_memory(err, SIZE_MAX);
    encoder->held = zn_alloc(bytes);
    return encoder->held ? ZENITH_OK : zn_fail_memory(err, bytes);
}

static zenith_status png_open(struct zn_writer *file, uint32_t width, uint32_t height,
                              const zn_image_write_options *options, void **state, zn_error *err)
{
    png_encoder *encoder = zn_alloc_zero(sizeof *encoder);
    if (!encoder) return zn_fail_memory(err, sizeof *encoder);
    *state = encoder;
    encoder->file = file;
    encoder->width = width;
    encoder->height = height;
    encoder->row_bytes = (options->cut_out ? 4 : 3) * (size_t)width;
    if (options->cut_out) ZN_TRY(hold(encoder, err));
    zn_codec_failure_clear();
    encoder->context = zn_png_context_create(SPNG_CTX_ENCODER);
    if (!encoder->context) return zn_fail(err, ZENITH_OUT_OF_MEMORY, "No memory for libspng.");
    struct spng_ihdr ihdr = {.width = width,
                             .height = height,
                             .bit_depth = 8,
                             .color_type = options->cut_out ? SPNG_COLOR_TYPE_TRUECOLOR_ALPHA
                                                            : SPNG_COLOR_TYPE_TRUECOLOR};
    int level = options->level < 0 ? 1 : options->level;
    spng_ctx *context = encoder->context;
    int code = spng_set_png_stream(context, write_bytes, encoder);
    if (!code) code = spng_set_option(context, SPNG_IMG_COMPRESSION_LEVEL, level);
    if (!code) code = spng_set_ihdr(context, &ihdr);
    if (!code) code = spng_set_srgb(context, 0);
    if (!code && options->parameters) code = set_parameters(context, options->parameters);
    if (!code)
        code = spng_encode_image(context, NULL, 0, SPNG_FMT_PNG,
                                 SPNG_ENCODE_PROGRESSIVE | SPNG_ENCODE_FINALIZE);
    return hand_on(encoder, code, err);
}

static zenith_status write_row(png_encoder *encoder, const uint8_t *src, zn_error *err)
{
    zn_codec_failure_clear();
    int code = spng_encode_row(encoder->context, src, encoder->row_bytes);
    return hand_on(encoder, code == SPNG_EOI ? 0 : code, err);
}

static zenith_status png_row(void *state, const uint8_t *src, zn_error *err)
{
    png_encoder *encoder = state;
    if (!encoder->held) return write_row(encoder, src, err);
    const size_t bytes = 3 * (size_t)encoder->width;
    uint8_t *rgba = encoder->held + bytes * encoder->height;
    memcpy(encoder->held + bytes * encoder->rows, src, bytes);
    if (++encoder->rows < encoder->height) return ZENITH_OK;
    ZN_TRY(zn_cut_out(encoder->held, encoder->width, encoder->height, rgba, err));
    for (uint32_t y = 0; y < encoder->height; y++)
        ZN_TRY(write_row(encoder, rgba + y * encoder->row_bytes, err));
    return ZENITH_OK;
}

// libspng has written the end with the last row.
static zenith_status png_finish(void *state, zn_error *err)
{
    return hand_on(state, 0, err);
}

static void png_free(void *state)
{
    png_encoder *encoder = state;
    if (!encoder) return;
    spng_ctx_free(encoder->context);
    zn_free(encoder->held);
    zn_free(encoder);
}

const zn_image_encoder zn_png_encoder = {
    .format = ZN_IMAGE_PNG,
    .max_side = INT32_MAX,
    .open = png_open,
    .row = png_row,
    .finish = png_finish,
    .free = png_free,
};
