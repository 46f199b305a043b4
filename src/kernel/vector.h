// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Vectors of f32 of the instruction set that a file is compiled for. The build compiles each kernel
// of its list once for every set, with that set's flags (src/CMakeLists.txt), so a kernel is
// written once, in the names of x86/vector_avx2.h, which says what each of them does:
//
//     vec, LANES, vec_add, ..        a vector, how many numbers it has, and what can be done with
//                                    it
//     VERSION(name)                  name_avx2: what the file exports; VERSION_NAME: "avx2"
//     ZN_BASELINE                    defined in the version of every CPU, which the build asks for
//                                    by name
#ifndef ZN_KERNEL_VECTOR_H
#define ZN_KERNEL_VECTOR_H

#if defined(ZN_BASELINE)
#include "src/kernel/vector_baseline.h"
#elif defined(__AVX512BW__)
#include "src/kernel/x86/vector_avx512.h"
#elif defined(__AVX2__)
#include "src/kernel/x86/vector_avx2.h"
#elif defined(__aarch64__)
#include "src/kernel/arm/vector_neon.h"
#else
#error "there are no vectors for these compiler flags"
#endif

#endif
