// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See s3_upload.h. A part is held in memory until the server has it, so that it can be sent again.
#include "apps/net/s3_upload.h"

#include "apps/net/s3_request.h"

#include <stdlib.h>
#include <string.h>

enum { PART = 16 << 20, MOST_PARTS = 10000, QUERY = 3 * S3_UPLOAD + 64 };

struct s3_upload {
    s3_client *client;
    char *path;
    char id[S3_UPLOAD];     // "": no part has been sent
    char (*etags)[S3_ETAG]; // of the parts
    size_t count, capacity;
    uint64_t sent;
    size_t size;
    uint8_t part[PART];
};

static zenith_status fail(const s3_upload *u, zenith_status status, const char *sentence,
                          char *message)
{
    snprintf(message, S3_MESSAGE, "%.300s: %s", u->path, sentence);
    return status;
}

zenith_status s3_upload_open(s3_client *client, const char *path, s3_upload **out,
                             char message[S3_MESSAGE])
{
    s3_upload *u = malloc(sizeof *u); // the part is written before it is read
    if (u != NULL) {
        memset(u, 0, offsetof(s3_upload, part));
        u->client = client;
        u->path = strdup(path);
        if (u->path != NULL) {
            *out = u;
            return ZENITH_OK;
        }
    }
    free(u);
    snprintf(message, S3_MESSAGE, "no memory to write %.300s", path);
    return ZENITH_OUT_OF_MEMORY;
}

static zenith_status expect_success(const s3_upload *u, const s3_reply *reply, zenith_status status,
                                    char *message)
{
    if (status != ZENITH_OK || reply->code < 300) return status;
    return fail(u, ZENITH_IO,
                reply->code == 404 ? "the server does not know the upload any more"
                                   : "the server refused it (412)",
                message);
}

static zenith_status begin_parts(s3_upload *u, char *message)
{
    const s3_ask ask = {.method = "POST", .path = u->path, .query = "uploads="};
    s3_reply reply;
    s3_answer answer;
    zenith_status status = s3_request(u->client, &ask, &reply, message);
    status = expect_success(u, &reply, status, message);
    if (status == ZENITH_OK) {
        const bool good = reply.size > 0 && s3_answer_parse(reply.body, reply.size, &answer);
        if (good && answer.upload[0] != 0)
            memcpy(u->id, answer.upload, sizeof u->id);
        else
            status = fail(u, ZENITH_IO, "the server gave no id for an upload in parts", message);
        if (reply.size > 0) s3_answer_free(&answer);
    }
    s3_reply_free(&reply);
    return status;
}

static bool has_room(s3_upload *u)
{
    if (u->count < u->capacity) return true;
    const size_t capacity = u->capacity ? 2 * u->capacity : 64;
    void *grown = realloc(u->etags, capacity * sizeof *u->etags);
    if (grown == NULL) return false;
    u->etags = grown;
    u->capacity = capacity;
    return true;
}

static zenith_status send_part(s3_upload *u, char *message)
{
    char query[QUERY];
    s3_reply reply;
    zenith_status status = u->id[0] != 0 ? ZENITH_OK : begin_parts(u, message);
    if (status != ZENITH_OK) return status;
    if (u->count == MOST_PARTS)
        return fail(u, ZENITH_LIMIT, "it is larger than 160 GB: make smaller shards", message);
    if (!has_room(u)) return fail(u, ZENITH_OUT_OF_MEMORY, "no memory", message);
    int length = snprintf(query, sizeof query, "partNumber=%zu&uploadId=", u->count + 1);
    s3_encode(u->id, false, query + length);
    const s3_ask ask = {
        .method = "PUT", .path = u->path, .query = query, .body = u->part, .size = u->size};
    status = s3_request(u->client, &ask, &reply, message);
    status = expect_success(u, &reply, status, message);
    if (status == ZENITH_OK) {
        memcpy(u->etags[u->count++], reply.headers.etag, S3_ETAG);
        u->sent += u->size;
        u->size = 0;
    }
    s3_reply_free(&reply);
    return status;
}

zenith_status s3_upload_write(s3_upload *u, const void *data, size_t size, char message[S3_MESSAGE])
{
    const uint8_t *from = data;
    while (size > 0) {
        if (u->size == PART) { // only with more to come: a small object is no parts
            const zenith_status status = send_part(u, message);
            if (status != ZENITH_OK) return status;
        }
        const size_t now = size < PART - u->size ? size : PART - u->size;
        memcpy(u->part + u->size, from, now);
        u->size += now;
        from += now;
        size -= now;
    }
    return ZENITH_OK;
}

