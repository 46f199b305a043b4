// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A latent on its way into the tar of a shard: its numbers in the type that was asked for, in an
// npy or a safetensors file, and the facts of a sample as JSON.
//
//   f16, bf16, f32   rounded to nearest; a latent with a number beyond the type is not stored
//   u8               number = offset[c] + scale[c] * byte, for each channel c of each picture: the
//                    smallest number of the channel is byte 0, the largest is byte 255
#ifndef ZN_TASK_DATASET_STORE_H
#define ZN_TASK_DATASET_STORE_H

#include "src/base/bytes.h"
#include "src/format/archive/tar.h"
#include "src/task/autoencode/picture.h"
#include "src/task/dataset/dataset.h"

enum { ZN_DATASET_ENDING = 96 }; // letters of the longest ending of a member

typedef struct zn_stored_latent {
    float *data;                      // [channels, height, width]
    uint32_t channels, height, width; // of moments the channels are those of both
    float *ranges;                    // of u8: the offset of each channel, then the scale of each
} zn_stored_latent;

// ".npy" and the like, for the latents of model number `index`.
void zn_dataset_ending(const zn_dataset *set, size_t index, char dst[ZN_DATASET_ENDING]);
extern const char zn_dataset_facts_ending[]; // ".latent.json"

// Room for the latent of a picture. Freed by zn_stored_latent_free, which takes a zeroed one.
zenith_status zn_stored_latent_make(const zn_dataset *set, size_t index, const zn_fit_plan *plan,
                                    zn_stored_latent *out, zn_error *err);
void zn_stored_latent_free(zn_stored_latent *latent);
uint64_t zn_stored_latent_bytes(const zn_stored_latent *latent);

// Whether the type holds its numbers. Of u8 it fills `ranges`.
bool zn_stored_latent_fits(const zn_dataset *set, zn_stored_latent *latent);

// KEY.npy or KEY.safetensors, and KEY.latent.json. `scratch` is used again and again; its owner
// frees it.
zenith_status zn_stored_latent_write(const zn_dataset *set, size_t index,
                                     const zn_stored_latent *latent, const zn_picture *picture,
                                     const char *key, zn_tar_writer *tar, zn_bytes *scratch,
                                     zn_error *err);
zenith_status zn_dataset_facts_write(const zn_dataset *set, const zn_stored_latent *latents,
                                     const zn_picture *picture, const char *key, zn_tar_writer *tar,
                                     zn_bytes *scratch, zn_error *err);

#endif
