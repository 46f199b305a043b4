// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Archives and folders give members (a name, a size, bytes); samples are put together from members
// in one place. The member that ends a sample is the first of the next one: its name is known
// before its bytes are read.
#include "src/data/samples.h"

#include "src/base/sha256.h"
#include "src/base/text.h"
#include "src/data/key_set.h"
#include "src/data/object.h"
#include "src/format/archive/tar.h"
#include "src/format/archive/tar_stream.h"
#include "src/format/image/image.h"

#include <string.h>

enum { NAME_ROOM = ZN_TAR_NAME - 96, SHOWN_NAME = 160 }; // room for other endings

struct zn_samples {
    const zn_shard *shard;
    zn_sample_limits limits;
    zn_object_reader *file; // the archive, or the file of the member
    zn_tar_stream *tar;
    size_t next_file; // of a folder
    zn_sha256 hash;
    uint64_t read; // bytes of the archive
    zn_key_set keys;
    // The member that comes next.
    bool started, there;
    const char *name;
    uint64_t size;
    const char *fault;     // why its file cannot be read; NULL: it can
    char key[ZN_TAR_NAME]; // of the sample that is put together
    zenith_status broken;  // the archive is, from here on
    zn_error why;
};

// --- members ------------------------------------------------------------------------------------

static zenith_status read_archive(void *cookie, void *dst, size_t size, size_t *got, zn_error *err)
{
    zn_samples *s = cookie;
    ZN_TRY(zn_object_reader_read(s->file, dst, size, got, err));
    zn_sha256_add(&s->hash, dst, *got);
    s->read += *got;
    return ZENITH_OK;
}

static zenith_status open_file(zn_samples *s, zn_error *err)
{
    const zn_shard_file *file = &s->shard->files[s->next_file++];
    char size[24];
    zn_object_reader_close(s->file);
    s->file = NULL;
    s->fault = file->fault;
    if (!s->fault)
        ZN_TRY(zn_object_reader_open(s->shard->storage, file->path,
                                     file->object_etag ? file->object_etag : "", &s->file, err));
    s->name = file->name;
    s->size = file->size;
    zn_text_format(size, sizeof size, "%llu", (unsigned long long)file->size);
    zn_sha256_add(&s->hash, file->name, strlen(file->name) + 1);
    zn_sha256_add(&s->hash, size, strlen(size) + 1);
    return ZENITH_OK;
}

static zenith_status next_member(zn_samples *s, zn_error *err)
{
    if (s->tar) return zn_tar_stream_next(s->tar, &s->name, &s->size, &s->there, err);
    s->there = s->next_file < s->shard->count;
    return s->there ? open_file(s, err) : ZENITH_OK;
}

static zenith_status read_member(zn_samples *s, uint8_t *dst, size_t size, zn_error *err)
{
    size_t got = 0;
    if (s->tar) return zn_tar_stream_read(s->tar, dst, size, err);
    ZN_TRY(zn_object_reader_read(s->file, dst, size, &got, err));
    zn_sha256_add(&s->hash, dst, got);
    if (got == size) return ZENITH_OK;
    return zn_fail(err, ZENITH_IO,
                   "'%s' has changed since the run began: it had %llu bytes and has %zu",
                   s->shard->files[s->next_file - 1].path, (unsigned long long)s->size, got);
}

// --- names --------------------------------------------------------------------------------------

static bool has_part(const char *name, const char *part)
{
    const size_t length = strlen(part);
    for (const char *at = name; at; at = strchr(at, '/')) {
        if (*at == '/') at++;
        if (strncmp(at, part, length) == 0 && (at[length] == '/' || at[length] == '\0'))
            return true;
    }
    return false;
}

static bool is_safe(const char *name)
{
    const size_t length = strlen(name);
    if (length == 0 || length >= NAME_ROOM || name[0] == '/' || has_part(name, "..")) return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < ' ' || name[i] == 127 || name[i] == '\\') return false;
    return zn_utf8_valid(name, length) == length;
}

