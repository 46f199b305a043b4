// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Writing a model's weights. Which tensors there are and what they are called comes from the
// network itself, built for a small picture: its parameters have the flat names of the published
// files, whatever names the weights were read with. Values go through f32, one piece at a time.
//
// As 8-bit floats only weights that are multiplied with maps are written, by convolutions and
// matrices; they are nearly all bytes of a network. Each has a scale, which is a power of two: bf16
// then holds scale times number exactly. docs/PRECISION.md has what that costs,
// format/tensor/weight_scale.h the names.
#include "src/model/model.h"

#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/text.h"
#include "src/format/tensor/elements.h"
#include "src/format/tensor/weight_scale.h"
#include "src/graph/op.h"
#include "src/model/locate.h"

#include <math.h>
#include <string.h>

enum { PIECE = 4096 };

// Where the values of a written tensor come from.
typedef struct origin {
    zn_tensor tensor; // as stored now
    bool product;     // weights of a convolution or matrix
    float scale;      // that they are divided by
} origin;

typedef struct parameters {
    zn_graph graphs[ZN_MOST_PARTS]; // they hold the names
    int graph_count;
    zn_file_tensor *tensors; // `bytes`, which the writer does not read, is the number of the origin
    origin *origins;
    size_t count, capacity, origins_capacity;
    zn_arena arena; // names and values of scales
} parameters;

static void release(parameters *p)
{
    while (p->graph_count > 0) zn_graph_free(&p->graphs[--p->graph_count]);
    zn_free(p->tensors);
    zn_free(p->origins);
    zn_arena_free(&p->arena);
}

// --- what there is ------------------------------------------------------------------------------

static zenith_status add(parameters *p, const char *name, const origin *from, zn_error *err)
{
    ZN_TRY(zn_array_reserve((void **)&p->tensors, &p->capacity, p->count + 1, sizeof *p->tensors,
                            err));
    ZN_TRY(zn_array_reserve((void **)&p->origins, &p->origins_capacity, p->count + 1,
                            sizeof *p->origins, err));
    p->origins[p->count] = *from;
    p->tensors[p->count] = (zn_file_tensor){.name = name,
                                            .type = from->tensor.desc.type,
                                            .shape = from->tensor.desc.shape,
                                            .bytes = p->count};
    p->count++;
    return ZENITH_OK;
}

static bool is_product(const zn_graph *graph, const zn_node *parameter)
{
    for (size_t i = 0; i < graph->count; i++) {
        const zn_node *node = graph->nodes[i];
        // Perhaps another node of that name.
        if (zn_node_is_layer(node) && strcmp(node->inputs[1]->name, parameter->name) == 0)
            return true;
    }
    return false;
}

// A part before had it too.
static bool is_there(const parameters *p, const char *name)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->tensors[i].name, name) == 0) return true;
    return false;
}

// Adds the parameters of one part, each once, with `skip` letters of their names left out.
static zenith_status collect(const zn_model *model, const zn_part *part, size_t skip, parameters *p,
                             zn_error *err)
{
    zn_graph *graph = &p->graphs[p->graph_count];
    ZN_TRY(zn_model_small_graph(model, part, graph, err));
    p->graph_count++;
    for (size_t i = 0; i < graph->count; i++) {
        const zn_node *node = graph->nodes[i];
        if (node->kind != ZN_NODE_PARAMETER || zn_graph_find(graph, node->name) != node) continue;
        if (is_there(p, node->name + skip)) continue;
        if (node->constant.rows)
            return zn_fail(err, ZENITH_UNSUPPORTED,
                           "'%s' is stored in few bits, from which this does not write others",
                           node->name);
        const origin from = {node->constant, is_product(graph, node), 1};
        ZN_TRY(add(p, node->name + skip, &from, err));
    }
    return ZENITH_OK;
}

// --- 8-bit floats -------------------------------------------------------------------------------

static bool is_f8(zn_type type)
{
    return type == ZN_F8_E4M3 || type == ZN_F8_E5M2;
}

