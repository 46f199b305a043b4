// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads that wait for the end of a parallel loop shall not burn the cores that other programs
// want. libgomp lets them spin 300,000 times, up to 20 ms for each loop, which on a busy machine
// made a run of 0.3 s cost 3 to 8 s. How often they spin is read from the environment when libgomp
// is loaded, before main: so the program starts itself once more with GOMP_SPINCOUNT set. Whoever
// has set that variable or OMP_WAIT_POLICY keeps what they chose.
#ifndef ZN_CLI_SESSION_BOUNDED_WAIT_H
#define ZN_CLI_SESSION_BOUNDED_WAIT_H

// Returns where nothing needs to be set, or the program cannot be started again, and then threads
// spin as before. argv[0] stays, and the process keeps its number.
void cli_bound_waiting(char **argv);

#endif
