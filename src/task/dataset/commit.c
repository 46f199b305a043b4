// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The end of a shard: its tar, then its record, and how records are read. In a folder both are put
// in place by rename. In a storage the record is made only where there is none, and it has the etag
// of its tar:
//
//   1. A record that does not say what ours says is removed before our tar is put: no record is of
//      another tar.
//   2. The tar is put, whole, and then the record, where there is none.
//   3. There is one: another worker was faster. With the same bytes that is fine. With others (an
//      input that has changed, another instruction set), whoever's tar lies there has the record.
//
// Whoever dies in between leaves a shard without a record, or with one whose etag is not the tar's.
// Both are not done.
#include "src/data/object.h"
#include "src/task/dataset/dataset.h"

#include <string.h>

enum { MOST_RECORD = 256 << 20, TRIES = 4 };

zenith_status zn_dataset_read_record(const zenith_storage *storage, const char *path,
                                     zn_shard_record *out, zn_error *err)
{
    zn_bytes text = {0};
    *out = (zn_shard_record){.ok = 0};
    if (!zn_object_is_stored(storage, path)) return zn_shard_record_read(path, out, err);
    zenith_status status = zn_object_get(storage, path, MOST_RECORD, &text, err);
    if (status == ZENITH_OK)
        status = zn_shard_record_parse((const char *)text.data, text.size, path, out, err);
    zn_bytes_free(&text);
    return status;
}

zenith_status zn_dataset_tar_is_there(const zenith_storage *storage, const char *tar,
                                      const zn_shard_record *record, bool *out, zn_error *err)
{
    zenith_object object;
    zn_error why = {0};
    const zenith_status status = zn_object_look(storage, tar, &object, &why);
    *out = false;
    if (status == ZENITH_NOT_FOUND || !zn_object_is_stored(storage, tar)) {
        *out = status == ZENITH_OK && object.bytes == record->output_bytes;
        return ZENITH_OK;
    }
    if (status != ZENITH_OK) return zn_fail(err, status, "%s", why.text);
    const bool told = record->output_etag[0] && object.etag[0];
    *out = object.bytes == record->output_bytes &&
           (!told || strcmp(record->output_etag, object.etag) == 0);
    return ZENITH_OK;
}

static zenith_status commit_files(zn_dataset *set, zn_object_writer *tar, zn_shard_record *record,
                                  const char *path, zn_error *err)
{
    ZN_TRY(zn_object_writer_commit(tar, record->output_etag, err));
    zn_directory_sync(set->params.output);
    bool made = true; // of two that worked on one shard, the first commits
    ZN_TRY(zn_shard_record_write(record, path, set->has_record ? NULL : &made, err));
    zn_directory_sync(set->params.output);
    set->dropped = !made;
    return ZENITH_OK;
}

typedef struct places {
    const zenith_storage *storage;
    char tar[ZN_DATASET_PATH], record[ZN_DATASET_PATH];
} places;

static bool says_the_same(const zn_shard_record *a, const zn_shard_record *b)
{
    return strcmp(a->config, b->config) == 0 && strcmp(a->input_sha256, b->input_sha256) == 0 &&
           strcmp(a->output_sha256, b->output_sha256) == 0 && a->output_bytes == b->output_bytes;
}

// Whether the record that is there says what ours says, and its tar is there too. *there: there is
// one.
static zenith_status is_same(const places *at, const zn_shard_record *ours, bool *there, bool *same,
                             zn_error *err)
{
    zn_shard_record theirs;
    zn_error why = {0};
    *same = false;
    zenith_status status = zn_dataset_read_record(at->storage, at->record, &theirs, &why);
    *there = status != ZENITH_NOT_FOUND;
    if (status == ZENITH_NOT_FOUND || status == ZENITH_BAD_FILE) return ZENITH_OK;
    if (status != ZENITH_OK) return zn_fail(err, status, "%s", why.text);
    if (says_the_same(&theirs, ours))
        status = zn_dataset_tar_is_there(at->storage, at->tar, &theirs, same, err);
    zn_shard_record_free(&theirs);
    return status;
}

// *made false: another's record stays.
static zenith_status put_record(const places *at, const zn_shard_record *record, const char *text,
                                size_t size, bool *made, zn_error *err)
{
    bool there = false, same = false, ours = false;
    for (int i = 0; i < TRIES; i++) {
        ZN_TRY(zn_object_create(at->storage, at->record, text, size, made, err));
        if (*made) return ZENITH_OK;
        ZN_TRY(is_same(at, record, &there, &same, err));
        if (same) return ZENITH_OK;
        ZN_TRY(zn_dataset_tar_is_there(at->storage, at->tar, record, &ours, err));
        if (!ours) return ZENITH_OK; // their tar came after ours
        ZN_TRY(zn_object_remove(at->storage, at->record, err));
    }
    return zn_fail(err, ZENITH_IO, "'%s' was made by others again and again", at->record);
}

static zenith_status commit_objects(const places *at, zn_object_writer *tar,
                                    zn_shard_record *record, bool *dropped, zn_error *err)
{
    bool there = false, same = false, made = false;
    char *text = NULL;
    size_t size = 0;
    zenith_status status = is_same(at, record, &there, &same, err);
    if (status == ZENITH_OK && there && !same)
        status = zn_object_remove(at->storage, at->record, err);
    if (status != ZENITH_OK || same) { // another has done it meanwhile
        *dropped = same;
        zn_object_writer_discard(tar);
        return status;
    }
    ZN_TRY(zn_object_writer_commit(tar, record->output_etag, err));
    ZN_TRY(zn_shard_record_text(record, &text, &size, err));
    status = put_record(at, record, text, size, &made, err);
    *dropped = !made;
    zn_free(text);
    return status;
}

zenith_status zn_dataset_commit(zn_dataset *set, const char *name, zn_object_writer *tar,
                                zn_shard_record *record, zn_error *err)
{
    places at = {.storage = set->params.storage};
    zenith_status status = zn_dataset_path(set->params.output, name, ".tar", at.tar, err);
    if (status == ZENITH_OK)
        status = zn_dataset_path(set->params.output, name, ".json", at.record, err);
    if (status != ZENITH_OK) {
        zn_object_writer_discard(tar);
        return status;
    }
    if (!zn_object_is_stored(at.storage, at.tar))
        return commit_files(set, tar, record, at.record, err);
    bool outrun = false;
    status = commit_objects(&at, tar, record, &outrun, err);
    set->dropped = outrun && !set->has_record; // one that was there before may say the same
    return status;
}
