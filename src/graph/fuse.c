// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Fusion: one matcher for the patterns of all fused operators. The graph is walked from the outputs
// to the inputs, so that a large pattern (conv + add + relu) is found at its root before a smaller
// one is found inside it; matched inner nodes are then left out of the copy.
#include "src/graph/passes.h"

typedef struct fusion {
    const zn_graph *src;
    const zn_cpu *cpu; // NULL: types are not known yet
    const int *uses;
    bool *absorbed;     // by id: an inner node of a match, not copied
    const zn_op **root; // by id: the fused operator rooted there, or NULL
    zn_match *matches;  // by id
    zn_node **copies;   // by id
} fusion;

const zn_node *zn_matched(const zn_match *match, const zn_op *op)
{
    for (int i = 0; i < ZN_PATTERN_MAX; i++) {
        if (match->nodes[i] && match->nodes[i]->op == op) return match->nodes[i];
    }
    return NULL;
}

// Matches (*pattern)[index] at `node`, which an outer pattern node reads unless index is 0.
static bool match_at(const fusion *f, const zn_pattern *pattern, bool exchanged, int index,
                     zn_node *node, zn_match *match)
{
    const int *arguments = (*pattern)[index].arguments;
    if (node->kind != ZN_NODE_OP || node->op != (*pattern)[index].op) return false;
    if (f->absorbed[node->id] || f->root[node->id]) return false;
    if (index != 0 && f->uses[node->id] != 1) return false;
    match->nodes[index] = node;
    for (int i = 0; i < node->inputs_count; i++) {
        const bool other = exchanged && arguments[0] >= ZN_PATTERN_MAX && i < 2;
        zn_node *input = node->inputs[other ? 1 - i : i];
        if (i >= 4 || arguments[i] == 0) return false;
        if (arguments[i] < 0)
            match->any[match->any_count++] = input;
        else if (!match_at(f, pattern, exchanged, arguments[i] % ZN_PATTERN_MAX, input, match))
            return false;
    }
    return node->inputs_count == 4 || arguments[node->inputs_count] == 0 ||
           arguments[node->inputs_count] == ZN_MAYBE;
}

static bool has_either(const zn_pattern *pattern)
{
    for (int i = 0; i < ZN_PATTERN_MAX; i++) {
        if ((*pattern)[i].arguments[0] >= ZN_PATTERN_MAX) return true;
    }
    return false;
}

static void absorb(fusion *f, const zn_op *op, zn_node *node, const zn_match *match)
{
    f->root[node->id] = op;
    f->matches[node->id] = *match;
    for (int i = 1; i < ZN_PATTERN_MAX; i++) {
        if (match->nodes[i]) f->absorbed[match->nodes[i]->id] = true;
    }
}

static void try_pattern(fusion *f, const zn_op *op, const zn_pattern *pattern, zn_node *node)
{
    for (int exchanged = 0; exchanged <= has_either(pattern) && !f->root[node->id]; exchanged++) {
        zn_match match = {0};
        if (!match_at(f, pattern, exchanged, 0, node, &match)) continue;
        if (f->cpu && !op->accepts(&match, f->cpu)) continue;
        absorb(f, op, node, &match);
    }
}

static void find_matches(fusion *f, const zn_op *const *ops, int ops_count)
{
    for (size_t id = f->src->count; id-- > 0;) {
        for (int o = 0; o < ops_count && !f->root[id]; o++) {
            if ((ops[o]->accepts != NULL) != (f->cpu != NULL)) continue;
            for (int p = 0; p < ops[o]->patterns.count && !f->root[id]; p++)
                try_pattern(f, ops[o], &ops[o]->patterns.list[p], f->src->nodes[id]);
        }
    }
}

static zn_node *copy_node(fusion *f, zn_graph *dst, const zn_node *node)
{
    zn_node *inputs[ZN_MAX_INPUTS];
    for (int i = 0; i < node->inputs_count; i++) inputs[i] = f->copies[node->inputs[i]->id];
    return zn_graph_copy(dst, node, inputs);
}

static zn_node *build_fused(fusion *f, zn_graph *dst, const zn_node *node)
{
    zn_match match = f->matches[node->id];
    for (int i = 0; i < match.any_count; i++) match.any[i] = f->copies[match.any[i]->id];
    zn_node *made = f->root[node->id]->build(dst, &match);
    if (made) made->desc = node->desc;
    return made;
}

static zenith_status copy_graph(fusion *f, zn_graph *dst)
{
    for (size_t id = 0; id < f->src->count; id++) {
        const zn_node *node = f->src->nodes[id];
        if (f->absorbed[id]) continue;
        f->copies[id] = f->root[id] ? build_fused(f, dst, node) : copy_node(f, dst, node);
    }
    for (size_t i = 0; i < f->src->pushes_count; i++) {
        const zn_push *push = &f->src->pushes[i];
        zn_graph_push(dst, push->state, f->copies[push->node->id]);
    }
    for (size_t i = 0; i < f->src->outputs_count; i++) {
        zn_graph_output(dst, f->copies[f->src->outputs[i]->id]);
    }
    return zn_graph_finish(dst);
}

zenith_status zn_pass_fuse(const zn_graph *src, const zn_op *const *ops, int ops_count,
                           const zn_cpu *cpu, zn_graph *dst, zn_error *err)
{
    zn_graph_begin(dst, err);
    size_t n = src->count;
    fusion f = {.src = src,
                .cpu = cpu,
                .uses = zn_graph_count_uses(src, &dst->arena),
                .absorbed = zn_arena_alloc(&dst->arena, n * sizeof *f.absorbed),
                .root = zn_arena_alloc(&dst->arena, n * sizeof *f.root),
                .matches = zn_arena_alloc(&dst->arena, n * sizeof *f.matches),
                .copies = zn_arena_alloc(&dst->arena, n * sizeof *f.copies)};
    zenith_status status = ZENITH_OK;
    if (!f.uses || !f.absorbed || !f.root || !f.matches || !f.copies) {
        status = zn_fail_memory(err, n * sizeof *f.matches);
        goto fail;
    }
    find_matches(&f, ops, ops_count);
    ZN_GO(copy_graph(&f, dst));
    return ZENITH_OK;
fail:
    zn_graph_free(dst);
    return status;
}
