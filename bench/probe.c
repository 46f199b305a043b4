// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// How fast do this machine's multipliers run at this moment? On shared machines the answer changes
// by a factor of two from one second to the next, so compare.py asks before and after each round
// and drops the rounds in which it changed.
//
//     amx[N]   {"gflops": ...}    summed over N threads (1); see burst.h
//     fma[N]   {"gflops": ...}
//
// Commands come on standard input, one a line.
#include "bench/burst.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char line[64];
    while (fgets(line, sizeof line, stdin)) {
        int threads = strlen(line) > 4 ? atoi(line + 3) : 1;
        if ((strncmp(line, "amx", 3) != 0 && strncmp(line, "fma", 3) != 0) || threads < 1 ||
            threads > BURST_MOST_THREADS) {
            fprintf(stderr, "probe: commands are amx and fma, with a number of threads (amx2)\n");
            return 2;
        }
        printf("{\"gflops\": %.1f}\n", burst_rate(line, threads));
        fflush(stdout);
    }
    return 0;
}
