// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// One pass over the shards: those that have a record are passed over, those that another holds are
// left to it, the rest is done one after the other.
#include "src/task/dataset/dataset.h"

#include "src/base/directory.h"
#include "src/base/os.h"
#include "src/base/text.h"
#include "src/data/lease.h"
#include "src/data/samples.h"
#include "src/model/autoencoder.h"

#include <string.h>

zenith_status zn_dataset_path(const char *output, const char *name, const char *ending,
                              char path[ZN_DATASET_PATH], zn_error *err)
{
    const size_t length = strlen(output);
    const char *slash = length > 0 && output[length - 1] == '/' ? "" : "/";
    if (zn_text_format(path, ZN_DATASET_PATH, "%s%s%s%s", output, slash, name, ending) + 1 <
        ZN_DATASET_PATH)
        return ZENITH_OK;
    return zn_fail(err, ZENITH_LIMIT, "the path '%s/%.64s%s' is too long", output, name, ending);
}

// --- what is done -------------------------------------------------------------------------------

// Reads the whole shard for its checksum.
static zenith_status hash_shard(const zn_shard *shard, char hex[65], zn_error *err)
{
    const zn_sample_limits none = {.picture_bytes = 1, .carried_bytes = 1}; // nothing is held
    zn_samples *samples = NULL;
    zn_sample *sample = NULL;
    ZN_TRY(zn_samples_open(shard, &none, &samples, err));
    zenith_status status = ZENITH_OK;
    do {
        zn_sample_free(sample);
        status = zn_samples_next(samples, &sample, NULL);
    } while (status == ZENITH_OK && sample);
    const bool broken = status == ZENITH_BAD_FILE ||
                        status == ZENITH_LIMIT; // it has a checksum too
    if (status == ZENITH_OK || broken) status = zn_samples_checksum(samples, hex, err);
    zn_samples_free(samples);
    return status;
}

zenith_status zn_dataset_is_current(const zn_shard *shard, const zn_shard_record *record, bool *out,
                                    zn_error *err)
{
    char hex[65];
    *out = record->input_bytes == shard->bytes;
    if (!*out || strcmp(record->input_etag, shard->etag) == 0) return ZENITH_OK;
    ZN_TRY(hash_shard(shard, hex, err)); // it may have been copied, with other times
    *out = strcmp(record->input_sha256, hex) == 0;
    return ZENITH_OK;
}

static bool wants_retry(const zn_dataset *set, const zn_shard_record *record)
{
    return set->params.retry && (record->bad_count > 0 || record->input_error[0]);
}

static zenith_status is_done(zn_dataset *set, const zn_shard *shard, bool *out, zn_error *err)
{
    const zenith_storage *storage = set->params.storage;
    char path[ZN_DATASET_PATH], tar[ZN_DATASET_PATH];
    zn_shard_record record;
    zn_error why = {0};
    bool there = false;
    ZN_TRY(zn_dataset_path(set->params.output, shard->name, ".json", path, err));
    ZN_TRY(zn_dataset_path(set->params.output, shard->name, ".tar", tar, err));
    *out = false;
    zenith_status status = zn_dataset_read_record(storage, path, &record, &why);
    set->has_record = status != ZENITH_NOT_FOUND;
    if (status == ZENITH_NOT_FOUND) return ZENITH_OK;
    if (status != ZENITH_OK) return zn_fail(err, status, "%s", why.text);
    if (strcmp(record.config, set->config) != 0)
        status = zn_fail(err, ZENITH_INVALID_ARGUMENT,
                         "'%s' is of other settings than its folder: remove it, and the shard is "
                         "made again",
                         path);
    if (status == ZENITH_OK) status = zn_dataset_tar_is_there(storage, tar, &record, &there, err);
    if (status == ZENITH_OK && there && !wants_retry(set, &record))
        status = zn_dataset_is_current(shard, &record, out, err);
    zn_shard_record_free(&record);
    return status;
}

