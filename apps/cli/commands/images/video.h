// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// --video: pictures, or a Y4M stream, as the frames of one clip, and a file's latents as one.
#ifndef ZN_CLI_COMMANDS_IMAGES_VIDEO_H
#define ZN_CLI_COMMANDS_IMAGES_VIDEO_H

#include "apps/cli/commands/images/settings.h"
#include "apps/cli/session/outputs.h"
#include "apps/cli/session/session.h"

// All inputs, into one file of latents. Counts and says how it ended.
void cli_encode_video(cli_session *session, const cli_open_model *model,
                      const cli_outputs *outputs);

// The latents of one file that is open, into numbered pictures or a Y4M stream. False with *failure
// filled.
bool cli_decode_video(cli_session *session, const cli_open_model *model, const cli_outputs *outputs,
                      size_t index, zenith_latent_file *file, cli_failure *failure);

// Whether the results are one Y4M stream.
bool cli_outputs_y4m(const cli_outputs *outputs);

#endif
