// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Type assignment. A value is stored once, in the type its producer makes; a reader that wants
// another gets a conversion. A convolution computes in the type of its input, so "this one in 8
// bits" means that its input is 8-bit. Its result is 8-bit too where every reader wants that, so
// that a chain of 8-bit convolutions never leaves 8 bits. Weights are rounded by the lowering.
#include "src/graph/passes.h"

#include <string.h>

typedef struct typing {
    const zn_graph *src;
    const zn_type_policy *policy;
    zn_type *states; // by id of src, of states: the type that they are taken to have
    zn_graph *dst;
    zn_node **stored;     // by id of src: the copy, in its stored type
    zn_node **as_float;   // by id: the copy in the policy's type, once someone asked
    zn_node **as_precise; // by id: the copy in bf16x2 or f32, once someone asked
    zn_node **as_integer; // by id: the copy in 8 bits, once someone asked
    bool *wants_integer;  // by id: every reader takes 8 bits
    bool *keeps;          // by id: leaves the graph, as it is or through a conversion of its own
} typing;

static bool is_integer(const zn_node *node)
{
    return node->desc.type == ZN_U8 || node->desc.type == ZN_S8;
}

static bool quantised(const typing *t, const zn_node *node)
{
    if (!t->policy->quantise || node->kind != ZN_NODE_OP) return false;
    return (node->op->traits & ZN_OP_MATMUL) && t->policy->quantise(t->policy->cookie, node);
}

// 8-bit type and scale for the values of a node of src; false where they are not known.
static bool integer_type(const typing *t, const zn_node *node, zn_type *type, float *scale)
{
    float largest = 0;
    bool positive = false;
    if (!t->policy->range || !t->policy->range(t->policy->cookie, node, &largest, &positive)) {
        return false;
    }
    *type = positive ? ZN_U8 : ZN_S8;
    *scale = (largest > 0 ? largest : 1) / (positive ? 255.0f : 127.0f);
    return true;
}

// Readers come after the node, so one walk from the end settles what each value's readers want.
static void settle_wishes(typing *t)
{
    const zn_graph *src = t->src;
    for (size_t id = 0; id < src->count; id++) t->wants_integer[id] = true;
    for (size_t i = 0; i < src->outputs_count; i++) t->wants_integer[src->outputs[i]->id] = false;
    for (size_t i = 0; i < src->pushes_count; i++)
        t->wants_integer[src->pushes[i].node->id] = false;
    for (size_t id = src->count; id-- > 0;) {
        const zn_node *node = src->nodes[id];
        bool integer = quantised(t, node);
        if (node->kind == ZN_NODE_OP && (node->op->traits & ZN_OP_FOLLOWS)) {
            integer = t->wants_integer[id];
        }
        for (int i = 0; i < node->inputs_count && !integer; i++) {
            t->wants_integer[node->inputs[i]->id] = false;
        }
    }
}

static zn_precision precision_of(const typing *t, const zn_node *node)
{
    if (t->policy->type == ZN_F32 || !t->policy->precision) return ZN_PRECISION_PLAIN;
    return t->policy->precision(t->policy->cookie, node);
}

// The value for a convolution that multiplies in the policy's type.
static zn_node *floating(typing *t, const zn_node *node, zn_precision precision)
{
    zn_node *stored = t->stored[node->id];
    if (!stored || stored->desc.type == t->policy->type || stored->desc.type == ZN_BF16X2) {
        return stored;
    }
    // f16 is multiplied in f32, so what is f32 already stays so.
    bool full = precision == ZN_PRECISION_FULL || t->policy->type == ZN_F16;
    if (full && stored->desc.type == ZN_F32) return stored;
    bool split = precision == ZN_PRECISION_SPLIT && !is_integer(stored);
    zn_node **copy = split || full ? &t->as_precise[node->id] : &t->as_float[node->id];
    if (*copy) return *copy;
    // Integers up to 255 are exact in bf16: keep them and their scale, rather than round twice.
    float scale = t->policy->type == ZN_BF16 && !full ? stored->desc.scale : 1;
    zn_type type = split ? ZN_BF16X2 : full ? ZN_F32 : t->policy->type;
    *copy = t->policy->convert(t->dst, stored, type, scale);
    return *copy;
}

