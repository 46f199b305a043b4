// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See s3_storage.h.
#include "apps/net/s3_storage.h"

#include "apps/net/s3_download.h"
#include "apps/net/s3_request.h"
#include "apps/net/s3_upload.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PATH = S3_LONGEST_KEY + S3_BUCKET + 16, QUERY = 3 * (8192 + S3_LONGEST_KEY) + 256 };

// --- lists --------------------------------------------------------------------------------------

// Parameters in byte order of their names, as the signature wants them.
static void make_query(const char *prefix, bool deep, const char *token, char query[QUERY])
{
    size_t length = 0;
    query[0] = 0;
    if (token != NULL) {
        length = (size_t)snprintf(query, QUERY, "continuation-token=");
        s3_encode(token, false, query + length);
        length += strlen(query + length);
        length += (size_t)snprintf(query + length, QUERY - length, "&");
    }
    length += (size_t)snprintf(
        query + length, QUERY - length,
        "%sencoding-type=url&list-type=2&prefix=", deep ? "" : "delimiter=%2F&");
    s3_encode(prefix, false, query + length);
}

typedef struct listing {
    char bucket[S3_BUCKET], prefix[S3_LONGEST_KEY + 2];
    zenith_object_fn *each;
    void *cookie;
} listing;

// A server may give more than was asked for.
static zenith_status tell_entries(const listing *l, const s3_answer *answer)
{
    char path[MOST_PATH + 1];
    zenith_status status = ZENITH_OK;
    for (size_t i = 0; status == ZENITH_OK && i < answer->count; i++) {
        const s3_entry *entry = &answer->entries[i];
        if (strncmp(entry->key, l->prefix, strlen(l->prefix)) != 0 ||
            strlen(entry->key) > S3_LONGEST_KEY)
            continue;
        zenith_object object = {
            .size = sizeof object, .path = path, .bytes = entry->bytes, .age = -1};
        snprintf(path, sizeof path, "s3://%s/%s", l->bucket, entry->key);
        memcpy(object.etag, entry->etag, sizeof object.etag);
        status = l->each(l->cookie, &object);
    }
    return status;
}

static zenith_status list_page(s3_client *client, const listing *l, const char *folder, bool deep,
                               char **token, char *message)
{
    s3_reply reply;
    s3_answer answer = {.count = 0};
    char *query = malloc(QUERY);
    if (query == NULL) return ZENITH_OUT_OF_MEMORY;
    make_query(l->prefix, deep, *token, query);
    const s3_ask ask = {.method = "GET", .path = folder, .of_bucket = true, .query = query};
    zenith_status status = s3_request(client, &ask, &reply, message);
    free(query);
    if (status == ZENITH_OK &&
        (reply.code >= 300 || !s3_answer_parse(reply.body, reply.size, &answer))) {
        snprintf(message, S3_MESSAGE, "%.300s: the server's list cannot be read (%ld)", folder,
                 reply.code);
        status = reply.code == 404 ? ZENITH_NOT_FOUND : ZENITH_IO;
    }
    if (status == ZENITH_OK) status = tell_entries(l, &answer);
    free(*token);
    *token = status == ZENITH_OK && answer.truncated ? answer.next : NULL;
    if (*token != NULL) answer.next = NULL; // ours now
    s3_answer_free(&answer);
    s3_reply_free(&reply);
    return status;
}

static zenith_status list(void *cookie, const char *folder, bool deep, zenith_object_fn *each,
                          void *each_cookie, char *message)
{
    listing l = {.each = each, .cookie = each_cookie};
    const char *key;
    char *token = NULL;
    zenith_status status;
    if (!s3_path_split(folder, l.bucket, &key, message)) return ZENITH_INVALID_ARGUMENT;
    size_t length = strlen(key);
    while (length > 0 && key[length - 1] == '/') length--;
    snprintf(l.prefix, sizeof l.prefix, "%.*s%s", (int)length, key, length > 0 ? "/" : "");
    do {
        status = list_page(cookie, &l, folder, deep, &token, message);
    } while (status == ZENITH_OK && token != NULL);
    free(token);
    return status;
}

// --- one object ---------------------------------------------------------------------------------

