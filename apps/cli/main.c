// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith: the program. Finds the sub-command, parses its options by its table, runs it.
#include "apps/cli/command.h"
#include "apps/cli/commands/program/help_text.h"
#include "apps/cli/options/options.h"
#include "apps/cli/session/bounded_wait.h"
#include "apps/cli/terminal/terminal.h"
#include "src/base/cpu.h"
#include "zenith/zenith.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

// Of one with commands of its own, and none of them named.
static int say_commands(const cli_command *command)
{
    cli_help_command(stderr, command);
    return CLI_USAGE;
}

// A word that is none would leave the CPU's own class in use, without a word about it.
static bool cpu_is_known(void)
{
    const char *wanted = getenv("ZENITH_CPU");
    unsigned flags;
    bool known = zn_cpu_parse(wanted, &flags);
    if (!known)
        cli_say("ZENITH_CPU=%s: expected baseline, avx2, avx512, amx or neon, and single features "
                "after it (avx2,vnni); 'zenith doctor' says which the CPU has",
                wanted);
    return known;
}

static int run_command(int argc, char **argv)
{
    cli_settings *settings;
    size_t used;
    const cli_command *command = cli_command_find((const char *const *)argv + 1, (size_t)argc - 1,
                                                  &used);
    if (command == NULL) return CLI_USAGE;
    int first = 1 + (int)used;
    int code = cli_options_parse(command, argc - first, argv + first, &settings);
    if (code != CLI_DONE) return code;
    const bool tells = command == &cli_command_doctor || command == &cli_command_help;
    if (settings->help) {
        cli_help_command(stdout, command);
    } else if (!tells && !cpu_is_known()) {
        code = CLI_USAGE;
    } else if (command->run != NULL) {
        cli_bound_waiting(argv); // starts the program again, so before the command does anything
        code = command->run(settings);
    } else {
        code = say_commands(command);
    }
    cli_settings_free(settings);
    return code;
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        cli_help_program(stderr, false);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("zenith %s\n", zenith_version());
        return CLI_DONE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        cli_help_program(stdout, false);
        return CLI_DONE;
    }
    return run_command(argc, argv);
}

int main(int argc, char **argv)
{
    // A reader that goes away must not kill us before unfinished outputs are removed; the failing
    // write is then an error like any other.
    signal(SIGPIPE, SIG_IGN);
    int code = run(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        // A reader that has seen enough, such as head, needs no message.
        if (errno != EPIPE) cli_say("cannot write to standard output: %s", strerror(errno));
        if (code == CLI_DONE) code = CLI_SOME_FAILED;
    }
    return code;
}
