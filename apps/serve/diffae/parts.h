// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the files behind diffae.h share: models.c has the models, read.c reads requests,
// diffae.c does them.
#ifndef ZN_SERVE_DIFFAE_PARTS_H
#define ZN_SERVE_DIFFAE_PARTS_H

#include "apps/serve/diffae/diffae.h"
#include "apps/serve/queue/line.h"
#include "zenith/diffae.h"

enum { SERVE_DIFFAE_ENDS = 3, SERVE_DIFFAE_CHANGES = 64 };

typedef struct serve_diffae_model {
    serve_diffaes *all;
    int held; // by the list and by requests; of the line's lock
    char name[64];
    const char *word; // of the command line
    zenith_model *model;
    zenith_diffae_info info;
} serve_diffae_model;

struct serve_diffaes {
    serve_settings settings;
    zenith_context *reading, *context; // the server's, and that of the line
    char names[SERVE_DIFFAES][64];
    size_t count;
    serve_line line; // its lock is that of what follows
    serve_diffae_model *list[SERVE_DIFFAES];
    int admitted;
    uint64_t steps;
    double rate; // seconds for a step, as measured; 0: not yet
};

// A code: of a picture that is yet to be encoded, or given.
typedef struct serve_diffae_end {
    zenith_code code;
    zenith_source *source; // NULL: the code is there
    char weights[80];
} serve_diffae_end;

// Towards an attribute, or away from it.
typedef struct serve_diffae_change {
    uint32_t attribute;
    double strength;
} serve_diffae_change;

struct serve_diffae {
    serve_errand errand;
    serve_diffaes *all;
    bool admitted;
    serve_diffae_model *with; // held
    serve_diffae_work what;
    uint32_t steps, noise_steps;
    uint32_t prior_steps; // 0: the model's own number, which its first report tells
    bool noise, random;   // of encode: with noise; of decode and edit: another than the code's
    uint64_t seed;
    serve_diffae_change changes[SERVE_DIFFAE_CHANGES]; // of edit
    size_t changed;
    double weight; // of interpolate
    const char *format;
    uint32_t quality;
    serve_diffae_end ends[SERVE_DIFFAE_ENDS]; // of interpolate the last is between the others
    size_t count;                             // of those that the body has
    uint8_t *pixels;
    zenith_bytes *bytes;
    uint32_t step, total, before; // of the line's lock; before: of calls that are over
};

// The model as it is now, until it is left, which frees one that was replaced. NULL is fine.
serve_diffae_model *serve_diffae_model_hold(serve_diffaes *all, size_t index);
void serve_diffae_model_leave(serve_diffae_model *model);

// Fills the request by parameters and body.
bool serve_diffae_read(serve_diffae *request, const serve_diffae_params *params,
                       serve_failure *failure);
// Zeros of the model's size, or of the one that the code says.
bool serve_diffae_end_create(const serve_diffae *request, bool noise, serve_diffae_end *end);
size_t serve_diffae_noise_numbers(const serve_diffae *request, const zenith_code *code);

#endif
