// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A list with a place for each thread. The lock is held while the list is walked or grows; a
// place's text is written and read by its own thread alone, so it needs no lock. Places stay until
// the end: a thread that ended leaves one, which the next thread of the same id takes over.
#include "src/api/sentences.h"

#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/text.h"

#include <stdatomic.h>

typedef struct place {
    struct place *next;
    uint64_t thread;
    zn_error error;
} place;

struct zn_sentences {
    atomic_int references;
    uint64_t process; // a forked child must not touch the lock
    zn_mutex *lock;
    place *places;
};

// With the lock held; NULL: no memory.
static place *add_place(zn_sentences *sentences)
{
    place *added = zn_alloc_zero(sizeof *added);
    if (!added) return NULL;
    added->thread = zn_thread_id();
    added->next = sentences->places;
    sentences->places = added;
    return added;
}

// The calling thread's place; NULL if it has none and none is made.
static place *own_place(zn_sentences *sentences, bool make)
{
    if (sentences->process != zn_process_id()) return NULL;
    const uint64_t self = zn_thread_id();
    zn_mutex_lock(sentences->lock);
    place *found = sentences->places;
    while (found && found->thread != self) found = found->next;
    if (!found && make) found = add_place(sentences);
    zn_mutex_unlock(sentences->lock);
    return found;
}

zenith_status zn_sentences_create(zn_sentences **out, zn_error *err)
{
    zn_sentences *sentences = zn_alloc_zero(sizeof *sentences);
    if (!sentences) return zn_fail_memory(err, sizeof *sentences);
    zenith_status status;
    atomic_init(&sentences->references, 1);
    sentences->process = zn_process_id();
    ZN_GO(zn_mutex_create(&sentences->lock, err));
    if (!add_place(sentences)) ZN_GO(zn_fail_memory(err, sizeof(place)));
    *out = sentences;
    return ZENITH_OK;
fail:
    zn_sentences_unref(sentences);
    return status;
}

zn_sentences *zn_sentences_ref(zn_sentences *sentences)
{
    atomic_fetch_add(&sentences->references, 1);
    return sentences;
}

void zn_sentences_unref(zn_sentences *sentences)
{
    if (!sentences || atomic_fetch_sub(&sentences->references, 1) > 1) return;
    for (place *next; sentences->places; sentences->places = next) {
        next = sentences->places->next;
        zn_free(sentences->places);
    }
    zn_mutex_free(sentences->lock);
    zn_free(sentences);
}

void zn_sentences_set(zn_sentences *sentences, const char *text)
{
    place *own = own_place(sentences, text[0] != 0);
    if (own) zn_text_format(own->error.text, sizeof own->error.text, "%s", text);
}

const char *zn_sentences_get(zn_sentences *sentences)
{
    const place *own = own_place(sentences, false);
    return own ? own->error.text : "";
}
