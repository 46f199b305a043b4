// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/format/archive/shard_record.h"

#include "src/base/os.h"
#include "src/base/text.h"

#include <jansson.h>
#include <string.h>

enum { FORMAT = 1 };
static const int64_t most = INT64_MAX / 2;

void zn_shard_record_free(zn_shard_record *record)
{
    zn_free(record->bad);
    zn_arena_free(&record->arena);
    *record = (zn_shard_record){.ok = 0};
}

zenith_status zn_shard_record_add_bad(zn_shard_record *record, const char *key, const char *reason,
                                      const char *message, zn_error *err)
{
    ZN_TRY(zn_array_reserve((void **)&record->bad, &record->bad_capacity, record->bad_count + 1,
                            sizeof *record->bad, err));
    const zn_bad_sample added = {zn_arena_text(&record->arena, key),
                                 zn_arena_text(&record->arena, reason),
                                 zn_arena_text(&record->arena, message)};
    if (!added.key || !added.reason || !added.message) return zn_fail_memory(err, strlen(key));
    record->bad[record->bad_count++] = added;
    return ZENITH_OK;
}

// --- writing ------------------------------------------------------------------------------------

zn_json *zn_shard_record_reasons(const zn_shard_record *record)
{
    json_t *reasons = json_object();
    for (size_t i = 0; reasons && i < record->bad_count; i++) {
        const char *reason = record->bad[i].reason;
        const json_int_t before = json_integer_value(json_object_get(reasons, reason));
        if (json_object_set_new(reasons, reason, json_integer(before + 1)) != 0) {
            json_decref(reasons);
            return NULL;
        }
    }
    return reasons;
}

// A sentence may quote bytes of a file that are no text.
static json_t *as_text(const char *text)
{
    return json_stringn(text, zn_utf8_valid(text, strlen(text)));
}

static json_t *bad_to_json(const zn_shard_record *record)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < record->bad_count; i++) {
        const zn_bad_sample *bad = &record->bad[i];
        json_array_append_new(list, json_pack("{s:o, s:s, s:o}", "key", as_text(bad->key), "reason",
                                              bad->reason, "message", as_text(bad->message)));
    }
    if (json_array_size(list) == record->bad_count) return list;
    json_decref(list);
    return NULL;
}

static json_t *to_json(const zn_shard_record *r)
{
    json_t *input = json_pack("{s:I, s:s, s:s}", "bytes", (json_int_t)r->input_bytes, "etag",
                              r->input_etag, "sha256", r->input_sha256);
    json_t *output = json_pack("{s:I, s:s}", "bytes", (json_int_t)r->output_bytes, "sha256",
                               r->output_sha256);
    if (output && r->output_etag[0]) json_object_set_new(output, "etag", as_text(r->output_etag));
    if (input && r->input_error[0]) json_object_set_new(input, "error", as_text(r->input_error));
    return json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:I, s:o, s:o, s:f}", "format",
                     FORMAT, "zenith", r->version, "config", r->config, "model", r->model,
                     "weights_sha256", r->weights, "isa", r->isa, "host", r->host, "input", input,
                     "output", output, "ok", (json_int_t)r->ok, "bad", zn_shard_record_reasons(r),
                     "bad_samples", bad_to_json(r), "seconds", r->seconds);
}

zenith_status zn_shard_record_text(const zn_shard_record *record, char **out, size_t *size,
                                   zn_error *err)
{
    json_t *json = to_json(record);
    char *text = NULL;
    if (!json) return zn_fail_memory(err, record->bad_count * sizeof *record->bad);
    zenith_status status = zn_json_dump(json, &text, size, err);
    json_decref(json);
    if (status != ZENITH_OK) return status;
    text[(*size)++] = '\n'; // where the text ended
    *out = text;
    return ZENITH_OK;
}

static zenith_status replace(const char *path, const char *text, size_t size, zn_error *err)
{
    zn_writer *file = NULL;
    ZN_TRY(zn_writer_open(path, &file, err));
    zenith_status status = zn_writer_write(file, text, size, err);
    if (status == ZENITH_OK) return zn_writer_commit(file, err);
    zn_writer_discard(file);
    return status;
}

zenith_status zn_shard_record_write(const zn_shard_record *record, const char *path, bool *made,
                                    zn_error *err)
{
    char *text = NULL;
    size_t size = 0;
    ZN_TRY(zn_shard_record_text(record, &text, &size, err));
    zenith_status status = made ? zn_file_create(path, text, size, made, err)
                                : replace(path, text, size, err);
    zn_free(text);
    return status;
}

// --- reading ------------------------------------------------------------------------------------

