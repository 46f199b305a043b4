// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// WebP by libwebp. The picture is decoded whole on the first row: lossless data needs it, and
// WebP's sides end at 16383. Profile and EXIF come from the container (libwebpdemux). Of an
// animation the first frame is taken, laid on a transparent canvas.
#include "src/base/memory.h"
#include "src/format/image/codec.h"

#include <string.h>

#include <webp/decode.h>
#include <webp/demux.h>

typedef struct webp_decoder {
    WebPDemuxer *demuxer;
    WebPChunkIterator icc, exif;
    WebPIterator frame;
    uint32_t width, height; // of the canvas
    size_t pixel_bytes;     // 3 or 4
    uint8_t *picture;
    bool decoded;
    uint32_t next;
} webp_decoder;

static bool webp_probe(const uint8_t *data, size_t size)
{
    return size >= 12 && memcmp(data, "RIFF", 4) == 0 && memcmp(data + 8, "WEBP", 4) == 0;
}

static zenith_status open_frame(webp_decoder *decoder, zn_image_header *header, zn_error *err)
{
    if (!WebPDemuxGetFrame(decoder->demuxer, 1, &decoder->frame) || !decoder->frame.complete)
        return zn_fail(err, ZENITH_BAD_FILE, "The WebP file has no whole frame.");
    WebPBitstreamFeatures features;
    const WebPData *fragment = &decoder->frame.fragment;
    VP8StatusCode code = WebPGetFeatures(fragment->bytes, fragment->size, &features);
    if (code != VP8_STATUS_OK)
        return zn_fail(err, ZENITH_BAD_FILE, "libwebp cannot read the frame's header (code %d).",
                       (int)code);
    if (features.width != decoder->frame.width || features.height != decoder->frame.height)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "The WebP frame is %d x %d, its container says %d x %d.", features.width,
                       features.height, decoder->frame.width, decoder->frame.height);
    bool whole = decoder->frame.x_offset == 0 && decoder->frame.y_offset == 0 &&
                 (uint32_t)features.width == decoder->width &&
                 (uint32_t)features.height == decoder->height;
    bool alpha = features.has_alpha || !whole;
    decoder->pixel_bytes = alpha ? 4 : 3;
    header->layout = alpha ? ZN_PIXEL_RGBA : ZN_PIXEL_RGB;
    header->has_alpha = alpha;
    header->stored_channels = alpha ? 4 : 3;
    // libwebp beside our pixels: lossless holds 4 bytes per pixel, an alpha plane up to 2
    unsigned beside = features.format == 2 ? 4 : alpha ? 2 : 0;
    header->held_bytes = (uint64_t)decoder->width * decoder->height *
                             (decoder->pixel_bytes + beside) +
                         (uint64_t)decoder->width * 64 + ((uint64_t)1 << 20);
    return ZENITH_OK;
}

static zenith_status webp_open(const uint8_t *data, size_t size, void **state,
                               zn_image_header *header, zn_error *err)
{
    webp_decoder *decoder = zn_alloc_zero(sizeof *decoder);
    if (!decoder) return zn_fail_memory(err, sizeof *decoder);
    *state = decoder;
    WebPData file = {data, size};
    decoder->demuxer = WebPDemux(&file);
    if (!decoder->demuxer)
        return zn_fail(err, ZENITH_BAD_FILE, "The WebP file is cut short or broken.");
    header->width = decoder->width = WebPDemuxGetI(decoder->demuxer, WEBP_FF_CANVAS_WIDTH);
    header->height = decoder->height = WebPDemuxGetI(decoder->demuxer, WEBP_FF_CANVAS_HEIGHT);
    header->animated = WebPDemuxGetI(decoder->demuxer, WEBP_FF_FRAME_COUNT) > 1;
    header->sample_bits = header->stored_bits = 8;
    if (WebPDemuxGetChunk(decoder->demuxer, "ICCP", 1, &decoder->icc)) {
        header->colour.has_icc = true;
        header->colour.icc = decoder->icc.chunk.bytes;
        header->colour.icc_size = decoder->icc.chunk.size;
    }
    if (WebPDemuxGetChunk(decoder->demuxer, "EXIF", 1, &decoder->exif)) {
        header->exif = decoder->exif.chunk.bytes;
        header->exif_size = decoder->exif.chunk.size;
    }
    return open_frame(decoder, header, err);
}

static zenith_status decode(webp_decoder *decoder, zn_error *err)
{
    const WebPIterator *frame = &decoder->frame;
    size_t stride = decoder->width * decoder->pixel_bytes, bytes;
    if (!zn_mul_size(stride, decoder->height, &bytes)) return zn_fail_memory(err, SIZE_MAX);
    if (!decoder->picture) decoder->picture = zn_alloc_zero(bytes);
    if (!decoder->picture) return zn_fail_memory(err, bytes);
    size_t skip = (size_t)frame->y_offset * stride + (size_t)frame->x_offset * decoder->pixel_bytes;

    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config))
        return zn_fail(err, ZENITH_INTERNAL, "libwebp is of another version than its headers.");
    config.output.colorspace = decoder->pixel_bytes == 4 ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA = (WebPRGBABuffer){
        .rgba = decoder->picture + skip, .stride = (int)stride, .size = bytes - skip};
    VP8StatusCode code = WebPDecode(frame->fragment.bytes, frame->fragment.size, &config);
    WebPFreeDecBuffer(&config.output);
    if (code == VP8_STATUS_OUT_OF_MEMORY)
        return zn_fail(err, ZENITH_OUT_OF_MEMORY, "libwebp found no memory left.");
    if (code != VP8_STATUS_OK)
        return zn_fail(err, ZENITH_BAD_FILE, "The WebP data is cut short or broken (code %d).",
                       (int)code);
    decoder->decoded = true;
    return ZENITH_OK;
}

static zenith_status webp_rewind(void *state, zn_error *err)
{
    webp_decoder *decoder = state;
    decoder->next = 0;
    return decoder->decoded ? ZENITH_OK : decode(decoder, err);
}

static zenith_status webp_row(void *state, void *dst, zn_error *err)
{
    (void)err;
    webp_decoder *decoder = state;
    size_t bytes = decoder->width * decoder->pixel_bytes;
    memcpy(dst, decoder->picture + bytes * decoder->next++, bytes);
    return ZENITH_OK;
}

static void webp_free(void *state)
{
    webp_decoder *decoder = state;
    if (!decoder) return;
    WebPDemuxReleaseIterator(&decoder->frame);
    WebPDemuxReleaseChunkIterator(&decoder->icc);
    WebPDemuxReleaseChunkIterator(&decoder->exif);
    WebPDemuxDelete(decoder->demuxer);
    zn_free(decoder->picture);
    zn_free(decoder);
}

const zn_image_decoder zn_webp_decoder = {
    .format = ZN_IMAGE_WEBP,
    .probe = webp_probe,
    .open = webp_open,
    .rewind = webp_rewind,
    .row = webp_row,
    .free = webp_free,
};
