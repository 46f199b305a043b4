// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The writer: checks arguments, counts rows, hands them to the format's encoder.
#include "src/base/memory.h"
#include "src/format/image/codec.h"

static const zn_image_encoder *const encoders[] = {&zn_jpeg_encoder, &zn_png_encoder,
                                                   &zn_webp_encoder, &zn_pnm_encoder};

struct zn_image_writer {
    const zn_image_encoder *encoder;
    void *state;
    uint32_t width, height, rows;
    bool finished;
};

static const zn_image_encoder *encoder_for(zn_image_format format)
{
    for (size_t i = 0; i < sizeof encoders / sizeof *encoders; i++)
        if (encoders[i]->format == format) return encoders[i];
    return NULL;
}

static zenith_status check_options(const zn_image_write_options *options, zn_error *err)
{
    if (options->quality < 0 || options->quality > 100)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "Quality %d is not in 1..100.",
                       options->quality);
    if (options->level < -1 || options->level > 9)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "Compression level %d is not in 0..9.",
                       options->level);
    if (options->frames > 1 && options->format != ZN_IMAGE_WEBP)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "Animations are written as WebP only.");
    if (options->cut_out && options->format != ZN_IMAGE_PNG)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "Pictures without their ground are written as PNG only.");
    return ZENITH_OK;
}

zenith_status zn_image_writer_open(struct zn_writer *file, uint32_t width, uint32_t height,
                                   const zn_image_write_options *options, zn_image_writer **out,
                                   zn_error *err)
{
    const zn_image_encoder *encoder = encoder_for(options->format);
    if (!encoder)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "Pictures are written as JPEG, PNG, WebP or PNM; name one.");
    ZN_TRY(check_options(options, err));
    if (!width || !height)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "A picture of %u x %u pixels has none.", width,
                       height);
    const uint32_t frames = options->frames > 1 ? options->frames : 1;
    if (height % frames != 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "%u rows are not those of %u pictures of one height.", height, frames);
    if (width > encoder->max_side || height / frames > encoder->max_side)
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "A side of a %s picture ends at %u pixels; this one is %u x %u. PNG has "
                       "room.",
                       zn_image_format_name(options->format), encoder->max_side, width, height);
    zn_image_writer *writer = zn_alloc_zero(sizeof *writer);
    if (!writer) return zn_fail_memory(err, sizeof *writer);
    writer->encoder = encoder;
    writer->width = width;
    writer->height = height;
    zenith_status status = encoder->open(file, width, height, options, &writer->state, err);
    if (status == ZENITH_OK)
        *out = writer;
    else
        zn_image_writer_free(writer);
    return status;
}

zenith_status zn_image_writer_rows(zn_image_writer *writer, uint32_t count, const uint8_t *src,
                                   size_t stride, zn_error *err)
{
    if (count > writer->height - writer->rows)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "%u rows were handed over where the picture of %u has %u left.", count,
                       writer->height, writer->height - writer->rows);
    for (uint32_t i = 0; i < count; i++) {
        ZN_TRY(writer->encoder->row(writer->state, src + i * stride, err));
        writer->rows++;
    }
    return ZENITH_OK;
}

zenith_status zn_image_writer_finish(zn_image_writer *writer, zn_error *err)
{
    if (writer->finished || writer->rows != writer->height)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "The picture was ended at row %u of %u, or twice.", writer->rows,
                       writer->height);
    ZN_TRY(writer->encoder->finish(writer->state, err));
    writer->finished = true;
    return ZENITH_OK;
}

void zn_image_writer_free(zn_image_writer *writer)
{
    if (!writer) return;
    if (writer->state) writer->encoder->free(writer->state);
    zn_free(writer);
}
