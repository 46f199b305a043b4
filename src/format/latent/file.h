// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A latent in a file, with the facts without which its numbers mean nothing.
//
// Two spaces are named. "raw" is what the full autoencoder of a family computes with; "model" is
// what its diffusion model sees:
//     model = (raw - shift) * scale     or, where there are statistics per channel,
//     model = (raw - mean) / std
//
// Three layouts are read, told apart by content, never by the file's name:
//   - safetensors of ours: one tensor "latent" [N,C,h,w] and metadata "zenith.model",
//     "zenith.space", ... (all values are text; numbers in JSON, the same in every locale, with as
//     many digits as bring back the same bits). A second tensor "logvar" of the same shape is the
//     logarithm of the variance of each number; it is not read. Any other safetensors with a single
//     tensor is taken too, with unknown facts.
//   - ComfyUI's `.latent`: safetensors with "latent_tensor" [N,C,h,w] and an empty tensor
//     "latent_format_version_0". Its SaveLatent node stores what flows between nodes, which is the
//     raw space of the VAE: the scale is applied inside the sampler. Files older than the marker
//     tensor hold the scaled latent of Stable Diffusion 1, and its LoadLatent multiplies them by
//     1 / 0.18215; they are reported as space "model" with scale 0.18215 and shift 0.
//   - npy, with unknown facts. It is also what people save from diffusers, whose pipelines give out
//     latents (output_type="latent") in the space of the diffusion model.
// A shape [C,h,w] is read as [1,C,h,w].
#ifndef ZN_FORMAT_LATENT_FILE_H
#define ZN_FORMAT_LATENT_FILE_H

#include "src/base/os.h"
#include "src/base/status.h"
#include "src/tensor/tensor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZN_LATENT_MAX_STATISTICS 64

typedef struct zn_latent_facts {
    char model[64]; // "taesd"; "" = unknown
    char space[8];  // "raw", "model"; "" = unknown
    bool has_scale;
    float scale, shift; // meaningful with has_scale
    int statistics;     // channels that have a mean and a standard deviation; 0 = none
    float mean[ZN_LATENT_MAX_STATISTICS];
    float std[ZN_LATENT_MAX_STATISTICS];
    // Of the picture, turned upright, and the part of that which was encoded; 0 = unknown.
    uint32_t source_width, source_height;
    uint32_t crop_x, crop_y, crop_width, crop_height;
    uint32_t frames;   // of a clip: those that are not repetitions of the last; 0 = unknown
    char pipeline[16]; // version of the image pipeline; "" = unknown
} zn_latent_facts;

// --- reading

typedef struct zn_latent_file zn_latent_file;

zenith_status zn_latent_file_open(const char *path, zn_latent_file **out, zn_error *err);
// The bytes stay the caller's and must outlive *out; `name` is used in messages.
zenith_status zn_latent_file_open_memory(const uint8_t *data, size_t size, const char *name,
                                         zn_latent_file **out, zn_error *err);
void zn_latent_file_free(zn_latent_file *file); // NULL is fine

zn_shape zn_latent_file_shape(const zn_latent_file *file); // [N, C, h, w], all at least 1
zn_type zn_latent_file_type(const zn_latent_file *file);   // as stored
const zn_latent_facts *zn_latent_file_facts(const zn_latent_file *file);

// All of it, dst [N, C, h, w].
void zn_latent_file_read(const zn_latent_file *file, float *dst);
// Rows y .. y + count - 1 of image n as dst [count, w, C], straight from the mapped bytes.
// ZENITH_INVALID_ARGUMENT when the file has no such rows.
zenith_status zn_latent_file_read_rows(const zn_latent_file *file, int64_t n, int64_t y,
                                       int64_t count, float *dst, zn_error *err);

// --- writing

typedef enum zn_latent_format {
    ZN_LATENT_SAFETENSORS = 0,
    ZN_LATENT_COMFY, // raw space only: ComfyUI would scale anything else wrongly, and silently
    ZN_LATENT_NPY,   // f32 only; the facts are not kept
} zn_latent_format;

// By the name's ending: ".latent" ComfyUI, ".npy" npy, anything else safetensors.
zn_latent_format zn_latent_format_of(const char *path);

// Writes the header for a latent [N, C, h, w] of type f32, bf16 or f16; its N images follow. The
// caller commits or discards `to`.
// moments: the N images of "logvar" follow on those.
zenith_status zn_latent_write_header(zn_writer *to, zn_latent_format format, const zn_shape *shape,
                                     zn_type type, bool moments, const zn_latent_facts *facts,
                                     zn_error *err);
// The next image: `elements` = C * h * w numbers, src [C, h, w], as the file has them but for the
// type.
zenith_status zn_latent_write_image(zn_writer *to, zn_type type, const float *src, size_t elements,
                                    zn_error *err);

#endif