// --- leftovers ----------------------------------------------------------------------------------

typedef struct sweep {
    const zn_dataset *set;
    zn_error *err;
} sweep;

// Whether OUT/NAME and the ending is a file; false where the name is too long to be one of ours.
static bool has(const zn_dataset *set, const char *name, const char *ending)
{
    char path[ZN_DATASET_PATH];
    zenith_object object;
    return zn_dataset_path(set->params.output, name, ending, path, NULL) == ZENITH_OK &&
           zn_object_look(set->params.storage, path, &object, NULL) == ZENITH_OK;
}

static bool is_stored(const zn_dataset *set)
{
    return zn_object_is_stored(set->params.storage, set->params.output);
}

// ".NAME.tar.tmp-PID-N" and the like: goes where the shard is done and nobody works on it.
static zenith_status sweep_entry(void *cookie, const char *entry)
{
    const sweep *s = cookie;
    char name[ZN_DATASET_PATH], path[ZN_DATASET_PATH];
    const char *end = strstr(entry, ".tar.tmp-");
    if (!end) end = strstr(entry, ".json.tmp-");
    if (entry[0] != '.' || !end || end - entry >= ZN_DATASET_PATH) return ZENITH_OK;
    zn_text_format(name, sizeof name, "%.*s", (int)(end - entry - 1), entry + 1);
    if (strcmp(name, "_zenith") == 0 || !has(s->set, name, ".json") || has(s->set, name, ".lease"))
        return ZENITH_OK;
    ZN_TRY(zn_dataset_path(s->set->params.output, entry, "", path, s->err));
    return zn_file_remove(path, s->err);
}

// In a storage nothing is there in parts; a lease may be, of a process that died between its record
// and its end.
static zenith_status sweep_object(void *cookie, const zenith_object *object)
{
    const sweep *s = cookie;
    const zenith_storage *storage = s->set->params.storage;
    const char *entry = strrchr(object->path, '/') + 1;
    char name[ZN_DATASET_PATH];
    bool held = true;
    if (!zn_text_ends_with(entry, ".lease") || strlen(entry) >= sizeof name) return ZENITH_OK;
    zn_text_format(name, sizeof name, "%.*s", (int)(strlen(entry) - strlen(".lease")), entry);
    if (!has(s->set, name, ".json")) return ZENITH_OK;
    ZN_TRY(zn_lease_is_held(storage, object->path, s->set->params.lease_seconds, &held, s->err));
    return held ? ZENITH_OK : zn_object_remove(storage, object->path, s->err);
}

// What processes that died while they wrote have left. Once, at the end: whoever takes a lease over
// cannot be told from one who finds it free while another takes it over.
static zenith_status sweep_output(const zn_dataset *set, zn_error *err)
{
    sweep s = {set, err};
    if (is_stored(set))
        return zn_object_each(set->params.storage, set->params.output, false, sweep_object, &s,
                              err);
    return zn_directory_each(set->params.output, sweep_entry, &s, err);
}

// Of a process that died between its record and this.
static zenith_status drop_lease(const zn_dataset *set, const zn_shard *shard, zn_error *err)
{
    char path[ZN_DATASET_PATH];
    if (is_stored(set)) return ZENITH_OK; // the sweep finds it in one list
    ZN_TRY(zn_dataset_path(set->params.output, shard->name, ".lease", path, err));
    return zn_path_is_file(path) ? zn_file_remove(path, err) : ZENITH_OK;
}

// --- the work -----------------------------------------------------------------------------------

static void fill_shares(zn_dataset *set)
{
    zenith_dataset_report *report = &set->report;
    const double all = set->waited + set->decoded + set->encoded + set->written;
    if (all <= 0) return;
    report->read_share = set->waited / all;
    report->decode_share = set->decoded / all;
    report->encode_share = set->encoded / all;
    report->write_share = set->written / all;
}

