// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Completion for three shells, from the same tables as everything else. Each script knows the
// commands, their options, the words an option can have, and where a path is meant; file names are
// left to the shell.
#include "apps/cli/commands/program/help_text.h"
#include "apps/cli/session/published.h"
#include "zenith/zenith.h"

#include <string.h>

static bool takes_path(const cli_option *option)
{
    return (option->kind == CLI_TEXT || option->kind == CLI_INPUT) &&
           (strcmp(option->argument, "PATH") == 0 || strcmp(option->argument, "FILE") == 0 ||
            strcmp(option->argument, "DIR") == 0 || strcmp(option->argument, "FOLDER") == 0);
}

// The words an option can have, each followed by a space; none where it takes anything.
static void put_words(FILE *out, const cli_option *option)
{
    bool model = option->kind == CLI_TEXT && strcmp(option->argument, "NAME") == 0;
    for (size_t i = 0; model && zenith_model_name(i) != NULL; i++)
        fprintf(out, "%s ", zenith_model_name(i));
    for (const cli_choice *choice = option->choices; choice != NULL && choice->word != NULL;
         choice++)
        fprintf(out, "%s ", choice->word);
    if (option->kind == CLI_BANDS) fputs("auto off ", out);
}

static void put_commands(FILE *out, const cli_command *const *commands)
{
    for (; *commands != NULL; commands++) fprintf(out, "%s ", cli_command_word(*commands));
}

// Every command, and those of a command after it.
static void each_command(FILE *out, void (*put)(FILE *out, const cli_command *command))
{
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        put(out, cli_commands[i]);
        const cli_command *const *own = cli_commands[i]->commands;
        for (; own != NULL && *own != NULL; own++) put(out, *own);
    }
}

// What arguments can be, likewise.
static void put_arguments(FILE *out, const cli_command *command)
{
    if (command->takes == CLI_TAKES_COMMANDS)
        put_commands(out, command->commands != NULL ? command->commands : cli_commands);
    if (command->takes != CLI_TAKES_PUBLISHED) return;
    for (size_t i = 0; zenith_model_name(i) != NULL; i++)
        if (cli_published_count(zenith_model_name(i)) > 0)
            fprintf(out, "%s ", zenith_model_name(i));
}

// The first clause of an explanation, without letters that a shell would see.
static void put_short(FILE *out, const char *text)
{
    size_t length = strcspn(text, ";:.(");
    while (length > 0 && text[length - 1] == ' ') length--;
    for (size_t i = 0; i < length; i++)
        if (strchr("'\"`$[]\\", text[i]) == NULL) fputc(text[i], out);
}

typedef void put_option_fn(FILE *out, const cli_command *command, const cli_option *option);

static void each_option(FILE *out, const cli_command *command, put_option_fn *put)
{
    for (const cli_option_group *const *group = command->groups; *group != NULL; group++)
        for (const cli_option *option = (*group)->options; option->name != NULL; option++)
            if (option->help != NULL) put(out, command, option);
}

// --- bash ---------------------------------------------------------------------------------------

static void bash_name(FILE *out, const cli_command *command, const cli_option *option)
{
    (void)command;
    fprintf(out, "--%s ", option->name);
    if (option->letter != 0) fprintf(out, "-%c ", option->letter);
}

static void bash_value(FILE *out, const cli_command *command, const cli_option *option)
{
    if (option->argument == NULL) return;
    fprintf(out, "        '%s --%s'", command->name, option->name);
    if (option->letter != 0) fprintf(out, " | '%s -%c'", command->name, option->letter);
    if (takes_path(option)) {
        fputs(") return ;;\n", out); // empty: bash completes file names
        return;
    }
    fputs(") COMPREPLY=($(compgen -W '", out);
    put_words(out, option);
    fputs("' -- \"$word\")); compopt +o default; return ;;\n", out);
}

static void bash_values(FILE *out, const cli_command *command)
{
    each_option(out, command, bash_value);
}

// A command of a command is known by both words.
static void bash_second(FILE *out, const cli_command *command)
{
    if (command->commands == NULL) return;
    fprintf(out,
            "    if [[ $command == %s ]] && ((COMP_CWORD > 2)); then\n"
            "        command=\"$command ${COMP_WORDS[2]}\"\n"
            "    fi\n",
            command->name);
}

static void bash_command(FILE *out, const cli_command *command)
{
    fprintf(out, "        '%s')\n            [[ $word == -* ]] && COMPREPLY=($(compgen -W '",
            command->name);
    each_option(out, command, bash_name);
    fputs("' -- \"$word\"))\n", out);
    if (command->takes != CLI_TAKES_FILES) {
        fputs("            [[ $word == -* ]] || COMPREPLY=($(compgen -W '", out);
        put_arguments(out, command);
        fputs("' -- \"$word\"))\n", out);
    }
    fputs("            ;;\n", out);
}

static void put_bash(FILE *out)
{
    fputs("# bash completion of zenith; made by 'zenith help --completion bash'\n"
          "_zenith() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local command=${COMP_WORDS[1]}\n"
          "    COMPREPLY=()\n"
          "    # --name=value comes as three words\n"
          "    if [[ $word == '=' ]]; then word=; "
          "elif [[ $before == '=' ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
          "    if ((COMP_CWORD == 1)); then\n"
          "        COMPREPLY=($(compgen -W '",
          out);
    put_commands(out, cli_commands);
    fputs("--help --version' -- \"$word\"))\n"
          "        return\n"
          "    fi\n",
          out);
    each_command(out, bash_second);
    fputs("    case \"$command $before\" in\n", out);
    each_command(out, bash_values);
    fputs("    esac\n"
          "    case $command in\n",
          out);
    each_command(out, bash_command);
    fputs("    esac\n"
          "}\n"
          "complete -o default -F _zenith zenith\n",
          out);
}

