// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a client gets.
#ifndef ZN_SERVE_HTTP_ANSWER_H
#define ZN_SERVE_HTTP_ANSWER_H

#include "apps/serve/http/failure.h"
#include "zenith/zenith.h"

typedef struct serve_answer {
    int code; // 0: there is none yet
    const char *content_type;
    void *data; // malloc'ed; NULL: in `bytes`, or empty
    size_t size;
    zenith_bytes *bytes;
    char shape[64];          // of numbers; "": no such header
    const char *dtype;       // likewise
    int retry_after;         // seconds; 0: no such header
    const char *allow;       // of code 405
    size_t inference_header; // bytes of JSON before numbers; 0: no such header
    const char *etag;        // of a file of the page; NULL: another answer, which nobody may keep
    double waited, ran;      // seconds of the work; both 0: no such header
    char location[64];       // of what was made; "": no such header
    bool borrowed;           // data and bytes belong to another, who outlives the answer
} serve_answer;

// The error object; plain: with the sentence alone as "error", as the Open Inference Protocol has
// it. Where there is no memory the body is empty.
void serve_answer_failure(serve_answer *answer, const serve_failure *failure, bool plain);
// A text, which is taken over; NULL: out of memory.
void serve_answer_text(serve_answer *answer, const char *content_type, char *text);
const void *serve_answer_body(const serve_answer *answer, size_t *size);
void serve_answer_free(serve_answer *answer);

#endif