static zn_node *integer(typing *t, const zn_node *node)
{
    zn_node *stored = t->stored[node->id];
    if (!stored || is_integer(stored)) return stored;
    if (!t->as_integer[node->id]) {
        zn_type type;
        float scale;
        if (!integer_type(t, node, &type, &scale)) {
            return floating(t, node, precision_of(t, node));
        }
        t->as_integer[node->id] = t->policy->convert(t->dst, stored, type, scale);
    }
    return t->as_integer[node->id];
}

// What leaves the graph keeps its precision up to the end: a picture is rounded to 8 bits once,
// also where it is copied to another place before.
static void settle_outputs(typing *t)
{
    for (size_t i = 0; i < t->src->outputs_count; i++) {
        const zn_node *node = t->src->outputs[i];
        t->keeps[node->id] = true;
        while (node->kind == ZN_NODE_OP && zn_node_is_map(node) &&
               (node->op->traits & (ZN_OP_FIXED | ZN_OP_FOLLOWS))) {
            node = node->inputs[0];
            t->keeps[node->id] = true;
        }
    }
}

static void choose_result(const typing *t, const zn_node *node, zn_desc *desc)
{
    if ((node->op->traits & ZN_OP_FIXED) || !zn_node_is_map(node) || t->keeps[node->id]) return;
    desc->type = precision_of(t, node) == ZN_PRECISION_PLAIN ? t->policy->type : ZN_F32;
    desc->scale = 1;
    zn_type type;
    float scale;
    if (t->policy->floating && t->policy->floating(t->policy->cookie, node)) return;
    if (quantised(t, node) && t->wants_integer[node->id] && integer_type(t, node, &type, &scale)) {
        desc->type = type;
        desc->scale = scale;
    }
}

// A copy in another place: copied in the type in which it will be multiplied, if it is.
static zn_node *copied(typing *t, const zn_node *node, const zn_node *input)
{
    const zn_precision precision = precision_of(t, node);
    const bool as_stored = t->wants_integer[node->id] || t->keeps[node->id] ||
                           precision == ZN_PRECISION_STORED;
    return as_stored ? t->stored[input->id] : floating(t, input, precision);
}

// Input `i` of a node in the type in which its operator takes it.
static zn_node *wanted(typing *t, const zn_node *node, int i)
{
    const zn_node *input = node->inputs[i];
    zn_node *stored = t->stored[input->id];
    switch (zn_node_wants(node, i)) {
    case ZN_WANT_STORED:
        return stored;
    case ZN_WANT_FLOAT:
        return is_integer(stored) ? floating(t, input, ZN_PRECISION_PLAIN) : stored;
    case ZN_WANT_PRODUCT:
        return floating(t, input, precision_of(t, input));
    case ZN_WANT_MATMUL:
        return quantised(t, node) ? integer(t, input) : floating(t, input, precision_of(t, input));
    case ZN_WANT_COPY:
        return copied(t, node, input);
    }
    return NULL;
}

static zn_node *copy_typed(typing *t, const zn_node *node)
{
    zn_node made = *node;
    choose_result(t, node, &made.desc);
    zn_node *inputs[ZN_MAX_INPUTS];
    for (int i = 0; i < node->inputs_count; i++) {
        inputs[i] = wanted(t, node, i);
        if (!inputs[i]) return NULL;
    }
    if (node->op->traits & ZN_OP_FOLLOWS) {
        made.desc.type = inputs[0]->desc.type;
        made.desc.scale = inputs[0]->desc.scale;
    }
    return zn_graph_copy(t->dst, &made, inputs);
}

