// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See options.h. A long option takes its value as --name=VALUE or --name VALUE, a letter as
// -oVALUE or -o VALUE; flags without values can share a dash (-qh). A word "-" is an input.
#include "apps/cli/options/options.h"
#include "apps/cli/options/inputs.h"
#include "apps/cli/options/values.h"
#include "apps/cli/terminal/terminal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static int store_value(const cli_option *option, const char *text, cli_settings *settings)
{
    if (option->kind == CLI_INPUT && *text != 0) {
        settings->inputs[settings->input_count++] = text;
        return CLI_DONE;
    }
    if (cli_option_value(option, text, (char *)settings + option->offset)) return CLI_DONE;
    if (option->kind == CLI_NUMBER)
        cli_say("--%s %s: expected a number from %d to %d", option->name, text, option->min,
                option->max);
    else if (option->kind == CLI_SHARE)
        cli_say("--%s %s: expected a share above 0 and below 1, such as 0.5", option->name, text);
    else if (option->kind == CLI_DECIMAL)
        cli_say("--%s %s: expected a number from %d to %d, such as %s", option->name, text,
                option->min, option->max, option->max > 3 ? "3.5" : "0.6");
    else if (option->kind == CLI_SEED)
        cli_say("--%s %s: expected a whole number from 0 to 18446744073709551615", option->name,
                text);
    else if (option->kind == CLI_BYTES)
        cli_say("--%s %s: expected a size such as 512M or 2G", option->name, text);
    else if (option->kind == CLI_DIMENSIONS)
        cli_say("--%s %s: expected a size such as 512x512, 512x or x512", option->name, text);
    else
        cli_say("--%s '%s': expected %s", option->name, text, option->argument);
    return CLI_USAGE;
}

static const cli_option *find_option(const cli_command *command, const char *name, size_t length,
                                     char letter)
{
    for (size_t g = 0; command->groups[g] != NULL; g++) {
        const cli_option *option = command->groups[g]->options;
        for (; option->name != NULL; option++) {
            if (letter != 0 && option->letter == letter) return option;
            if (letter == 0 && strlen(option->name) == length &&
                memcmp(option->name, name, length) == 0)
                return option;
        }
    }
    return NULL;
}

// Levenshtein's distance with one row, whatever the case of letters; cut off at words that cannot
// be near.
static int distance(const char *a, const char *b)
{
    enum { LONGEST = 31 };
    size_t n = strlen(a), m = strlen(b);
    int row[LONGEST + 1];
    if (n > LONGEST || m > LONGEST) return LONGEST;
    for (size_t j = 0; j <= m; j++) row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int replaced = diagonal +
                           (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));
            diagonal = row[j];
            int shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = replaced < shorter ? replaced : shorter;
        }
    }
    return row[m];
}

const char *cli_nearest_word(const char *word, const char *const *words)
{
    const char *best = NULL;
    int least = 3;
    for (; *words != NULL; words++) {
        int steps = distance(word, *words);
        if (steps >= least) continue;
        least = steps;
        best = *words;
    }
    return best;
}

// What a word is the beginning of, if that is one option alone; else the nearest.
static const char *option_begun(const char *word, const char *const *names)
{
    const char *found = NULL;
    size_t count = 0;
    for (size_t i = 0; names[i] != NULL; i++) {
        if (strlen(word) < 2 || strncmp(names[i], word, strlen(word)) != 0) continue;
        found = names[i];
        count++;
    }
    return count == 1 ? found : cli_nearest_word(word, names);
}

static int unknown_option(const cli_command *command, const char *word)
{
    const char *names[64];
    size_t count = 0;
    for (size_t g = 0; command->groups[g] != NULL; g++)
        for (const cli_option *o = command->groups[g]->options; o->name != NULL && count < 63; o++)
            names[count++] = o->name;
    names[count] = NULL;
    char name[64];
    size_t length = strcspn(word + strspn(word, "-"), "=");
    if (length >= sizeof name) length = sizeof name - 1;
    memcpy(name, word + strspn(word, "-"), length);
    name[length] = 0;
    const char *near = word[1] == '-' ? option_begun(name, names) : NULL;
    if (near != NULL)
        cli_say("unknown option %s; did you mean --%s?", word, near);
    else
        cli_say("unknown option %s; 'zenith help %s' lists them all", word, command->name);
    return CLI_USAGE;
}

