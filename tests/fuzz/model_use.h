// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What is done with a model that a fuzzer has opened: every part is compiled for its smallest
// sizes, and run where that is cheap.
#ifndef ZN_TESTS_FUZZ_MODEL_USE_H
#define ZN_TESTS_FUZZ_MODEL_USE_H

#include "src/base/memory.h"
#include "src/graph/states.h"
#include "src/model/diffae/diffae.h"
#include "src/model/parameter_list.h"
#include "src/task/engine/compile.h"
#include "src/task/inspect/inspection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USED_BYTES = 64 << 20, USED_FLOPS = 1000000 };

// How a model is used. most: bytes of its packed weights, 0 not to compile it at all. Packing takes
// most of the time of a large network.
typedef struct model_use {
    bool named, inspected; // by the variant's name; hashed too
    zenith_dtype dtype;    // never the default
    zenith_number pixels;
    size_t most;
} model_use;

static inline zenith_status used_read(void *cookie, int input, int64_t row, int64_t count,
                                      void *dst, zn_error *err)
{
    const zn_graph *graph = cookie;
    (void)row, (void)err;
    for (size_t i = 0; i < graph->count; i++) {
        const zn_desc *desc = &graph->nodes[i]->desc;
        size_t bytes = 0;
        if (graph->nodes[i]->kind != ZN_NODE_INPUT || input-- > 0) continue;
        if (!zn_desc_bytes(desc, &bytes)) __builtin_trap();
        if (desc->shape.rank == 4) bytes = bytes / (size_t)desc->shape.dim[1] * (size_t)count;
        memset(dst, 0, bytes);
        break;
    }
    return ZENITH_OK;
}

static inline zenith_status used_write(void *cookie, int output, int64_t row, int64_t count,
                                       const void *src, zn_error *err)
{
    (void)cookie, (void)output, (void)row, (void)count, (void)src, (void)err;
    return ZENITH_OK;
}

static inline void use_plan(zn_compiled *compiled)
{
    zn_error err = {{0}};
    zn_states *states = NULL;
    const zn_plan *plan = compiled->plan;
    if (zn_plan_flops(plan) > USED_FLOPS || zn_plan_bytes(plan) > USED_BYTES) return;
    if (zn_states_create(&plan, 1, &states, &err) != ZENITH_OK) return;
    void *arena = zn_alloc(zn_plan_bytes(plan) + 1);
    const zn_run run = {
        .read = used_read, .write = used_write, .cookie = &compiled->graph, .states = states};
    if (arena && zn_plan_run(plan, arena, NULL, &run, &err) != ZENITH_OK && !*err.text)
        __builtin_trap();
    zn_free(arena);
    zn_states_free(states);
}

// False where it is refused, which must have a sentence.
static inline bool use_part(zn_model *model, const zn_part *part, zn_step step,
                            const model_use *how)
{
    zn_error err = {{0}};
    zn_compiled *compiled = NULL;
    const zn_family *family = model->family;
    // Without a bound of the arena: where one is too small, the least that would do is searched
    // for, which takes as long as many plans.
    const zn_allowance allowed = {.max_packed = how->most};
    const zn_machine machine = {.cpu = zn_cpu_detect(), .threads = 1};
    zn_compile_key key = {.model = model, .part = part, .dtype = how->dtype, .pixels = how->pixels};
    key.sizes = family->sizes ? family->sizes(model->weights) : part->smallest;
    if (key.sizes.step != ZN_STEP_ALONE) key.sizes.step = step;
    // The smallest of a diffusion autoencoder is that of any.
    if (strcmp(family->name, "diffae") == 0 && key.sizes.height)
        key.sizes.height = key.sizes.width = zn_diffae_facts_of(model).multiple;
    const zenith_status status = zn_compile(&key, &allowed, &machine, &compiled, &err);
    if (status != ZENITH_OK && (compiled || !*err.text)) __builtin_trap();
    if (status != ZENITH_OK && getenv("FUZZ_SAY"))
        fprintf(stderr, "%s %s: %s\n", model->variant->name, part->name, err.text);
    if (status == ZENITH_OK) use_plan(compiled);
    zn_compiled_free(compiled);
    return status == ZENITH_OK;
}

// As it is listed to be written in few bits.
static inline void use_list(const zn_model *model)
{
    zn_error err = {{0}};
    zn_parameter_list list;
    const zenith_status status = zn_parameter_list_make(model->weights, &list, &err);
    if ((status == ZENITH_OK && list.count == 0) || (status != ZENITH_OK && !*err.text))
        __builtin_trap();
    for (size_t i = 0; status == ZENITH_OK && i < list.count; i++)
        if (list.items[i].first + list.items[i].rows > list.items[i].weight.rows) __builtin_trap();
    if (status == ZENITH_OK) zn_parameter_list_free(&list);
}

// All parts that are there; true where all of them compile.
static inline bool use_model(zn_model *model, const model_use *how)
{
    bool all = true;
    if (model->unexpected > zn_weights_count(model->weights)) __builtin_trap();
    if (model->family->writing) use_list(model);
    for (int i = 0; how->most && i < model->family->parts_count; i++) {
        const zn_part *part = &model->family->parts[i];
        if (!zn_model_has(model, part)) continue;
        const bool steps = part->smallest.step != ZN_STEP_ALONE;
        for (int step = ZN_STEP_ALONE; step <= (steps ? ZN_STEP_NEXT : ZN_STEP_ALONE); step++)
            all &= use_part(model, part, (zn_step)step, how);
    }
    return all;
}

static inline void use_inspection(const char *path, const char *name)
{
    zn_error err = {{0}};
    char *text = NULL;
    if (zn_inspect(path, name, false, &text, &err) == ZENITH_OK) {
        if (!text || strstr(text, "-1 tensors")) __builtin_trap();
    } else if (!*err.text) {
        __builtin_trap();
    }
    zn_free(text);
}

#endif
