// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// PNG by libspng. Rows of a plain file are inflated one by one; an interlaced file is decoded whole
// on the first row, since its last pass touches every second row. Palettes and transparent colours
// are resolved by libspng, grey stays grey (a grey profile needs it so).
//
// Invariants
//   1. A context decodes once; rewinding makes a new one over the same bytes.
//   2. With the last row the rest of the file is read: its checksums and its IEND must be there.
#include "src/format/image/png.h"

#include "src/base/memory.h"
#include "src/format/image/codec.h"
#include "src/format/image/png_text.h"

#include <string.h>

enum {
    // Profiles and texts that libspng may unpack. Real ones stay far below.
    MAX_CHUNK = 32 << 20,
    MAX_CHUNKS_TOGETHER = 64 << 20
};

static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

typedef struct png_decoder {
    const uint8_t *data;
    size_t size;
    spng_ctx *context;
    struct spng_ihdr ihdr;
    int format; // of libspng
    int flags;
    size_t row_bytes;
    uint8_t *picture; // of an interlaced file
    char *parameters; // the text of that name; NULL: there is none
    uint32_t next;
} png_decoder;

static bool png_probe(const uint8_t *data, size_t size)
{
    return size >= sizeof signature && memcmp(data, signature, sizeof signature) == 0;
}

static uint32_t read32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

// Coded colours (cICP: primaries, transfer curve, matrix, range; numbers of ITU-T H.273). sRGB and
// Display P3 are what still pictures use; high dynamic range would need a tone mapping that nobody
// asked for, so it is refused rather than shown wrong.
static bool read_cicp(const uint8_t code[4], zn_colour_claim *claim)
{
    enum { BT709 = 1, P3_D65 = 12, SRGB_CURVE = 13 };
    if (code[1] != SRGB_CURVE || code[2] != 0 || code[3] != 1) return false;
    if (code[0] == BT709) {
        claim->srgb = true;
    } else if (code[0] == P3_D65) {
        claim->srgb_curve = claim->has_primaries = true;
        claim->white[0] = 0.3127, claim->white[1] = 0.3290;
        claim->red[0] = 0.680, claim->red[1] = 0.320;
        claim->green[0] = 0.265, claim->green[1] = 0.690;
        claim->blue[0] = 0.150, claim->blue[1] = 0.060;
    }
    return claim->srgb || claim->srgb_curve;
}

// What libspng does not tell: animation (acTL), coded colours, an eXIf chunk or a text behind the
// pixels, and that a profile is there which it could not read. Chunk: length, name, data, checksum.
static const uint8_t *walk_chunks(const uint8_t *data, size_t size, zn_image_header *header,
                                  zn_png_text *text)
{
    const uint8_t *cicp = NULL;
    for (size_t at = sizeof signature; size - at >= 12;) {
        size_t length = read32(data + at);
        const uint8_t *name = data + at + 4, *body = data + at + 8;
        if (length > size - at - 12) break;
        if (memcmp(name, "acTL", 4) == 0 && length == 8) {
            header->animated = read32(body) > 1;
        } else if (memcmp(name, "iCCP", 4) == 0) {
            header->colour.has_icc = true;
        } else if (memcmp(name, "cICP", 4) == 0 && length == 4) {
            cicp = body;
        } else if (memcmp(name, "eXIf", 4) == 0 && !header->exif) {
            header->exif = body;
            header->exif_size = length;
        } else if (!text->data) {
            zn_png_text_find(name, body, length, "parameters", text);
        }
        at += 12 + length;
    }
    return cicp;
}

static zenith_status context_open(png_decoder *decoder, zn_error *err)
{
    zn_codec_failure_clear();
    spng_ctx_free(decoder->context);
    decoder->context = zn_png_context_create(0);
    if (!decoder->context) return zn_fail(err, ZENITH_OUT_OF_MEMORY, "No memory for libspng.");
    int code = spng_set_chunk_limits(decoder->context, MAX_CHUNK, MAX_CHUNKS_TOGETHER);
    // by default a damaged profile would be left out, which changes colours silently
    if (!code) code = spng_set_crc_action(decoder->context, SPNG_CRC_ERROR, SPNG_CRC_ERROR);
    if (!code) code = spng_set_png_buffer(decoder->context, decoder->data, decoder->size);
    if (!code) code = spng_get_ihdr(decoder->context, &decoder->ihdr);
    return zn_png_check(code, err);
}

// SPNG_FMT_PNG is "as stored, 16 bits in host order".
static void choose_format(png_decoder *decoder, bool transparent, zn_image_header *header)
{
    bool deep = decoder->ihdr.bit_depth == 16;
    decoder->flags = transparent ? SPNG_DECODE_TRNS : 0;
    decoder->format = SPNG_FMT_PNG;
    header->sample_bits = deep ? 16 : 8;
    header->stored_bits = decoder->ihdr.bit_depth;
    header->stored_channels = 1;
    switch (decoder->ihdr.color_type) {
    case SPNG_COLOR_TYPE_GRAYSCALE:
        header->layout = transparent ? ZN_PIXEL_GREY_ALPHA : ZN_PIXEL_GREY;
        if (transparent)
            decoder->format = deep ? SPNG_FMT_GA16 : SPNG_FMT_GA8;
        else if (!deep)
            decoder->format = SPNG_FMT_G8;
        break;
    case SPNG_COLOR_TYPE_TRUECOLOR:
        header->layout = transparent ? ZN_PIXEL_RGBA : ZN_PIXEL_RGB;
        header->stored_channels = 3;
        if (transparent) decoder->format = deep ? SPNG_FMT_RGBA16 : SPNG_FMT_RGBA8;
        break;
    case SPNG_COLOR_TYPE_INDEXED:
        header->layout = transparent ? ZN_PIXEL_RGBA : ZN_PIXEL_RGB;
        decoder->format = transparent ? SPNG_FMT_RGBA8 : SPNG_FMT_RGB8;
        break;
    case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA:
        header->layout = ZN_PIXEL_GREY_ALPHA;
        header->stored_channels = 2;
        break;
    default:
        header->layout = ZN_PIXEL_RGBA;
        header->stored_channels = 4;
    }
    header->has_alpha = zn_pixel_has_alpha(header->layout);
    decoder->row_bytes = decoder->ihdr.width * zn_pixel_channels(header->layout) *
                         (size_t)(deep ? 2 : 1);
}

