// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What training looks at: an endless sequence of square crops of the pictures in folders and
// archives (data/sources.h).
//
//   1. Sample number i is a pure function of (sources, crop, flip, min_scale, whole, limits, seed,
//      i): workers, cache, queue and the order of asking change nothing. That makes a resume exact.
//   2. An epoch is `count` samples, one of each picture, in an order of its own. A picture that
//      cannot be used (broken, smaller than the crop, beyond a limit) is skipped: its sample takes
//      the next one of the epoch's order.
//   3. A skip is counted and told once, at the first sample that was delivered in its place, so
//      logs of equal runs are equal too.
//
// A zn_data belongs to one thread at a time; its workers are its own.
#ifndef ZN_TRAIN_DATA_DATA_H
#define ZN_TRAIN_DATA_DATA_H

#include "src/data/sources.h"

#include <stdbool.h>

typedef struct zn_data zn_data;

typedef struct zn_data_options {
    const char *const *sources; // folders, tar archives, pictures; used during open only
    size_t sources_count;
    int64_t crop;     // side of a sample in pixels
    bool flip;        // mirrors every other sample, at random
    double min_scale; // in (0, 1): a square of up to crop / min_scale pixels is taken and made
                      // smaller to the crop (bicubic), so that large photographs are not only seen
                      // pixel by pixel; 0 or 1: pixels as they are
    bool
        whole; // always the largest square in the middle, made smaller to the crop: faces and other
               // things that fill their pictures
    uint64_t seed;
    int workers;        // threads that prepare samples ahead; 0: the caller does it
    size_t queue;       // samples prepared ahead at most; 0: four for each worker
    size_t cache_bytes; // decoded pictures kept; 0: none
    // Which samples come next, for the workers: the caller takes `run` of them, beginning at a
    // multiple of `run`, and goes on `stride` after the first (one process of several, which share
    // the sequence). 0: one after the other. Any index may be asked for all the same.
    uint64_t run, stride;
    zn_image_limits limits; // of a picture (format/image/image.h); zeros: its defaults
    zn_skip_fn *skip;       // called during open and get, by their caller's thread; may be NULL
    void *cookie;
} zn_data_options;

zenith_status zn_data_open(const zn_data_options *options, zn_data **out, zn_error *err);
void zn_data_free(zn_data *data); // ends the workers; NULL is fine

// Sample number `index` as crop * crop * 3 bytes, RGB, rows from the top. Waits for a worker. After
// a failure the same index may be asked for again. Where no picture can be used it says so.
zenith_status zn_data_get(zn_data *data, uint64_t index, uint8_t *pixels, zn_error *err);

uint64_t zn_data_count(const zn_data *data); // pictures, those skipped later among them: an epoch
size_t zn_data_skipped(const zn_data *data); // told so far; an archive that is cut off counts
const char *zn_data_checksum(const zn_data *data); // of names and sizes, 64 digits: for checkpoints
size_t zn_data_cached(const zn_data *data);        // bytes of decoded pictures in the cache now

#endif
