// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Latents in tokens. Pipelines of FLUX.1 keep a latent of 16 channels as tokens, [1, h/2 * w/2,
// 64]: each token holds 2x2 pixels of all channels, in the order channel, row, column.
#ifndef ZN_CLI_COMMANDS_IMAGES_PACKED_LATENT_H
#define ZN_CLI_COMMANDS_IMAGES_PACKED_LATENT_H

#include "apps/cli/session/session.h"

// Whether a file with these facts holds tokens for this model.
bool cli_latent_is_packed(const zenith_latent_info *stored, const zenith_model_info *model);

// Reads all tokens of *latent and makes *latent planes in memory. The shape comes from --size, or
// is a square. *planes is the memory of these planes and is to be freed, after a failure too.
bool cli_latent_unpack(cli_session *session, const zenith_model_info *model, zenith_latent *latent,
                       float **planes, cli_failure *failure);

#endif
