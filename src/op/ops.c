// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of operators, made from ops.list.
#include "src/op/ops.h"

#include <string.h>

#define ZN_OP(name) &zn_op_##name,
const zn_op *const zn_ops[] = {
#include "src/op/ops.list"
};
#undef ZN_OP
const int zn_ops_count = sizeof zn_ops / sizeof *zn_ops;

const zn_op *zn_op_find(const char *name)
{
    for (int i = 0; i < zn_ops_count; i++) {
        if (strcmp(zn_ops[i]->name, name) == 0) return zn_ops[i];
    }
    return NULL;
}
