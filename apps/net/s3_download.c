// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See s3_download.h. libcurl pushes, a reader pulls: what has come and is not yet read waits in a
// buffer, and while that is full the transfer is paused. A transfer that breaks goes on by a range,
// of the object with the same etag.
#include "apps/net/s3_download.h"

#include "apps/net/s3_request.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFER = 1 << 20, ERROR_BODY = 4096, POLL_MS = 200 };

struct s3_download {
    s3_client *client;
    char *path;
    char etag[S3_ETAG]; // "": any, and then that of the first answer
    CURLM *multi;
    CURL *curl; // NULL: no transfer is under way
    struct curl_slist *list;
    s3_ask ask;
    char condition[S3_ETAG + 32], range[32], problem[CURL_ERROR_SIZE];
    s3_headers headers;
    s3_tries tries;
    uint64_t come; // bytes of the object, in order
    uint64_t skip; // of this answer, which begins with bytes that have come
    bool checked;  // the answer's beginning is what was asked for
    bool paused, ended, wrong;
    char error[ERROR_BODY];
    size_t error_size, begin, end;
    uint8_t buffer[BUFFER]; // begin .. end wait to be read
};

static size_t on_header(char *line, size_t one, size_t count, void *cookie)
{
    s3_download *d = cookie;
    s3_headers_add(&d->headers, line, one * count);
    return one * count;
}

// An answer from the beginning to a request for a range: the server has no ranges.
static bool check_beginning(s3_download *d, long code)
{
    if (d->checked) return true;
    d->checked = true;
    d->skip = code == 200 ? d->come : 0;
    d->wrong = code == 206 && (!d->headers.has_range || d->headers.range_begin != d->come);
    if (d->etag[0] == 0) memcpy(d->etag, d->headers.etag, sizeof d->etag);
    if (strcmp(d->etag, d->headers.etag) != 0 && d->headers.etag[0] != 0) d->wrong = true;
    return !d->wrong;
}

static size_t on_bytes(char *bytes, size_t one, size_t count, void *cookie)
{
    s3_download *d = cookie;
    const size_t size = one * count;
    long code = 0;
    curl_easy_getinfo(d->curl, CURLINFO_RESPONSE_CODE, &code);
    if (code != 200 && code != 206) {
        const size_t room = ERROR_BODY - d->error_size, now = size < room ? size : room;
        memcpy(d->error + d->error_size, bytes, now);
        d->error_size += now;
        return size;
    }
    if (!check_beginning(d, code)) return 0;
    const size_t passed = d->skip < size ? (size_t)d->skip : size;
    const size_t kept = size - passed;
    if (d->end + kept > BUFFER && d->begin > 0) {
        memmove(d->buffer, d->buffer + d->begin, d->end - d->begin);
        d->end -= d->begin;
        d->begin = 0;
    }
    if (d->end + kept > BUFFER) {
        d->paused = true;
        return CURL_WRITEFUNC_PAUSE; // the same bytes come again
    }
    d->skip -= passed;
    memcpy(d->buffer + d->end, bytes + passed, kept);
    d->end += kept;
    d->come += kept;
    if (kept > 0) d->tries.made = 0; // it goes on
    return size;
}

static void stop(s3_download *d)
{
    if (d->curl == NULL) return;
    curl_multi_remove_handle(d->multi, d->curl);
    s3_end(d->client, d->curl, d->list);
    d->curl = NULL;
    d->list = NULL;
}

