// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See help_text.h. Two columns: options at the left, their explanation at the right, wrapped to the
// terminal. Lines longer than 100 characters are hard to read, so a wider terminal stays empty at
// the right.
#include "apps/cli/commands/program/help_text.h"
#include "apps/cli/session/published.h"
#include "apps/cli/terminal/terminal.h"
#include "apps/net/download.h"
#include "apps/serve/serve.h"
#include "zenith/zenith.h"

#include <string.h>

enum { WIDEST = 100, UNKNOWN_WIDTH = 80, NARROWEST = 40 };

const cli_example cli_help_exit_codes[] = {
    {"0", "done"},
    {"1", "some inputs failed, each with a message; the others were done"},
    {"2", "the command line is wrong, or an output cannot be written there; nothing was done"},
    {"3", "a model or its weights could not be used"},
    {"4", "a limit such as --max-memory would be passed, or memory ran out"},
    {"130", "interrupted (SIGINT or SIGTERM); unfinished outputs are removed"},
    {NULL, NULL}};

const char cli_help_exit_note[] = "With several inputs: 3 or 4 if all failures share that cause, "
                                  "else 1.";
const char cli_help_about[] = "Zenith turns pictures into latents and latents into pictures, on "
                              "CPUs, with the autoencoders of diffusion models.";
const cli_example cli_help_examples[] = {
    {"zenith encode photo.jpg -o photo.safetensors --model zenith-sd-fast",
     "a picture to a latent, by a model that comes with the program"},
    {"zenith decode photo.safetensors -o photo.png", "the latent to a picture"},
    {"zenith models", "all models, and how to get those that are not bundled"},
    {"zenith help encode", "all options of a command"},
    {NULL, NULL}};

static int page_width(FILE *out)
{
    int columns = cli_terminal_columns(out);
    if (columns == 0) return UNKNOWN_WIDTH;
    if (columns < NARROWEST) return NARROWEST;
    return columns > WIDEST ? WIDEST : columns;
}

static void print_row(FILE *out, const char *left, const char *right, int column, int width)
{
    int used = fprintf(out, "  %s", left);
    if (used > column - 2) {
        fputc('\n', out);
        used = 0;
    }
    cli_print_wrapped(out, right, used, column, width);
}

static void format_option(const cli_option *option, char *text, size_t size)
{
    char letter[8] = "    ";
    if (option->letter != 0) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    if (option->optional)
        snprintf(text, size, "%s--%s[=%s]", letter, option->name, option->argument);
    else
        snprintf(text, size, "%s--%s%s%s", letter, option->name,
                 option->argument != NULL ? " " : "",
                 option->argument != NULL ? option->argument : "");
}

static void print_groups(FILE *out, const cli_option_group *const *groups, int width)
{
    enum { COLUMN = 28 };
    for (; *groups != NULL; groups++) {
        fprintf(out, "\n%s\n", (*groups)->title);
        for (const cli_option *option = (*groups)->options; option->name != NULL; option++) {
            char left[96];
            if (option->help == NULL) continue;
            format_option(option, left, sizeof left);
            print_row(out, left, option->help, COLUMN, width);
        }
    }
}

static void print_examples(FILE *out, const cli_example *examples, int width)
{
    if (examples == NULL) return;
    fputs("\nExamples\n", out);
    for (; examples->command != NULL; examples++) {
        fprintf(out, "  %s\n", examples->command);
        cli_print_wrapped(out, examples->what, 0, 6, width);
    }
}

static void print_exit_codes(FILE *out, int width)
{
    fputs("\nExit codes\n", out);
    for (const cli_example *code = cli_help_exit_codes; code->command != NULL; code++)
        print_row(out, code->command, code->what, 8, width);
    cli_print_wrapped(out, cli_help_exit_note, 0, 2, width);
}

void cli_help_inputs(const cli_command *command, char *text, size_t size)
{
    text[0] = 0;
    if (command->endings == NULL) return;
    const char *endings = command->endings;
    snprintf(text, size,
             "Inputs are files, - for standard input, patterns such as '*%.*s', and folders (their "
             "%.*s files).",
             (int)strcspn(endings, " "), endings, (int)strlen(endings) - 1, endings);
}

// One that only says that this program was built without it is not worth a line.
static bool is_built(const cli_command *command)
{
    if (command == &cli_command_serve) return serve_is_built;
    return command != &cli_command_pull || cli_can_download;
}

static void print_commands(FILE *out, const cli_command *const *commands, int width)
{
    fputs("\nCommands\n", out);
    for (size_t i = 0; commands[i] != NULL; i++)
        if (is_built(commands[i]))
            print_row(out, cli_command_word(commands[i]), commands[i]->summary, 16, width);
}

void cli_help_command(FILE *out, const cli_command *command)
{
    char inputs[256];
    int width = page_width(out);
    int used = fprintf(out, "Usage: zenith %s ", command->name);
    cli_print_wrapped(out, command->arguments, used, used, width);
    fputc('\n', out);
    cli_print_wrapped(out, command->description, 0, 0, width);
    cli_help_inputs(command, inputs, sizeof inputs);
    if (*inputs != 0) cli_print_wrapped(out, inputs, 0, 0, width);
    if (command->commands != NULL) print_commands(out, command->commands, width);
    print_groups(out, command->groups, width);
    print_examples(out, command->examples, width);
    print_exit_codes(out, width);
}

void cli_help_program(FILE *out, bool all)
{
    int width = page_width(out);
    fputs("Usage: zenith COMMAND [OPTIONS] ...\n\n", out);
    cli_print_wrapped(out, cli_help_about, 0, 0, width);
    print_commands(out, cli_commands, width);
    fputs("\nModels\n", out);
    for (size_t i = 0; zenith_model_name(i) != NULL; i++)
        if (all || cli_model_is_product(zenith_model_name(i)))
            print_row(out, zenith_model_name(i), zenith_model_description(i), all ? 22 : 18, width);
    if (!all)
        cli_print_wrapped(out, "'zenith help --all' also lists the research models.", 0, 2, width);
    print_examples(out, cli_help_examples, width);
    print_exit_codes(out, width);
}