static void read_colour(spng_ctx *context, zn_colour_claim *claim)
{
    struct spng_iccp icc;
    if (claim->has_icc && spng_get_iccp(context, &icc) == 0) {
        claim->icc = (const uint8_t *)icc.profile;
        claim->icc_size = icc.profile_len;
    }
    uint8_t intent;
    if (claim->srgb || claim->srgb_curve) return; // coded colours outrank the older chunks
    claim->srgb = spng_get_srgb(context, &intent) == 0;
    if (spng_get_gama(context, &claim->gamma)) claim->gamma = 0;
    struct spng_chrm chrm;
    if (spng_get_chrm(context, &chrm) == 0) {
        claim->has_primaries = true;
        claim->white[0] = chrm.white_point_x, claim->white[1] = chrm.white_point_y;
        claim->red[0] = chrm.red_x, claim->red[1] = chrm.red_y;
        claim->green[0] = chrm.green_x, claim->green[1] = chrm.green_y;
        claim->blue[0] = chrm.blue_x, claim->blue[1] = chrm.blue_y;
    }
}

static zenith_status png_open(const uint8_t *data, size_t size, void **state,
                              zn_image_header *header, zn_error *err)
{
    png_decoder *decoder = zn_alloc_zero(sizeof *decoder);
    if (!decoder) return zn_fail_memory(err, sizeof *decoder);
    *state = decoder;
    decoder->data = data;
    decoder->size = size;
    ZN_TRY(context_open(decoder, err));
    zn_png_text text = {NULL, 0, false};
    const uint8_t *cicp = walk_chunks(data, size, header, &text);
    if (text.data) ZN_TRY(zn_png_text_copy(&text, &decoder->parameters, err));
    header->parameters = decoder->parameters;
    if (cicp && !header->colour.has_icc && !read_cicp(cicp, &header->colour))
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "The PNG's colours are coded as %d, %d, %d, %d (cICP); sRGB and Display P3 "
                       "are known. Convert it to sRGB.",
                       cicp[0], cicp[1], cicp[2], cicp[3]);
    struct spng_trns trns;
    int code = spng_get_trns(decoder->context, &trns); // reads all chunks before the pixels
    ZN_TRY(zn_png_check(code == SPNG_ECHUNKAVAIL ? 0 : code, err));
    choose_format(decoder, code == 0, header);
    read_colour(decoder->context, &header->colour);
    header->width = decoder->ihdr.width;
    header->height = decoder->ihdr.height;
    header->streamed = decoder->ihdr.interlace_method == SPNG_INTERLACE_NONE;
    header->held_bytes = 4 * (uint64_t)decoder->row_bytes + 65536;
    if (!header->streamed) header->held_bytes += (uint64_t)decoder->row_bytes * header->height;
    return ZENITH_OK;
}

static zenith_status decode_interlaced(png_decoder *decoder, zn_error *err)
{
    size_t bytes;
    if (!zn_mul_size(decoder->row_bytes, decoder->ihdr.height, &bytes))
        return zn_fail_memory(err, SIZE_MAX);
    if (!decoder->picture) decoder->picture = zn_alloc(bytes);
    if (!decoder->picture) return zn_fail_memory(err, bytes);
    int code = spng_decode_image(decoder->context, decoder->picture, bytes, decoder->format,
                                 decoder->flags);
    return zn_png_check(code, err);
}

static zenith_status png_rewind(void *state, zn_error *err)
{
    png_decoder *decoder = state;
    decoder->next = 0;
    ZN_TRY(context_open(decoder, err));
    if (decoder->ihdr.interlace_method != SPNG_INTERLACE_NONE)
        return decode_interlaced(decoder, err);
    int code = spng_decode_image(decoder->context, NULL, 0, decoder->format,
                                 decoder->flags | SPNG_DECODE_PROGRESSIVE);
    return zn_png_check(code, err);
}

static zenith_status png_row(void *state, void *dst, zn_error *err)
{
    png_decoder *decoder = state;
    bool last = ++decoder->next == decoder->ihdr.height;
    zn_codec_failure_clear();
    int code = 0;
    if (decoder->picture)
        memcpy(dst, decoder->picture + decoder->row_bytes * (decoder->next - 1),
               decoder->row_bytes);
    else
        code = spng_decode_row(decoder->context, dst, decoder->row_bytes);
    if (last && (code == SPNG_EOI || !code)) code = spng_decode_chunks(decoder->context);
    return zn_png_check(code, err);
}

static void png_free(void *state)
{
    png_decoder *decoder = state;
    if (!decoder) return;
    spng_ctx_free(decoder->context);
    zn_free(decoder->picture);
    zn_free(decoder->parameters);
    zn_free(decoder);
}

const zn_image_decoder zn_png_decoder = {
    .format = ZN_IMAGE_PNG,
    .probe = png_probe,
    .open = png_open,
    .rewind = png_rewind,
    .row = png_row,
    .free = png_free,
};
