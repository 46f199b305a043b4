// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any config.json as a diffusion autoencoder's: sizes that come out are within their bounds, and
// small ones make networks; schedules have betas between 0 and 1.
#include "src/model/diffae/config.h"
#include "src/model/model.h"

#include <math.h>
#include <string.h>

static zn_node *invent(void *cookie, zn_graph *graph, const char *name, const zn_shape *shape)
{
    static float none;
    (void)cookie;
    const zn_tensor tensor = {.desc = zn_desc_make(ZN_F32, *shape), .data = &none};
    return zn_graph_parameter(graph, name, tensor);
}

// Every part, as opening a model builds it.
static void build(const char *layout)
{
    const zn_variant *variant = zn_variant_find("diffae");
    const zn_family *family = zn_family_of(variant);
    for (int i = 0; i < family->parts_count; i++) {
        const zn_part *part = &family->parts[i];
        zn_graph graph;
        zn_ports ports = {.inputs_count = 0};
        zn_node *inputs[ZN_MOST_PORTS], *outputs[ZN_MOST_PORTS];
        zn_graph_begin(&graph, NULL);
        const zn_scope scope = {
            .graph = &graph, .parameter = invent, .prefix = "", .layout = layout};
        part->ports(variant, layout, &part->smallest, &ports);
        for (int k = 0; k < ports.inputs_count; k++)
            inputs[k] = zn_port_leaf(&graph, &ports.inputs[k], NULL);
        zn_part_build(part, &scope, variant, &part->smallest, inputs, outputs);
        zn_graph_free(&graph);
    }
}

static void check_shape(const zn_diffae_shape *is)
{
    if (is->levels < 1 || is->levels > ZN_DIFFAE_MOST_LEVELS || is->channels < 2 ||
        is->channels % 2 != 0 || is->blocks < 1 || is->blocks > ZN_DIFFAE_MOST_BLOCKS)
        __builtin_trap();
    for (int i = 0; i < is->levels; i++)
        if (is->multiples[i] < 1 || is->multiples[i] > 9) __builtin_trap();
    for (int i = 0; i < is->encoder_levels; i++)
        if (is->encoder_multiples[i] < 1 || is->encoder_multiples[i] > 9) __builtin_trap();
}

static void check_schedule(const zn_diffae_schedule *is)
{
    const bool fits = is->first > 0 && is->first < 1 && is->last > 0 && is->last < 1;
    if (!fits || is->timesteps < 1 || is->timesteps > ZN_DIFFAE_MOST_TIMESTEPS) __builtin_trap();
}

static void check_space(const zn_diffae_space *is)
{
    if (is->factor < 1 || is->channels < 0 || is->channels > ZN_DIFFAE_MOST_INPUTS)
        __builtin_trap();
    for (int64_t i = 0; i < is->channels; i++)
        if (!(is->deviation[i] > 0) || !(is->mean[i] > -INFINITY && is->mean[i] < INFINITY))
            __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char layout[ZN_LAYOUT_SIZE];
    zn_json *config = NULL;
    zn_diffae_shape shape;
    zn_diffae_schedules schedules;
    zn_diffae_space space;
    if (zn_json_parse((const char *)data, size, "fuzz", &config, NULL) != ZENITH_OK) return 0;
    zn_diffae_layout(config, 40, layout);
    if (!memchr(layout, 0, sizeof layout)) __builtin_trap();
    (void)!zn_diffae_shape_read(layout, &shape);
    check_shape(&shape);
    build(layout);
    if (zn_diffae_schedules_read(config, &schedules, NULL) == ZENITH_OK) {
        check_schedule(&schedules.picture);
        check_schedule(&schedules.prior);
    }
    if (zn_diffae_space_read(config, &space, NULL) == ZENITH_OK) check_space(&space);
    zn_json_free(config);
    return 0;
}