static bool start(s3_download *d)
{
    d->ask = (s3_ask){.method = "GET", .path = d->path};
    if (d->etag[0] != 0) {
        snprintf(d->condition, sizeof d->condition,
                 strncmp(d->etag, "W/", 2) == 0 ? "If-Match: %s" : "If-Match: \"%s\"", d->etag);
        d->ask.header = d->condition;
    }
    d->curl = s3_begin(d->client, &d->ask, &d->list);
    if (d->curl == NULL) return false;
    d->checked = d->paused = false;
    d->skip = 0;
    d->error_size = 0;
    d->problem[0] = 0;
    s3_headers_begin(&d->headers);
    curl_easy_setopt(d->curl, CURLOPT_ERRORBUFFER, d->problem);
    curl_easy_setopt(d->curl, CURLOPT_BUFFERSIZE, 128L * 1024);
    curl_easy_setopt(d->curl, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(d->curl, CURLOPT_WRITEDATA, d);
    curl_easy_setopt(d->curl, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(d->curl, CURLOPT_HEADERDATA, d);
    if (d->come > 0) {
        snprintf(d->range, sizeof d->range, "%llu-", (unsigned long long)d->come);
        curl_easy_setopt(d->curl, CURLOPT_RANGE, d->range);
    }
    return curl_multi_add_handle(d->multi, d->curl) == CURLM_OK;
}

static zenith_status fail(s3_download *d, zenith_status status, const char *sentence, char *message)
{
    snprintf(message, S3_MESSAGE, "%.300s: %s", d->path, sentence);
    return status;
}

// The transfer has come to its end: the object's, or one that is to be gone on from.
static zenith_status finish(s3_download *d, CURLcode result, char *message)
{
    s3_answer answer;
    zenith_status status = ZENITH_OK;
    long code = 0;
    curl_easy_getinfo(d->curl, CURLINFO_RESPONSE_CODE, &code);
    stop(d);
    d->tries.result = result;
    d->tries.code = code;
    d->tries.problem = d->problem;
    d->tries.retry_after = d->headers.retry_after;
    d->tries.reason[0] = 0;
    if (d->wrong || (result == CURLE_OK && code == 412) || (d->come > 0 && code == 416))
        return fail(d, ZENITH_IO, "it has changed since the run began", message);
    if (result == CURLE_OK && (code == 200 || code == 206)) {
        d->ended = true;
        return ZENITH_OK;
    }
    if (d->error_size > 0 && s3_answer_parse(d->error, d->error_size, &answer))
        memcpy(d->tries.reason, answer.code, S3_CODE);
    if (d->error_size > 0) s3_answer_free(&answer);
    if (!s3_try_again(d->client, &d->ask, &d->tries, &status, &d->headers, message)) return status;
    return start(d) ? ZENITH_OK : fail(d, ZENITH_OUT_OF_MEMORY, "no memory", message);
}

// Lets libcurl work until something has come, or is known of the end.
static zenith_status work(s3_download *d, char *message)
{
    int running = 0, left = 0;
    if (d->paused) {
        d->paused = false;
        curl_easy_pause(d->curl, CURLPAUSE_CONT);
    }
    curl_multi_perform(d->multi, &running);
    const CURLMsg *told = curl_multi_info_read(d->multi, &left);
    if (told != NULL && told->msg == CURLMSG_DONE) return finish(d, told->data.result, message);
    if (d->begin == d->end && !d->paused) curl_multi_poll(d->multi, NULL, 0, POLL_MS, NULL);
    return ZENITH_OK;
}

zenith_status s3_download_open(s3_client *client, const char *path, const char *etag,
                               s3_download **out, char message[S3_MESSAGE])
{
    char bucket[S3_BUCKET];
    const char *key;
    if (!s3_path_split(path, bucket, &key, message)) return ZENITH_INVALID_ARGUMENT;
    s3_download *d = calloc(1, sizeof *d);
    if (d != NULL) {
        d->client = client;
        d->path = strdup(path);
        d->multi = s3_take_multi(client);
        snprintf(d->etag, sizeof d->etag, "%s", etag);
    }
    zenith_status status = ZENITH_OK;
    if (d == NULL || d->path == NULL || d->multi == NULL || !start(d)) {
        snprintf(message, S3_MESSAGE, "no memory to read %.300s", path);
        status = ZENITH_OUT_OF_MEMORY;
    }
    while (status == ZENITH_OK && d->begin == d->end && !d->ended) status = work(d, message);
    if (status == ZENITH_OK)
        *out = d;
    else
        s3_download_close(d);
    return status;
}

zenith_status s3_download_read(s3_download *d, void *dst, size_t size, size_t *got,
                               char message[S3_MESSAGE])
{
    uint8_t *at = dst;
    *got = 0;
    while (*got < size) {
        const size_t there = d->end - d->begin, now = there < size - *got ? there : size - *got;
        memcpy(at + *got, d->buffer + d->begin, now);
        d->begin += now;
        *got += now;
        if (d->begin == d->end) d->begin = d->end = 0;
        if (*got == size || d->ended) break;
        const zenith_status status = work(d, message);
        if (status != ZENITH_OK) return status;
    }
    return ZENITH_OK;
}

void s3_download_close(s3_download *d)
{
    if (d == NULL) return;
    stop(d);
    s3_give_multi(d->client, d->multi);
    free(d->path);
    free(d);
}
