// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Requests to an S3 server, signed by libcurl. What a server or a network does wrong now and then
// (500, 503, 429, a broken connection) is tried again, each time after about twice as long, a
// bounded number of times, and said. For any thread.
#ifndef ZN_NET_S3_REQUEST_H
#define ZN_NET_S3_REQUEST_H

#include "apps/net/s3_address.h"
#include "apps/net/s3_answer.h"
#include "zenith/zenith.h"

#include <curl/curl.h>

typedef struct s3_client s3_client;

// quiet: tries are not told of. NULL with a sentence.
s3_client *s3_client_open(bool quiet, char message[S3_MESSAGE]);
void s3_client_close(s3_client *client); // NULL is fine

typedef struct s3_ask {
    const char *method; // "GET", "HEAD", "PUT", "POST", "DELETE"
    const char *path;   // s3://BUCKET/KEY
    bool of_bucket;     // the key is not part of the address
    const char *query;  // encoded, in byte order of the names, each with "="; may be NULL
    const char *header; // one more, may be NULL
    const void *body;
    size_t size;
} s3_ask;

typedef struct s3_reply {
    long code; // 200 to 299, 404 or 412
    s3_headers headers;
    uint64_t length; // of the object, as HEAD says
    char *body;      // bounded; ends with a zero that is not counted
    size_t size;
} s3_reply;

// OK: there is an answer. Freed by s3_reply_free in any case.
zenith_status s3_request(s3_client *client, const s3_ask *ask, s3_reply *out,
                         char message[S3_MESSAGE]);
void s3_reply_free(s3_reply *reply);

// --- for transfers of another kind (s3_download.c) ----------------------------------------------

// A handle that is set up to ask; it and the list are given back by s3_end. NULL: no memory.
CURL *s3_begin(s3_client *client, const s3_ask *ask, struct curl_slist **headers);
void s3_end(s3_client *client, CURL *curl, struct curl_slist *headers);
// What drives a handle beside other work, and keeps its connection for the next one. NULL: no
// memory.
CURLM *s3_take_multi(s3_client *client);
void s3_give_multi(s3_client *client, CURLM *multi); // NULL is fine

// How often something has been tried, and what became of it last.
typedef struct s3_tries {
    int made;
    CURLcode result;
    long code;            // of the answer; 0: none
    double retry_after;   // negative: not said
    char reason[S3_CODE]; // the server's word
    const char *problem;  // libcurl's sentence
} s3_tries;
// Whether it is worth another try; waits before it returns true. False with a sentence, and the
// status of the failure.
bool s3_try_again(s3_client *client, const s3_ask *ask, s3_tries *tries, zenith_status *status,
                  const s3_headers *headers, char message[S3_MESSAGE]);

#endif
