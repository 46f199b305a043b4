// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Weights in blocks, as GGUF files have them: so many weights along a row share a scale, and take a
// few bits each. One table says for each layout how many weights a block has, in how many bytes,
// and what numbers they are. This code is the specification: plain loops, each product and sum
// rounded to f32 in the order that is written here.
#ifndef ZN_FORMAT_TENSOR_BLOCK_TYPES_H
#define ZN_FORMAT_TENSOR_BLOCK_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ZN_MOST_BLOCK_WEIGHTS = 256, ZN_BLOCK_FOUR_GROUP = 32 };

// The levels of numbers 0 .. 15 that are even steps: 17 u - 128.
extern const int8_t zn_even_levels[16];
// factor * level + offset = step * u + least, for these.
static inline float zn_even_factor(float step)
{
    return step / 17;
}
static inline float zn_even_offset(float step, float least)
{
    return least + step * (128.0f / 17);
}

typedef struct zn_block_type {
    const char *name; // "Q4_K"
    uint32_t gguf;    // its number in GGUF files
    size_t weights;   // of one block; rows are whole blocks
    size_t bytes;     // of one block
    void (*read)(const uint8_t *block, float *dst);
    // Of 4 bits (tensor/four_panels.h), else NULL: a number for each weight, and for each 32 a
    // factor and, where `offsets`, an offset, so that a weight is factor * levels[number] + offset.
    void (*read_four)(const uint8_t *block, uint8_t *numbers, float *factors, float *offsets);
    const int8_t *levels;
    bool offsets;
} zn_block_type;

const zn_block_type *zn_block_type_at(size_t index);      // NULL past the end
const zn_block_type *zn_block_type_gguf(uint32_t number); // or NULL

// The weights of `count` blocks from block `first` on. Blocks lie one directly after the other, at
// any address.
void zn_blocks_to_f32(const zn_block_type *type, const uint8_t *data, size_t first, size_t count,
                      float *dst);

#endif
