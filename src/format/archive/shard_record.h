// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The record of a shard of latents, NAME.json beside NAME.tar: a small JSON file that is written
// last and by rename. A shard without it is not done, whatever lies there. docs/DATASET.md lists
// its keys.
#ifndef ZN_FORMAT_ARCHIVE_SHARD_RECORD_H
#define ZN_FORMAT_ARCHIVE_SHARD_RECORD_H

#include "src/base/json.h"
#include "src/base/memory.h"

typedef struct zn_bad_sample {
    const char *key, *reason, *message;
} zn_bad_sample;

typedef struct zn_shard_record {
    zn_arena arena; // of texts
    char version[32], config[65];
    char model[256], weights[65], isa[16], host[64];
    uint64_t input_bytes;
    char input_etag[65], input_sha256[65];
    char input_error[512]; // why not all of the input could be read; "": it could
    uint64_t output_bytes;
    char output_sha256[65];
    char output_etag[136]; // of the object, in a storage that has such; "": none
    uint64_t ok;
    zn_bad_sample *bad; // in the input's order
    size_t bad_count, bad_capacity;
    double seconds;
} zn_shard_record;

void zn_shard_record_free(zn_shard_record *record); // zeroes it; a zeroed one is fine

// Copies the texts; the key is UTF-8.
zenith_status zn_shard_record_add_bad(zn_shard_record *record, const char *key, const char *reason,
                                      const char *message, zn_error *err);

// As it is stored; *out is the caller's by zn_free.
zenith_status zn_shard_record_text(const zn_shard_record *record, char **out, size_t *size,
                                   zn_error *err);
// Puts it in place whole. With `made` only where there is none: *made false says that another was
// first, whose record stays.
zenith_status zn_shard_record_write(const zn_shard_record *record, const char *path, bool *made,
                                    zn_error *err);
// A record that is none is ZENITH_BAD_FILE, one that is not there ZENITH_NOT_FOUND. *out is written
// in both cases, zeroed.
zenith_status zn_shard_record_read(const char *path, zn_shard_record *out, zn_error *err);
zenith_status zn_shard_record_parse(const char *text, size_t size, const char *where,
                                    zn_shard_record *out, zn_error *err);

// How many of each reason: {"broken": 2}, the caller's by zn_json_free. NULL: no memory.
zn_json *zn_shard_record_reasons(const zn_shard_record *record);

#endif
