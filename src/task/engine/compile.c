// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/task/engine/compile.h"

#include "src/base/text.h"
#include "src/model/type_choice.h"
#include "src/op/ops.h"
#include "src/task/engine/guard.h"

#include <string.h>

zenith_dtype zn_default_dtype(const zn_cpu *cpu)
{
    return zn_cpu_has(cpu->flags, ZN_CPU_AMX) ? ZENITH_DTYPE_BF16 : ZENITH_DTYPE_F32;
}

zenith_dtype zn_dtype_of(const zn_cpu *cpu, const zn_model *model, zenith_dtype wanted)
{
    if (wanted != ZENITH_DTYPE_DEFAULT) return wanted;
    const zenith_dtype usual = zn_default_dtype(cpu);
    const bool bytes = model->bytes && model->variant->int8 == ZN_INT8_DYNAMIC;
    return usual == ZENITH_DTYPE_F32 && bytes ? ZENITH_DTYPE_INT8 : usual;
}

bool zn_compile_key_equal(const zn_compile_key *a, const zn_compile_key *b)
{
    return a->model == b->model && a->part == b->part && zn_sizes_equal(&a->sizes, &b->sizes) &&
           a->dtype == b->dtype && a->pixels == b->pixels && a->mode == b->mode &&
           a->band == b->band && a->calibration == b->calibration &&
           a->late_frames == b->late_frames && a->every_value == b->every_value;
}

// Pixels as bytes. Where the network ends with a copy (channels to pixels), bytes are copied: the
// layer before rounds to them, as the last layer of other networks does.
static zn_node *as_bytes(zn_graph *graph, const char *name, zn_node *y, float scale)
{
    const bool copies = y && y->kind == ZN_NODE_OP && (y->op->traits & ZN_OP_FOLLOWS);
    char full[ZN_NAME_SIZE];
    if (!copies) return zn_convert(graph, name, y, ZN_U8, scale);
    zn_graph_take_back(graph, y);
    zn_text_format(full, sizeof full, "%s.bytes", name);
    zn_node *bytes = zn_convert(graph, full, y->inputs[0], ZN_U8, scale);
    return zn_graph_add(graph, y->op, name, &bytes, 1, y->attributes);
}

// 8-bit pixels are a quantised map: the number 255 stands for 1.
zenith_status zn_build_part(const zn_compile_key *key, zn_graph *graph, zn_error *err)
{
    const bool bytes = key->pixels == ZENITH_U8;
    const zn_desc pixels = {.type = ZN_U8, .scale = 1.0f / 255.0f};
    zn_ports ports = {.inputs_count = 0};
    zn_node *inputs[ZN_MOST_PORTS], *outputs[ZN_MOST_PORTS];
    zn_graph_begin(graph, err);
    key->part->ports(key->model->variant, zn_model_layout(key->model, key->part), &key->sizes,
                     &ports);
    for (int i = 0; i < ports.inputs_count; i++)
        inputs[i] = zn_port_leaf(graph, &ports.inputs[i], bytes ? &pixels : NULL);
    zn_model_build(key->model, key->part, &key->sizes, key->dtype == ZENITH_DTYPE_INT8, graph,
                   inputs, outputs);
    for (int i = 0; i < ports.outputs_count; i++) {
        const zn_port *port = &ports.outputs[i];
        if (bytes && port->pixels)
            outputs[i] = as_bytes(graph, port->name, outputs[i], pixels.scale);
        if (outputs[i]) zn_graph_output(graph, outputs[i]);
    }
    zenith_status status = zn_graph_finish(graph);
    if (status != ZENITH_OK) zn_graph_free(graph);
    return status;
}

// The floating type; int8 leaves in it what it does not compute in 8 bits.
static zn_type type_for(const zn_compile_key *key, const zn_machine *machine)
{
    const bool int8 = key->dtype == ZENITH_DTYPE_INT8;
    const bool bf16 = key->dtype == ZENITH_DTYPE_BF16 ||
                      (int8 && zn_cpu_has(machine->cpu.flags, ZN_CPU_AMX));
    return bf16 ? ZN_BF16 : ZN_F32;
}

