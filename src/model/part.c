// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/base/text.h"
#include "src/model/family.h"

#include <string.h>

const zn_part *zn_family_part(const zn_family *family, const char *name)
{
    for (int i = 0; i < family->parts_count; i++)
        if (strcmp(family->parts[i].name, name) == 0) return &family->parts[i];
    return NULL;
}

void zn_part_build(const zn_part *part, const zn_scope *scope, const zn_variant *variant,
                   const zn_sizes *sizes, zn_node *const *inputs, zn_node **outputs)
{
    zn_graph *graph = scope->graph;
    zn_ports ports = {.inputs_count = 0};
    zn_scope own = *scope;
    char prefix[ZN_NAME_SIZE];
    zn_text_format(prefix, sizeof prefix, "%s%s", scope->prefix, part->prefix);
    own.prefix = prefix;
    part->ports(variant, scope->layout, sizes, &ports);
    for (int i = 0; i < ports.inputs_count; i++)
        zn_port_check(graph, part->name, &ports.inputs[i], inputs[i]);
    for (int i = 0; i < ports.outputs_count; i++) outputs[i] = NULL;
    if (graph->status != ZENITH_OK) return;
    part->build(&own, variant, sizes, inputs, outputs);
    for (int i = 0; i < ports.outputs_count; i++)
        zn_port_check(graph, part->name, &ports.outputs[i], outputs[i]);
}
