// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the commands of zenith diffae share: the model, codes from pictures and from files, pictures
// from codes, and how far all that is.
#ifndef ZN_CLI_COMMANDS_DIFFAE_SESSION_H
#define ZN_CLI_COMMANDS_DIFFAE_SESSION_H

#include "apps/cli/session/session.h"
#include "apps/cli/session/step_line.h"
#include "apps/cli/session/step_preview.h"
#include "zenith/diffae.h"

#include <jansson.h>

typedef struct cli_diffae_settings {
    cli_settings shared;
    cli_texts attributes;
    const char *strengths;
    bool no_noise, random, force, resume;
    double seen;                  // 0: all
    int noise_steps, prior_steps; // 0: the usual ones
    int delay;                    // of a frame, in milliseconds; 0: the usual one
    int store;                    // CLI_UNSET: as they are
} cli_diffae_settings;

static inline const cli_diffae_settings *cli_diffae_of(const cli_settings *settings)
{
    return (const cli_diffae_settings *)settings;
}

typedef struct cli_diffae {
    cli_diffae_settings own; // with the pictures' size filled in; not to be freed
    cli_session session;
    const cli_open_model *model;
    zenith_diffae_info info;
    cli_step_previews *previews; // NULL: nobody asks
    cli_step_line line;
    uint64_t later;            // steps that are planned after the running call
    zenith_diffae_facts facts; // of the last call
    cli_failure failure;
    bool usual;       // nobody named a model: it is the one that comes with the program
    char place[1024]; // of the weights
    char name[256];   // of the model, for reports
    bool drawing;     // steps are those of codes, several at once: they tell nothing of the rest
} cli_diffae;

// What a command needs of the model.
enum { CLI_ENCODER = 1, CLI_DECODER = 2, CLI_PRIOR = 4, CLI_CLASSIFIER = 8 };

// CLI_DONE, or an exit code after a message, and then there is nothing to close.
int cli_diffae_open(cli_diffae *d, const cli_settings *settings, const char *verb, unsigned needs);
int cli_diffae_close(cli_diffae *d); // the exit code

// Steps of the calls, as asked for or as usual.
uint32_t cli_diffae_noise_steps(const cli_diffae *d); // to noise; 0: --no-noise
uint32_t cli_diffae_steps(const cli_diffae *d);       // back

// Parameters of a call of so many steps, which begins now; and how it ended: false with d->failure
// filled, by `text` or the context's sentence.
zenith_diffae_params cli_diffae_params(cli_diffae *d, uint32_t steps, uint64_t seed);
bool cli_diffae_done(cli_diffae *d, zenith_status status, const char *text);

// A code with its arrays: those of a file, or its own.
typedef struct cli_code {
    zenith_code code;
    zenith_code_file *file;
} cli_code;

// Zeros of the model's or the asked size. False with d->failure filled, here and below; free it
// either way.
bool cli_code_create(cli_diffae *d, bool noise, cli_code *out);
// A copy with arrays of its own.
bool cli_code_copy(cli_diffae *d, const cli_code *from, cli_code *out);
void cli_code_free(cli_code *code);

// Reports that `input` became `output`, by the facts of the last call; more: taken over.
void cli_code_report(cli_diffae *d, const char *input, const char *output, const zenith_code *code,
                     double started, json_t *more);

// Whether the name is that of a file with a code, rather than of a picture.
bool cli_code_is(const char *input);
bool cli_code_open(cli_diffae *d, const char *input, cli_code *out);
// The code of a picture, and with `noise` its noise.
bool cli_code_of_picture(cli_diffae *d, const char *input, bool noise, cli_code *out);
// Of either.
bool cli_code_read(cli_diffae *d, const char *input, bool noise, cli_code *out);

// The picture of a code into an image of its size, which `output` names for previews.
bool cli_code_decode(cli_diffae *d, const cli_code *code, uint64_t seed, const zenith_image *image,
                     const char *output);

// The number of --attribute, by name or number. False with d->failure filled: it names those there
// are.
bool cli_diffae_find_attribute(cli_diffae *d, const char *word, uint32_t *out);
// Its name, or its number as text.
const char *cli_diffae_attribute_name(const cli_diffae *d, uint32_t attribute, char dst[16]);

// --seed, or a random one.
bool cli_diffae_seed(cli_diffae *d, uint64_t *out);

// Counts the failure of an input, and forgets it.
void cli_diffae_failed(cli_diffae *d, const char *input);

// Options that the commands share.
extern const cli_option_group cli_diffae_group_output, cli_diffae_group_model, cli_diffae_group_run;
extern const cli_option_group cli_diffae_group_file;  // of one output
extern const cli_option_group cli_diffae_group_codes; // which are taken
extern const cli_option_group cli_diffae_group_noise; // to noise
extern const cli_option_group cli_diffae_group_source;
// clang-format off
#define CLI_DIFFAE_STEPS                                                                           \
    CLI_OPTION(CLI_NUMBER, cli_settings, sampling.steps, "steps", 0, "N",                          \
               "how often the network is asked for a picture; default: 100. 20 is quick, and "     \
               "often enough",                                                                     \
               .min = 1, .max = 10000)
#define CLI_DIFFAE_PREVIEWS                                                                        \
    CLI_OPTION(CLI_TEXT, cli_settings, sampling.previews, "previews", 0, "PATH",                   \
               "after each step, write the picture that it leads to: into a folder as "            \
               "NAME-STEP.png, or into files STEM-STEP.ENDING. --show draws it. The result has "   \
               "the same bits")
#define CLI_DIFFAE_SEED                                                                            \
    CLI_OPTION(CLI_SEED, cli_settings, sampling.seed, "seed", 0, "N",                              \
               "of noise that is drawn: torch's for this seed, on a CPU; the next picture takes "  \
               "the next seed. Default: a random one, which --json names")
#define CLI_DIFFAE_FORCE                                                                           \
    CLI_FLAG_OPTION(cli_diffae_settings, force, "force", 0,                                        \
                    "take codes that were made by other weights")
// clang-format on
#define CLI_ENDINGS_CODE ".safetensors "

#endif
