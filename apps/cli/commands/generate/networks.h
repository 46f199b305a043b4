// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What zenith generate computes with: the pipeline's networks, the decoder, and for --image an
// encoder and the picture's latent.
#ifndef ZN_CLI_COMMANDS_GENERATE_NETWORKS_H
#define ZN_CLI_COMMANDS_GENERATE_NETWORKS_H

#include "apps/cli/commands/generate/request.h"
#include "apps/cli/session/session.h"
#include "zenith/generate.h"

typedef struct cli_generate_models {
    zenith_generator *generator;
    zenith_generator_info info;
    const cli_open_model *decoder;
    cli_dimensions size; // of pictures
    uint32_t steps;      // as asked, or the pipeline's
    double guidance;     // likewise
    float *picture;      // the latent of --image; NULL: there is none
    zenith_generate_needs needs;
    uint64_t room; // for packed weights that are held at once; 0: no bound
} cli_generate_models;

// For packed weights: --max-memory, or what the machine has to spare. Beyond it weights that are
// not needed are better packed again than written to swap.
uint64_t cli_generate_room(const cli_settings *settings);

// False with *failure filled; to be freed either way.
bool cli_generate_models_open(cli_session *session, const cli_generate_request *asked,
                              cli_generate_models *out, cli_failure *failure);
void cli_generate_models_free(cli_generate_models *models);

// Before pictures are decoded, after so many bytes of packed weights: frees those where the decoder
// has no room beside them. Returns the bytes that are left.
uint64_t cli_generate_make_room(cli_session *session, const cli_generate_models *models,
                                uint64_t weights);

// A latent of the pictures' size with these numbers.
zenith_latent cli_generate_latent(const cli_generate_models *models, float *data);
size_t cli_generate_values(const cli_generate_models *models); // numbers of it

#endif
