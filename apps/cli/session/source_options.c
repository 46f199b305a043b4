// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See source_options.h.
#include "apps/cli/session/source_options.h"
#include "apps/cli/session/file_kind.h"
#include "apps/cli/terminal/terminal.h"

#include <string.h>

bool cli_source_options_agree(const cli_settings *settings)
{
    bool sized = settings->source.size.width != 0 || settings->source.size.height != 0;
    if (sized && settings->source.fit != CLI_UNSET && settings->source.fit != ZENITH_FIT_RESIZE) {
        cli_say("--size scales the picture: it goes with --fit resize only");
        return false;
    }
    if (!sized && settings->source.fit == ZENITH_FIT_RESIZE) {
        cli_say("--fit resize needs a size: --size WxH");
        return false;
    }
    return true;
}

zenith_source_params cli_source_params(const cli_settings *settings, uint32_t factor)
{
    bool sized = settings->source.size.width != 0 || settings->source.size.height != 0;
    int fit = sized                               ? ZENITH_FIT_RESIZE
              : settings->source.fit == CLI_UNSET ? ZENITH_FIT_CROP
                                                  : settings->source.fit;
    zenith_source_params params = {.size = sizeof params,
                                   .fit = (zenith_fit)fit,
                                   .multiple = factor,
                                   .width = settings->source.size.width,
                                   .height = settings->source.size.height,
                                   .filter = (zenith_filter)settings->source.filter,
                                   .first_frame = settings->source.first_frame,
                                   .max_memory = settings->run.max_memory};
    memcpy(params.background, settings->source.background, sizeof params.background);
    return params;
}

zenith_status cli_source_open(cli_session *session, const char *input,
                              const zenith_source_params *params, zenith_source **out,
                              cli_failure *failure)
{
    zenith_status status = zenith_source_open(session->context, input, params, out);
    if (status == ZENITH_OK) return status;
    cli_fail(session, failure, status, NULL);
    if (status == ZENITH_UNSUPPORTED || status == ZENITH_BAD_FILE)
        cli_fail_not_picture(session, input, failure);
    return status;
}

uint64_t cli_source_held(const zenith_source_info *info)
{
    if (info->streamed) return 0;
    return 3ull * info->stored_width * info->stored_height;
}
