// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What pictures a request wants of a pipeline, by whatever protocol. Everything is bounded here.
#ifndef ZN_SERVE_PROTOCOLS_WISH_H
#define ZN_SERVE_PROTOCOLS_WISH_H

#include "apps/serve/parse/json.h"
#include "zenith/generate.h"

enum {
    SERVE_MOST_PICTURES = 10,
    SERVE_MOST_STEPS = 100,
    SERVE_LONGEST_PROMPT = 32000, // bytes
    SERVE_MOST_PARTIAL = 3
};

typedef struct serve_wish {
    char model[64];          // "": not said
    char *prompt, *negative; // to be freed
    uint32_t width, height;  // 0 x 0: the picture's, or the usual
    uint32_t count;
    uint32_t steps;  // 0: the pipeline's
    uint64_t seed;   // of the first; the next has the next one
    double guidance; // below 0: the pipeline's
    double strength;
    const void *image; // the file to begin with; NULL: none
    size_t image_size;
    void *own;          // where it is not in the body; to be freed
    const char *format; // "png", "jpeg", "webp"
    uint32_t quality;   // 0: the usual
    bool unsent;        // the pictures are not wanted in the answer
    bool stream;
    uint32_t partial; // previews of each picture
} serve_wish;

// One picture of the pipeline's size, steps and guidance by a random seed.
void serve_wish_begin(serve_wish *wish);
void serve_wish_free(serve_wish *wish);
// Copies of the texts, and whether they go together. negative may be NULL.
bool serve_wish_texts(serve_wish *wish, const char *prompt, const char *negative,
                      serve_failure *failure);
// WIDTHxHEIGHT.
bool serve_wish_size(serve_wish *wish, const char *text, serve_failure *failure);
// By the pipeline: fills in steps, guidance and size where they are not said; `turned` is that of
// the picture to begin with (0: there is none); checks it.
bool serve_wish_settle(serve_wish *wish, const zenith_generator_info *info,
                       const uint32_t turned[2], uint64_t max_pixels, serve_failure *failure);

#endif
