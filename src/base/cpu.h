// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Which instruction sets this process may use. ZENITH_CPU=baseline|avx2|avx512|amx in the
// environment lowers it (any other word changes nothing); nothing raises it. The same cap is given
// to oneDNN (dnn/), so a lowered run is what an older CPU would compute.
#ifndef ZN_BASE_CPU_H
#define ZN_BASE_CPU_H

#include <stdbool.h>

typedef enum zn_isa {
    ZN_ISA_BASELINE = 0, // what the architecture guarantees (x86-64: SSE2)
    ZN_ISA_AVX2 = 1,     // with FMA and F16C
    ZN_ISA_AVX512 = 2,   // F, BW, DQ, VL
    ZN_ISA_AMX = 3       // AVX-512 with BF16 and VNNI; tiles of bf16 and int8, with permission
} zn_isa;

typedef struct zn_cpu {
    zn_isa isa;       // the best usable class, after the cap
    zn_isa hardware;  // the best usable class of the machine
    bool avx512_bf16; // within AVX512: VDPBF16PS
    bool avx512_vnni; // within AVX512: VPDPBUSD, so that u8*s8 sums do not saturate
} zn_cpu;

// Looks again at every call (cheap), the environment too. Where there are AMX tiles it asks the
// system for permission to use them.
zn_cpu zn_cpu_detect(void);
const char *zn_isa_name(zn_isa isa); // "baseline", "avx2", "avx512", "amx"

// The CPU's name as it gives it itself ("Intel(R) Xeon(R) ..."); "unknown" where it gives none.
enum { ZN_CPU_NAME = 49 };
void zn_cpu_name(char dst[ZN_CPU_NAME]);

#endif
