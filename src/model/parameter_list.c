// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/model/parameter_list.h"

#include "src/model/model.h"

#include <string.h>

// The part that is being built.
typedef struct listing {
    zn_parameter_list *list;
    const char *layout;
} listing;

// --- one parameter ------------------------------------------------------------------------------

static zenith_status find_weight(const zn_parameter_list *list, const char *name,
                                 const zn_shape *shape, zn_listed_parameter *out, zn_error *err)
{
    zn_stored_name stored = {.piece = 0};
    const bool renamed = list->family->rename && list->family->rename(list->weights, name, &stored);
    const char *there = renamed ? stored.name : name;
    const zn_file_tensor *tensor = zn_weights_find(list->weights, there);
    zn_shape whole = *shape;
    const size_t pieces = stored.pieces > 1 ? (size_t)stored.pieces : 1;
    if (!tensor) return zn_fail(err, ZENITH_BAD_FILE, "the weights lack the tensor '%s'", there);
    if (pieces > 1 && whole.rank < 2)
        return zn_fail(err, ZENITH_UNSUPPORTED, "%s: '%s' is a vector for several parameters",
                       zn_weights_file(list->weights, tensor), there);
    if (pieces > 1) whole.dim[0] *= stored.pieces;
    ZN_TRY(zn_stored_weight_of(list->weights, tensor, &whole, &out->weight, err));
    out->rows = out->weight.rows / pieces;
    out->first = out->rows * (size_t)stored.piece;
    return ZENITH_OK;
}

static bool is_listed(const zn_parameter_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0) return true;
    return false;
}

static zenith_status add(listing *l, const char *name, const zn_shape *shape, zn_error *err)
{
    zn_parameter_list *list = l->list;
    zn_listed_parameter entry = {.shape = *shape, .layout = l->layout};
    if (is_listed(list, name)) return ZENITH_OK;
    ZN_TRY(find_weight(list, name, shape, &entry, err));
    ZN_TRY(zn_array_reserve((void **)&list->items, &list->capacity, list->count + 1,
                            sizeof *list->items, err));
    entry.name = zn_arena_text(&list->arena, name);
    if (!entry.name) return zn_fail_memory(err, strlen(name) + 1);
    list->items[list->count++] = entry;
    return ZENITH_OK;
}

// Nothing is computed with the graph, so a parameter's data is never read.
static zn_node *parameter(void *cookie, zn_graph *graph, const char *name, const zn_shape *shape)
{
    if (graph->status != ZENITH_OK) return NULL;
    graph->status = add(cookie, name, shape, graph->err);
    if (graph->status != ZENITH_OK) return NULL;
    const zn_tensor constant = {.desc = zn_desc_make(ZN_F32, *shape),
                                .data = (void *)(uintptr_t) "no data"};
    return zn_graph_parameter(graph, name, constant);
}

// --- all of them --------------------------------------------------------------------------------

static zenith_status list_part(zn_parameter_list *list, const zn_part *part, zn_error *err)
{
    zn_ports ports = {.inputs_count = 0};
    zn_node *inputs[ZN_MOST_PORTS], *outputs[ZN_MOST_PORTS];
    listing l = {list, zn_parameter_list_layout(list, part)};
    const zn_sizes *sizes = &part->smallest;
    zn_graph graph;
    zn_graph_begin(&graph, err);
    const zn_scope scope = {
        .graph = &graph, .parameter = parameter, .cookie = &l, .prefix = "", .layout = l.layout};
    part->ports(list->variant, l.layout, sizes, &ports);
    for (int i = 0; i < ports.inputs_count; i++)
        inputs[i] = zn_port_leaf(&graph, &ports.inputs[i], NULL);
    zn_part_build(part, &scope, list->variant, sizes, inputs, outputs);
    for (int i = 0; i < ports.outputs_count; i++)
        if (outputs[i]) zn_graph_output(&graph, outputs[i]);
    const zenith_status status = zn_graph_finish(&graph);
    zn_graph_free(&graph);
    return status;
}

static zenith_status choose_variant(zn_parameter_list *list, zn_error *err)
{
    unsigned fits = 0;
    list->family = zn_model_probe(list->weights, &fits, &list->parts);
    for (int i = 0; list->family && i < list->family->variants_count && !list->variant; i++)
        if (fits >> i & 1) list->variant = &list->family->variants[i];
    if (list->variant && list->family->writing) return ZENITH_OK;
    if (list->variant)
        return zn_fail(
            err, ZENITH_UNSUPPORTED,
            "weights of %s are not written in few bits; those of text models (qwen3) and "
            "diffusion transformers (z-image) are",
            list->variant->name);
    return zn_fail(err, ZENITH_UNSUPPORTED,
                   "these weights belong to no model of this version; zenith_inspect lists what is "
                   "in them");
}

const char *zn_parameter_list_layout(const zn_parameter_list *list, const zn_part *part)
{
    char key[ZN_NAME_SIZE];
    const char *said = zn_weights_metadata(list->weights, zn_layout_key(part, key));
    const char *found = list->layouts[part - list->family->parts];
    return said ? said : *found ? found : NULL;
}

zenith_status zn_parameter_list_make(const zn_weights *weights, zn_parameter_list *out,
                                     zn_error *err)
{
    zenith_status status;
    *out = (zn_parameter_list){.weights = weights};
    ZN_GO(choose_variant(out, err));
    for (int i = 0; i < out->family->parts_count; i++) {
        const zn_part *part = &out->family->parts[i];
        if (!(out->parts >> i & 1)) continue;
        if (out->family->layout) out->family->layout(weights, part, out->layouts[i]);
        ZN_GO(list_part(out, part, err));
    }
    return ZENITH_OK;
fail:
    zn_parameter_list_free(out);
    return status;
}

void zn_parameter_list_free(zn_parameter_list *list)
{
    zn_free(list->items);
    zn_arena_free(&list->arena);
    *list = (zn_parameter_list){.weights = NULL};
}
