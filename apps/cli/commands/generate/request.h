// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What is asked of zenith generate: its options, checked, and for those that are not given what the
// picture of --from says, or the default.
#ifndef ZN_CLI_COMMANDS_GENERATE_REQUEST_H
#define ZN_CLI_COMMANDS_GENERATE_REQUEST_H

#include "apps/cli/command.h"

typedef struct cli_generate_settings {
    cli_settings shared;
    const char *negative, *decoder, *from;
    const char *prompts, *image;
    const char *transformer, *text_encoder, *tokenizer, *vae;
    double guidance, strength; // CLI_UNSET: not given
    double schedule_shift;     // 0: the pipeline's
    bool transparent;
} cli_generate_settings;

static inline const cli_generate_settings *cli_generate_of(const cli_settings *settings)
{
    return (const cli_generate_settings *)settings;
}

enum { CLI_PROMPT_SHOWN = 60, CLI_PICTURE_MULTIPLE = 16 };

typedef struct cli_prompt {
    const char *text;
    char name[CLI_PROMPT_SHOWN + 4]; // in messages: its beginning
    char
        file[CLI_PROMPT_SHOWN + 40]; // as the name of a file, with an ending that outputs leave out
} cli_prompt;

typedef struct cli_generate_request {
    cli_generate_settings own; // with those of --from filled in; not to be freed
    cli_prompt *prompts;
    size_t prompts_count;
    cli_dimensions size; // 0x0: that of the picture of --image, or the model's usual one
    uint64_t seed;       // of the first picture of each prompt
    uint32_t steps;      // 0: as many as the pipeline has
    uint32_t count;
    double strength;    // of --image
    char *kept, *lines; // the texts of --from and --prompts, which prompts point into
    const char **files; // the prompts' names as files
} cli_generate_request;

// CLI_DONE, or an exit code after a message; to be freed either way. *out stays where it is.
int cli_generate_request_read(const cli_settings *settings, cli_generate_request *out);
void cli_generate_request_free(cli_generate_request *request);

#endif
