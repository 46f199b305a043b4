// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of families, and nothing else: a program that defines zn_families itself (a test with a
// family of its own) is linked without this file.
#include "src/model/family.h"

#define ZN_FAMILY(name) extern const zn_family zn_family_##name;
#include "src/model/models.list"
#undef ZN_FAMILY

const zn_family *const zn_families[] = {
#define ZN_FAMILY(name) &zn_family_##name,
#include "src/model/models.list"
#undef ZN_FAMILY
    NULL};
