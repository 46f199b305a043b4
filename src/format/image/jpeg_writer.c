// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// JPEG written row by row through libjpeg; what it compresses goes to the file in blocks of
// OUT_SIZE. A failed write jumps out of libjpeg as its own errors do.
#include "src/format/image/jpeg.h"

#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/format/image/codec.h"

enum { OUT_SIZE = 65536, QUALITY_FULL_COLOUR = 90 };

typedef struct jpeg_encoder {
    zn_jpeg_trouble trouble; // first, as in the decoder
    struct jpeg_compress_struct info;
    struct jpeg_destination_mgr out;
    zn_writer *file;
    uint8_t buffer[OUT_SIZE];
} jpeg_encoder;

static zenith_status hand_on(jpeg_encoder *encoder, zn_error *err)
{
    return zn_fail(err, encoder->trouble.status, "%s", encoder->trouble.error.text);
}

static void out_reset(j_compress_ptr info)
{
    jpeg_encoder *encoder = info->client_data;
    encoder->out.next_output_byte = encoder->buffer;
    encoder->out.free_in_buffer = OUT_SIZE;
}

static void out_write(jpeg_encoder *encoder, size_t bytes)
{
    zn_jpeg_trouble *trouble = &encoder->trouble;
    trouble->status = zn_writer_write(encoder->file, encoder->buffer, bytes, &trouble->error);
    if (trouble->status != ZENITH_OK) longjmp(trouble->back, 1);
}

// libjpeg means the whole buffer here, whatever free_in_buffer says.
static boolean out_flush(j_compress_ptr info)
{
    out_write(info->client_data, OUT_SIZE);
    out_reset(info);
    return TRUE;
}

static void out_end(j_compress_ptr info)
{
    jpeg_encoder *encoder = info->client_data;
    out_write(encoder, OUT_SIZE - encoder->out.free_in_buffer);
}

static zenith_status start_compress(jpeg_encoder *encoder, uint32_t width, uint32_t height,
                                    int quality, zn_error *err)
{
    struct jpeg_compress_struct *info = &encoder->info;
    if (setjmp(encoder->trouble.back)) return hand_on(encoder, err);
    info->err = zn_jpeg_trouble_init(&encoder->trouble);
    jpeg_create_compress(info);
    info->client_data = encoder;
    encoder->out = (struct jpeg_destination_mgr){
        .init_destination = out_reset,
        .empty_output_buffer = out_flush,
        .term_destination = out_end,
    };
    info->dest = &encoder->out;
    info->image_width = width;
    info->image_height = height;
    info->input_components = 3;
    info->in_color_space = JCS_RGB;
    jpeg_set_defaults(info);
    jpeg_set_quality(info, quality, TRUE);
    if (quality >= QUALITY_FULL_COLOUR) {
        info->comp_info[0].h_samp_factor = 1;
        info->comp_info[0].v_samp_factor = 1;
    }
    jpeg_start_compress(info, TRUE);
    return ZENITH_OK;
}

static zenith_status jpeg_open(struct zn_writer *file, uint32_t width, uint32_t height,
                               const zn_image_write_options *options, void **state, zn_error *err)
{
    jpeg_encoder *encoder = zn_alloc_zero(sizeof *encoder);
    if (!encoder) return zn_fail_memory(err, sizeof *encoder);
    *state = encoder;
    encoder->file = file;
    return start_compress(encoder, width, height,
                          options->quality ? options->quality : ZN_IMAGE_QUALITY, err);
}

static zenith_status jpeg_row(void *state, const uint8_t *src, zn_error *err)
{
    jpeg_encoder *encoder = state;
    if (setjmp(encoder->trouble.back)) return hand_on(encoder, err);
    JSAMPROW row = (JSAMPROW)(uintptr_t)src; // libjpeg only reads it
    jpeg_write_scanlines(&encoder->info, &row, 1);
    return ZENITH_OK;
}

static zenith_status jpeg_finish(void *state, zn_error *err)
{
    jpeg_encoder *encoder = state;
    if (setjmp(encoder->trouble.back)) return hand_on(encoder, err);
    jpeg_finish_compress(&encoder->info);
    return ZENITH_OK;
}

static void jpeg_free(void *state)
{
    jpeg_encoder *encoder = state;
    if (!encoder) return;
    jpeg_destroy_compress(&encoder->info);
    zn_free(encoder);
}

const zn_image_encoder zn_jpeg_encoder = {
    .format = ZN_IMAGE_JPEG,
    .max_side = JPEG_MAX_DIMENSION,
    .open = jpeg_open,
    .row = jpeg_row,
    .finish = jpeg_finish,
    .free = jpeg_free,
};
