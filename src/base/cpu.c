// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The CPU that this process runs on, by CPUID or by what the system says of it, and the limit in
// the environment.
#include "src/base/cpu.h"

#include "src/base/os.h"

#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)

#include <cpuid.h>

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

static unsigned machine(void)
{
    enum { OSXSAVE = 27 };
    zn_cpuid id = {0};
    unsigned a = 0, b, c, d;
    if (!__get_cpuid(1, &a, &b, &id.leaf1_ecx, &d)) return 0;
    if (!(id.leaf1_ecx >> OSXSAVE & 1)) return 0; // there is no XGETBV
    if (!__get_cpuid_count(7, 0, &a, &id.leaf7_ebx, &id.leaf7_ecx, &id.leaf7_edx)) return 0;
    if (a >= 1) __get_cpuid_count(7, 1, &id.leaf7_1_eax, &b, &c, &d);
    id.xcr0 = saved_state();
    const unsigned flags = zn_cpu_of_cpuid(&id);
    return flags & ZN_CPU_AMX_TILE && !zn_os_enable_amx() ? flags & ~ZN_CPU_AMX : flags;
}

#else

static bool own_name(char dst[ZN_CPU_NAME])
{
    (void)dst;
    return false;
}

static unsigned machine(void)
{
    uint64_t hwcap = 0, hwcap2 = 0;
    if (zn_os_arm_hwcaps(&hwcap, &hwcap2)) return zn_cpu_of_hwcaps(hwcap, hwcap2);
#if defined(__aarch64__)
    return ZN_CPU_NEON; // which all of them have
#else
    return 0;
#endif
}

#endif

void zn_cpu_name(char dst[ZN_CPU_NAME])
{
    if (!own_name(dst)) memcpy(dst, "unknown", sizeof "unknown");
}

zn_cpu zn_cpu_detect(void)
{
    const unsigned hardware = machine();
    unsigned allowed = ~0u;
    (void)!zn_cpu_parse(zn_environment("ZENITH_CPU"), &allowed);
    return (zn_cpu){.flags = zn_cpu_supported(hardware & allowed), .hardware = hardware};
}
