// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Binary PNM: P5 (grey) and P6 (RGB), 8 and 16 bits, and P6 for writing. The header is text,
// "P6 width height maxval" with any white space and # comments between, then one white space
// character and the samples; above maxval 255 they are two bytes, high one first (netpbm's
// ppm(5)). Samples are scaled from 0..maxval to the full range.
#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/text.h"
#include "src/format/image/codec.h"

#include <string.h>

typedef struct pnm_decoder {
    const uint8_t *samples;
    size_t row_samples; // width * channels
    size_t row_bytes;
    uint32_t height, next;
    uint32_t maxval;
} pnm_decoder;

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool pnm_probe(const uint8_t *data, size_t size)
{
    return size >= 3 && data[0] == 'P' && data[1] >= '1' && data[1] <= '6' &&
           (is_space(data[2]) || data[2] == '#');
}

// A decimal number after white space and comments; false where there is none or it is above `most`.
static bool read_number(const uint8_t *data, size_t size, size_t *at, uint32_t most, uint32_t *out)
{
    while (*at < size && (is_space(data[*at]) || data[*at] == '#')) {
        if (data[(*at)++] == '#')
            while (*at < size && data[*at] != '\n' && data[*at] != '\r') ++*at;
    }
    size_t start = *at;
    uint64_t value = 0;
    for (; *at < size && data[*at] >= '0' && data[*at] <= '9'; ++*at) {
        value = value * 10 + (data[*at] - '0');
        if (value > most) return false;
    }
    *out = (uint32_t)value;
    return *at > start;
}

static zenith_status pnm_open(const uint8_t *data, size_t size, void **state,
                              zn_image_header *header, zn_error *err)
{
    if (data[1] != '5' && data[1] != '6')
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "The PNM file is of kind P%c; P5 and P6 (binary grey and RGB) are read.",
                       data[1]);
    pnm_decoder *decoder = zn_alloc_zero(sizeof *decoder);
    if (!decoder) return zn_fail_memory(err, sizeof *decoder);
    *state = decoder;
    size_t at = 2;
    if (!read_number(data, size, &at, INT32_MAX, &header->width) ||
        !read_number(data, size, &at, INT32_MAX, &header->height) ||
        !read_number(data, size, &at, 65535, &decoder->maxval) || decoder->maxval == 0 ||
        at == size || !is_space(data[at]))
        return zn_fail(err, ZENITH_BAD_FILE, "The PNM header is broken at byte %zu.", at);
    at++;
    bool grey = data[1] == '5', deep = decoder->maxval > 255;
    header->layout = grey ? ZN_PIXEL_GREY : ZN_PIXEL_RGB;
    header->sample_bits = header->stored_bits = deep ? 16 : 8;
    header->stored_channels = grey ? 1 : 3;
    header->streamed = true;
    decoder->samples = data + at;
    decoder->height = header->height;
    decoder->row_samples = (size_t)header->width * (grey ? 1 : 3);
    decoder->row_bytes = decoder->row_samples * (deep ? 2 : 1);
    size_t bytes;
    if (!zn_mul_size(decoder->row_bytes, header->height, &bytes) || bytes > size - at)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "The PNM file is cut short: %u x %u pixels do not fit into %zu bytes.",
                       header->width, header->height, size - at);
    return ZENITH_OK;
}

static zenith_status pnm_rewind(void *state, zn_error *err)
{
    (void)err;
    ((pnm_decoder *)state)->next = 0;
    return ZENITH_OK;
}

// False where a sample is above maxval.
static bool widen_row(const pnm_decoder *decoder, const uint8_t *src, void *dst)
{
    uint8_t *shallow = dst;
    uint16_t *deep = dst;
    uint32_t maxval = decoder->maxval;
    for (size_t i = 0; i < decoder->row_samples; i++) {
        uint32_t v = maxval > 255 ? (uint32_t)src[2 * i] << 8 | src[2 * i + 1] : src[i];
        if (v > maxval) return false;
        if (maxval > 255)
            deep[i] = (uint16_t)((v * 65535ull + maxval / 2) / maxval);
        else
            shallow[i] = (uint8_t)((v * 255 + maxval / 2) / maxval);
    }
    return true;
}

static zenith_status pnm_row(void *state, void *dst, zn_error *err)
{
    pnm_decoder *decoder = state;
    const uint8_t *src = decoder->samples + decoder->row_bytes * decoder->next;
    if (decoder->maxval == 255)
        memcpy(dst, src, decoder->row_bytes);
    else if (!widen_row(decoder, src, dst))
        return zn_fail(err, ZENITH_BAD_FILE, "Row %u of the PNM file has a sample above %u.",
                       decoder->next, decoder->maxval);
    decoder->next++;
    return ZENITH_OK;
}

const zn_image_decoder zn_pnm_decoder = {
    .format = ZN_IMAGE_PNM,
    .probe = pnm_probe,
    .open = pnm_open,
    .rewind = pnm_rewind,
    .row = pnm_row,
    .free = zn_free,
};

// --- writing

typedef struct pnm_encoder {
    zn_writer *file;
    size_t row_bytes;
} pnm_encoder;

static zenith_status pnm_write_open(struct zn_writer *file, uint32_t width, uint32_t height,
                                    const zn_image_write_options *options, void **state,
                                    zn_error *err)
{
    (void)options;
    pnm_encoder *encoder = zn_alloc_zero(sizeof *encoder);
    if (!encoder) return zn_fail_memory(err, sizeof *encoder);
    *state = encoder;
    encoder->file = file;
    encoder->row_bytes = 3 * (size_t)width;
    char head[48];
    size_t length = zn_text_format(head, sizeof head, "P6\n%u %u\n255\n", width, height);
    return zn_writer_write(file, head, length, err);
}

static zenith_status pnm_write_row(void *state, const uint8_t *src, zn_error *err)
{
    pnm_encoder *encoder = state;
    return zn_writer_write(encoder->file, src, encoder->row_bytes, err);
}

static zenith_status pnm_write_finish(void *state, zn_error *err)
{
    (void)state;
    (void)err;
    return ZENITH_OK;
}

const zn_image_encoder zn_pnm_encoder = {
    .format = ZN_IMAGE_PNM,
    .max_side = INT32_MAX,
    .open = pnm_write_open,
    .row = pnm_write_row,
    .finish = pnm_write_finish,
    .free = zn_free,
};
