// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a server says: headers, and the XML of lists, uploads and errors (by Expat). Servers are not
// trusted: whatever is too long, too deep, or no such answer is refused, and so is a document type
// with entities of its own.
#ifndef ZN_NET_S3_ANSWER_H
#define ZN_NET_S3_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { S3_ETAG = 136, S3_CODE = 64, S3_UPLOAD = 2048 };

typedef struct s3_entry {
    char *key;
    uint64_t bytes;
    char etag[S3_ETAG];
} s3_entry;

typedef struct s3_answer {
    s3_entry *entries; // of a list
    size_t count, capacity;
    bool truncated;
    char *next;             // how a list goes on; NULL: it does not say
    char upload[S3_UPLOAD]; // the id of one that has begun
    char etag[S3_ETAG];     // of one that is complete
    char code[S3_CODE];     // of an error: "NoSuchKey"
} s3_answer;

// False: it is no answer that is known. Freed by s3_answer_free in any case.
bool s3_answer_parse(const char *xml, size_t size, s3_answer *out);
void s3_answer_free(s3_answer *answer);

typedef struct s3_headers {
    char etag[S3_ETAG]; // without its quotes
    char region[64];    // of the bucket
    double age;         // Date less Last-Modified; negative: not known
    double retry_after; // seconds; negative: not said
    bool has_range;
    uint64_t range_begin;   // of Content-Range
    int64_t date, modified; // -1: not there
} s3_headers;

void s3_headers_begin(s3_headers *headers);
void s3_headers_add(s3_headers *headers, const char *line, size_t size); // "Name: value\r\n"

#endif
