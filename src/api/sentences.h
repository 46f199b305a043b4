// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The sentences of failures on one context, one for each thread that had a failure, so that threads
// which share a context read their own. Shared by the context and the files that were opened with
// it, whichever lives longest.
#ifndef ZN_API_SENTENCES_H
#define ZN_API_SENTENCES_H

#include "src/base/status.h"

typedef struct zn_sentences zn_sentences;

zenith_status zn_sentences_create(zn_sentences **out, zn_error *err);
zn_sentences *zn_sentences_ref(zn_sentences *sentences);
void zn_sentences_unref(zn_sentences *sentences); // NULL is fine

// Of the calling thread. "": its last call did not fail. Where there is no memory for a thread's
// first sentence it is lost; the thread that made the context has its place from the start.
void zn_sentences_set(zn_sentences *sentences, const char *text);
const char *zn_sentences_get(zn_sentences *sentences); // valid until this thread sets another

#endif
