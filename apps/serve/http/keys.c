// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See keys.h.
#include "apps/serve/http/keys.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORTEST = 16, MOST_IN_FLIGHT = 1000000 };
static const double MOST_RATE = 1e6;

// The word is a part of the line; the key keeps a copy.
static serve_key *add(serve_keys *keys, const char *word)
{
    serve_key *list = realloc(keys->list, (keys->count + 1) * sizeof *list);
    if (list == NULL) return NULL;
    keys->list = list;
    list[keys->count] = (serve_key){.word = strdup(word)};
    return list[keys->count].word != NULL ? &list[keys->count++] : NULL;
}

// A number above zero, and nothing after it.
static bool read_limit(const char *word, const char *name, double most, double *out)
{
    char *end;
    const size_t length = strlen(name);
    if (strncmp(word, name, length) != 0 || strspn(word + length, "0123456789.") == 0) return false;
    *out = strtod(word + length, &end);
    return *end == 0 && *out > 0 && *out <= most;
}

static bool read_limits(serve_key *key, char **rest)
{
    for (char *word; (word = strtok_r(NULL, " \t\r\n", rest)) != NULL;) {
        double in_flight;
        if (read_limit(word, "in-flight=", MOST_IN_FLIGHT, &in_flight) &&
            in_flight == floor(in_flight))
            key->in_flight = (unsigned)in_flight;
        else if (!read_limit(word, "rate=", MOST_RATE, &key->rate))
            return false;
    }
    return true;
}

static bool read_line(serve_keys *keys, char *line, const char **why)
{
    char *rest;
    line[strcspn(line, "#")] = 0;
    const char *word = strtok_r(line, " \t\r\n", &rest);
    if (word == NULL) return true;
    *why = "a key has fewer than 16 letters";
    if (strlen(word) < SHORTEST) return false;
    *why = "out of memory";
    serve_key *key = add(keys, word);
    if (key == NULL) return false;
    *why = "after a key come in-flight=N, rate=N and, behind #, what is for people";
    return read_limits(key, &rest);
}

static bool read_lines(serve_keys *keys, FILE *file, const char **why)
{
    char *line = NULL;
    size_t room = 0;
    bool good = true;
    while (good && getline(&line, &room, file) >= 0) good = read_line(keys, line, why);
    free(line);
    if (!good || keys->count > 0) return good;
    *why = "it holds no key";
    return false;
}

bool serve_keys_read(serve_keys *keys, const char *path, const char **why)
{
    FILE *file = fopen(path, "r");
    *why = strerror(errno);
    if (file == NULL) return false;
    const bool good = read_lines(keys, file, why);
    fclose(file);
    return good;
}

void serve_keys_free(serve_keys *keys)
{
    for (size_t i = 0; i < keys->count; i++) free(keys->list[i].word);
    free(keys->list);
    pthread_mutex_destroy(&keys->lock);
    *keys = (serve_keys){0};
}

static bool is_same(const char *a, const char *b)
{
    const size_t length = strlen(a);
    unsigned char different = 0;
    if (length != strlen(b)) return false; // the length is no secret
    for (size_t i = 0; i < length; i++) different |= (unsigned char)(a[i] ^ b[i]);
    return different == 0;
}

serve_key *serve_keys_find(const serve_keys *keys, const char *word)
{
    serve_key *found = NULL;
    for (size_t i = 0; word != NULL && i < keys->count; i++)
        found = is_same(keys->list[i].word, word) ? &keys->list[i] : found;
    return found;
}

// --- limits -------------------------------------------------------------------------------------

// Fewer than one a second still lets one come.
static void refill(serve_key *key, double now)
{
    const double most = fmax(key->rate, 1);
    key->left = key->seen > 0 ? fmin(most, key->left + (now - key->seen) * key->rate) : most;
    key->seen = now;
}

bool serve_key_enter(serve_keys *keys, serve_key *key, double now, int *retry_after,
                     serve_failure *failure)
{
    pthread_mutex_lock(&keys->lock);
    if (key->rate > 0) refill(key, now);
    const bool busy = key->in_flight > 0 && key->present >= key->in_flight;
    const bool fast = key->rate > 0 && key->left < 1;
    *retry_after = fast ? (int)fmin(ceil((1 - key->left) / key->rate), 3600) : 0;
    if (!busy && !fast) {
        key->present++;
        key->left -= 1;
    }
    pthread_mutex_unlock(&keys->lock);
    if (busy)
        return serve_fail(failure, 429, "rate_limited",
                          "this key has %u requests at once: wait for an answer", key->in_flight);
    return !fast || serve_fail(failure, 429, "rate_limited",
                               "this key has %g requests a second: ask again in %d seconds",
                               key->rate, *retry_after);
}

void serve_key_leave(serve_keys *keys, serve_key *key)
{
    pthread_mutex_lock(&keys->lock);
    key->present--;
    pthread_mutex_unlock(&keys->lock);
}