// --- zsh ----------------------------------------------------------------------------------------

static void zsh_option(FILE *out, const cli_command *command, const cli_option *option)
{
    (void)command;
    const char *more = option->argument == NULL ? "" : option->optional ? "=-" : "=";
    if (option->letter != 0)
        fprintf(out, "            '(-%c --%s)'{-%c%s,--%s%s}'[", option->letter, option->name,
                option->letter, option->argument != NULL ? "+" : "", option->name, more);
    else
        fprintf(out, "            '--%s%s[", option->name, more);
    put_short(out, option->help);
    fputc(']', out);
    if (option->argument != NULL) {
        fprintf(out, "%s:%s:", option->optional ? ":" : "", takes_path(option) ? "path" : "value");
        if (takes_path(option)) {
            fputs("_files", out);
        } else {
            fputc('(', out);
            put_words(out, option);
            fputc(')', out);
        }
    }
    fputs("' \\\n", out);
}

static void zsh_describe(FILE *out, const cli_command *const *commands)
{
    for (; *commands != NULL; commands++) {
        fprintf(out, "        '%s:", cli_command_word(*commands));
        put_short(out, (*commands)->summary);
        fputs("'\n", out);
    }
}

static void zsh_second(FILE *out, const cli_command *command)
{
    if (command->commands == NULL) return;
    fprintf(out,
            "    if [[ $command == %s ]]; then\n"
            "        commands=(\n",
            command->name);
    zsh_describe(out, command->commands);
    fputs("        )\n"
          "        if ((CURRENT == 2)); then\n"
          "            _describe command commands\n"
          "            return\n"
          "        fi\n"
          "        command=\"$command $words[2]\"\n"
          "        shift words\n"
          "        ((CURRENT--))\n"
          "    fi\n",
          out);
}

static void zsh_command(FILE *out, const cli_command *command)
{
    fprintf(out, "        '%s') _arguments -S \\\n", command->name);
    each_option(out, command, zsh_option);
    fputs("            '*:argument:", out);
    if (command->takes == CLI_TAKES_FILES) {
        fputs("_files", out);
    } else {
        fputc('(', out);
        put_arguments(out, command);
        fputc(')', out);
    }
    fputs("' ;;\n", out);
}

static void put_zsh(FILE *out)
{
    fputs("#compdef zenith\n"
          "# zsh completion of zenith; made by 'zenith help --completion zsh'\n"
          "_zenith() {\n"
          "    local -a commands\n"
          "    commands=(\n",
          out);
    zsh_describe(out, cli_commands);
    fputs("    )\n"
          "    if ((CURRENT == 2)); then\n"
          "        _describe command commands\n"
          "        return\n"
          "    fi\n"
          "    local command=$words[2]\n"
          "    shift words\n"
          "    ((CURRENT--))\n",
          out);
    each_command(out, zsh_second);
    fputs("    case $command in\n", out);
    each_command(out, zsh_command);
    fputs(
        "    esac\n"
        "}\n"
        "if [[ $funcstack[1] == _zenith ]]; then _zenith \"$@\"; else compdef _zenith zenith; fi\n",
        out);
}

// --- fish ---------------------------------------------------------------------------------------

// Under which words something is offered: 'encode' alone is another command than 'diffae encode'.
static void fish_condition(FILE *out, const cli_command *command)
{
    const char *word = cli_command_word(command);
    fputs("complete -c zenith -n '", out);
    if (word != command->name)
        fprintf(out, "__fish_seen_subcommand_from %.*s; and ", (int)strcspn(command->name, " "),
                command->name);
    fprintf(out, "__fish_seen_subcommand_from %s", word);
    for (size_t i = 0; word == command->name && cli_commands[i] != NULL; i++)
        if (cli_commands[i]->commands != NULL && cli_commands[i] != command)
            fprintf(out, "; and not __fish_seen_subcommand_from %s", cli_commands[i]->name);
    fputc('\'', out);
}

static void fish_option(FILE *out, const cli_command *command, const cli_option *option)
{
    fish_condition(out, command);
    fprintf(out, " -l %s", option->name);
    if (option->letter != 0) fprintf(out, " -s %c", option->letter);
    if (option->argument != NULL)
        fputs(takes_path(option) ? " -r -F" : option->optional ? " -f" : " -x", out);
    if (option->argument != NULL && !takes_path(option)) {
        fputs(" -a '", out);
        put_words(out, option);
        fputc('\'', out);
    }
    fputs(" -d '", out);
    put_short(out, option->help);
    fputs("'\n", out);
}

static void fish_command(FILE *out, const cli_command *command)
{
    if (cli_command_word(command) == command->name) {
        fprintf(out, "complete -c zenith -n __fish_use_subcommand -f -a %s -d '", command->name);
        put_short(out, command->summary);
        fputs("'\n", out);
    }
    if (command->takes != CLI_TAKES_FILES) {
        fish_condition(out, command);
        fputs(" -f -a '", out);
        put_arguments(out, command);
        fputs("'\n", out);
    }
    each_option(out, command, fish_option);
}

static void put_fish(FILE *out)
{
    fputs("# fish completion of zenith; made by 'zenith help --completion fish'\n", out);
    each_command(out, fish_command);
}

void cli_help_completion(FILE *out, const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        put_bash(out);
    else if (strcmp(shell, "zsh") == 0)
        put_zsh(out);
    else
        put_fish(out);
}
