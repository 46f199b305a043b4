// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The weights that `zenith pull` can fetch: a table of files as their author and packagers publish
// them. A file whose SHA-256 differs from the table's is never put in place.
#ifndef ZN_CLI_SESSION_PUBLISHED_H
#define ZN_CLI_SESSION_PUBLISHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cli_published {
    const char *model; // "taesd"
    const char *file;  // its name here
    uint64_t size;
    const char *sha256; // lower-case digits
    const char *path;   // of its address, after the endpoint and a slash
} cli_published;

// Where the paths of the table begin, unless --endpoint or ZENITH_ENDPOINT says otherwise.
extern const char cli_published_endpoint[];

extern const cli_published cli_published_files[]; // ends with a NULL model
size_t cli_published_count(const char *model);    // how many files it has in the table

// How to get the weights of a known model, as the end of a sentence: the command that fetches them;
// their addresses, in a program that cannot fetch (ZENITH_PULL=OFF); or what to do where they are
// not in the table.
void cli_published_how(const char *model, char *text, size_t size);

// Files of a pipeline for pictures from text, whose checksums are not known here: where they are
// published, and what each is for. NULL where there is no such pipeline; ends with a NULL place.
typedef struct cli_published_large {
    const char *place; // the repository on https://huggingface.co
    const char *file;  // NULL: all of it
    uint64_t size;     // 0: not known
    const char *use;   // what to do with it
} cli_published_large;
const cli_published_large *cli_published_pipeline(const char *name);

// Whether the model is one to use: its weights are published, or come with the program. The others
// are networks of research, for weights that one trains oneself.
bool cli_model_is_product(const char *model);

// What comes with the program besides autoencoders: diffusion autoencoders, a file each, and
// pipelines for pictures from text, a folder each. The first is what `zenith diffae` and `zenith
// generate` take where no model is named.
typedef struct cli_shipped {
    const char *name, *description;
} cli_shipped;
extern const cli_shipped cli_shipped_diffae[], cli_shipped_pipelines[]; // end with a NULL name
extern const char *const cli_shipped_autoencoders[];                    // ends with NULL

#endif
