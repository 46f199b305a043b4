// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What is there of a dataset, judged by its records against the shards of the input: never by what
// a queue or a counter says. With `verify` every output is read and hashed.
#include "src/base/directory.h"
#include "src/base/os.h"
#include "src/base/sha256.h"
#include "src/base/text.h"
#include "src/data/lease.h"
#include "src/data/object.h"
#include "src/task/dataset/dataset.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

typedef struct look {
    const zenith_dataset_look_params *params;
    zn_shards *shards;
    const char **names; // of the shards, in byte order
    char config[65];
    const char *weights; // of the folder's settings
    json_t *faults, *reasons;
    uint64_t done, held, missing, ok, bad, input_bytes, output_bytes;
    double seconds;
    zn_error *err;
} look;

static zenith_status add_fault(look *l, const char *shard, const char *fault, const char *message)
{
    json_t *made = json_pack("{s:s, s:s, s:o}", "shard", shard, "fault", fault, "message",
                             json_stringn(message, zn_utf8_valid(message, strlen(message))));
    if (made && json_array_append_new(l->faults, made) == 0) return ZENITH_OK;
    return zn_fail_memory(l->err, strlen(message));
}

// --- one shard ----------------------------------------------------------------------------------

static zenith_status hash_file(const look *l, const char *path, char hex[65])
{
    enum { AT_ONCE = 1 << 20 };
    const zenith_cancel *cancel = l->params->cancel;
    zn_object_reader *input = NULL;
    zn_sha256 hash;
    size_t got = AT_ONCE;
    uint8_t *buffer = zn_alloc(AT_ONCE);
    if (!buffer) return zn_fail_memory(l->err, AT_ONCE);
    zenith_status status = zn_object_reader_open(l->params->storage, path, "", &input, l->err);
    zn_sha256_begin(&hash);
    while (status == ZENITH_OK && got == AT_ONCE) {
        if (cancel && atomic_load(&cancel->requested)) status = ZENITH_CANCELLED;
        if (status == ZENITH_OK)
            status = zn_object_reader_read(input, buffer, AT_ONCE, &got, l->err);
        if (status == ZENITH_OK) zn_sha256_add(&hash, buffer, got);
    }
    if (status == ZENITH_OK) zn_sha256_end(&hash, hex);
    zn_object_reader_close(input);
    zn_free(buffer);
    return status;
}

static zenith_status check_bytes(look *l, const zn_shard *shard, const zn_shard_record *record,
                                 const char *path)
{
    char hex[65];
    ZN_TRY(hash_file(l, path, hex));
    if (strcmp(hex, record->output_sha256) == 0) return ZENITH_OK;
    return add_fault(l, shard->name, "output", "the bytes of the tar are not those of the record");
}

static bool is_stored(const look *l)
{
    return zn_object_is_stored(l->params->storage, l->params->output);
}

static zenith_status check_output(look *l, const zn_shard *shard, const zn_shard_record *record)
{
    char path[ZN_DATASET_PATH], message[256];
    zenith_object tar;
    zn_error why = {0};
    ZN_TRY(zn_dataset_path(l->params->output, shard->name, ".tar", path, l->err));
    const zenith_status status = zn_object_look(l->params->storage, path, &tar, &why);
    if (status != ZENITH_OK && status != ZENITH_NOT_FOUND && is_stored(l))
        return zn_fail(l->err, status, "%s", why.text);
    if (status != ZENITH_OK) return add_fault(l, shard->name, "output", "the tar is not there");
    if (tar.bytes != record->output_bytes) {
        zn_text_format(message, sizeof message, "the tar has %llu bytes; the record says %llu",
                       (unsigned long long)tar.bytes, (unsigned long long)record->output_bytes);
        return add_fault(l, shard->name, "output", message);
    }
    if (record->output_etag[0] && tar.etag[0] && strcmp(record->output_etag, tar.etag) != 0)
        ZN_TRY(add_fault(l, shard->name, "output", "the tar is not the one of the record"));
    else if (l->params->verify)
        return check_bytes(l, shard, record, path);
    return ZENITH_OK;
}

