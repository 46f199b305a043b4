// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The end of one input: what is counted and printed when it is done or has failed.
#ifndef ZN_CLI_SESSION_REPORT_H
#define ZN_CLI_SESSION_REPORT_H

#include "apps/cli/session/session.h"

#include <jansson.h>

// Says what failed, and counts it. A cancelled input is not counted: the exit code says it.
void cli_session_failed(cli_session *session, const char *input, const cli_failure *failure);

// The same for a model without which no input can be done.
void cli_session_model_failed(cli_session *session, const cli_failure *failure);

typedef struct cli_result {
    const char *input, *output; // output NULL: none was written
    uint32_t width, height;     // of the picture
    const char *model;
    const zenith_run_facts *facts;
    double started; // cli_clock
    json_t *more;   // members added to the JSON object; taken over
} cli_result;
// Prints one output's JSON object or plain line. An input can have several outputs.
void cli_session_report(cli_session *session, const cli_result *result);
// Counts an input whose output --no-overwrite keeps.
void cli_session_kept(cli_session *session);
// Counts an input whose outputs are all there.
void cli_session_done(cli_session *session);

const char *cli_dtype_name(zenith_dtype dtype); // "bf16"

// A string even where the bytes are no UTF-8, as file names can be.
json_t *cli_json_text(const char *text);
json_t *cli_json_seed(uint64_t seed); // a text where it is beyond the integers of jansson
void cli_json_print(json_t *object);  // one line on standard output; takes it over

#endif
