// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What int8 needs to know of a model: how large each value gets on real pictures, and which
// convolutions bear 8 bits. Kept as NAME.calib.json, keyed by the hash of the weights:
//
//   {"format": 1, "model": "taesd", "weights": "<sha256>", "pictures": 32,
//    "values": {"decoder.2": {"largest": 4.25, "positive": true},
//               "decoder.3": {.., "floating": true}, ...},
//    "int8": ["decoder.3.conv.1", ...]}
#ifndef ZN_FORMAT_PIPELINE_CALIBRATION_H
#define ZN_FORMAT_PIPELINE_CALIBRATION_H

#include "src/base/memory.h"

typedef struct zn_calibrated {
    const char *name; // of a node
    float largest;
    bool positive; // no value is negative
    bool int8;     // the convolution of this name computes in 8 bits
    bool floating; // its result is not stored in 8 bits, though every reader takes those
} zn_calibrated;

typedef struct zn_calibration {
    zn_arena arena;
    char model[32];
    char weights[65];
    int pictures;
    zn_calibrated *values; // in order of names
    size_t count, capacity;
} zn_calibration;

zenith_status zn_calibration_create(zn_calibration **out, zn_error *err);
void zn_calibration_free(zn_calibration *calibration);
// The entry of that name; with `add`, made if there is none. NULL: none, or no memory.
zn_calibrated *zn_calibration_find(zn_calibration *calibration, const char *name, bool add);

// `where` names the text in messages.
zenith_status zn_calibration_parse(const char *text, size_t size, const char *where,
                                   zn_calibration **out, zn_error *err);
zenith_status zn_calibration_read(const char *path, zn_calibration **out, zn_error *err);
zenith_status zn_calibration_write(const zn_calibration *calibration, const char *path,
                                   zn_error *err);

#endif
