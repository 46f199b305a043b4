// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Keys that clients show, and what each allows: a file with a key in each line, and perhaps limits
// after it. Lines that are empty do not count, nor does what follows a #.
//
//   KEY in-flight=4 rate=10     # four requests at once, ten in a second
#ifndef ZN_SERVE_HTTP_KEYS_H
#define ZN_SERVE_HTTP_KEYS_H

#include "apps/serve/http/failure.h"

#include <pthread.h>
#include <stddef.h>

typedef struct serve_key {
    char *word;
    unsigned in_flight; // requests at once; 0: no limit
    double rate;        // requests in a second; 0: no limit
    // Of the lock.
    unsigned present;
    double left; // requests that may come now: grows by `rate` a second, up to a second's worth
    double seen; // when that was so
} serve_key;

typedef struct serve_keys {
    serve_key *list;
    size_t count;
    pthread_mutex_t lock;
} serve_keys;

// False where the file cannot be read, has no key, one of fewer than 16 letters, or a limit that is
// none.
bool serve_keys_read(serve_keys *keys, const char *path, const char **why);
void serve_keys_free(serve_keys *keys);
// Takes as long for a wrong key as for a right one of its length. NULL: there is no such key.
serve_key *serve_keys_find(const serve_keys *keys, const char *word);

// A request with this key begins, by serve_clock. False: 429, and *retry_after says when to ask
// again (0: unknown).
bool serve_key_enter(serve_keys *keys, serve_key *key, double now, int *retry_after,
                     serve_failure *failure);
void serve_key_leave(serve_keys *keys, serve_key *key);

#endif