int zn_dataset_tick(zn_dataset *set)
{
    const double now = zn_clock_seconds();
    const zenith_cancel *cancel = set->run.cancel;
    if (now - set->touched > set->params.lease_seconds / 4) {
        zn_lease_touch(set->params.storage, set->lease);
        set->touched = now;
    }
    if (cancel && atomic_load(&cancel->requested)) return 1;
    if (!set->params.report || now - set->reported < 0.1) return 0;
    set->reported = now;
    set->report.seconds = now - set->begun;
    fill_shares(set);
    return set->params.report(set->params.report_cookie, &set->report);
}

static zenith_status work_on(zn_dataset *set, const zn_shard *shard, zn_error *why, zn_error *err)
{
    bool unread = false, done = false;
    ZN_TRY(is_done(set, shard, &done, err)); // by the one who held it until now
    if (done) {
        set->info.done_before++;
        return ZENITH_OK;
    }
    zn_error now = {0};
    zenith_status status = zn_dataset_encode_shard(set, shard, &unread, &now);
    if (status == ZENITH_OK && set->dropped) {
        set->info.done_before++;
        return status;
    }
    if (status == ZENITH_OK) {
        set->info.done++;
        set->report.shards_done++;
        return status;
    }
    // One who was away for longer than its lease finds that another ended the shard, and swept what
    // it was writing.
    if (status != ZENITH_CANCELLED && is_done(set, shard, &done, NULL) == ZENITH_OK && done) {
        set->info.done_before++;
        return ZENITH_OK;
    }
    zn_error_prefix(&now, shard->name);
    if (!unread || status == ZENITH_OUT_OF_MEMORY) return zn_fail(err, status, "%s", now.text);
    if (set->info.failed++ == 0) *why = now;
    return ZENITH_OK;
}

static zenith_status take_shard(zn_dataset *set, const zn_shard *shard, zn_error *why,
                                zn_error *err)
{
    bool done = false;
    zn_lease_state lease = ZN_LEASE_HELD;
    ZN_TRY(is_done(set, shard, &done, err));
    if (done) {
        set->info.done_before++;
        return drop_lease(set, shard, err);
    }
    ZN_TRY(zn_dataset_path(set->params.output, shard->name, ".lease", set->lease, err));
    ZN_TRY(zn_lease_take(set->params.storage, set->lease, set->params.lease_seconds, &lease, err));
    if (lease == ZN_LEASE_HELD) {
        set->info.held++;
        return ZENITH_OK;
    }
    set->touched = zn_clock_seconds();
    zenith_status status = work_on(set, shard, why, err);
    (void)zn_object_remove(set->params.storage, set->lease, NULL);
    return status;
}

// Else every picture of that size would fail for the same reason.
static zenith_status check_memory(const zn_dataset *set, zn_model *model, uint32_t width,
                                  uint32_t height, zn_error *err)
{
    const int streams = zn_executor_streams(zn_engine_executor(set->engine));
    zenith_run_params run = set->run;
    zenith_estimate_info estimate;
    zn_error why = {0};
    run.max_memory = zn_dataset_run_memory(set->run.max_memory) / (uint64_t)streams;
    zenith_status status = zn_estimate(set->engine, model, ZENITH_ENCODER, width, height, true,
                                       &run, &estimate, &why);
    if (status == ZENITH_OK) return status;
    return zn_fail(err, status, "of the memory, three eighths are for %d network%s: %s", streams,
                   streams == 1 ? "" : "s at once", why.text);
}