static const char *last_part(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

// The bytes of a name that are its key.
static size_t key_length(const char *name)
{
    const char *last = last_part(name), *dot = strchr(last, '.');
    return dot ? (size_t)(dot - name) : strlen(name);
}

static bool is_picture(const char *name)
{
    const char *dot = strchr(last_part(name), '.');
    return dot && !strchr(dot + 1, '.') && zn_image_format_of_path(dot) != ZN_IMAGE_UNKNOWN;
}

// A name that is no text, as text.
static void show_name(const char *name, char dst[SHOWN_NAME])
{
    size_t at = 0;
    for (; *name && at + 5 < SHOWN_NAME; name++) {
        const unsigned char c = (unsigned char)*name;
        if (c >= ' ' && c < 127)
            dst[at++] = *name;
        else
            at += zn_text_format(dst + at, SHOWN_NAME - at, "\\x%02x", (unsigned)c);
    }
    dst[at] = '\0';
}

// --- samples ------------------------------------------------------------------------------------

void zn_sample_refuse(zn_sample *sample, const char *reason, const char *message)
{
    if (sample->reason) return;
    sample->reason = reason;
    zn_text_format(sample->message, sizeof sample->message, "%s", message);
}

void zn_sample_free(zn_sample *sample)
{
    if (!sample) return;
    zn_arena_free(&sample->arena);
    zn_free(sample);
}

static zenith_status hold(zn_samples *s, zn_sample *sample, const uint8_t **out, zn_error *err)
{
    const size_t size = (size_t)s->size;
    uint8_t *data = zn_arena_alloc(&sample->arena, size ? size : 1);
    if (!data) return zn_fail_memory(err, size);
    ZN_TRY(read_member(s, data, size, err));
    *out = data;
    return ZENITH_OK;
}

// A folder's file is hashed whole, held or not; an archive's stream passes over by itself.
static zenith_status pass_over(zn_samples *s, zn_error *err)
{
    uint8_t waste[16 * 1024];
    for (uint64_t left = s->tar ? 0 : s->size; left > 0;) {
        const size_t now = left < sizeof waste ? (size_t)left : sizeof waste;
        ZN_TRY(read_member(s, waste, now, err));
        left -= now;
    }
    return ZENITH_OK;
}

static zenith_status refuse_size(zn_samples *s, zn_sample *sample, uint64_t most, zn_error *err)
{
    char message[256];
    zn_text_format(message, sizeof message, "%s has %llu bytes; the limit is %llu", s->name,
                   (unsigned long long)s->size, (unsigned long long)most);
    zn_sample_refuse(sample, "too-large", message);
    return pass_over(s, err);
}

static zenith_status add_picture(zn_samples *s, zn_sample *sample, zn_error *err)
{
    if (sample->picture) zn_sample_refuse(sample, "two-pictures", "two pictures have this key");
    if (s->size > s->limits.picture_bytes)
        return refuse_size(s, sample, s->limits.picture_bytes, err);
    if (sample->reason) return pass_over(s, err);
    sample->picture_size = (size_t)s->size;
    return hold(s, sample, &sample->picture, err);
}

static zenith_status add_carried(zn_samples *s, zn_sample *sample, uint64_t *held, zn_error *err)
{
    if (sample->carried_count == ZN_SAMPLE_MEMBERS)
        zn_sample_refuse(sample, "too-large", "it has more members than are carried along");
    if (s->size > s->limits.carried_bytes - *held)
        return refuse_size(s, sample, s->limits.carried_bytes - *held, err);
    if (sample->reason) return pass_over(s, err);
    *held += s->size;
    zn_carried *added = &sample->carried[sample->carried_count++];
    added->size = (size_t)s->size;
    added->name = zn_arena_text(&sample->arena, s->name);
    if (!added->name) return zn_fail_memory(err, strlen(s->name) + 1);
    return hold(s, sample, &added->data, err);
}

// The whole member is a sample of its own, and never read.
static zenith_status make_unsafe(zn_samples *s, zn_sample *sample, zn_error *err)
{
    char shown[SHOWN_NAME];
    show_name(s->name, shown);
    sample->key = zn_arena_text(&sample->arena, shown);
    if (!sample->key) return zn_fail_memory(err, sizeof shown);
    zn_sample_refuse(sample, "name", "the name leads out of the archive, or is no text");
    ZN_TRY(pass_over(s, err));
    return next_member(s, err);
}

static bool belongs(const zn_samples *s, size_t length)
{
    return s->there && is_safe(s->name) && key_length(s->name) == length &&
           strncmp(s->name, s->key, length) == 0;
}

static zenith_status gather(zn_samples *s, zn_sample *sample, zn_error *err)
{
    uint64_t held = 0;
    if (!is_safe(s->name)) return make_unsafe(s, sample, err);
    const size_t length = key_length(s->name);
    memcpy(s->key, s->name, length);
    s->key[length] = '\0';
    sample->key = zn_arena_text(&sample->arena, s->key);
    if (!sample->key) return zn_fail_memory(err, length + 1);
    bool is_new = true;
    ZN_TRY(zn_key_set_add(&s->keys, s->key, &is_new, err));
    if (!is_new)
        zn_sample_refuse(sample, "same-key", "an earlier sample of the shard has this key");
    while (belongs(s, length)) {
        sample->bytes += s->size;
        if (s->fault) zn_sample_refuse(sample, "unreadable", s->fault);
        ZN_TRY(is_picture(s->name) ? add_picture(s, sample, err)
                                   : add_carried(s, sample, &held, err));
        ZN_TRY(next_member(s, err));
    }
    if (!sample->picture)
        zn_sample_refuse(sample, "no-picture", "none of its members is a picture");
    return ZENITH_OK;
}

static zenith_status pass_hidden(zn_samples *s, zn_error *err)
{
    while (s->there && last_part(s->name)[0] == '.' && is_safe(s->name)) {
        ZN_TRY(pass_over(s, err));
        ZN_TRY(next_member(s, err));
    }
    return ZENITH_OK;
}

zenith_status zn_samples_next(zn_samples *samples, zn_sample **out, zn_error *err)
{
    if (samples->broken != ZENITH_OK) return zn_fail(err, samples->broken, "%s", samples->why.text);
    if (!samples->started) ZN_TRY(next_member(samples, err));
    samples->started = true;
    ZN_TRY(pass_hidden(samples, err));
    *out = NULL;
    if (!samples->there) return ZENITH_OK;
    zn_sample *sample = zn_alloc_zero(sizeof *sample);
    if (!sample) return zn_fail_memory(err, sizeof *sample);
    zenith_status status = gather(samples, sample, &samples->why);
    const bool cut = status == ZENITH_BAD_FILE || status == ZENITH_LIMIT;
    if (cut && sample->key) { // it is told of first, and the archive's fault with the next call
        zn_sample_refuse(sample, "cut-off", samples->why.text);
        samples->broken = status;
        status = ZENITH_OK;
    }
    if (status != ZENITH_OK) zn_fail(err, status, "%s", samples->why.text);
    if (status == ZENITH_OK)
        *out = sample;
    else
        zn_sample_free(sample);
    return status;
}

zenith_status zn_samples_checksum(zn_samples *samples, char hex[65], zn_error *err)
{
    uint8_t waste[16 * 1024];
    size_t got = sizeof waste;
    while (samples->tar && got == sizeof waste)
        ZN_TRY(read_archive(samples, waste, sizeof waste, &got, err));
    if (samples->tar && samples->read != samples->shard->bytes)
        return zn_fail(err, ZENITH_IO,
                       "'%s' has changed since the run began: it had %llu bytes and has %llu",
                       samples->shard->archive, (unsigned long long)samples->shard->bytes,
                       (unsigned long long)samples->read);
    zn_sha256_end(&samples->hash, hex);
    return ZENITH_OK;
}

// --- birth and end ------------------------------------------------------------------------------

zenith_status zn_samples_open(const zn_shard *shard, const zn_sample_limits *limits,
                              zn_samples **out, zn_error *err)
{
    zn_samples *s = zn_alloc_zero(sizeof *s);
    if (!s) return zn_fail_memory(err, sizeof *s);
    zenith_status status = ZENITH_OK;
    s->shard = shard;
    if (limits) s->limits = *limits;
    if (!s->limits.picture_bytes) s->limits.picture_bytes = (uint64_t)2 << 30;
    if (!s->limits.carried_bytes) s->limits.carried_bytes = (uint64_t)16 << 20;
    zn_sha256_begin(&s->hash);
    if (shard->archive) {
        ZN_GO(zn_object_reader_open(shard->storage, shard->archive,
                                    shard->object_etag ? shard->object_etag : "", &s->file, err));
        ZN_GO(zn_tar_stream_open(read_archive, s, shard->bytes, &s->tar, err));
    }
    *out = s;
    return ZENITH_OK;
fail:
    zn_samples_free(s);
    return status;
}

void zn_samples_free(zn_samples *samples)
{
    if (!samples) return;
    zn_tar_stream_free(samples->tar);
    zn_object_reader_close(samples->file);
    zn_key_set_free(&samples->keys);
    zn_free(samples);
}
