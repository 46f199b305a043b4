// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// CPU features as flags: their names, what each builds upon, and how they follow from what a CPU
// says of itself. Nothing here asks the machine; the program has it too, to check ZENITH_CPU.
#include "src/base/cpu.h"

#include <stddef.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
    OF_AVX2 = ZN_CPU_F16C | ZN_CPU_FMA | ZN_CPU_AVX2,
    OF_AVX512 = OF_AVX2 | ZN_CPU_AVX512 | ZN_CPU_AVX512_VNNI | ZN_CPU_AVX512_BF16,
    OF_AMX = OF_AVX512 | ZN_CPU_AVX_VNNI | ZN_CPU_AMX_TILE | ZN_CPU_AMX_BF16 | ZN_CPU_AMX_INT8
};

// Highest first. `allows`: the flags of the word in ZENITH_CPU; `needs`: of the CPU, to be called
// so.
static const struct {
    const char *name;
    unsigned allows, needs;
} classes[] = {
    {"amx", OF_AMX, ZN_CPU_AMX},
    {"avx512", OF_AVX512, ZN_CPU_AVX512},
    {"avx2", OF_AVX2, ZN_CPU_AVX2},
    {"neon", ZN_CPU_NEON, ZN_CPU_NEON},
    {"baseline", 0, 0},
};

// What a feature builds upon comes before it.
static const struct {
    const char *name;
    unsigned flag, needs;
} features[] = {
    {"f16c", ZN_CPU_F16C, 0},
    {"fma", ZN_CPU_FMA, 0},
    {"avx2", ZN_CPU_AVX2, ZN_CPU_F16C | ZN_CPU_FMA},
    {"vnni", ZN_CPU_AVX_VNNI, ZN_CPU_AVX2},
    {"avx512", ZN_CPU_AVX512, ZN_CPU_AVX2},
    {"avx512_vnni", ZN_CPU_AVX512_VNNI, ZN_CPU_AVX512},
    {"avx512_bf16", ZN_CPU_AVX512_BF16, ZN_CPU_AVX512},
    {"amx_tile", ZN_CPU_AMX_TILE, ZN_CPU_AVX512_VNNI | ZN_CPU_AVX512_BF16},
    {"amx_bf16", ZN_CPU_AMX_BF16, ZN_CPU_AMX_TILE},
    {"amx_int8", ZN_CPU_AMX_INT8, ZN_CPU_AMX_TILE},
    {"neon", ZN_CPU_NEON, 0},
    {"dotprod", ZN_CPU_DOTPROD, ZN_CPU_NEON},
    {"i8mm", ZN_CPU_I8MM, ZN_CPU_NEON},
    {"bf16", ZN_CPU_ARM_BF16, ZN_CPU_NEON},
    {"sve", ZN_CPU_SVE, ZN_CPU_NEON},
};

const char *zn_cpu_class(unsigned flags)
{
    size_t i = 0;
    while (!zn_cpu_has(flags, classes[i].needs)) i++;
    return classes[i].name;
}

