// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Names of tensors in another set of names, from the front, some segments at a time. A segment is what ends with
// a dot.
#ifndef ZN_MODEL_TRANSLATE_H
#define ZN_MODEL_TRANSLATE_H

#include "src/nn/scope.h"

typedef struct zn_translation {
    const char *ours,
        *theirs; // one or more segments, each with its dot; NULL after the last of a set
} zn_translation;

// Each appends to dst what stands for the beginning of `name`, and says how much of it that was.
size_t zn_translate_known(const zn_translation *set, const char *name,
                          char dst[ZN_NAME_SIZE]);                     // 0: none
size_t zn_translate_segment(const char *name, char dst[ZN_NAME_SIZE]); // it stays as it is

#endif