static zenith_status put_whole(s3_upload *u, char *etag, char *message)
{
    const s3_ask ask = {.method = "PUT", .path = u->path, .body = u->part, .size = u->size};
    s3_reply reply;
    zenith_status status = s3_request(u->client, &ask, &reply, message);
    status = expect_success(u, &reply, status, message);
    if (status == ZENITH_OK) memcpy(etag, reply.headers.etag, S3_ETAG);
    s3_reply_free(&reply);
    return status;
}

static char *list_parts(const s3_upload *u)
{
    const size_t size = 128 + u->count * (S3_ETAG + 96);
    char *xml = malloc(size);
    if (xml == NULL) return NULL;
    size_t length = (size_t)snprintf(xml, size, "<CompleteMultipartUpload>");
    for (size_t i = 0; i < u->count; i++)
        length += (size_t)snprintf(xml + length, size - length,
                                   "<Part><PartNumber>%zu</PartNumber><ETag>\"%s\"</ETag></Part>",
                                   i + 1, u->etags[i]);
    snprintf(xml + length, size - length, "</CompleteMultipartUpload>");
    return xml;
}

// A request to complete that broke may have been carried out, and libcurl sends one again by itself
// where a connection that it kept was closed. The upload is then not known any more.
static zenith_status find_complete(s3_upload *u, char *etag, char *message)
{
    const s3_ask ask = {.method = "HEAD", .path = u->path};
    char parts[24];
    s3_reply reply;
    zenith_status status = s3_request(u->client, &ask, &reply, message);
    snprintf(parts, sizeof parts, "-%zu", u->count);
    const char *ending = strrchr(reply.headers.etag, '-');
    if (status == ZENITH_OK && (reply.code == 404 || reply.length != u->sent || ending == NULL ||
                                strcmp(ending, parts) != 0))
        status = fail(u, ZENITH_IO, "the server does not know the upload any more", message);
    if (status == ZENITH_OK) memcpy(etag, reply.headers.etag, S3_ETAG);
    s3_reply_free(&reply);
    return status;
}

static zenith_status complete(s3_upload *u, char *etag, char *message)
{
    char query[QUERY] = "uploadId=";
    s3_reply reply;
    s3_answer answer;
    char *xml = list_parts(u);
    if (xml == NULL) return fail(u, ZENITH_OUT_OF_MEMORY, "no memory", message);
    s3_encode(u->id, false, query + strlen(query));
    const s3_ask ask = {
        .method = "POST", .path = u->path, .query = query, .body = xml, .size = strlen(xml)};
    zenith_status status = s3_request(u->client, &ask, &reply, message);
    free(xml);
    if (status == ZENITH_OK && reply.code == 404)
        status = find_complete(u, etag, message);
    else
        status = expect_success(u, &reply, status, message);
    if (status == ZENITH_OK && reply.code < 300 && reply.size > 0) {
        if (s3_answer_parse(reply.body, reply.size, &answer)) memcpy(etag, answer.etag, S3_ETAG);
        s3_answer_free(&answer);
    }
    s3_reply_free(&reply);
    return status;
}

// Its parts would be kept, and paid for.
static void abort_parts(s3_upload *u)
{
    char query[QUERY] = "uploadId=", unheard[S3_MESSAGE];
    s3_reply reply;
    s3_encode(u->id, false, query + strlen(query));
    const s3_ask ask = {.method = "DELETE", .path = u->path, .query = query};
    (void)s3_request(u->client, &ask, &reply, unheard);
    s3_reply_free(&reply);
}

zenith_status s3_upload_close(s3_upload *u, bool keep, char *etag, char message[S3_MESSAGE])
{
    zenith_status status = ZENITH_OK;
    etag[0] = 0;
    if (keep && u->id[0] == 0) {
        status = put_whole(u, etag, message);
    } else if (keep) {
        if (u->size > 0) status = send_part(u, message);
        if (status == ZENITH_OK) status = complete(u, etag, message);
    }
    if (u->id[0] != 0 && (!keep || status != ZENITH_OK)) abort_parts(u);
    free(u->etags);
    free(u->path);
    free(u);
    return status;
}
