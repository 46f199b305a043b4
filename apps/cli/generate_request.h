// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What is asked of zenith generate: its options, checked, and for those that are not given what the picture of --from
// says, or the default.
#ifndef ZN_CLI_GENERATE_REQUEST_H
#define ZN_CLI_GENERATE_REQUEST_H

#include "apps/cli/command.h"

enum { CLI_PROMPT_SHOWN = 60 };

typedef struct cli_generate_request {
    cli_settings settings; // with prompt, negative prompt and guidance filled in; not to be freed
    const char *prompt;
    char name[CLI_PROMPT_SHOWN + 4]; // the prompt in messages: its beginning
    char file[CLI_PROMPT_SHOWN +
              16]; // and as the name of a file, with an ending that outputs leave out
    cli_dimensions size;
    uint64_t seed; // of the first picture
    uint32_t steps, count;
    char *kept;           // the text of --from, which prompts point into
    const char *words[1]; // the input of settings
} cli_generate_request;

// CLI_DONE, or an exit code after a message; to be freed either way. *out stays where it is.
int cli_generate_request_read(const cli_settings *settings, cli_generate_request *out);
void cli_generate_request_free(cli_generate_request *request);

#endif
