// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See bounded_wait.h.
#include "apps/cli/session/bounded_wait.h"

#ifdef __linux__
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// About 0.1 ms where a pause takes 140 cycles, as on Intel's servers: longer than the gaps between
// two loops on a machine that is free, and much shorter than what a loop takes whose thread lost
// its core.
static const char spins[] = "2000";

// The program's file; false where it is not known, or is the loader's (ld-linux.so.2 zenith ..).
static bool find_program(char path[PATH_MAX])
{
    const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length <= 0) return false;
    path[length] = 0;
    const char *slash = strrchr(path, '/');
    return slash != NULL && strncmp(slash, "/ld-", 4) != 0 && strncmp(slash, "/ld.so", 6) != 0;
}

void cli_bound_waiting(char **argv)
{
    char path[PATH_MAX];
    if (getenv("OMP_WAIT_POLICY") != NULL || getenv("GOMP_SPINCOUNT") != NULL) return;
    // The variable is set first: a program that is started again does not come here again.
    if (!find_program(path) || setenv("GOMP_SPINCOUNT", spins, 0) != 0) return;
    execv(path, argv);
    unsetenv("GOMP_SPINCOUNT"); // nothing read it: doctor shall not believe it
}
#else
void cli_bound_waiting(char **argv)
{
    (void)argv;
}
#endif