static zenith_status copy_graph(typing *t)
{
    // After a failure there is a node missing that the next ones would look at.
    for (size_t id = 0; id < t->src->count && t->dst->status == ZENITH_OK; id++) {
        const zn_node *node = t->src->nodes[id];
        zn_node leaf = *node;
        if (node->kind == ZN_NODE_STATE) leaf.desc.type = t->states[id];
        t->stored[id] = node->kind == ZN_NODE_OP ? copy_typed(t, node)
                                                 : zn_graph_copy(t->dst, &leaf, NULL);
    }
    for (size_t i = 0; i < t->src->pushes_count; i++) {
        const zn_push *push = &t->src->pushes[i];
        zn_graph_push(t->dst, push->state, t->stored[push->node->id]);
    }
    for (size_t i = 0; i < t->src->outputs_count; i++) {
        zn_graph_output(t->dst, t->stored[t->src->outputs[i]->id]);
    }
    return zn_graph_finish(t->dst);
}

static zenith_status type_once(const zn_graph *src, const zn_type_policy *policy, zn_type *states,
                               zn_graph *dst, zn_error *err)
{
    zn_graph_begin(dst, err);
    size_t n = src->count;
    typing t = {.src = src,
                .policy = policy,
                .states = states,
                .dst = dst,
                .stored = zn_arena_alloc(&dst->arena, n * sizeof *t.stored),
                .as_float = zn_arena_alloc(&dst->arena, n * sizeof *t.as_float),
                .as_precise = zn_arena_alloc(&dst->arena, n * sizeof *t.as_precise),
                .as_integer = zn_arena_alloc(&dst->arena, n * sizeof *t.as_integer),
                .wants_integer = zn_arena_alloc(&dst->arena, n * sizeof *t.wants_integer),
                .keeps = zn_arena_alloc(&dst->arena, n * sizeof *t.keeps)};
    if (!t.stored || !t.as_float || !t.as_precise || !t.as_integer || !t.wants_integer || !t.keeps)
        return zn_fail_memory(err, n * sizeof *t.stored);
    settle_wishes(&t);
    settle_outputs(&t);
    return copy_graph(&t);
}

// States have the type of what is pushed to them. False: one was taken to have another.
static bool settle_states(const zn_graph *src, const zn_graph *dst, zn_type *states)
{
    bool settled = true;
    for (size_t id = 0; id < src->count; id++) {
        const zn_node *state = src->nodes[id];
        if (state->kind != ZN_NODE_STATE) continue;
        for (size_t i = 0; i < dst->pushes_count; i++) {
            const zn_type type = dst->pushes[i].node->desc.type;
            if (strcmp(dst->pushes[i].state, state->name) != 0 || type == states[id]) continue;
            states[id] = type;
            settled = false;
        }
    }
    return settled;
}

// What is pushed may be made from states, so its type is known when theirs is: a state is taken to
// have the type it had in src, and where that was wrong, the next try knows better. Two tries do
// for all but copies of copies of states.
zenith_status zn_pass_types(const zn_graph *src, const zn_type_policy *policy, zn_graph *dst,
                            zn_error *err)
{
    enum { TRIES = 8 };
    *dst = (zn_graph){0};
    zenith_status status = ZENITH_OK;
    zn_arena kept = {0};
    zn_type *states = zn_arena_alloc(&kept, (src->count + 1) * sizeof *states);
    if (!states) status = zn_fail_memory(err, src->count * sizeof *states);
    for (size_t id = 0; states && id < src->count; id++) states[id] = src->nodes[id]->desc.type;
    for (int i = 0; states && i < TRIES; i++) {
        zn_graph_free(dst);
        ZN_GO(type_once(src, policy, states, dst, err));
        if (settle_states(src, dst, states)) goto done;
    }
    if (states) status = zn_fail(err, ZENITH_INTERNAL, "the types of the states do not settle");
fail:
    zn_graph_free(dst);
done:
    zn_arena_free(&kept);
    return status;
}
