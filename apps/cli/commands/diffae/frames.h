// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Several pictures of codes that belong together: as one picture beside each other, as an
// animation, or each as a file in a folder.
#ifndef ZN_CLI_COMMANDS_DIFFAE_FRAMES_H
#define ZN_CLI_COMMANDS_DIFFAE_FRAMES_H

#include "apps/cli/commands/diffae/session.h"
#include "apps/cli/session/outputs.h"

#include <jansson.h>

typedef struct cli_frames {
    const char *name;        // of the input, in messages, or of files in a folder
    uint32_t count, columns; // columns 0: about as many as rows
    cli_dimensions size;     // of each
    uint64_t seed;           // of the noise that codes do not have
    bool animated;
    // The code of one; false with d->failure filled. It is freed either way.
    bool (*make)(void *cookie, cli_diffae *d, uint32_t index, cli_code *out);
    void *cookie;
} cli_frames;

typedef struct cli_frame_places {
    cli_settings naming; // what the outputs look at
    const char *name[1];
    cli_outputs outputs;
} cli_frame_places;

// Where they go, by -o; those in a folder are named by `name`. CLI_DONE, or CLI_USAGE after a
// message. *out stays where it is.
int cli_frames_plan(const cli_settings *settings, const char *name, cli_frame_places *out);

// Makes and writes them, and reports; more: members of the JSON object, taken over. False with
// d->failure filled.
bool cli_frames_write(cli_diffae *d, const cli_outputs *outputs, const cli_frames *frames,
                      json_t *more);

#endif