static zenith_status look(void *cookie, const char *path, zenith_object *out, char *message)
{
    const s3_ask ask = {.method = "HEAD", .path = path};
    s3_reply reply;
    zenith_status status = s3_request(cookie, &ask, &reply, message);
    if (status == ZENITH_OK && reply.code >= 300) {
        snprintf(message, S3_MESSAGE, "there is no %.300s", path);
        status = ZENITH_NOT_FOUND;
    }
    if (status == ZENITH_OK) {
        out->bytes = reply.length;
        out->age = reply.headers.age;
        memcpy(out->etag, reply.headers.etag, sizeof out->etag);
    }
    s3_reply_free(&reply);
    return status;
}

static zenith_status read_open(void *cookie, const char *path, const char *etag, void **stream,
                               char *message)
{
    s3_download *made = NULL;
    const zenith_status status = s3_download_open(cookie, path, etag, &made, message);
    if (status == ZENITH_OK) *stream = made;
    return status;
}

static zenith_status read_bytes(void *stream, void *dst, size_t bytes, size_t *got, char *message)
{
    return s3_download_read(stream, dst, bytes, got, message);
}

static void read_close(void *stream)
{
    s3_download_close(stream);
}

static zenith_status write_open(void *cookie, const char *path, void **stream, char *message)
{
    s3_upload *made = NULL;
    const zenith_status status = s3_upload_open(cookie, path, &made, message);
    if (status == ZENITH_OK) *stream = made;
    return status;
}

static zenith_status write_bytes(void *stream, const void *data, size_t bytes, char *message)
{
    return s3_upload_write(stream, data, bytes, message);
}

static zenith_status write_close(void *stream, bool keep, char *etag, char *message)
{
    return s3_upload_close(stream, keep, etag, message);
}

// Whether an object has these bytes: ours, put by a try whose answer was lost.
static zenith_status has_bytes(s3_client *client, const char *path, const void *data, size_t bytes,
                               bool *out, char *message)
{
    const s3_ask ask = {.method = "GET", .path = path};
    s3_reply reply;
    const zenith_status status = s3_request(client, &ask, &reply, message);
    *out = status == ZENITH_OK && reply.code < 300 && reply.size == bytes &&
           (bytes == 0 || memcmp(reply.body, data, bytes) == 0);
    s3_reply_free(&reply);
    return status;
}

static zenith_status put(void *cookie, const char *path, const void *data, size_t bytes,
                         bool replace, bool *made, char *message)
{
    const s3_ask ask = {.method = "PUT",
                        .path = path,
                        .header = replace ? NULL : "If-None-Match: *",
                        .body = data,
                        .size = bytes};
    s3_reply reply;
    zenith_status status = s3_request(cookie, &ask, &reply, message);
    if (status == ZENITH_OK && reply.code == 404) {
        snprintf(message, S3_MESSAGE, "%.300s: the server answered 404 to PUT", path);
        status = ZENITH_NOT_FOUND;
    }
    *made = status == ZENITH_OK && reply.code < 300;
    if (status == ZENITH_OK && reply.code == 412)
        status = has_bytes(cookie, path, data, bytes, made, message);
    s3_reply_free(&reply);
    return status;
}

static zenith_status remove_object(void *cookie, const char *path, char *message)
{
    const s3_ask ask = {.method = "DELETE", .path = path};
    s3_reply reply;
    const zenith_status status = s3_request(cookie, &ask, &reply, message);
    s3_reply_free(&reply);
    return status;
}

// --- the whole ----------------------------------------------------------------------------------

bool cli_s3_open(const char *const *inputs, size_t count, bool quiet, zenith_storage *out,
                 cli_failure *failure)
{
    char message[S3_MESSAGE], bucket[S3_BUCKET];
    const char *key;
    bool any = false;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < count; i++) {
        if (strncmp(inputs[i], "s3://", 5) != 0) continue;
        if (!s3_path_split(inputs[i], bucket, &key, message))
            return cli_fail_text(failure, ZENITH_INVALID_ARGUMENT, "%s", message);
        any = true;
    }
    if (!any) return true;
    s3_client *client = s3_client_open(quiet, message);
    if (client == NULL) return cli_fail_text(failure, ZENITH_INVALID_ARGUMENT, "%s", message);
    *out = (zenith_storage){.size = sizeof *out,
                            .scheme = "s3://",
                            .cookie = client,
                            .list = list,
                            .look = look,
                            .read_open = read_open,
                            .read = read_bytes,
                            .read_close = read_close,
                            .write_open = write_open,
                            .write = write_bytes,
                            .write_close = write_close,
                            .put = put,
                            .remove = remove_object};
    return true;
}

void cli_s3_close(zenith_storage *storage)
{
    if (storage->size != 0) s3_client_close(storage->cookie);
    memset(storage, 0, sizeof *storage);
}
