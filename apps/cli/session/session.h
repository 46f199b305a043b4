// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the commands that compute share: a context, models opened once, signals, progress, the
// count of failures and the exit code that follows from it.
#ifndef ZN_CLI_SESSION_SESSION_H
#define ZN_CLI_SESSION_SESSION_H

#include "apps/cli/command.h"
#include "apps/cli/session/outputs.h"
#include "apps/cli/terminal/failure.h"
#include "apps/cli/terminal/progress.h"
#include "zenith/zenith.h"

typedef struct cli_open_model {
    struct cli_open_model *next; // in the order they were opened
    char name[64];               // as asked for; "" = told from the file
    const char *weights;         // as asked for
    zenith_model *model;
    zenith_model_info info;
} cli_open_model;

typedef struct cli_session {
    const cli_settings *settings;
    zenith_context *context;
    zenith_cancel *cancel;
    cli_open_model *models; // a list: what was handed out stays where it is
    cli_progress progress;
    zenith_dtype dtype;      // that autoencoders compute in
    bool blocked;            // no input was tried
    bool told;               // the command has said itself how it ended
    size_t cropped;          // pictures of which --fit crop left something out
    zenith_source_info crop; // of the last of them
    uint32_t crop_multiple;
    size_t kept; // outputs that --no-overwrite left alone
    size_t done, failed, failed_by_model, failed_by_memory;
} cli_session;

// Makes the context and takes over SIGINT and SIGTERM. CLI_DONE, or an exit code after a message.
int cli_session_open(cli_session *session, const cli_settings *settings, const char *verb);
// Says how it went, frees everything, returns the exit code.
int cli_session_close(cli_session *session);

// The model by name (NULL: the weights tell), opened at first use. False with *failure filled.
bool cli_session_model(cli_session *session, const char *name, unsigned parts,
                       const cli_open_model **out, cli_failure *failure);

// The same with weights of its own.
bool cli_session_model_at(cli_session *session, const char *name, const char *weights,
                          unsigned parts, const cli_open_model **out, cli_failure *failure);

// Parameters of a run as the options ask for; *facts is filled by it. held: bytes that the caller
// holds already, which count against --max-memory.
zenith_run_params cli_session_run_params(cli_session *session, zenith_run_facts *facts,
                                         uint64_t held);

// Fills *failure with why a model could not be opened, and with what to do: the library's sentence,
// the nearest name, or the command that fetches the weights.
bool cli_fail_model(cli_session *session, cli_failure *failure, zenith_status status,
                    const char *name, const char *weights);

// False after a message where nothing says which model to use.
bool cli_model_options_agree(const cli_settings *settings);

// Fills *failure and returns false. The first text that is not empty is taken: the object's own
// (rows that failed inside a run), the context's, the status's name.
bool cli_fail(cli_session *session, cli_failure *failure, zenith_status status, const char *text);

// Opens an output for an image of width x height, with the folders that it lies in. False with
// *failure filled.
bool cli_session_target(cli_session *session, const cli_outputs *outputs, const char *path,
                        uint32_t width, uint32_t height, zenith_target **out, cli_failure *failure);

#endif
