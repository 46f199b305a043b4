// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A set of pictures as latents, shard by shard (data/shards.h), so that it can be stopped, killed
// and gone on with, by several processes at once. In the output folder lie
//
//     _zenith.json   the settings; its SHA-256 is the config hash
//     NAME.lease     a shard in work (data/lease.h)
//     NAME.tar       its latents, and what is carried along
//     NAME.json      its record, written last: the shard is done (format/archive/shard_record.h)
//
//   1. The bytes of NAME.tar depend on the input shard and the settings alone.
//   2. A record is of a tar that was in place, whole and on the disk, before it.
//   3. Every sample of the input is counted in the record, as good or by its key and reason.
//   4. Settings never mix: all records of a folder have the hash of its _zenith.json.
//
// Input and output may be of the caller's storage instead of folders (data/object.h).
#ifndef ZN_TASK_DATASET_DATASET_H
#define ZN_TASK_DATASET_DATASET_H

#include "src/data/object.h"
#include "src/data/shards.h"
#include "src/format/archive/shard_record.h"
#include "src/task/autoencode/autoencode.h"
#include "src/task/autoencode/fit.h"
#include "zenith/dataset.h"

enum {
    ZN_DATASET_PATH = 4096,
    ZN_DATASET_PICTURES = 5000, // of a shard, where nobody says
    ZN_DATASET_MODELS = 8,
    ZN_DATASET_BUCKETS = 1024
};

typedef struct zn_dataset {
    zenith_dataset_params params; // whole: defaults are filled in
    zenith_storage storage;       // what params.storage points to, unless it is NULL
    zenith_source_params source;
    zenith_run_params run; // dtype never the default
    zn_engine *engine;
    zn_model *models[ZN_DATASET_MODELS];
    size_t model_count;
    char model_names[256];      // with commas between them
    char weights[65];           // the SHA-256 of the weights; of several models that of their list
    zn_type type;               // of the numbers in files
    zenith_container container; // never the default
    zn_fit_size buckets[ZN_DATASET_BUCKETS]; // params.bucket_count of them
    const char *isa;
    const zn_shards *shards;
    char config[65];
    zenith_dataset_info info;
    zenith_dataset_report report;
    double begun, reported;
    double waited, decoded, encoded,
        written; // seconds of the stages; those of several streams divided by their number
    // Of the shard in work.
    char lease[ZN_DATASET_PATH];
    double touched;
    bool has_record; // of another input, or with bad samples: ours takes its place
    bool dropped;    // another's record was there before ours
} zn_dataset;

// OUT/NAME.ENDING
zenith_status zn_dataset_path(const char *output, const char *name, const char *ending,
                              char path[ZN_DATASET_PATH], zn_error *err);

// All shards that are not done and that nobody else has. ZENITH_PARTIAL: some could not be read.
// `set` has params, source, run, engine, model and isa.
zenith_status zn_dataset_encode(zn_dataset *set, zn_error *err);

// Whether a record is of this input: by names, sizes and times, and where those differ by the
// bytes.
zenith_status zn_dataset_is_current(const zn_shard *shard, const zn_shard_record *record, bool *out,
                                    zn_error *err);

// --- config.c: fills set->config; the first run leaves _zenith.json, others compare.
zenith_status zn_dataset_agree(zn_dataset *set, zn_error *err);
// What _zenith.json of a folder says; *out is the caller's. config: its hash.
zenith_status zn_dataset_read_config(const zenith_storage *storage, const char *output,
                                     zn_json **out, char config[65], zn_error *err);

// --- commit.c: takes over the tar, and puts it and the record in place. set->dropped: another
// process was first.
zenith_status zn_dataset_commit(zn_dataset *set, const char *name, zn_object_writer *tar,
                                zn_shard_record *record, zn_error *err);
// As zn_shard_record_read.
zenith_status zn_dataset_read_record(const zenith_storage *storage, const char *path,
                                     zn_shard_record *out, zn_error *err);
// Whether the tar of a record is there, by its size, and by its etag where both have one.
zenith_status zn_dataset_tar_is_there(const zenith_storage *storage, const char *tar,
                                      const zn_shard_record *record, bool *out, zn_error *err);

// --- choice.c: how the picture of a key is fitted: its place and its side follow from the seed and
// the key alone.
zn_fit_options zn_dataset_choose(const zn_dataset *set, const char *key);

// --- shard.c: one shard, from its input to its record. *unread: the input caused the failure, and
// other shards may succeed.
zenith_status zn_dataset_encode_shard(zn_dataset *set, const zn_shard *shard, bool *unread,
                                      zn_error *err);
// Of all that the caller allows (0: no bound): an eighth for files that were read ahead, half for
// pictures, and this for networks.
static inline uint64_t zn_dataset_run_memory(uint64_t all)
{
    return all - all / 8 - all / 2;
}
// Tells how far it is, now and then, and keeps the lease. Not zero: stop.
int zn_dataset_tick(zn_dataset *set);

// --- look.c: what is done, and whether it is right, as JSON text; *out is the caller's.
zenith_status zn_dataset_look(const zenith_dataset_look_params *params, char **out, zn_error *err);

#endif
