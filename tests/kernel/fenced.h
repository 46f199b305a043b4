// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the kernel tests share: arrays that notice a touch outside, random values, and the loop over
// the versions this CPU has.
//
// A fenced array ends `gap` bytes before a page that may not be touched, so reading or writing past
// it traps (with gap 0 at the very next byte). The bytes around the array carry a pattern that
// fenced_intact checks after the call.
#ifndef ZN_TESTS_KERNEL_FENCED_H
#define ZN_TESTS_KERNEL_FENCED_H

#include "src/base/cpu.h"
#include "src/base/random.h"
#include "src/kernel/kernels.h"
#include "tests/kernel/kernels.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FENCED_PATTERN = 0xa5 };

typedef struct fenced {
    unsigned char *map;
    size_t open;  // bytes that may be touched
    void *data;   // the array, in them
    size_t bytes; // of the array
} fenced;

static inline fenced fenced_make(size_t bytes, size_t gap)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    fenced f = {.open = (bytes + gap + 64 + page - 1) / page * page, .bytes = bytes};
    f.map = mmap(NULL, f.open + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(f.map != MAP_FAILED);
    assert_int_equal(mprotect(f.map + f.open, page, PROT_NONE), 0);
    memset(f.map, FENCED_PATTERN, f.open);
    f.data = f.map + f.open - gap - bytes;
    return f;
}

static inline int fenced_intact(const fenced *f)
{
    const unsigned char *data = f->data;
    for (const unsigned char *p = f->map; p < f->map + f->open; p++) {
        if ((p < data || p >= data + f->bytes) && *p != FENCED_PATTERN) return 0;
    }
    return 1;
}

static inline void fenced_free(fenced *f)
{
    munmap(f->map, f->open + (size_t)sysconf(_SC_PAGESIZE));
}

// Nothing around any of them was touched; and they go.
static inline void fenced_close(fenced *const *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_true(fenced_intact(all[i]));
        fenced_free(all[i]);
    }
}

static inline void fill_normal(float *dst, size_t n, zn_random *random)
{
    for (size_t i = 0; i < n; i++) dst[i] = zn_random_normal(random);
}

static inline void fill_bytes(void *dst, size_t n, zn_random *random)
{
    for (size_t i = 0; i < n; i++) ((unsigned char *)dst)[i] = (unsigned char)zn_random_u32(random);
}

// A class of instruction sets that this CPU has, and the kernels of a CPU that has no more.
typedef struct kernel_set {
    const char *name;
    unsigned flags;
    zn_kernels kernels;
} kernel_set;

// The next one after `set`, the lowest after NULL; NULL after the CPU's own.
static inline const kernel_set *kernel_set_after(const kernel_set *set)
{
    static const unsigned classes[] = {0, ZN_CPU_AVX2, ZN_CPU_AVX512, ZN_CPU_AMX, ZN_CPU_NEON};
    enum { CLASSES = sizeof classes / sizeof *classes };
    static kernel_set sets[CLASSES];
    const unsigned mine = zn_cpu_detect().flags;
    for (int i = set ? (int)(set - sets) + 1 : 0; i < CLASSES; i++) {
        if (!zn_cpu_has(mine, classes[i])) continue;
        unsigned allowed = 0;
        sets[i].name = zn_cpu_class(classes[i]);
        if (!zn_cpu_parse(sets[i].name, &allowed)) return NULL;
        sets[i].flags = zn_cpu_supported(mine & allowed);
        zn_kernels_init(&sets[i].kernels, sets[i].flags);
        return &sets[i];
    }
    return NULL;
}

// Runs the body once for each class of instruction sets up to this CPU's.
#define FOR_EACH_SET(set)                                                                          \
    for (const kernel_set *set = kernel_set_after(NULL); set; set = kernel_set_after(set))

#endif
