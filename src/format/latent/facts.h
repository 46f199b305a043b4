// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The facts of a latent as metadata of a safetensors file, there and back:
//   zenith.model "taesd"   zenith.space "raw"   zenith.pipeline "1"
//   zenith.scale "0.18215"   zenith.shift "0.0"   zenith.mean "[0.1,...]"   zenith.std "[1.5,...]"
//   zenith.frames "18"
//   zenith.source_size "[width,height]"   zenith.crop "[x,y,width,height]"
// Size and crop are those of the picture turned upright. What is unknown is not written.
#ifndef ZN_FORMAT_LATENT_FACTS_H
#define ZN_FORMAT_LATENT_FACTS_H

#include "src/base/memory.h"
#include "src/format/latent/file.h"
#include "src/format/tensor/safetensors.h"

// Facts from the metadata; a key that is there must be valid. `name` of the file, for messages.
zenith_status zn_latent_facts_read(const zn_safetensors *file, const char *name,
                                   zn_latent_facts *out, zn_error *err);

// The pairs and their texts belong to the arena.
zenith_status zn_latent_facts_write(const zn_latent_facts *facts, zn_arena *arena,
                                    zn_metadata **out, size_t *pairs, zn_error *err);

// ZENITH_INVALID_ARGUMENT unless the facts can be written and read back: a known space, finite
// numbers, a scale and standard deviations that can be divided by.
zenith_status zn_latent_facts_check(const zn_latent_facts *facts, zn_error *err);

#endif
