// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// CPU classes by CPUID. A class counts only if the system saves its registers too (XCR0).
#include "src/base/cpu.h"

#include "src/base/os.h"

#include <stddef.h>
#include <string.h>

static const char *const names[] = {"baseline", "avx2", "avx512", "amx"};

const char *zn_isa_name(zn_isa isa)
{
    return names[isa];
}

#if defined(__x86_64__)

#include <cpuid.h>
#include <stdint.h>

// Registers of a CPUID leaf that matter here, as single bits.
enum { F1C_FMA = 12, F1C_OSXSAVE = 27, F1C_AVX = 28, F1C_F16C = 29 };
enum { F7B_AVX2 = 5, F7B_F = 16, F7B_DQ = 17, F7B_BW = 30, F7B_VL = 31, F7C_VNNI = 11 };
enum { F7D_AMX_BF16 = 22, F7D_AMX_TILE = 24, F7D_AMX_INT8 = 25, F71A_BF16 = 5 };
// State that the system must save at a switch of threads (XCR0), without which the registers lie.
enum { STATE_AVX = 0x6, STATE_AVX512 = 0xe6, STATE_AMX = 0x60000 };

static bool has(unsigned value, int bit)
{
    return value >> bit & 1;
}

static uint64_t saved_state(void)
{
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

// 48 bytes in three leaves, with a closing zero of their own.
static bool own_name(char dst[ZN_CPU_NAME])
{
    enum { FIRST_LEAF = 0x80000002u, LEAVES = 3 };
    unsigned words[4];
    memset(dst, 0, ZN_CPU_NAME);
    for (unsigned i = 0; i < LEAVES; i++) {
        if (!__get_cpuid(FIRST_LEAF + i, &words[0], &words[1], &words[2], &words[3])) return false;
        memcpy(dst + i * sizeof words, words, sizeof words);
    }
    return dst[0] != 0;
}

static zn_cpu machine(void)
{
    zn_cpu cpu = {0};
    unsigned a, b, c, d, leaf1c, leaf71a = 0;
    if (!__get_cpuid(1, &a, &b, &leaf1c, &d) || !has(leaf1c, F1C_OSXSAVE)) return cpu;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return cpu;
    if (a >= 1) {
        unsigned unused_b, unused_c, unused_d;
        __get_cpuid_count(7, 1, &leaf71a, &unused_b, &unused_c, &unused_d);
    }
    uint64_t state = saved_state();
    if ((state & STATE_AVX) != STATE_AVX || !has(leaf1c, F1C_AVX) || !has(leaf1c, F1C_FMA) ||
        !has(leaf1c, F1C_F16C) || !has(b, F7B_AVX2))
        return cpu;
    cpu.hardware = ZN_ISA_AVX2;
    if ((state & STATE_AVX512) != STATE_AVX512 || !has(b, F7B_F) || !has(b, F7B_DQ) ||
        !has(b, F7B_BW) || !has(b, F7B_VL))
        return cpu;
    cpu.hardware = ZN_ISA_AVX512;
    cpu.avx512_bf16 = has(leaf71a, F71A_BF16);
    cpu.avx512_vnni = has(c, F7C_VNNI);
    if ((state & STATE_AMX) == STATE_AMX && has(d, F7D_AMX_TILE) && has(d, F7D_AMX_BF16) &&
        has(d, F7D_AMX_INT8) && cpu.avx512_bf16 && cpu.avx512_vnni && zn_os_enable_amx())
        cpu.hardware = ZN_ISA_AMX;
    return cpu;
}

#else

static bool own_name(char dst[ZN_CPU_NAME])
{
    (void)dst;
    return false;
}

static zn_cpu machine(void)
{
    return (zn_cpu){0};
}

#endif

void zn_cpu_name(char dst[ZN_CPU_NAME])
{
    if (!own_name(dst)) memcpy(dst, "unknown", sizeof "unknown");
}

// The class that the environment names; the highest for none, or for a word that is no class.
static zn_isa cap(void)
{
    const char *wanted = zn_environment("ZENITH_CPU");
    for (int isa = ZN_ISA_BASELINE; wanted && isa <= ZN_ISA_AMX; isa++) {
        if (strcmp(wanted, names[isa]) == 0) return (zn_isa)isa;
    }
    return ZN_ISA_AMX;
}

zn_cpu zn_cpu_detect(void)
{
    zn_cpu cpu = machine();
    zn_isa highest = cap();
    cpu.isa = cpu.hardware < highest ? cpu.hardware : highest;
    if (cpu.isa < ZN_ISA_AVX512) cpu.avx512_bf16 = cpu.avx512_vnni = false;
    return cpu;
}
