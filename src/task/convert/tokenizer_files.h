// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A tokenizer from files of texts to a folder with tokenizer.json.
#ifndef ZN_TASK_CONVERT_TOKENIZER_FILES_H
#define ZN_TASK_CONVERT_TOKENIZER_FILES_H

#include "src/base/executor.h"

#include <stdatomic.h>
#include <stdint.h>

typedef struct zn_tokenizer_files {
    const char *const *sources; // text/captions.h
    size_t source_count;
    const char *output; // a folder, which is made
    size_t tokens;      // with the 256 bytes and the special tokens
    const char *const *special;
    size_t special_count;
    bool chat;
    atomic_int *cancel; // or NULL
} zn_tokenizer_files;

typedef struct zn_tokenizer_report {
    uint64_t texts, bytes; // that were read
    size_t tokens;         // of the tokenizer
    uint64_t encoded;      // tokens that the texts become, without what the chat adds
} zn_tokenizer_report;

// The special tokens that chats and padding need.
extern const char *const zn_tokenizer_special[];
enum { ZN_TOKENIZER_SPECIAL = 3 };

zenith_status zn_tokenizer_write(zn_executor *executor, const zn_tokenizer_files *call,
                                 zn_tokenizer_report *report, zn_error *err);

#endif