static zenith_status count_bad(look *l, const zn_shard_record *record)
{
    const char *key;
    json_t *value, *reasons = zn_shard_record_reasons(record);
    if (!reasons) return zn_fail_memory(l->err, 1);
    json_object_foreach(reasons, key, value)
    {
        const json_int_t before = json_integer_value(json_object_get(l->reasons, key));
        json_object_set_new(l->reasons, key, json_integer(before + json_integer_value(value)));
    }
    json_decref(reasons);
    return ZENITH_OK;
}

static zenith_status check_record(look *l, const zn_shard *shard, const zn_shard_record *record)
{
    bool current = true;
    l->done++;
    l->ok += record->ok;
    l->bad += record->bad_count;
    l->input_bytes += record->input_bytes;
    l->output_bytes += record->output_bytes;
    l->seconds += record->seconds;
    ZN_TRY(count_bad(l, record));
    if (strcmp(record->weights, l->weights) != 0)
        ZN_TRY(add_fault(l, shard->name, "weights", "it was made with other weights"));
    else if (strcmp(record->config, l->config) != 0)
        ZN_TRY(add_fault(l, shard->name, "settings", "it was made with other settings"));
    ZN_TRY(zn_dataset_is_current(shard, record, &current, l->err));
    if (!current)
        ZN_TRY(add_fault(l, shard->name, "stale", "the input has changed since it was made"));
    if (record->input_error[0]) ZN_TRY(add_fault(l, shard->name, "input", record->input_error));
    return check_output(l, shard, record);
}

static zenith_status check_missing(look *l, const zn_shard *shard)
{
    char lease[ZN_DATASET_PATH];
    bool held = false;
    ZN_TRY(zn_dataset_path(l->params->output, shard->name, ".lease", lease, l->err));
    zenith_object object;
    if (zn_object_look(l->params->storage, lease, &object, NULL) == ZENITH_OK)
        ZN_TRY(
            zn_lease_is_held(l->params->storage, lease, l->params->lease_seconds, &held, l->err));
    if (held)
        l->held++;
    else
        l->missing++;
    return add_fault(l, shard->name, held ? "in-work" : "missing",
                     held ? "somebody is at work on it" : "it has no record");
}

static zenith_status check_shard(look *l, const zn_shard *shard)
{
    char path[ZN_DATASET_PATH];
    zn_shard_record record;
    zn_error why = {0};
    if (!l->params->output) {
        l->missing++;
        return add_fault(l, shard->name, "missing", "there is no output");
    }
    ZN_TRY(zn_dataset_path(l->params->output, shard->name, ".json", path, l->err));
    zenith_status status = zn_dataset_read_record(l->params->storage, path, &record, &why);
    if (status == ZENITH_NOT_FOUND) return check_missing(l, shard);
    if (status == ZENITH_BAD_FILE) return add_fault(l, shard->name, "record", why.text);
    if (status != ZENITH_OK) return zn_fail(l->err, status, "%s", why.text);
    status = check_record(l, shard, &record);
    zn_shard_record_free(&record);
    return status;
}

// --- records without an input -------------------------------------------------------------------

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static zenith_status list_names(look *l)
{
    const size_t count = zn_shards_count(l->shards);
    l->names = zn_alloc(count * sizeof *l->names);
    if (!l->names) return zn_fail_memory(l->err, count * sizeof *l->names);
    for (size_t i = 0; i < count; i++) l->names[i] = zn_shards_get(l->shards, i)->name;
    qsort((void *)l->names, count, sizeof *l->names, by_text);
    return ZENITH_OK;
}