unsigned zn_cpu_supported(unsigned flags)
{
    for (size_t i = 0; i < COUNT(features); i++) {
        if (!zn_cpu_has(flags, features[i].needs)) flags &= ~features[i].flag;
    }
    return flags;
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

static bool class_of_word(const char *text, size_t length, unsigned *flags)
{
    for (size_t i = 0; i < COUNT(classes); i++) {
        if (!is_word(text, length, classes[i].name)) continue;
        *flags = classes[i].allows;
        return true;
    }
    return false;
}

static bool add_feature(const char *text, size_t length, unsigned *flags)
{
    for (size_t i = 0; i < COUNT(features); i++) {
        if (!is_word(text, length, features[i].name)) continue;
        *flags |= features[i].flag;
        return true;
    }
    return false;
}

bool zn_cpu_parse(const char *text, unsigned *flags)
{
    unsigned allowed = ~0u;
    if (text && *text) {
        size_t length = strcspn(text, ",");
        if (!class_of_word(text, length, &allowed)) return false;
        for (text += length; *text == ','; text += length) {
            text++;
            length = strcspn(text, ",");
            if (!add_feature(text, length, &allowed)) return false;
        }
    }
    *flags = allowed;
    return true;
}

// --- x86-64 --------------------------------------------------------------------------------------

// Bits of CPUID's registers: of leaf 1 ECX, of leaf 7 EBX, ECX and EDX, and of leaf 7.1 EAX.
enum { F1C_FMA = 12, F1C_OSXSAVE = 27, F1C_AVX = 28, F1C_F16C = 29 };
enum { F7B_AVX2 = 5, F7B_F = 16, F7B_DQ = 17, F7B_BW = 30, F7B_VL = 31, F7C_VNNI = 11 };
enum { F7D_AMX_BF16 = 22, F7D_AMX_TILE = 24, F7D_AMX_INT8 = 25, F71A_VNNI = 4, F71A_BF16 = 5 };
// State that the system must save at a switch of threads (XCR0), without which the registers lie.
enum { STATE_AVX = 0x6, STATE_AVX512 = 0xe6, STATE_AMX = 0x60000 };

static unsigned flag_if(uint32_t value, int bit, zn_cpu_flag flag)
{
    return value >> bit & 1 ? (unsigned)flag : 0;
}

unsigned zn_cpu_of_cpuid(const zn_cpuid *id)
{
    const uint32_t wide = 1u << F7B_F | 1u << F7B_DQ | 1u << F7B_BW | 1u << F7B_VL;
    unsigned flags = 0;
    if (!(id->leaf1_ecx >> F1C_OSXSAVE & 1) || !(id->leaf1_ecx >> F1C_AVX & 1) ||
        (id->xcr0 & STATE_AVX) != STATE_AVX)
        return 0;
    flags |= flag_if(id->leaf1_ecx, F1C_F16C, ZN_CPU_F16C);
    flags |= flag_if(id->leaf1_ecx, F1C_FMA, ZN_CPU_FMA);
    flags |= flag_if(id->leaf7_ebx, F7B_AVX2, ZN_CPU_AVX2);
    flags |= flag_if(id->leaf7_1_eax, F71A_VNNI, ZN_CPU_AVX_VNNI);
    if ((id->xcr0 & STATE_AVX512) == STATE_AVX512 && (id->leaf7_ebx & wide) == wide)
        flags |= ZN_CPU_AVX512;
    flags |= flag_if(id->leaf7_ecx, F7C_VNNI, ZN_CPU_AVX512_VNNI);
    flags |= flag_if(id->leaf7_1_eax, F71A_BF16, ZN_CPU_AVX512_BF16);
    if ((id->xcr0 & STATE_AMX) == STATE_AMX)
        flags |= flag_if(id->leaf7_edx, F7D_AMX_TILE, ZN_CPU_AMX_TILE);
    flags |= flag_if(id->leaf7_edx, F7D_AMX_BF16, ZN_CPU_AMX_BF16);
    flags |= flag_if(id->leaf7_edx, F7D_AMX_INT8, ZN_CPU_AMX_INT8);
    return zn_cpu_supported(flags);
}

// --- 64-bit Arm ----------------------------------------------------------------------------------

unsigned zn_cpu_of_hwcaps(uint64_t hwcap, uint64_t hwcap2)
{
    enum { ASIMD = 1, DOTPROD = 20, SVE = 22, I8MM = 13, BF16 = 14 }; // the last two of the second
    unsigned flags = 0;
    flags |= flag_if((uint32_t)hwcap, ASIMD, ZN_CPU_NEON);
    flags |= flag_if((uint32_t)hwcap, DOTPROD, ZN_CPU_DOTPROD);
    flags |= flag_if((uint32_t)hwcap, SVE, ZN_CPU_SVE);
    flags |= flag_if((uint32_t)hwcap2, I8MM, ZN_CPU_I8MM);
    flags |= flag_if((uint32_t)hwcap2, BF16, ZN_CPU_ARM_BF16);
    return zn_cpu_supported(flags);
}