static zenith_status get_text(const zn_json *object, const char *key, char *dst, size_t size,
                              zn_error *err)
{
    const char *text;
    ZN_TRY(zn_json_get_text(object, key, &text, err));
    if (strlen(text) >= size) return zn_fail(err, ZENITH_BAD_FILE, "'%s' is too long", key);
    memcpy(dst, text, strlen(text) + 1);
    return ZENITH_OK;
}

static zenith_status get_hash(const zn_json *object, const char *key, char dst[65], zn_error *err)
{
    ZN_TRY(get_text(object, key, dst, 65, err));
    if (strlen(dst) == 64 && strspn(dst, "0123456789abcdef") == 64) return ZENITH_OK;
    return zn_fail(err, ZENITH_BAD_FILE, "'%s' is no SHA-256", key);
}

static zenith_status get_count(const zn_json *object, const char *key, uint64_t *out, zn_error *err)
{
    int64_t value;
    ZN_TRY(zn_json_get_integer(object, key, 0, most, &value, err));
    *out = (uint64_t)value;
    return ZENITH_OK;
}

static zenith_status read_bad(const zn_json *json, zn_shard_record *out, zn_error *err)
{
    const zn_json *list;
    ZN_TRY(zn_json_get_array(json, "bad_samples", &list, err));
    for (size_t i = 0; i < zn_json_size(list); i++) {
        const zn_json *bad = zn_json_at(list, i);
        const char *key, *reason, *message;
        if (!zn_json_is_object(bad))
            return zn_fail(err, ZENITH_BAD_FILE, "'bad_samples' has something that is no sample");
        ZN_TRY(zn_json_get_text(bad, "key", &key, err));
        ZN_TRY(zn_json_get_text(bad, "reason", &reason, err));
        ZN_TRY(zn_json_get_text(bad, "message", &message, err));
        ZN_TRY(zn_shard_record_add_bad(out, key, reason, message, err));
    }
    return ZENITH_OK;
}

static zenith_status read_files(const zn_json *json, zn_shard_record *out, zn_error *err)
{
    const zn_json *input, *output;
    ZN_TRY(zn_json_get_object(json, "input", &input, err));
    ZN_TRY(get_count(input, "bytes", &out->input_bytes, err));
    ZN_TRY(get_hash(input, "etag", out->input_etag, err));
    ZN_TRY(get_hash(input, "sha256", out->input_sha256, err));
    if (zn_json_has(input, "error"))
        ZN_TRY(get_text(input, "error", out->input_error, sizeof out->input_error, err));
    ZN_TRY(zn_json_get_object(json, "output", &output, err));
    ZN_TRY(get_count(output, "bytes", &out->output_bytes, err));
    if (zn_json_has(output, "etag"))
        ZN_TRY(get_text(output, "etag", out->output_etag, sizeof out->output_etag, err));
    return get_hash(output, "sha256", out->output_sha256, err);
}

static zenith_status read_json(const zn_json *json, zn_shard_record *out, zn_error *err)
{
    int64_t format;
    if (!zn_json_is_object(json)) return zn_fail(err, ZENITH_BAD_FILE, "it is no JSON object");
    ZN_TRY(zn_json_get_integer(json, "format", FORMAT, FORMAT, &format, err));
    ZN_TRY(get_text(json, "zenith", out->version, sizeof out->version, err));
    ZN_TRY(get_hash(json, "config", out->config, err));
    ZN_TRY(get_text(json, "model", out->model, sizeof out->model, err));
    ZN_TRY(get_hash(json, "weights_sha256", out->weights, err));
    ZN_TRY(get_text(json, "isa", out->isa, sizeof out->isa, err));
    ZN_TRY(get_text(json, "host", out->host, sizeof out->host, err));
    ZN_TRY(read_files(json, out, err));
    ZN_TRY(get_count(json, "ok", &out->ok, err));
    ZN_TRY(zn_json_get_number(json, "seconds", &out->seconds, err));
    return read_bad(json, out, err);
}

static zenith_status take_json(zn_json *json, const char *where, zn_shard_record *out,
                               zn_error *err)
{
    zn_error why = {0};
    zenith_status status = read_json(json, out, &why);
    zn_json_free(json);
    if (status == ZENITH_OK) return status;
    zn_shard_record_free(out);
    return zn_fail(err, status, "'%s' is no record of a shard: %s", where, why.text);
}

zenith_status zn_shard_record_parse(const char *text, size_t size, const char *where,
                                    zn_shard_record *out, zn_error *err)
{
    zn_json *json = NULL;
    *out = (zn_shard_record){.ok = 0};
    ZN_TRY(zn_json_parse(text, size, where, &json, err));
    return take_json(json, where, out, err);
}

zenith_status zn_shard_record_read(const char *path, zn_shard_record *out, zn_error *err)
{
    zn_json *json = NULL;
    *out = (zn_shard_record){.ok = 0};
    ZN_TRY(zn_json_open(path, &json, err));
    return take_json(json, path, out, err);
}
