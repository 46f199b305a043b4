// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Which plans were measured, and how long they took: what a tuner remembers, in a small JSON file.
// A file that cannot be read, is broken or of another version is as good as none; an entry that
// makes no sense is left out.
#ifndef ZN_FORMAT_PIPELINE_TUNINGS_H
#define ZN_FORMAT_PIPELINE_TUNINGS_H

#include "src/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ZN_TUNING_PLANS = 4, ZN_TUNING_ROUNDS = 2, ZN_TUNING_KEY = 256, ZN_TUNINGS_MOST = 1024 };

// One network at one size. Plan 0 is the one that is chosen without measurements, and what the
// others follow from.
typedef struct zn_tuning {
    char key[ZN_TUNING_KEY];
    bool planes;    // of plan 0
    int64_t band;   // of plan 0
    uint64_t bytes; // of plan 0
    int uses;       // so far, up to plans * rounds; use i measures plan i modulo plans
    // Of plan 0 the least time so far, of the others the longest. 0: none; below 0: the plan cannot
    // be had.
    double seconds[ZN_TUNING_PLANS];
} zn_tuning;

typedef struct zn_tunings {
    zn_tuning *list; // in no order
    size_t count, capacity;
} zn_tunings;

// The entry of a key; NULL: there is none, and, with `add`, no room for it.
zn_tuning *zn_tunings_find(zn_tunings *tunings, const char *key, bool add);
void zn_tunings_free(zn_tunings *tunings);

// Adds the entries of a text to *tunings, those that have more uses than the ones that are there.
zenith_status zn_tunings_parse(const char *text, size_t size, zn_tunings *tunings, zn_error *err);
zenith_status zn_tunings_read(const char *path, zn_tunings *tunings, zn_error *err);
zenith_status zn_tunings_write(const zn_tunings *tunings, const char *path, zn_error *err);

#endif
