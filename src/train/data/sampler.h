// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// One sample from its number: which picture, which square of it, mirrored or not. For any number of
// threads at once; what it remembers (decoded pictures, and which are of no use) changes how long
// an answer takes, never the answer.
#ifndef ZN_TRAIN_DATA_SAMPLER_H
#define ZN_TRAIN_DATA_SAMPLER_H

#include "src/train/data/data.h"

typedef struct zn_sampler zn_sampler;

// Copies what it needs of the options and borrows the sources.
zenith_status zn_sampler_create(const zn_data_options *options, const zn_sources *sources,
                                zn_sampler **out, zn_error *err);
void zn_sampler_free(zn_sampler *sampler); // NULL is fine

// *skipped is how many pictures of the epoch's order were passed over, written also on failure.
zenith_status zn_sampler_make(zn_sampler *sampler, uint64_t index, uint8_t *pixels,
                              uint64_t *skipped, zn_error *err);

// The picture whose turn it is in sample `index` after `skipped` others.
size_t zn_sampler_picture(const zn_sampler *sampler, uint64_t index, uint64_t skipped);
// Why a picture was passed over; NULL while nothing is known against it.
const char *zn_sampler_reason(zn_sampler *sampler, size_t number);

size_t zn_sampler_cached(zn_sampler *sampler); // bytes

#endif
