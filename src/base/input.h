// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// All bytes of a file that is going to be read: mapped, or, for "-", standard input read whole.
#ifndef ZN_BASE_INPUT_H
#define ZN_BASE_INPUT_H

#include "src/base/os.h"
#include "src/base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct zn_input {
    const uint8_t *data; // NULL when size is 0
    size_t size;
    size_t held;      // bytes of memory behind data; 0 when it is mapped
    zn_mapped mapped; // of a file
    uint8_t *buffer;  // of standard input
    size_t used;      // delivered since the mapped pages were last given back
} zn_input;

// max_held bounds what standard input may bring (0: 2 GiB), since it has no size to look at first;
// more is ZENITH_LIMIT. A file is only mapped, whatever its size.
zenith_status zn_input_open(const char *path, uint64_t max_held, zn_input *out, zn_error *err);
uint64_t zn_input_limit(uint64_t max_held); // that bound
void zn_input_close(zn_input *input);       // zeroes it; a zeroed one is fine

// Tells that `bytes` of results were made from the input. Every few megabytes the pages read so far
// are given back, so that a file that is streamed does not become resident as a whole.
void zn_input_use(zn_input *input, size_t bytes);
// Gives them back now: after the whole file was looked through, say.
void zn_input_rest(zn_input *input);

#endif
