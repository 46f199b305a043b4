// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// How fast this machine's multipliers run at this moment, on registers alone.
#ifndef ZN_BENCH_BURST_H
#define ZN_BENCH_BURST_H

enum { BURST_MOST_THREADS = 64 };

// GFLOP/s of unit "amx" (TDPBF16PS on four accumulators) "vnni" (VPDPBUSD) or "fma" (f32, AVX-512
// or else AVX2), summed over the threads; takes about 20 ms. The rate is per second of a thread's
// own CPU time: waiting for a core does not lower it. 0: the machine has no such unit.
double burst_rate(const char *unit, int threads);

#endif
