// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The samples of a shard, one after the other, as WebDataset has them: members whose names differ
// behind the first dot of their last part belong together. One of them is the picture; the others
// (captions, labels, whatever) are carried along.
//
// Nothing vanishes: a sample that cannot be used comes too, with a reason (one word) and a
// sentence. Reasons given here:
//   name         a path that leads elsewhere (absolute, ".."), or bytes that are no text
//   no-picture   none of its members is a picture
//   two-pictures more than one is
//   too-large    a member beyond the limits; its bytes are not held
//   same-key     an earlier sample of the shard has the key
//   cut-off      the archive is broken within it, or behind it: not all of it may be there
#ifndef ZN_DATA_SAMPLES_H
#define ZN_DATA_SAMPLES_H

#include "src/base/memory.h"
#include "src/data/shards.h"

enum { ZN_SAMPLE_MEMBERS = 32 };

typedef struct zn_carried {
    const char *name;
    const uint8_t *data;
    size_t size;
} zn_carried;

typedef struct zn_sample {
    zn_arena arena; // of all that follows
    const char *key;
    const uint8_t *picture;
    size_t picture_size;
    zn_carried carried[ZN_SAMPLE_MEMBERS]; // in the shard's order
    size_t carried_count;
    uint64_t bytes;     // read for it
    const char *reason; // NULL: it can be used
    char message[256];
    struct zn_sample *next; // for lists of the owner's
} zn_sample;

typedef struct zn_sample_limits {
    uint64_t picture_bytes; // of a picture's file; 0: 2 GiB
    uint64_t carried_bytes; // of all others of a sample; 0: 16 MiB
} zn_sample_limits;

typedef struct zn_samples zn_samples;

// The shard must outlive it.
zenith_status zn_samples_open(const zn_shard *shard, const zn_sample_limits *limits,
                              zn_samples **out, zn_error *err);
void zn_samples_free(zn_samples *samples); // NULL is fine

// The next one, the caller's by zn_sample_free; NULL at the end. ZENITH_BAD_FILE and ZENITH_LIMIT
// say that the archive is broken from here on: samples before it are good, and no others come.
zenith_status zn_samples_next(zn_samples *samples, zn_sample **out, zn_error *err);
void zn_sample_free(zn_sample *sample); // NULL is fine

// Reads what is left, if anything, and gives the SHA-256 of the shard: of an archive that of its
// file, of files over name, size and bytes of each.
zenith_status zn_samples_checksum(zn_samples *samples, char hex[65], zn_error *err);

// Marks a sample as one that cannot be used, unless it is marked already.
void zn_sample_refuse(zn_sample *sample, const char *reason, const char *message);

#endif
