// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of families of a test: those of the library and those of test_models.list. It takes the
// place of src/model/families.c.
#include "src/model/family.h"

#define ZN_FAMILY(name) extern const zn_family zn_family_##name;
#include "src/model/models.list"
#include "tests/model/families/test_models.list"
#undef ZN_FAMILY

const zn_family *const zn_families[] = {
#define ZN_FAMILY(name) &zn_family_##name,
#include "src/model/models.list"
#include "tests/model/families/test_models.list"
#undef ZN_FAMILY
    NULL};