// --- compile ------------------------------------------------------------------------------------

static zenith_status make_graph(zn_compiled *c, const zn_machine *machine, zn_error *err)
{
    const zn_compile_key *key = &c->key;
    zn_graph plain = {0}, fused = {0}, typed = {0};
    zenith_status status;
    const zn_type_choice choice = {key->calibration, key->model->family, key->model->variant};
    const zn_type_policy policy = zn_type_choice_policy(&choice, type_for(key, machine));
    ZN_GO(zn_build_part(key, &plain, err));
    ZN_GO(zn_pass_fuse(&plain, zn_ops, zn_ops_count, NULL, &fused, err));
    if (key->every_value) {
        ZN_GO(zn_pass_types(&fused, &policy, &c->graph, err));
    } else {
        ZN_GO(zn_pass_types(&fused, &policy, &typed, err));
        ZN_GO(zn_pass_fuse(&typed, zn_ops, zn_ops_count, &machine->cpu, &c->graph, err));
    }
fail:
    zn_graph_free(&plain);
    zn_graph_free(&fused);
    zn_graph_free(&typed);
    return status;
}

static zenith_status check_dtype(const zn_compile_key *key, zn_error *err)
{
    if (key->dtype != ZENITH_DTYPE_INT8 || key->calibration) return ZENITH_OK;
    const zn_variant *variant = key->model->variant;
    if (variant->int8 == ZN_INT8_DYNAMIC) return ZENITH_OK;
    if (variant->int8 == ZN_INT8_NONE) {
        return zn_fail(err, ZENITH_UNSUPPORTED, "%s has no int8: use f32 or bf16", variant->name);
    }
    return zn_fail(err, ZENITH_NOT_FOUND,
                   "no calibration was found for these weights of %s: calibrate them "
                   "first, or use f32 or bf16",
                   variant->name);
}

zenith_status zn_compile(const zn_compile_key *key, const zn_allowance *allowed,
                         const zn_machine *machine, zn_compiled **out, zn_error *err)
{
    static const zn_allowance no_bound = {.max_bytes = 0};
    zn_compiled *c = zn_alloc_zero(sizeof *c);
    if (!c) return zn_fail_memory(err, sizeof *c);
    zenith_status status;
    c->key = *key;
    if (!allowed) allowed = &no_bound;
    c->max_bytes = allowed->max_bytes;
    c->spill = allowed->spill;
    zn_model_ref(key->model);
    const zn_plan_options options = {.mode = key->mode,
                                     .band = key->band,
                                     .max_bytes = allowed->max_bytes,
                                     .spill = allowed->spill != NULL,
                                     .needs = allowed->needs,
                                     .late_frames = key->late_frames,
                                     .cpu = machine->cpu,
                                     .threads = machine->threads,
                                     .dnn = machine->dnn,
                                     .team = machine->team,
                                     .packs = key->model->packs,
                                     .max_packed = allowed->max_packed,
                                     .cancel = machine->cancel};
    ZN_GO(check_dtype(key, err));
    ZN_GO(make_graph(c, machine, err));
    c->watched = zn_guard_marks(&c->graph);
    if (!c->watched) ZN_GO(zn_fail_memory(err, c->graph.count * sizeof *c->watched));
    ZN_GO(zn_plan_create(&c->graph, &options, &c->plan, err));
    *out = c;
    return ZENITH_OK;
fail:
    zn_compiled_free(c);
    return status;
}

void zn_compiled_free(zn_compiled *compiled)
{
    if (!compiled) return;
    zn_plan_free(compiled->plan);
    zn_free(compiled->watched);
    zn_graph_free(&compiled->graph);
    zn_model_unref(compiled->key.model);
    zn_free(compiled);
}
