// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/model/pruning.h"

#define ZN_PRUNING(name) extern const zn_pruning zn_pruning_##name;
#include "src/model/pruning.list"
#undef ZN_PRUNING

static const zn_pruning *const all[] = {
#define ZN_PRUNING(name) &zn_pruning_##name,
#include "src/model/pruning.list"
#undef ZN_PRUNING
};

const zn_pruning *zn_pruning_of(const zn_family *family)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->family == family) return all[i];
    return NULL;
}
