// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// JPEG by the libjpeg API (libjpeg-turbo). A file of one scan is decoded row by row; one of several
// scans (progressive, or components apart) is read by libjpeg into coefficients first, which it
// holds: 2 bytes per sample.
//
// Invariants
//   1. Every call into libjpeg happens in a function that has set trouble.back just before, and
//      that keeps no local variable across the call.
//   2. libjpeg sees max_memory_to_use only as a second fence; the estimate in held_bytes is the
//      first.
#include "src/format/image/jpeg.h"

#include "src/base/memory.h"
#include "src/format/image/codec.h"

#include <string.h>

enum {
    // Real encoders write about ten; a file of thousands of empty scans would keep a core busy for
    // hours.
    MAX_SCANS = 100
};

typedef struct jpeg_decoder {
    zn_jpeg_trouble trouble; // first, so that the address of libjpeg's `err` is ours
    struct jpeg_decompress_struct info;
    struct jpeg_progress_mgr progress;
    const uint8_t *data;
    size_t size;
    uint8_t *icc;
    long max_memory; // for libjpeg; 0 until the header is known
} jpeg_decoder;

static bool jpeg_probe(const uint8_t *data, size_t size)
{
    return size >= 3 && data[0] == 0xff && data[1] == 0xd8 && data[2] == 0xff;
}

static zenith_status hand_on(jpeg_decoder *decoder, zn_error *err)
{
    return zn_fail(err, decoder->trouble.status, "%s", decoder->trouble.error.text);
}

static void on_progress(j_common_ptr info)
{
    j_decompress_ptr decompress = (j_decompress_ptr)info;
    zn_jpeg_trouble *trouble = (zn_jpeg_trouble *)info->err;
    if (decompress->input_scan_number <= MAX_SCANS) return;
    trouble->status = zn_fail(&trouble->error, ZENITH_LIMIT,
                              "The JPEG has more than %d scans; no camera or program writes that.",
                              MAX_SCANS);
    longjmp(trouble->back, 1);
}

static J_COLOR_SPACE delivered_space(int components)
{
    return components == 1 ? JCS_GRAYSCALE : components == 3 ? JCS_RGB : JCS_CMYK;
}

// Also the way back to the start. A decompressor is made anew for that: an aborted one keeps its
// tables, and a file that lacks some would then be read the second time only.
static zenith_status read_header(jpeg_decoder *decoder, zn_error *err)
{
    struct jpeg_decompress_struct *info = &decoder->info;
    jpeg_destroy_decompress(info); // of a zeroed one: nothing
    info->err = zn_jpeg_trouble_init(&decoder->trouble);
    if (setjmp(decoder->trouble.back)) return hand_on(decoder, err);
    jpeg_create_decompress(info);
    decoder->progress.progress_monitor = on_progress;
    info->progress = &decoder->progress;
    if (decoder->max_memory) info->mem->max_memory_to_use = decoder->max_memory;
    jpeg_mem_src(info, decoder->data, (unsigned long)decoder->size);
    jpeg_read_header(info, TRUE);
    return ZENITH_OK;
}

static uint64_t coefficient_bytes(const struct jpeg_decompress_struct *info)
{
    uint64_t blocks = 0;
    for (int i = 0; i < info->num_components; i++) {
        const jpeg_component_info *c = &info->comp_info[i];
        // libjpeg rounds up to whole groups of blocks
        uint64_t across = c->width_in_blocks + (uint64_t)c->h_samp_factor;
        uint64_t down = c->height_in_blocks + (uint64_t)c->v_samp_factor;
        blocks += across * down;
    }
    return blocks * DCTSIZE2 * sizeof(JCOEF);
}

static zenith_status join_icc(jpeg_decoder *decoder, const zn_jpeg_markers *markers,
                              zn_colour_claim *claim, zn_error *err)
{
    claim->has_icc = markers->has_icc;
    if (!markers->icc_count) return ZENITH_OK; // none, or a claim without bytes: unreadable
    decoder->icc = zn_alloc(markers->icc_size);
    if (!decoder->icc) return zn_fail_memory(err, markers->icc_size);
    uint8_t *to = decoder->icc;
    for (int i = 0; i < markers->icc_count; i++) {
        memcpy(to, markers->icc[i].data, markers->icc[i].size);
        to += markers->icc[i].size;
    }
    claim->icc = decoder->icc;
    claim->icc_size = markers->icc_size;
    return ZENITH_OK;
}

