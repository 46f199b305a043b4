// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// WebP through libwebp, which wants the whole picture: rows are collected, and compressed last. An
// animation is put together by libwebpmux, frame by frame.
#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/format/image/codec.h"

#include <string.h>

#include <webp/encode.h>
#include <webp/mux.h>

typedef struct webp_encoder {
    zn_writer *file;
    zn_image_write_options options;
    uint32_t width, height, rows;
    uint8_t *picture;
    zenith_status status; // of a write that failed inside libwebp
    zn_error error;
} webp_encoder;

static zenith_status webp_open(struct zn_writer *file, uint32_t width, uint32_t height,
                               const zn_image_write_options *options, void **state, zn_error *err)
{
    webp_encoder *encoder = zn_alloc_zero(sizeof *encoder);
    if (!encoder) return zn_fail_memory(err, sizeof *encoder);
    *state = encoder;
    encoder->file = file;
    encoder->options = *options;
    encoder->width = width;
    encoder->height = height;
    size_t bytes =
        0; // sides are below 2^14, but of an animation the height is that of all pictures
    if (!zn_mul_size((size_t)3 * width, height, &bytes)) return zn_fail_memory(err, SIZE_MAX);
    encoder->picture = zn_alloc(bytes);
    return encoder->picture ? ZENITH_OK : zn_fail_memory(err, bytes);
}

static zenith_status webp_row(void *state, const uint8_t *src, zn_error *err)
{
    (void)err;
    webp_encoder *encoder = state;
    size_t bytes = 3 * (size_t)encoder->width;
    memcpy(encoder->picture + bytes * encoder->rows++, src, bytes);
    return ZENITH_OK;
}

static int write_bytes(const uint8_t *data, size_t size, const WebPPicture *picture)
{
    webp_encoder *encoder = picture->custom_ptr;
    encoder->status = zn_writer_write(encoder->file, data, size, &encoder->error);
    return encoder->status == ZENITH_OK;
}

static bool configure(const webp_encoder *encoder, WebPConfig *config)
{
    int quality = encoder->options.quality ? encoder->options.quality : ZN_IMAGE_QUALITY;
    if (!WebPConfigPreset(config, WEBP_PRESET_DEFAULT, (float)quality)) return false;
    // exact pixels: effort 3 of 9, the knee of size against time
    return !encoder->options.lossless || WebPConfigLosslessPreset(config, 3);
}

static zenith_status other_version(zn_error *err)
{
    return zn_fail(err, ZENITH_INTERNAL, "libwebp is of another version than its headers.");
}

static zenith_status failed(WebPEncodingError code, zn_error *err)
{
    if (code == VP8_ENC_ERROR_OUT_OF_MEMORY || code == VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY)
        return zn_fail(err, ZENITH_OUT_OF_MEMORY, "libwebp found no memory left.");
    return zn_fail(err, ZENITH_INTERNAL, "libwebp could not compress the picture (code %d).",
                   (int)code);
}

static zenith_status write_still(webp_encoder *encoder, const WebPConfig *config,
                                 WebPPicture *picture, zn_error *err)
{
    picture->use_argb = encoder->options.lossless;
    picture->writer = write_bytes;
    picture->custom_ptr = encoder;
    bool good = WebPPictureImportRGB(picture, encoder->picture, 3 * picture->width) &&
                WebPEncode(config, picture);
    WebPEncodingError code = picture->error_code;
    WebPPictureFree(picture);
    if (encoder->status != ZENITH_OK)
        return zn_fail(err, encoder->status, "%s", encoder->error.text);
    return good ? ZENITH_OK : failed(code, err);
}

// --- animations ---------------------------------------------------------------------------------

static zenith_status add_frames(const webp_encoder *encoder, const WebPConfig *config,
                                WebPPicture *picture, WebPAnimEncoder *animation, zn_error *err)
{
    const size_t bytes = (size_t)3 * encoder->width * (size_t)picture->height;
    const int delay = (int)encoder->options.delay;
    picture->use_argb = 1; // what the animation compares frames in
    for (uint32_t i = 0; i < encoder->options.frames; i++) {
        const bool good = WebPPictureImportRGB(picture, encoder->picture + i * bytes,
                                               3 * picture->width) &&
                          WebPAnimEncoderAdd(animation, picture, (int)i * delay, config);
        const WebPEncodingError code = picture->error_code;
        WebPPictureFree(picture);
        if (!good) return failed(code, err);
    }
    if (WebPAnimEncoderAdd(animation, NULL, (int)encoder->options.frames * delay, NULL))
        return ZENITH_OK;
    return failed(VP8_ENC_ERROR_OUT_OF_MEMORY, err);
}

static zenith_status write_animation(webp_encoder *encoder, const WebPConfig *config,
                                     WebPPicture *picture, zn_error *err)
{
    WebPAnimEncoderOptions options;
    WebPData data;
    if (!WebPAnimEncoderOptionsInit(&options)) return other_version(err);
    picture->height = (int)(encoder->height / encoder->options.frames);
    WebPAnimEncoder *animation = WebPAnimEncoderNew(picture->width, picture->height, &options);
    if (!animation) return failed(VP8_ENC_ERROR_OUT_OF_MEMORY, err);
    WebPDataInit(&data);
    zenith_status status = add_frames(encoder, config, picture, animation, err);
    if (status == ZENITH_OK && !WebPAnimEncoderAssemble(animation, &data))
        status = failed(VP8_ENC_ERROR_OUT_OF_MEMORY, err);
    if (status == ZENITH_OK) status = zn_writer_write(encoder->file, data.bytes, data.size, err);
    WebPDataClear(&data);
    WebPAnimEncoderDelete(animation);
    return status;
}

static zenith_status webp_finish(void *state, zn_error *err)
{
    webp_encoder *encoder = state;
    WebPConfig config;
    WebPPicture picture;
    if (!WebPPictureInit(&picture) || !configure(encoder, &config)) return other_version(err);
    picture.width = (int)encoder->width;
    picture.height = (int)encoder->height;
    return encoder->options.frames > 1 ? write_animation(encoder, &config, &picture, err)
                                       : write_still(encoder, &config, &picture, err);
}

static void webp_free(void *state)
{
    webp_encoder *encoder = state;
    if (!encoder) return;
    zn_free(encoder->picture);
    zn_free(encoder);
}

const zn_image_encoder zn_webp_encoder = {
    .format = ZN_IMAGE_WEBP,
    .max_side = WEBP_MAX_DIMENSION,
    .open = webp_open,
    .row = webp_row,
    .finish = webp_finish,
    .free = webp_free,
};
