// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Samples read ahead by a thread of its own, so that nobody waits for a disk or a network while
// there is something to compute. What is held at once (read, and not yet given back) is bounded in
// bytes and in number; one sample is always let in. Order is that of the shard.
#ifndef ZN_DATA_SAMPLE_QUEUE_H
#define ZN_DATA_SAMPLE_QUEUE_H

#include "src/data/samples.h"

typedef struct zn_sample_queue zn_sample_queue;

// max_bytes 0: 256 MiB. The shard must outlive it.
zenith_status zn_sample_queue_open(const zn_shard *shard, const zn_sample_limits *limits,
                                   uint64_t max_bytes, zn_sample_queue **out, zn_error *err);
void zn_sample_queue_free(zn_sample_queue *queue); // ends the thread; NULL is fine

// Waits for the next sample; NULL at the end. Failures as of zn_samples_next.
zenith_status zn_sample_queue_take(zn_sample_queue *queue, zn_sample **out, zn_error *err);
// Whether there is none to be taken without waiting for one that must first be given back: a batch
// is then full.
bool zn_sample_queue_is_dry(zn_sample_queue *queue);
void zn_sample_queue_give_back(zn_sample_queue *queue, zn_sample *sample); // and frees it

// After the end or a failure of the archive: as zn_samples_checksum.
zenith_status zn_sample_queue_checksum(zn_sample_queue *queue, char hex[65], zn_error *err);

#endif
