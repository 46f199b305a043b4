// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Frames of states in a schedule: which there are, and which of them are made late (plan_parts.h).
#include "src/graph/schedule_parts.h"

#include <string.h>

zn_frame *zn_frame_late(const zn_plan *plan, const zn_node *node)
{
    const int number = plan->frame_of[node->id];
    if (number == 0 || node->kind == ZN_NODE_STATE) return NULL;
    return plan->frames[number - 1].late ? &plan->frames[number - 1] : NULL;
}

bool zn_frame_is_held(const zn_plan *plan, const zn_node *node)
{
    return plan->frame_of[node->id] && !zn_frame_late(plan, node);
}

bool zn_frame_is_of(const zn_node *node, const char *state)
{
    return node->kind == ZN_NODE_STATE && strcmp(node->name, state) == 0;
}

static bool reads_state(const zn_node *reader, const char *state)
{
    for (int i = 0; i < reader->inputs_count; i++) {
        if (zn_frame_is_of(reader->inputs[i], state)) return true;
    }
    return false;
}

static zenith_status add_frame(zn_plan *plan, const char *state, const zn_node *node, int age,
                               zn_error *err)
{
    for (size_t i = 0; i < plan->frames_count; i++) {
        const zn_frame *other = &plan->frames[i];
        if (strcmp(other->state, state) != 0) continue;
        if (age <= 0 && other->age <= 0) age--; // pushed after that one
        if (zn_same_frames(&other->node->desc, &node->desc)) continue;
        return zn_fail(err, ZENITH_INTERNAL, "state '%s' has frames of several shapes or types",
                       state);
    }
    plan->frames[plan->frames_count++] = (zn_frame){.state = state, .node = node, .age = age};
    plan->frame_of[node->id] = (int)plan->frames_count;
    return ZENITH_OK;
}

zenith_status zn_frames_list(zn_plan *plan, zn_error *err)
{
    const zn_graph *graph = plan->graph;
    size_t count = graph->pushes_count;
    for (size_t id = 0; id < graph->count; id++) count += graph->nodes[id]->kind == ZN_NODE_STATE;
    plan->frame_of = zn_arena_alloc(&plan->arena, (graph->count + 1) * sizeof *plan->frame_of);
    plan->frames = zn_arena_alloc(&plan->arena, (count + 1) * sizeof *plan->frames);
    if (!plan->frame_of || !plan->frames) return zn_fail_memory(err, count * sizeof(zn_frame));
    for (size_t id = 0; id < graph->count; id++) {
        const zn_node *node = graph->nodes[id];
        if (node->kind != ZN_NODE_STATE) continue;
        ZN_TRY(add_frame(plan, node->name, node, node->age, err));
    }
    for (size_t i = 0; i < graph->pushes_count; i++) {
        ZN_TRY(add_frame(plan, graph->pushes[i].state, graph->pushes[i].node, 0, err));
    }
    return ZENITH_OK;
}

// A state that is read and pushed, and not shown to the world, may have late frames.
static bool may_be_late(const zn_plan *plan, const char *state)
{
    bool read = false, pushed = false;
    for (size_t i = 0; i < plan->frames_count; i++) {
        const zn_frame *frame = &plan->frames[i];
        const zn_node *node = frame->node;
        if (strcmp(frame->state, state) != 0) continue;
        read |= frame->age > 0;
        pushed |= frame->age <= 0;
        if (!zn_node_is_map(node) || (frame->age <= 0 && node->kind == ZN_NODE_STATE)) return false;
        if (frame->age > 0 &&
            zn_node_index(plan->graph->outputs, plan->graph->outputs_count, node) >= 0)
            return false;
    }
    return read && pushed;
}

void zn_frames_hope_late(zn_plan *plan)
{
    for (size_t i = 0; i < plan->frames_count; i++)
        plan->frames[i].late = may_be_late(plan, plan->frames[i].state);
}

// A late frame is there until the state's last reader is done.
void zn_frames_time_late(zn_plan *plan)
{
    for (size_t i = 0; i < plan->frames_count; i++) {
        zn_frame *frame = &plan->frames[i];
        if (!frame->late || frame->age > 0) continue;
        for (int w = 0; w < (int)plan->works_count; w++) {
            const zn_node *node = plan->works[w].node;
            if (node == frame->node || reads_state(node, frame->state)) frame->work = w;
        }
        zn_buffer *buffer = &plan->buffers[frame->buffer]; // a tick is a work
        if (buffer->dies < frame->work) buffer->dies = frame->work;
    }
}

// Whether all that reads a state or makes its frames is computed in one rolling pass, once.
static bool in_one_pass(const zn_plan *plan, const char *state)
{
    int found = -1;
    for (int p = 0; p < (int)plan->passes_count; p++) {
        const zn_pass *pass = &plan->passes[p];
        for (int w = pass->first_work; w < pass->first_work + pass->works_count; w++) {
            const zn_node *node = plan->works[w].node;
            const int frame = plan->frame_of[node->id];
            const bool makes = frame && node->kind != ZN_NODE_STATE &&
                               strcmp(plan->frames[frame - 1].state, state) == 0;
            if (!makes && !reads_state(node, state)) continue;
            if (!pass->rolling || (found >= 0 && found != p)) return false;
            found = p;
        }
    }
    return true;
}

static void set_late(zn_plan *plan, const char *state, bool late)
{
    for (size_t i = 0; i < plan->frames_count; i++) {
        if (strcmp(plan->frames[i].state, state) == 0) plan->frames[i].late = late;
    }
}

bool zn_frames_drop_late(zn_plan *plan)
{
    bool dropped = false;
    for (size_t i = 0; i < plan->frames_count; i++) {
        const zn_frame *frame = &plan->frames[i];
        if (!frame->late || in_one_pass(plan, frame->state)) continue;
        set_late(plan, frame->state, false);
        dropped = true;
    }
    return dropped;
}
