// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Which instructions this process may use, as flags. A flag is set only where those it builds upon
// are set too (AVX512 only with AVX2, which includes FMA and F16C), so code asks for the one it
// needs.
//
// The environment variable ZENITH_CPU lowers what is used, and nothing raises it above what the CPU
// has:
//
//     ZENITH_CPU=CLASS[,FEATURE]..     avx2     baseline     avx2,vnni     avx2,avx512
//
// A class stands for its flags (below), and each feature adds one: f16c fma avx2 vnni avx512
// avx512_vnni avx512_bf16 amx_tile amx_bf16 amx_int8 neon dotprod i8mm bf16 sve. A text that is not
// of this form changes nothing. oneDNN gets the same limit (dnn/), so a lowered run is what an
// older CPU would compute.
#ifndef ZN_BASE_CPU_H
#define ZN_BASE_CPU_H

#include <stdbool.h>
#include <stdint.h>

typedef enum zn_cpu_flag {
    ZN_CPU_F16C = 1 << 0,
    ZN_CPU_FMA = 1 << 1,
    ZN_CPU_AVX2 = 1 << 2,
    ZN_CPU_AVX_VNNI = 1 << 3, // VPDPBUSD on 256 bits
    ZN_CPU_AVX512 = 1 << 4,   // F, BW, DQ and VL
    ZN_CPU_AVX512_VNNI = 1 << 5,
    ZN_CPU_AVX512_BF16 = 1 << 6,
    ZN_CPU_AMX_TILE = 1 << 7, // with the system's permission
    ZN_CPU_AMX_BF16 = 1 << 8,
    ZN_CPU_AMX_INT8 = 1 << 9,
    ZN_CPU_NEON = 1 << 10,
    ZN_CPU_DOTPROD = 1 << 11,
    ZN_CPU_I8MM = 1 << 12,
    ZN_CPU_ARM_BF16 = 1 << 13,
    ZN_CPU_SVE = 1 << 14
} zn_cpu_flag;

// What our kernels for tiles need: all three.
#define ZN_CPU_AMX ((unsigned)(ZN_CPU_AMX_TILE | ZN_CPU_AMX_BF16 | ZN_CPU_AMX_INT8))

typedef struct zn_cpu {
    unsigned flags;    // in use
    unsigned hardware; // that the machine has
} zn_cpu;

static inline bool zn_cpu_has(unsigned flags, unsigned needed)
{
    return (flags & needed) == needed;
}

// Reads the CPU and the environment again at every call (cheap). Where there are AMX tiles it asks
// the system for permission to use them.
zn_cpu zn_cpu_detect(void);

// The class of these flags, for reports and names of files: "baseline" (what the architecture
// guarantees: SSE2, or plain Arm code), "avx2", "avx512" (with VNNI and BF16 where the CPU has
// them), "amx", "neon".
const char *zn_cpu_class(unsigned flags);

// The flags that a value of ZENITH_CPU allows (all, for NULL and ""); false where it is not of the
// form above.
bool zn_cpu_parse(const char *text, unsigned *flags);

// Without the flags whose ground is missing.
unsigned zn_cpu_supported(unsigned flags);

// What CPUID and XGETBV answer, and the flags that follow. AMX still needs permission.
typedef struct zn_cpuid {
    uint32_t leaf1_ecx, leaf7_ebx, leaf7_ecx, leaf7_edx, leaf7_1_eax;
    uint64_t xcr0; // the registers that the system saves for each thread
} zn_cpuid;
unsigned zn_cpu_of_cpuid(const zn_cpuid *id);

// The flags of Linux's AT_HWCAP and AT_HWCAP2 on 64-bit Arm.
unsigned zn_cpu_of_hwcaps(uint64_t hwcap, uint64_t hwcap2);

// The CPU's name as it gives it itself ("Intel(R) Xeon(R) ..."); "unknown" where it gives none.
enum { ZN_CPU_NAME = 49 };
void zn_cpu_name(char dst[ZN_CPU_NAME]);

#endif
