// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Manual pages as scdoc source: https://git.sr.ht/~sircmpwn/scdoc. Letters that mean something to
// scdoc are escaped one by one, so no text of the tables can change a page's form.
#include "apps/cli/commands/program/help_text.h"
#include "apps/cli/session/published.h"
#include "zenith/zenith.h"

#include <ctype.h>
#include <string.h>

// Lines that follow the first are indented by `tabs`.
static void put_text(FILE *out, const char *text, int tabs)
{
    for (; *text != 0; text++) {
        if (*text == '\n') {
            fputc('\n', out);
            for (int i = 0; i < tabs; i++) fputc('\t', out);
            continue;
        }
        if (strchr("*_\\#[]|<>~`", *text) != NULL) fputc('\\', out);
        fputc(*text, out);
    }
}

static void put_marked(FILE *out, char mark, const char *text)
{
    fputc(mark, out);
    put_text(out, text, 0);
    fputc(mark, out);
}

static void put_title(FILE *out, const char *title)
{
    fputs("# ", out);
    for (; *title != 0; title++) fputc(toupper((unsigned char)*title), out);
    fputs("\n\n", out);
}

static void put_option(FILE *out, const cli_option *option)
{
    char dashed[64];
    if (option->letter != 0) fprintf(out, "*-%c*, ", option->letter);
    snprintf(dashed, sizeof dashed, "--%s", option->name);
    put_marked(out, '*', dashed);
    if (option->argument != NULL) {
        fputs(option->optional ? "\\[=" : " ", out);
        put_marked(out, '_', option->argument);
        if (option->optional) fputs("\\]", out);
    }
    fputs("\n\t", out);
    put_text(out, option->help, 1);
    fputs("\n\n", out);
}

static void put_groups(FILE *out, const cli_option_group *const *groups)
{
    fputs("# OPTIONS\n\n", out);
    for (; *groups != NULL; groups++) {
        fprintf(out, "## %s\n\n", (*groups)->title);
        for (const cli_option *option = (*groups)->options; option->name != NULL; option++)
            if (option->help != NULL) put_option(out, option);
    }
}

// A row: what is said, and below it what it means.
static void put_row(FILE *out, const char *what, const char *meaning)
{
    put_marked(out, '*', what);
    fputs("\n\t", out);
    put_text(out, meaning, 1);
    fputs("\n\n", out);
}

static void put_rows(FILE *out, const char *title, const cli_example *rows)
{
    put_title(out, title);
    for (; rows->command != NULL; rows++) put_row(out, rows->command, rows->what);
}

// Commands as they are typed, where no hyphen may be added.
static void put_examples(FILE *out, const cli_example *examples)
{
    put_title(out, "Examples");
    for (; examples->command != NULL; examples++) {
        fprintf(out, "```\n%s\n```\n\n\t", examples->command);
        put_text(out, examples->what, 1);
        fputs("\n\n", out);
    }
}

static void put_end(FILE *out)
{
    put_rows(out, "Exit status", cli_help_exit_codes);
    put_text(out, cli_help_exit_note, 0);
    fputs("\n\n", out);
}

static void put_head(FILE *out, const char *page, const char *summary)
{
    fprintf(out, "%s(1) \"Zenith %s\" \"Zenith manual\"\n\n# NAME\n\n%s - ", page, zenith_version(),
            page);
    put_text(out, summary, 0);
    fputs("\n\n# SYNOPSIS\n\n", out);
}

static void put_commands(FILE *out, const cli_command *const *commands)
{
    fputs("# COMMANDS\n\n", out);
    for (; *commands != NULL; commands++) {
        const char *word = cli_command_word(*commands);
        fprintf(out, "*zenith-%.*s%s%s*(1)\n\t", (int)strcspn((*commands)->name, " "),
                (*commands)->name, word != (*commands)->name ? "-" : "",
                word != (*commands)->name ? word : "");
        put_text(out, (*commands)->summary, 1);
        fputs("\n\n", out);
    }
}

static void put_command_page(FILE *out, const cli_command *command)
{
    char page[64], inputs[256];
    snprintf(page, sizeof page, "zenith-%s", command->name);
    for (char *space = page; (space = strchr(space, ' ')) != NULL;) *space = '-';
    put_head(out, page, command->summary);
    fprintf(out, "*zenith %s* ", command->name);
    put_text(out, command->arguments, 0);
    fputs("\n\n# DESCRIPTION\n\n", out);
    put_text(out, command->description, 0);
    fputs("\n\n", out);
    cli_help_inputs(command, inputs, sizeof inputs);
    put_text(out, inputs, 0);
    fputs("\n\n", out);
    if (command->commands != NULL) put_commands(out, command->commands);
    put_groups(out, command->groups);
    if (command->examples != NULL) put_examples(out, command->examples);
    put_end(out);
    fputs("# SEE ALSO\n\n*zenith*(1)\n", out);
}

static const cli_example environment[] = {
    {"ZENITH_MODELS", "folder where models are looked for first, and where pull puts them"},
    {"ZENITH_ENDPOINT", "server from which pull fetches; --endpoint goes before it"},
    {"ZENITH_CPU", "baseline, avx2, avx512, amx or neon: lowers the instructions in use; features "
                   "may follow (avx2,vnni)"},
    {"OMP_WAIT_POLICY", "passive: waiting threads sleep at once; default: after about 0.1 ms"},
    {NULL, NULL}};

static void put_program_page(FILE *out)
{
    put_head(out, "zenith", "pictures to latents and back, on CPUs");
    fputs("*zenith* _COMMAND_ [_OPTIONS_] ...\n\n# DESCRIPTION\n\n", out);
    put_text(out, cli_help_about, 0);
    fputs("\n\n", out);
    put_commands(out, cli_commands);
    put_title(out, "Models");
    for (size_t i = 0; zenith_model_name(i) != NULL; i++)
        if (cli_model_is_product(zenith_model_name(i)))
            put_row(out, zenith_model_name(i), zenith_model_description(i));
    put_text(out, "'zenith models --all' also lists the research models.", 0);
    fputs("\n\n", out);
    put_examples(out, cli_help_examples);
    put_rows(out, "Environment", environment);
    put_end(out);
}

void cli_help_man(FILE *out, const cli_command *command)
{
    if (command != NULL)
        put_command_page(out, command);
    else
        put_program_page(out);
}
