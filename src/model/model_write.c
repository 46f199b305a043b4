// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Writing a model's weights. Which tensors there are and what they are called comes from the
// network itself, built for a small picture: its parameters have the flat names of the published
// files, whatever names the weights were read with. Values go through f32, one piece at a time.
#include "src/model/model.h"

#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/text.h"
#include "src/format/elements.h"
#include "src/model/locate.h"

#include <math.h>
#include <string.h>

enum { PIECE = 4096 };

typedef struct parameters {
    zn_graph graphs[ZN_MOST_PARTS]; // they hold the names
    int graph_count;
    zn_file_tensor *tensors; // type and data as stored now
    size_t count;
} parameters;

static void release(parameters *p)
{
    while (p->graph_count > 0) zn_graph_free(&p->graphs[--p->graph_count]);
    zn_free(p->tensors);
}

// Adds the parameters of one part, each once, with `skip` letters of their names left out.
static zenith_status collect(const zn_model *model, const zn_part *part, size_t skip, parameters *p,
                             zn_error *err)
{
    zn_graph *graph = &p->graphs[p->graph_count];
    ZN_TRY(zn_model_small_graph(model, part, graph, err));
    p->graph_count++;
    size_t capacity = p->count;
    ZN_TRY(zn_array_reserve((void **)&p->tensors, &capacity, p->count + graph->count,
                            sizeof *p->tensors, err));
    for (size_t i = 0; i < graph->count; i++) {
        const zn_node *node = graph->nodes[i];
        if (node->kind != ZN_NODE_PARAMETER || zn_graph_find(graph, node->name) != node) continue;
        p->tensors[p->count++] = (zn_file_tensor){.name = node->name + skip,
                                                  .type = node->constant.desc.type,
                                                  .shape = node->constant.desc.shape,
                                                  .data = node->constant.data};
    }
    return ZENITH_OK;
}

static zenith_status write_tensor(zn_writer *file, const zn_file_tensor *tensor, zn_type from,
                                  zn_error *err)
{
    float values[PIECE];
    uint8_t bytes[PIECE * sizeof(float)];
    size_t elements = 0;
    zn_shape_elements(&tensor->shape, &elements);
    for (size_t at = 0; at < elements; at += PIECE) {
        size_t count = elements - at < PIECE ? elements - at : PIECE;
        zn_elements_to_f32(from, tensor->data, at, count, values);
        for (size_t i = 0; tensor->type == ZN_F16 && i < count; i++) {
            if (fabsf(values[i]) < 65520 || !isfinite(values[i])) continue;
            return zn_fail(err, ZENITH_UNSUPPORTED,
                           "'%s' has a value that f16 does not hold (%f): use bf16 or f32",
                           tensor->name, (double)values[i]);
        }
        zn_elements_from_f32(tensor->type, values, count, bytes);
        ZN_TRY(zn_writer_write(file, bytes, count * zn_type_size(tensor->type), err));
    }
    return ZENITH_OK;
}

// The writer sorts tensors by the size of their elements, so the stored type, which it needs, takes
// the place of the type they are read in; that is kept per tensor in `dtype`.
static zenith_status write_tensors(zn_writer *file, parameters *p, zn_type type,
                                   const zn_model *model, zn_error *err)
{
    static const zn_type types[] = {ZN_F32, ZN_F16, ZN_BF16};
    zn_metadata facts[1 + ZN_MOST_PARTS] = {{"zenith.model", model->variant->name}};
    char keys[ZN_MOST_PARTS][ZN_NAME_SIZE];
    size_t facts_count = 1;
    for (int i = 0; i < model->family->parts_count; i++) {
        const zn_part *part = &model->family->parts[i];
        const char *layout = zn_model_layout(model, part);
        if (layout) facts[facts_count++] = (zn_metadata){zn_layout_key(part, keys[i]), layout};
    }
    for (size_t i = 0; i < p->count; i++) {
        p->tensors[i].dtype = zn_safetensors_dtype(p->tensors[i].type);
        p->tensors[i].type = type;
    }
    ZN_TRY(zn_safetensors_write_header(file, p->tensors, p->count, facts, facts_count, err));
    for (size_t i = 0; i < p->count; i++) {
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            if (strcmp(p->tensors[i].dtype, zn_safetensors_dtype(types[t])) != 0) continue;
            ZN_TRY(write_tensor(file, &p->tensors[i], types[t], err));
        }
    }
    return ZENITH_OK;
}

// only: the part, whose prefix is then left out; NULL: all that are there.
static zenith_status write_file(const zn_model *model, const zn_part *only, const char *path,
                                zn_type type, zn_error *err)
{
    parameters p = {.graph_count = 0};
    zn_writer *file = NULL;
    zenith_status status = ZENITH_OK;
    for (int i = 0; i < model->family->parts_count; i++) {
        const zn_part *part = &model->family->parts[i];
        if (!zn_model_has(model, part) || (only && part != only)) continue;
        ZN_GO(collect(model, part, only ? strlen(part->prefix) : 0, &p, err));
    }
    ZN_GO(zn_writer_open(path, &file, err));
    ZN_GO(write_tensors(file, &p, type, model, err));
    release(&p);
    return zn_writer_commit(file, err);
fail:
    zn_writer_discard(file);
    release(&p);
    return status;
}

zenith_status zn_model_write(const zn_model *model, const char *path, zn_type type, zn_error *err)
{
    char file[ZN_PATH_SIZE];
    if (!zn_path_is_directory(path)) return write_file(model, NULL, path, type, err);
    for (int i = 0; i < model->family->parts_count; i++) {
        const zn_part *part = &model->family->parts[i];
        if (!zn_model_has(model, part)) continue;
        size_t length = zn_text_format(file, sizeof file, "%s/%s_%s.safetensors", path,
                                       model->variant->name, part->name);
        if (length + 1 >= sizeof file)
            return zn_fail(err, ZENITH_LIMIT, "the path '%s' is too long", path);
        ZN_TRY(write_file(model, part, file, type, err));
    }
    return ZENITH_OK;
}
