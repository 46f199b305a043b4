// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the answer of an S3 server: lines of headers up to an empty one, then XML. And the
// same bytes as a path: what is encoded has only letters that may be in an address.
#include "apps/net/s3_address.h"
#include "apps/net/s3_answer.h"

#include <stdlib.h>
#include <string.h>

static size_t read_headers(const uint8_t *data, size_t size)
{
    s3_headers headers;
    size_t at = 0;
    s3_headers_begin(&headers);
    while (at < size) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        const size_t line = end ? (size_t)(end - data) + 1 - at : size - at;
        char *copy = malloc(line); // of its own size, so that a sanitizer sees what reads past it
        if (!copy) abort();
        memcpy(copy, data + at, line);
        s3_headers_add(&headers, copy, line);
        free(copy);
        at += line;
        if (line == 1) break;
    }
    if (!memchr(headers.etag, 0, sizeof headers.etag)) abort();
    if (!memchr(headers.region, 0, sizeof headers.region)) abort();
    if (strpbrk(headers.etag, "\r\n ")) abort();
    return at;
}

static void read_xml(const uint8_t *data, size_t size)
{
    s3_answer answer;
    char *copy = malloc(size ? size : 1);
    if (!copy) abort();
    memcpy(copy, data, size);
    const bool good = s3_answer_parse(copy, size, &answer);
    free(copy);
    for (size_t i = 0; good && i < answer.count; i++) {
        if (!answer.entries[i].key || !answer.entries[i].key[0]) abort();
        if (!memchr(answer.entries[i].etag, 0, S3_ETAG)) abort();
    }
    if (good && answer.truncated && !answer.next) abort();
    if (!memchr(answer.code, 0, S3_CODE) || !memchr(answer.upload, 0, S3_UPLOAD)) abort();
    s3_answer_free(&answer);
}

static void encode(const uint8_t *data, size_t size)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~%/";
    char bucket[S3_BUCKET], message[S3_MESSAGE] = "";
    const char *key = NULL;
    char *path = malloc(size + 6), *encoded = malloc(3 * (size + 6) + 1);
    if (!path || !encoded) abort();
    memcpy(path, "s3://", 5);
    memcpy(path + 5, data, size);
    path[size + 5] = 0;
    if (s3_path_split(path, bucket, &key, message)) {
        if (!bucket[0] || strlen(key) > S3_LONGEST_KEY) abort();
        s3_encode(key, true, encoded);
        if (encoded[strspn(encoded, letters)]) abort();
    } else if (!message[0]) {
        abort();
    }
    free(path);
    free(encoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t headers = read_headers(data, size);
    read_xml(data + headers, size - headers);
    encode(data, size);
    return 0;
}