static zenith_status check_extra(void *cookie, const char *entry)
{
    look *l = cookie;
    char name[ZN_DATASET_PATH];
    const size_t length = strlen(entry);
    if (entry[0] == '.' || strcmp(entry, "_zenith.json") == 0 || length >= sizeof name ||
        !zn_text_ends_with(entry, ".json"))
        return ZENITH_OK;
    memcpy(name, entry, length - 5);
    name[length - 5] = '\0';
    const char *key = name;
    if (bsearch(&key, l->names, zn_shards_count(l->shards), sizeof *l->names, by_text))
        return ZENITH_OK;
    if (zn_utf8_valid(name, strlen(name)) != strlen(name)) return ZENITH_OK;
    return add_fault(l, name, "extra", "the input has no such shard any more");
}

static zenith_status check_extra_object(void *cookie, const zenith_object *object)
{
    return check_extra(cookie, strrchr(object->path, '/') + 1);
}

// --- the whole ----------------------------------------------------------------------------------

static zenith_status look_at_all(look *l)
{
    const zenith_cancel *cancel = l->params->cancel;
    for (size_t i = 0; i < zn_shards_count(l->shards); i++) {
        if (cancel && atomic_load(&cancel->requested))
            return zn_fail(l->err, ZENITH_CANCELLED, "cancelled");
        ZN_TRY(check_shard(l, zn_shards_get(l->shards, i)));
    }
    if (!l->params->output) return ZENITH_OK;
    ZN_TRY(list_names(l));
    if (is_stored(l))
        return zn_object_each(l->params->storage, l->params->output, false, check_extra_object, l,
                              l->err);
    return zn_directory_each(l->params->output, check_extra, l, l->err);
}

static zenith_status tell(const look *l, const zn_json *config, char **out)
{
    json_t *all = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:O, s:O, s:O*, s:s}", "shards",
        (json_int_t)zn_shards_count(l->shards), "done", (json_int_t)l->done, "in_work",
        (json_int_t)l->held, "missing", (json_int_t)l->missing, "ok", (json_int_t)l->ok, "bad",
        (json_int_t)l->bad, "input_bytes", (json_int_t)l->input_bytes, "output_bytes",
        (json_int_t)l->output_bytes, "seconds", l->seconds, "reasons", l->reasons, "faults",
        l->faults, "settings", config, "config", l->config);
    if (!all) return zn_fail_memory(l->err, 1024);
    zenith_status status = zn_json_dump(all, out, NULL, l->err);
    json_decref(all);
    return status;
}

static zenith_status read_settings(look *l, zn_json **config, int64_t *pictures)
{
    zn_error why = {0};
    zenith_status status = zn_dataset_read_config(l->params->storage, l->params->output, config,
                                                  l->config, &why);
    if (status != ZENITH_OK)
        return zn_fail(l->err, status, "'%s' is no folder of latents: %s", l->params->output,
                       why.text);
    ZN_TRY(zn_json_get_text(*config, "weights_sha256", &l->weights, l->err));
    if (!*pictures && zn_json_has(*config, "shard"))
        return zn_json_get_integer(*config, "shard", 1, UINT32_MAX, pictures, l->err);
    return ZENITH_OK;
}

static zenith_status open_set(look *l, zn_json **config)
{
    int64_t pictures = l->params->shard_pictures;
    if (l->params->output) ZN_TRY(read_settings(l, config, &pictures));
    return zn_shards_open(l->params->storage, l->params->input,
                          pictures ? (size_t)pictures : ZN_DATASET_PICTURES, &l->shards, l->err);
}

zenith_status zn_dataset_look(const zenith_dataset_look_params *params, char **out, zn_error *err)
{
    look l = {.params = params, .faults = json_array(), .reasons = json_object(), .err = err};
    zn_json *config = NULL;
    zenith_status status = ZENITH_OK;
    if (!l.faults || !l.reasons) ZN_GO(zn_fail_memory(err, 1024));
    ZN_GO(open_set(&l, &config));
    ZN_GO(look_at_all(&l));
    ZN_GO(tell(&l, config, out));
fail:
    zn_json_free(config);
    json_decref(l.faults);
    json_decref(l.reasons);
    zn_free((void *)l.names);
    zn_shards_free(l.shards);
    return status;
}
