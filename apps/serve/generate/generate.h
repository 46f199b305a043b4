// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Pictures from text: the pipelines that are served, and a queue of requests for them. A thread of
// its own makes one picture after the other, in a context of its own, so that autoencoders go on
// being served meanwhile. Pictures have the bytes that `zenith generate` writes.
//
// A generation is the pictures of one request:
//
//   open      polling thread: checks, and a place in the queue
//   start     waits for its turn; pictures and previews become events, then `done` is called, once,
//             from any thread
//   read      polling thread: the events that were said so far, for requests that are answered by a
//             stream
#ifndef ZN_SERVE_GENERATE_GENERATE_H
#define ZN_SERVE_GENERATE_GENERATE_H

#include "apps/serve/protocols/wish.h"
#include "apps/serve/queue/place.h"
#include "apps/serve/settings.h"

#include <jansson.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct serve_generators serve_generators;
typedef struct serve_generation serve_generation;

// --- pipelines ----------------------------------------------------------------------------------

enum { SERVE_PIPELINES = 8 }; // at most

// Whether a word of the command line names a pipeline: a folder with model_index.json, NAME=FOLDER,
// zenith-words or z-image-turbo.
bool serve_is_pipeline(const char *word);
// NULL: out of memory. `context` reads pictures to begin with.
serve_generators *serve_generators_create(const serve_settings *settings, zenith_context *context);
// False after a message.
bool serve_generators_add(serve_generators *all, const char *word);
// Gives up what is under way. NULL is fine.
void serve_generators_free(serve_generators *all);

// Of NULL there are none.
size_t serve_generators_count(const serve_generators *all);
const char *serve_generators_name(const serve_generators *all, size_t index);
json_t *serve_generators_describe(serve_generators *all, size_t index, double created);
// Opens the files of a pipeline again: what was accepted is still made by the old ones, what comes
// by the new. NULL, or why the old ones stay.
const char *serve_generators_reopen(serve_generators *all, size_t index);
// The one that requests get that name none: the first, until another is chosen. false: there is
// none of this name.
const char *serve_generators_chosen(serve_generators *all);
bool serve_generators_choose(serve_generators *all, const char *name);
// Counters for Prometheus.
void serve_generators_write(serve_generators *all, FILE *out);

// --- generations --------------------------------------------------------------------------------

typedef struct serve_event {
    bool preview;        // else a picture
    uint32_t index;      // of the picture
    uint32_t partial;    // of the preview, from 0
    const uint8_t *data; // the file
    size_t size;
    uint64_t seed;
} serve_event;

typedef struct serve_generation_params {
    serve_wish *wish; // is taken over on success
    void (*event)(serve_generation *generation, const serve_event *event); // may be NULL
    int kind;                                                              // the protocol's own
} serve_generation_params;

bool serve_generation_open(serve_generators *all, const serve_generation_params *params,
                           serve_generation **out, int *retry_after, serve_failure *failure);
uint64_t serve_generation_bytes(const serve_generation *generation); // that it will hold
const serve_wish *serve_generation_wish(const serve_generation *generation);
int serve_generation_kind(const serve_generation *generation);
void serve_generation_start(serve_generation *generation, void (*done)(void *cookie), void *cookie);
// Where it has not begun, `done` is called at once.
void serve_generation_cancel(serve_generation *generation);
void serve_generation_place(serve_generation *generation,
                            serve_place *out); // of one that was started
// When it is over, or was never started. NULL is fine.
void serve_generation_free(serve_generation *generation);

// When it is over. false: *failure says why not all are there.
bool serve_generation_result(const serve_generation *generation, serve_failure *failure);
bool serve_generation_interrupted(const serve_generation *generation);
uint32_t serve_generation_made(const serve_generation *generation);
const void *serve_generation_picture(const serve_generation *generation, uint32_t index,
                                     size_t *size);
// As PNG files keep it.
const char *serve_generation_text(const serve_generation *generation, uint32_t index);

// Says something to the client of a stream; a text to be freed, which is taken over. `last`:
// nothing follows.
void serve_generation_say(serve_generation *generation, char *text, bool last);
// The bytes that were read, -1 at the end; 0: there are none now, `wait` was called, and `wake` (of
// _start's cookie) will be when there are.
ssize_t serve_generation_read(serve_generation *generation, char *dst, size_t most,
                              void (*wait)(void *cookie), void (*wake)(void *cookie), void *cookie);

// Keeps a text, which is taken over, in place of the one before: the newest preview of a job.
void serve_generation_keep(serve_generation *generation, char *text);
// A copy of what is kept, to be freed, where it is newer than *seen, which follows; NULL: it is
// not.
char *serve_generation_kept(serve_generation *generation, unsigned *seen);

// --- the one under way --------------------------------------------------------------------------

typedef struct serve_progress {
    bool busy, interrupted;
    uint32_t picture, pictures; // number of the one in work, of how many
    uint32_t step, steps;
    double seconds; // since it began
    uint32_t waiting;
} serve_progress;
// Of generations of this kind.
void serve_generators_progress(serve_generators *all, int kind, serve_progress *out);
void serve_generators_interrupt(serve_generators *all, int kind);

#endif
