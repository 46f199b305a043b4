// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a generator holds between calls: models with their packed weights, which can be given up one
// by one, and what the text model said to the last prompts, so that it need not be packed again for
// the next picture of one of them.
#ifndef ZN_TASK_GENERATE_MEMORY_H
#define ZN_TASK_GENERATE_MEMORY_H

#include "src/base/os.h"
#include "src/task/generate/generate.h"

enum { ZN_CAPTIONS_KEPT = 32 };

typedef enum zn_generator_part { ZN_GENERATOR_TEXT, ZN_GENERATOR_TRANSFORMER } zn_generator_part;

// Hidden states of a prompt.
typedef struct zn_caption {
    int32_t *ids;
    size_t count, width;
    zenith_dtype dtype; // they were computed in, and the CPU's flags
    unsigned cpu;
    float *hidden;
    uint64_t used; // a number that grows
} zn_caption;

typedef struct zn_generator_memory {
    zn_mutex *lock;
    zn_model *packed[2]; // by zn_generator_part; NULL: nothing is packed
    zn_caption captions[ZN_CAPTIONS_KEPT];
    uint64_t uses;
} zn_generator_memory;

void zn_generator_memory_free(zn_generator_memory *memory); // a zeroed one is fine

// The model to compute with, which the caller unrefs. base: of the weights.
zenith_status zn_generator_memory_take(zn_generator_memory *memory, zn_generator_part part,
                                       zn_model *base, zn_model **out, zn_error *err);
// Gives it up: its packed weights go with the last plan that has them.
void zn_generator_memory_drop(zn_generator_memory *memory, zn_generator_part part);
uint64_t zn_generator_memory_bytes(zn_generator_memory *memory, zn_generator_part part);

// Hidden states of a prompt that was asked for with the same ids, dtype and CPU flags: copied into
// *out, the caller's by zn_free, or NULL.
zenith_status zn_generator_memory_recall(zn_generator_memory *memory, const zn_caption *key,
                                         float **out, zn_error *err);
// Keeps a copy, instead of the one that was used the longest ago; or nothing, where there is no
// memory.
void zn_generator_memory_keep(zn_generator_memory *memory, const zn_caption *caption);

#endif
