// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Pictures as they come about, of zenith generate and zenith diffae: after each step the picture
// that it leads to, on the terminal (--show) and in files (--previews). Latents are decoded by a
// small decoder with a context of its own, since the session's waits for the step.
#ifndef ZN_CLI_SESSION_STEP_PREVIEW_H
#define ZN_CLI_SESSION_STEP_PREVIEW_H

#include "apps/cli/session/session.h"

typedef struct cli_step_previews cli_step_previews;

// CLI_DONE, or CLI_USAGE after a message: --previews names a place that cannot be written to.
int cli_step_previews_check(const cli_settings *settings);

// *out is NULL where no previews are asked for. latents: a model whose latents these are; NULL:
// they are pictures. usual: decodes them where no small decoder is found. False with *failure
// filled.
bool cli_step_previews_open(cli_session *session, const char *latents, const cli_open_model *usual,
                            cli_step_previews **out, cli_failure *failure);
void cli_step_previews_free(cli_step_previews *previews); // NULL is fine

// Which picture follows: what its files are called (NAME-STEP.png, in a folder) and its number
// among all, counted from 0, or CLI_UNSET if there is but one.
void cli_step_previews_begin(cli_step_previews *previews, const char *output, int64_t number);

// One preview. False with *failure filled; ZENITH_CANCELLED where the session was interrupted.
bool cli_step_preview(cli_step_previews *previews, uint32_t step, const zenith_latent *latent,
                      cli_failure *failure);
// The same of a picture, F32 in planes.
bool cli_step_preview_picture(cli_step_previews *previews, uint32_t step, const zenith_image *image,
                              cli_failure *failure);
// Seconds that all of them took.
double cli_step_previews_seconds(const cli_step_previews *previews); // 0 of NULL

#endif
