// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Names of what is compiled once for each instruction set: zn_exp_baseline, zn_exp_avx2, and so on.
// Inside such a file VERSION(zn_exp) is the name of its own (vector.h).
#ifndef ZN_KERNEL_VERSIONS_H
#define ZN_KERNEL_VERSIONS_H

// Declares all of them; which ones there are, the architecture decides (src/CMakeLists.txt).
#define ZN_VERSIONS(type, name) type name##_baseline, name##_avx2, name##_avx512, name##_neon

#endif
