// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether the calling thread takes numbers below 1.2e-38 for zero, as operands and as results. CPUs
// compute with them many times more slowly. A setting of each thread; false where there is no such
// thing.
#ifndef ZN_BASE_DENORMALS_H
#define ZN_BASE_DENORMALS_H

#include <stdbool.h>

#if defined(__x86_64__)
#include <xmmintrin.h>

enum { ZN_FLUSH_BITS = 0x8040 }; // of MXCSR: results, operands

static inline bool zn_denormals_flushed(void)
{
    return (_mm_getcsr() & ZN_FLUSH_BITS) == ZN_FLUSH_BITS;
}

static inline void zn_denormals_flush(bool on)
{
    _mm_setcsr((_mm_getcsr() & ~(unsigned)ZN_FLUSH_BITS) | (on ? ZN_FLUSH_BITS : 0));
}
#elif defined(__aarch64__)
#include <stdint.h>

enum { ZN_FLUSH_BITS = 1 << 24 }; // of FPCR: both

static inline bool zn_denormals_flushed(void)
{
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return (mode & ZN_FLUSH_BITS) != 0;
}

static inline void zn_denormals_flush(bool on)
{
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    mode = (mode & ~(uint64_t)ZN_FLUSH_BITS) | (on ? ZN_FLUSH_BITS : 0);
    __asm__ volatile("msr fpcr, %0" : : "r"(mode));
}
#else
static inline bool zn_denormals_flushed(void)
{
    return false;
}

static inline void zn_denormals_flush(bool on)
{
    (void)on;
}
#endif

#endif