struct words {
    char **next, **end;
};

static int needs_value(const cli_option *option)
{
    cli_say("--%s needs a value: --%s %s", option->name, option->name, option->argument);
    return CLI_USAGE;
}

static int parse_long(const cli_command *command, const char *word, struct words *words,
                      cli_settings *settings)
{
    const char *name = word + 2;
    size_t length = strcspn(name, "=");
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    const cli_option *option = find_option(command, name, length, 0);
    if (option == NULL) return unknown_option(command, word);
    if (option->kind == CLI_FLAG) {
        if (value == NULL) return store_value(option, "", settings);
        cli_say("--%s takes no value", option->name);
        return CLI_USAGE;
    }
    if (value == NULL && option->optional)
        return store_value(option, option->choices[0].word, settings);
    if (value == NULL && words->next == words->end) return needs_value(option);
    return store_value(option, value != NULL ? value : *words->next++, settings);
}

static int parse_letters(const cli_command *command, const char *word, struct words *words,
                         cli_settings *settings)
{
    for (const char *letter = word + 1; *letter != 0; letter++) {
        const cli_option *option = find_option(command, NULL, 0, *letter);
        if (option == NULL) return unknown_option(command, word);
        if (option->kind == CLI_FLAG) {
            *(bool *)((char *)settings + option->offset) = true;
            continue;
        }
        if (letter[1] != 0) return store_value(option, letter + 1, settings);
        if (words->next == words->end) return needs_value(option);
        return store_value(option, *words->next++, settings);
    }
    return CLI_DONE;
}

static int check_inputs(const cli_command *command, const cli_settings *settings)
{
    if (settings->help) return CLI_DONE;
    if (settings->input_count >= command->min_inputs &&
        settings->input_count <= command->max_inputs)
        return CLI_DONE;
    if (settings->input_count == 1)
        cli_say("two inputs are needed, and there is one: zenith %s %s", command->name,
                command->arguments);
    else if (settings->input_count < command->min_inputs)
        cli_say("nothing to do: zenith %s %s", command->name, command->arguments);
    else
        cli_say("too many arguments ('%s'): zenith %s %s", settings->inputs[command->max_inputs],
                command->name, command->arguments);
    return CLI_USAGE;
}

static cli_settings *create_settings(const cli_command *command, int argc)
{
    static const cli_settings shared = CLI_SHARED_DEFAULTS;
    const size_t size = command->size != 0 ? command->size : sizeof shared;
    cli_settings *settings = malloc(size);
    if (settings == NULL) return NULL;
    memcpy(settings, command->defaults != NULL ? command->defaults : &shared, size);
    settings->inputs = calloc((size_t)argc + 1, sizeof *settings->inputs);
    if (settings->inputs != NULL) return settings;
    free(settings);
    return NULL;
}

int cli_options_parse(const cli_command *command, int argc, char **argv, cli_settings **settings)
{
    struct words words = {argv, argv + argc};
    bool options_end = false;
    int code = CLI_DONE;
    cli_settings *out = create_settings(command, argc);
    if (out == NULL) {
        cli_say("out of memory");
        return CLI_MEMORY;
    }
    while (words.next < words.end && code == CLI_DONE) {
        const char *word = *words.next++;
        if (options_end || word[0] != '-' || word[1] == 0)
            out->inputs[out->input_count++] = word;
        else if (strcmp(word, "--") == 0)
            options_end = true;
        else if (word[1] == '-')
            code = parse_long(command, word, &words, out);
        else
            code = parse_letters(command, word, &words, out);
    }
    if (code == CLI_DONE) code = check_inputs(command, out);
    if (code == CLI_DONE && !out->help) code = cli_inputs_expand(command, out);
    if (code != CLI_DONE) cli_settings_free(out);
    *settings = code == CLI_DONE ? out : NULL;
    return code;
}

void cli_settings_free(cli_settings *settings)
{
    for (size_t i = 0; settings->expanded != NULL && settings->expanded[i] != NULL; i++)
        free(settings->expanded[i]);
    free(settings->expanded);
    free(settings->inputs);
    free(settings->named_from);
    free(settings);
}