static size_t read_piece(const origin *from, size_t at, size_t elements, float *values)
{
    const size_t count = elements - at < PIECE ? elements - at : PIECE;
    zn_elements_to_f32(from->tensor.desc.type, from->tensor.data, at, count, values);
    const float scale = from->tensor.desc.scale;
    for (size_t i = 0; scale != 1.0f && i < count; i++) values[i] *= scale;
    return count;
}

static float largest_of(const origin *from)
{
    float values[PIECE], largest = 0;
    size_t elements = 0;
    zn_shape_elements(&from->tensor.desc.shape, &elements);
    for (size_t at = 0; at < elements; at += PIECE) {
        const size_t count = read_piece(from, at, elements, values);
        for (size_t i = 0; i < count; i++)
            if (isfinite(values[i])) largest = fmaxf(largest, fabsf(values[i]));
    }
    return largest;
}

// What is of that type already keeps its scale, and so its numbers.
static float choose_scale(const origin *from, zn_type type)
{
    const float now = from->tensor.desc.scale;
    if (from->tensor.desc.type == type && now != 0) return now;
    return zn_weight_scale_for(type, largest_of(from));
}

static zenith_status add_scale(parameters *p, const char *name, float scale, zn_error *err)
{
    const size_t room = strlen(name) + sizeof ZN_WEIGHT_SCALE_TAIL;
    char *own = zn_arena_alloc(&p->arena, room);
    float *value = zn_arena_alloc(&p->arena, sizeof *value);
    if (!own || !value) return zn_fail_memory(err, room);
    zn_text_format(own, room, "%s%s", name, ZN_WEIGHT_SCALE_TAIL);
    *value = scale;
    const origin from = {
        {.desc = zn_desc_make(ZN_F32, zn_shape_make(0, NULL)), .data = value}, false, 1};
    return add(p, own, &from, err);
}

// Products get the 8-bit type, and a tensor for their scale; what is not bf16 already is f32.
static zenith_status set_f8(parameters *p, zn_type type, zn_error *err)
{
    const size_t count = p->count; // without the scales that are added
    for (size_t i = 0; i < count; i++) {
        origin *from = &p->origins[i];
        p->tensors[i].type = from->tensor.desc.type == ZN_BF16 ? ZN_BF16 : ZN_F32;
        // Without this ending a reader would not look for a scale.
        if (!from->product || !zn_text_ends_with(p->tensors[i].name, ".weight")) continue;
        p->tensors[i].type = type;
        from->scale = choose_scale(from, type);
        if (from->scale != 1.0f) ZN_TRY(add_scale(p, p->tensors[i].name, from->scale, err));
    }
    return ZENITH_OK;
}

// --- writing ------------------------------------------------------------------------------------

// Of bf16 and f32 every f32 is held, if not exactly; f8_e5m2 has infinities and its scale fits.
static bool holds(zn_type type, float value)
{
    if (type == ZN_F16) return fabsf(value) < 65520 || !isfinite(value);
    return type != ZN_F8_E4M3 || !isinf(value);
}

static zenith_status write_tensor(zn_writer *file, const zn_file_tensor *tensor, const origin *from,
                                  zn_error *err)
{
    float values[PIECE];
    uint8_t bytes[PIECE * sizeof(float)];
    size_t elements = 0;
    zn_shape_elements(&tensor->shape, &elements);
    for (size_t at = 0; at < elements; at += PIECE) {
        const size_t count = read_piece(from, at, elements, values);
        for (size_t i = 0; i < count; i++) {
            if (holds(tensor->type, values[i])) continue;
            return zn_fail(err, ZENITH_UNSUPPORTED,
                           "'%s' has a value that %s does not hold (%f): use bf16 or f32",
                           tensor->name, zn_type_name(tensor->type), (double)values[i]);
        }
        for (size_t i = 0; from->scale != 1.0f && i < count; i++) values[i] /= from->scale;
        zn_elements_from_f32(tensor->type, values, count, bytes);
        ZN_TRY(zn_writer_write(file, bytes, count * zn_type_size(tensor->type), err));
    }
    return ZENITH_OK;
}

