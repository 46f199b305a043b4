// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What Linux says about the machine, beyond what the library needs to know: for zenith doctor.
#ifndef ZN_CLI_SESSION_MACHINE_FACTS_H
#define ZN_CLI_SESSION_MACHINE_FACTS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cli_machine_facts {
    char cpu[128]; // "" where the system does not say
    int online;    // logical CPUs
    int nodes;     // of memory (NUMA); 0: not known
    bool avx2, avx512, avx512_bf16, avx512_vnni, amx;
    uint64_t memory, available, limit; // bytes; limit: of the cgroup, 0: none
    double load;                       // runnable processes over the last minute
} cli_machine_facts;

void cli_machine_facts_read(cli_machine_facts *out);

#endif
