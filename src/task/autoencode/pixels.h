// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows between a caller's images and latents (memory in several layouts and number types, or
// callbacks) and the dense HWC rows of a plan.
#ifndef ZN_TASK_AUTOENCODE_PIXELS_H
#define ZN_TASK_AUTOENCODE_PIXELS_H

#include "src/model/autoencoder.h"
#include "zenith/zenith.h"

// Element i of a caller's array in our own form: a struct of any version of the header becomes
// today's, and number, order and row_bytes are filled in. Every call does this once for each, at
// the door; what lies behind it, here too, reads only `ours`.
zenith_status zn_image_take(const zenith_image *theirs, size_t i, zenith_image *ours,
                            zn_error *err);
zenith_status zn_latent_take(const zenith_latent *theirs, size_t i, zenith_latent *ours,
                             zn_error *err);

// Whether there is anything to move, in a layout and number type that we have.
zenith_status zn_image_check(const zenith_image *image, zn_error *err);
zenith_status zn_latent_check(const zenith_latent *latent, zn_error *err);

// Dense 8-bit or float RGB in memory, HWC: what is used where it is.
bool zn_image_plain(const zenith_image *image);

// ZENITH_U8 or ZENITH_F32: the type of an image's rows in a plan.
zenith_number zn_image_plan_number(const zenith_image *image);

// dst, src: [count][width][3] of the plan's type. Reading refuses NaN and infinity and names the
// first.
zenith_status zn_image_read_rows(const zenith_image *image, int64_t row, int64_t count, void *dst,
                                 zn_error *err);
zenith_status zn_image_write_rows(const zenith_image *image, int64_t row, int64_t count,
                                  const void *src, zn_error *err);

// Latents also change their space: the plan's side is the diffusion model's.
zenith_status zn_latent_read_rows(const zenith_latent *latent, const zn_autoencoder_facts *facts,
                                  int64_t row, int64_t count, float *dst, zn_error *err);
zenith_status zn_latent_write_rows(const zenith_latent *latent, const zn_autoencoder_facts *facts,
                                   int64_t row, int64_t count, const float *src, zn_error *err);

// Makes rows of a latent, [count][width][channels], out of rows of moments, in their place: the
// mean plus the standard deviation times noise. A number's noise follows from the latent's seed and
// its place (channel, row, column), so that bands, threads and neighbours change nothing.
void zn_latent_sample_rows(const zenith_latent *latent, int64_t row, int64_t count, float *rows);

// Bytes of the caller's buffer; 0 for a stream.
uint64_t zn_image_bytes(const zenith_image *image);
uint64_t zn_latent_bytes(const zenith_latent *latent);

#endif