// Whether config.json names the family, which then has more in it than layouts say.
static bool has_own_config(const zn_model *model)
{
    const char *name = "";
    const zn_json *config = zn_weights_config(model->weights);
    return zn_json_as_text(zn_json_find(config, "model"), &name) &&
           strcmp(name, model->family->name) == 0;
}

static zenith_status keep_config(const zn_model *model, const zn_part *only, char **text,
                                 zn_error *err)
{
    if (only || !has_own_config(model)) return ZENITH_OK;
    return zn_json_dump(zn_weights_config(model->weights), text, NULL, err);
}

static zenith_status write_tensors(zn_writer *file, parameters *p, const zn_model *model,
                                   const char *config, zn_error *err)
{
    zn_metadata facts[2 + ZN_MOST_PARTS] = {{"zenith.model", model->variant->name}};
    char keys[ZN_MOST_PARTS][ZN_NAME_SIZE];
    size_t facts_count = 1;
    for (int i = 0; i < model->family->parts_count; i++) {
        const zn_part *part = &model->family->parts[i];
        const char *layout = zn_model_layout(model, part);
        if (layout) facts[facts_count++] = (zn_metadata){zn_layout_key(part, keys[i]), layout};
    }
    if (config) facts[facts_count++] = (zn_metadata){ZN_WEIGHTS_CONFIG, config};
    ZN_TRY(zn_safetensors_write_header(file, p->tensors, p->count, facts, facts_count, err));
    for (size_t i = 0; i < p->count; i++)
        ZN_TRY(write_tensor(file, &p->tensors[i], &p->origins[p->tensors[i].bytes], err));
    return ZENITH_OK;
}

// only: the part, whose prefix is then left out; NULL: all that are there.
static zenith_status write_file(const zn_model *model, const zn_part *only, const char *path,
                                zn_type type, zn_error *err)
{
    parameters p = {.graph_count = 0};
    zn_writer *file = NULL;
    char *config = NULL;
    zenith_status status = ZENITH_OK;
    ZN_GO(keep_config(model, only, &config, err));
    for (int i = 0; i < model->family->parts_count; i++) {
        const zn_part *part = &model->family->parts[i];
        if (!zn_model_has(model, part) || (only && part != only)) continue;
        ZN_GO(collect(model, part, only ? strlen(part->prefix) : 0, &p, err));
    }
    if (is_f8(type)) ZN_GO(set_f8(&p, type, err));
    for (size_t i = 0; i < p.count && !is_f8(type); i++) p.tensors[i].type = type;
    ZN_GO(zn_writer_open(path, &file, err));
    ZN_GO(write_tensors(file, &p, model, config, err));
    release(&p);
    zn_free(config);
    return zn_writer_commit(file, err);
fail:
    zn_writer_discard(file);
    release(&p);
    zn_free(config);
    return status;
}

// A file for `only`, or with NULL for all parts, in a folder.
static zenith_status write_in(const zn_model *model, const zn_part *only, const char *folder,
                              zn_type type, zn_error *err)
{
    char file[ZN_PATH_SIZE];
    const size_t length = zn_text_format(file, sizeof file, "%s/%s%s%s.safetensors", folder,
                                         model->variant->name, only ? "_" : "",
                                         only ? only->name : "");
    if (length + 1 >= sizeof file)
        return zn_fail(err, ZENITH_LIMIT, "the path '%s' is too long", folder);
    return write_file(model, only, file, type, err);
}

// Parts of a model with a config of its own share tensors, and are nothing without the config: they
// stay together.
zenith_status zn_model_write(const zn_model *model, const char *path, zn_type type, zn_error *err)
{
    if (!zn_path_is_directory(path)) return write_file(model, NULL, path, type, err);
    if (has_own_config(model)) return write_in(model, NULL, path, type, err);
    for (int i = 0; i < model->family->parts_count; i++) {
        const zn_part *part = &model->family->parts[i];
        if (zn_model_has(model, part)) ZN_TRY(write_in(model, part, path, type, err));
    }
    return ZENITH_OK;
}
