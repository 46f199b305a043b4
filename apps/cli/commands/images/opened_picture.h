// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A picture file that is open for a model, and room for its latent.
#ifndef ZN_CLI_COMMANDS_IMAGES_OPENED_PICTURE_H
#define ZN_CLI_COMMANDS_IMAGES_OPENED_PICTURE_H

#include "apps/cli/session/session.h"

typedef struct cli_picture {
    bool moments; // there is room for mean and variance; set before it is opened
    zenith_source *source;
    zenith_source_info info;
    zenith_image image;   // reads from the source
    zenith_latent latent; // f32, in memory, for the model's channels and factor
} cli_picture;

// As the options of cli_group_source ask for. False with *failure filled; close it either way.
bool cli_picture_open(cli_session *session, const zenith_model_info *model, const char *input,
                      cli_picture *out, cli_failure *failure);
// The same of a file that is in memory, and stays there.
bool cli_picture_open_memory(cli_session *session, const zenith_model_info *model, const void *data,
                             size_t size, cli_picture *out, cli_failure *failure);
void cli_picture_close(cli_picture *picture);

// Draws the picture as it is read, if --show asks for it. Reads it from its first row, as the
// encoder does again afterwards.
bool cli_picture_show(cli_session *session, const cli_picture *picture, const char *input,
                      cli_failure *failure);

#endif
