// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/task/engine/guard.h"

#include "src/graph/op.h"
#include "src/tensor/finite.h"

#include <stdatomic.h>

static bool has_infinities(const zn_node *node)
{
    const zn_type type = node->desc.type;
    return type == ZN_F32 || type == ZN_BF16 || type == ZN_BF16X2 || type == ZN_F16;
}

bool *zn_guard_marks(const zn_graph *graph)
{
    bool *marks = zn_alloc_zero(graph->count * sizeof *marks);
    for (size_t id = 0; marks && id < graph->count; id++) {
        const zn_node *node = graph->nodes[id];
        if (node->kind != ZN_NODE_OP) continue;
        marks[id] |= (node->op->traits & ZN_OP_GUARDED) != 0;
        for (int i = 0; !has_infinities(node) && i < node->inputs_count; i++)
            marks[node->inputs[i]->id] |= has_infinities(node->inputs[i]);
    }
    for (size_t i = 0; marks && i < graph->outputs_count; i++)
        marks[graph->outputs[i]->id] |= has_infinities(graph->outputs[i]);
    return marks;
}

typedef struct look {
    zn_type type;
    const uint8_t *data;
    atomic_bool bad;
} look;

static void look_at(void *arg, size_t begin, size_t end)
{
    look *l = arg;
    const uint8_t *first = l->data + begin * zn_type_size(l->type);
    if (!zn_all_finite(l->type, first, end - begin)) atomic_store(&l->bad, true);
}

void zn_guard_look(zn_guard *guard, const zn_node *node, int64_t count, const void *data)
{
    enum { TILE = 1 << 14 };
    if (!guard->watched[node->id] || guard->found) return;
    size_t elements = 0;
    zn_shape shape = node->desc.shape;
    if (zn_node_is_map(node)) shape.dim[1] = count;
    if (!zn_shape_elements(&shape, &elements)) return;
    look l = {.type = node->desc.type, .data = data};
    zn_parallel(elements > TILE ? guard->team : NULL, elements, TILE, look_at, &l);
    if (atomic_load(&l.bad)) guard->found = node;
}

const char *zn_dtype_name(zenith_dtype dtype)
{
    if (dtype == ZENITH_DTYPE_BF16) return "bf16";
    return dtype == ZENITH_DTYPE_INT8 ? "int8" : "f32";
}

zenith_status zn_guard_check(const zn_guard *guard, zn_error *err)
{
    if (!guard->found) return ZENITH_OK;
    return zn_fail(err, ZENITH_OVERFLOW, "numbers grew beyond what %s holds, as '%s' shows%s",
                   zn_dtype_name(guard->dtype), guard->found->name,
                   guard->dtype == ZENITH_DTYPE_F32
                       ? ": a weight, or a number of the input, is far too large"
                       : "");
}
