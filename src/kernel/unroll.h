// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// UNROLL before a loop of constant length: its body is written out, so that arrays indexed by its
// counter live in registers. GCC's spelling alone leaves clang's kernels several times slower.
#ifndef ZN_KERNEL_UNROLL_H
#define ZN_KERNEL_UNROLL_H

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

// Makes compilers forget what they know of an integer. A distance between rows that is one stays in
// one register for all addresses that it is part of; otherwise gcc 12 keeps one for each of its
// sums with the constants of an unrolled loop, and then has too few.
#define FORGET(integer) __asm__("" : "+r"(integer))

#endif
