// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What embed and its gradient share: numbers as rows of a table.
#ifndef ZN_OP_EMBED_ROWS_H
#define ZN_OP_EMBED_ROWS_H

#include "src/op/op_checks.h"

// The number of a token, of a map of any type.
static inline float zn_embed_id(const zn_desc *ids, const void *data, size_t token)
{
    return zn_type_load(ids->type, data, token) * ids->scale;
}

// The row that a number names, -1: none of the table.
static inline int64_t zn_embed_row(float id, int64_t rows)
{
    if (!(id > -0.5f && id < 16777216.0f)) return -1; // f32 has no odd numbers above 2^24
    const int64_t row = (int64_t)(id + 0.5f);
    return row < rows ? row : -1;
}

// Input `input` is a map of one number for each token. It is read as it is stored: types smaller than
// f32 hold the numbers of small tables only, and nothing may round numbers to them.
static inline zenith_status zn_check_ids(const zn_node *node, int input, zn_error *err)
{
    ZN_TRY(zn_check_map(node, input, err));
    const zn_desc *ids = &node->inputs[input]->desc;
    if (ids->shape.dim[3] == 1) return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT, "%s needs one number for each token",
                   node->op->name);
}

#endif