static zenith_status check_model(const zn_dataset *set, zn_model *model, zn_error *err)
{
    const zenith_dataset_params *p = &set->params;
    ZN_TRY(zn_check_part(model, ZENITH_ENCODER, err));
    if (p->kind == ZENITH_LATENT_MOMENTS && !model->family->moments)
        return zn_fail(err, ZENITH_UNSUPPORTED, "%s gives one latent for a picture, and no moments",
                       model->variant->name);
    if (p->space == ZENITH_SPACE_RAW && !model->variant->autoencoder->has_raw)
        return zn_fail(err, ZENITH_UNSUPPORTED, "%s has no raw latents", model->variant->name);
    for (size_t i = 0; i < p->bucket_count; i++)
        ZN_TRY(check_memory(set, model, set->buckets[i].width, set->buckets[i].height, err));
    if (p->bucket_count || set->source.fit != ZENITH_FIT_RESIZE || !set->source.width ||
        !set->source.height)
        return ZENITH_OK;
    return check_memory(set, model, set->source.width, set->source.height, err);
}

static size_t length_without_slashes(const char *path)
{
    size_t length = strlen(path);
    while (length > 0 && path[length - 1] == '/') length--;
    return length;
}

static zenith_status check(const zn_dataset *set, zn_error *err)
{
    const char *input = set->params.input, *output = set->params.output;
    const size_t length = length_without_slashes(input);
    if (length == length_without_slashes(output) && strncmp(input, output, length) == 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "'%s' is the input: latents in the same folder would replace its archives",
                       output);
    for (size_t i = 0; i < set->model_count; i++) ZN_TRY(check_model(set, set->models[i], err));
    return ZENITH_OK;
}

static zenith_status run_shard(zn_dataset *set, const zn_shard *shard, zn_error *why, zn_error *err)
{
    const uint64_t begun = set->info.done;
    if (strcmp(shard->name, "_zenith") == 0)
        return zn_fail(
            err, ZENITH_INVALID_ARGUMENT,
            "a shard is called _zenith.tar, which is the name of the settings: rename it");
    ZN_TRY(take_shard(set, shard, why, err));
    if (set->info.done == begun) set->report.bytes -= shard->bytes; // nothing was to be done
    return ZENITH_OK;
}

static zenith_status run_shards(zn_dataset *set, zn_error *err)
{
    zn_error why = {0};
    const size_t count = zn_shards_count(set->shards), step = set->params.partitions;
    for (size_t i = set->params.partition; i < count; i += step) {
        set->report.bytes += zn_shards_get(set->shards, i)->bytes;
        set->info.shards = ++set->report.shards;
    }
    if (!is_stored(set)) ZN_TRY(zn_directory_make(set->params.output, err));
    ZN_TRY(zn_dataset_agree(set, err));
    for (size_t i = set->params.partition; i < count; i += step)
        ZN_TRY(run_shard(set, zn_shards_get(set->shards, i), &why, err));
    ZN_TRY(sweep_output(set, err));
    if (set->info.failed == 0) return ZENITH_OK;
    return zn_fail(err, ZENITH_PARTIAL, "%llu of %llu shards could not be read; the first: %s",
                   (unsigned long long)set->info.failed, (unsigned long long)set->info.shards,
                   why.text);
}

zenith_status zn_dataset_encode(zn_dataset *set, zn_error *err)
{
    zn_shards *shards = NULL;
    ZN_TRY(check(set, err));
    ZN_TRY(zn_shards_open(set->params.storage, set->params.input, set->params.shard_pictures,
                          &shards, err));
    set->shards = shards;
    set->begun = zn_clock_seconds();
    zn_error why = {0};
    zenith_status status = run_shards(set, &why);
    if (status == ZENITH_IO) // a disk that is full, most of the time
        (void)zn_fail(err, status,
                      "%s. Shards that are done stay done: %sgive the same command again", why.text,
                      is_stored(set) ? "" : "make room, and ");
    else if (status != ZENITH_OK)
        (void)zn_fail(err, status, "%s", why.text);
    fill_shares(set);
    set->info.read_share = set->report.read_share;
    set->info.decode_share = set->report.decode_share;
    set->info.encode_share = set->report.encode_share;
    set->info.write_share = set->report.write_share;
    set->info.seconds = zn_clock_seconds() - set->begun;
    zn_shards_free(shards);
    return status;
}
