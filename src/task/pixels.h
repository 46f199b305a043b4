// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows between a caller's pictures and latents (HWC or CHW, several number types, or callbacks) and
// the dense HWC rows of a plan.
#ifndef ZN_TASK_PIXELS_H
#define ZN_TASK_PIXELS_H

#include "src/model/autoencoder.h"
#include "zenith/zenith.h"

// Whether the structs of a caller's arrays are ones we can read (base/caller_struct.h).
zenith_status zn_images_check(const zenith_image *images, size_t count, zn_error *err);
zenith_status zn_latents_check(const zenith_latent *latents, size_t count, zn_error *err);

// Element i of an array that was checked, with zeros for the fields that the caller's header did not have.
zenith_image zn_image_at(const zenith_image *images, size_t i);
zenith_latent zn_latent_at(const zenith_latent *latents, size_t i);

// Whether row_bytes is possible; whether rows follow each other without a gap.
bool zn_image_rows_fit(const zenith_image *image);
bool zn_image_dense(const zenith_image *image);

zenith_status zn_image_read_rows(const zenith_image *image, int64_t row, int64_t count, void *dst,
                                 zn_error *err);
zenith_status zn_image_write_rows(const zenith_image *image, int64_t row, int64_t count,
                                  const void *src, zn_error *err);

// Reading refuses NaN and infinity and names the first. Latents also change their space: the plan's side is
// the diffusion model's.
zenith_status zn_latent_read_rows(const zenith_latent *latent, const zn_autoencoder_facts *facts,
                                  int64_t row, int64_t count, float *dst, zn_error *err);
zenith_status zn_latent_write_rows(const zenith_latent *latent, const zn_autoencoder_facts *facts,
                                   int64_t row, int64_t count, const float *src, zn_error *err);

// Makes rows of a latent, [count][width][channels], out of rows of moments, in their place: the mean plus
// the deviation times noise. A number's noise follows from the latent's seed and its place (channel, row,
// column), so that bands, threads and neighbours change nothing.
void zn_latent_sample_rows(const zenith_latent *latent, int64_t row, int64_t count, float *rows);

// The number type after defaults.
zenith_number zn_image_number(const zenith_image *image);

// Bytes of the caller's buffer; 0 for a stream.
uint64_t zn_image_bytes(const zenith_image *image);
uint64_t zn_latent_bytes(const zenith_latent *latent);

#endif