static zenith_status jpeg_open(const uint8_t *data, size_t size, void **state,
                               zn_image_header *header, zn_error *err)
{
    jpeg_decoder *decoder = zn_alloc_zero(sizeof *decoder);
    if (!decoder) return zn_fail_memory(err, sizeof *decoder);
    *state = decoder;
    decoder->data = data;
    decoder->size = size;
    ZN_TRY(read_header(decoder, err));
    struct jpeg_decompress_struct *info = &decoder->info;
    int components = info->num_components;
    if (components != 1 && components != 3 && components != 4)
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "The JPEG has %d components; 1 (grey), 3 (colour) and 4 (CMYK) are known.",
                       components);
    header->width = info->image_width;
    header->height = info->image_height;
    header->layout = components == 1   ? ZN_PIXEL_GREY
                     : components == 3 ? ZN_PIXEL_RGB
                                       : ZN_PIXEL_CMYK;
    header->sample_bits = 8;
    header->stored_bits = info->data_precision;
    header->stored_channels = components;
    header->streamed = !jpeg_has_multiple_scans(info);
    // working rows of libjpeg: a few groups of up to 32 rows
    header->held_bytes = (uint64_t)header->width * (unsigned)components * 128 + 65536;
    if (!header->streamed) header->held_bytes += coefficient_bytes(info);
    decoder->max_memory = (long)(2 * header->held_bytes + (1 << 20));
    zn_jpeg_markers markers;
    zn_jpeg_markers_read(data, size, &markers);
    header->exif = markers.exif.data;
    header->exif_size = markers.exif.size;
    return join_icc(decoder, &markers, &header->colour, err);
}

static zenith_status start_decompress(jpeg_decoder *decoder, zn_error *err)
{
    if (setjmp(decoder->trouble.back)) return hand_on(decoder, err);
    decoder->info.out_color_space = delivered_space(decoder->info.num_components);
    jpeg_start_decompress(&decoder->info);
    return ZENITH_OK;
}

static zenith_status jpeg_rewind(void *state, zn_error *err)
{
    jpeg_decoder *decoder = state;
    ZN_TRY(read_header(decoder, err));
    return start_decompress(decoder, err);
}

static zenith_status decode_row(jpeg_decoder *decoder, JSAMPROW row, zn_error *err)
{
    if (setjmp(decoder->trouble.back)) return hand_on(decoder, err);
    if (jpeg_read_scanlines(&decoder->info, &row, 1) != 1)
        return zn_fail(err, ZENITH_BAD_FILE, "The JPEG ends before its last row.");
    if (decoder->info.output_scanline == decoder->info.output_height)
        jpeg_finish_decompress(&decoder->info); // reads on to the end marker
    return ZENITH_OK;
}

static zenith_status jpeg_row(void *state, void *dst, zn_error *err)
{
    jpeg_decoder *decoder = state;
    ZN_TRY(decode_row(decoder, dst, err));
    if (decoder->info.num_components == 4) {
        uint8_t *samples = dst;
        for (size_t i = 0; i < 4 * (size_t)decoder->info.image_width; i++)
            samples[i] = (uint8_t)(255 - samples[i]);
    }
    return ZENITH_OK;
}

static void jpeg_free(void *state)
{
    jpeg_decoder *decoder = state;
    if (!decoder) return;
    jpeg_destroy_decompress(&decoder->info);
    zn_free(decoder->icc);
    zn_free(decoder);
}

const zn_image_decoder zn_jpeg_decoder = {
    .format = ZN_IMAGE_JPEG,
    .probe = jpeg_probe,
    .open = jpeg_open,
    .rewind = jpeg_rewind,
    .row = jpeg_row,
    .free = jpeg_free,
};
