// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Tiny models made up from the families' own networks: a network is built, whatever parameter it
// asks for is noted, and all of them become a safetensors file of zeros. The file is sparse, so a
// tensor of gigabytes takes no room.
#ifndef ZN_TESTS_FUZZ_MADE_MODEL_H
#define ZN_TESTS_FUZZ_MADE_MODEL_H

#include "src/model/model.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MADE_TENSORS = 1024, MADE_NAME = 160, MADE_RANK = ZN_MAX_RANK + 2, MADE_HEADER = 1 << 19 };

typedef struct made_dtype {
    const char *name;
    int64_t size;
} made_dtype;
static const made_dtype made_dtypes[] = {
    {"F32", 4}, {"F16", 2},  {"BF16", 2},    {"F8_E4M3", 1}, {"F8_E5M2", 1},
    {"I8", 1},  {"U8", 1},   {"I32", 4},     {"U32", 4},     {"I64", 8},
    {"F64", 8}, {"BOOL", 1}, {"F8_E8M0", 1}, {"NOTHING", 1},
};
enum { MADE_DTYPES = sizeof made_dtypes / sizeof *made_dtypes };

typedef struct made_tensor {
    char name[MADE_NAME];
    int dtype, rank;
    int64_t dim[MADE_RANK];
} made_tensor;

typedef struct made_model {
    const zn_variant *variant;
    char layout[ZN_LAYOUT_SIZE], config[4096]; // "": it has none
    made_tensor tensors[MADE_TENSORS];
    size_t count;
    bool overflowed;                    // it has more tensors than there is room for
    int64_t (*width)(const char *name); // of a layer that may have any; NULL: made_width
} made_model;

// --- what a network asks for --------------------------------------------------------------------

// The width of a layer that may have any. Encoders of Wan 2.2 double it in their second and third
// levels.
static inline int64_t made_width(const char *name)
{
    const char *level = strstr(name, "down_blocks.");
    if (!level) return 8;
    const char digit = level[strlen("down_blocks.")];
    return digit == '0' ? 8 : digit == '1' ? 16 : 32;
}

static inline zn_node *made_parameter(void *cookie, zn_graph *graph, const char *name,
                                      const zn_shape *shape)
{
    static const float nothing; // never read: the graph is only built
    made_model *model = cookie;
    zn_tensor tensor = {.desc = zn_desc_make(ZN_F32, *shape), .data = (void *)(uintptr_t)&nothing};
    if (graph->status != ZENITH_OK) return NULL;
    for (int i = 0; i < shape->rank; i++) {
        int64_t *size = &tensor.desc.shape.dim[i];
        if (*size == -1) *size = model->width ? model->width(name) : made_width(name);
        if (*size < 0) *size = *size < -32 ? 8 : -*size;
    }
    bool known = false;
    for (size_t i = 0; i < model->count && !known; i++)
        known = strcmp(model->tensors[i].name, name) == 0;
    model->overflowed |= !known && model->count == MADE_TENSORS;
    if (!known && model->count < MADE_TENSORS) {
        made_tensor *made = &model->tensors[model->count++];
        *made = (made_tensor){.rank = shape->rank};
        snprintf(made->name, sizeof made->name, "%s", name);
        memcpy(made->dim, tensor.desc.shape.dim, sizeof tensor.desc.shape.dim);
    }
    return zn_graph_parameter(graph, name, tensor);
}

static inline zenith_status made_part(made_model *model, const zn_part *part, const char *layout,
                                      zn_error *err)
{
    zn_graph graph;
    zn_ports ports = {.inputs_count = 0};
    zn_node *inputs[ZN_MOST_PORTS], *outputs[ZN_MOST_PORTS];
    zn_sizes sizes = part->smallest;
    if (zn_family_of(model->variant)->sizes) sizes.height = sizes.width = 2; // made for one size
    zn_graph_begin(&graph, err);
    const zn_scope scope = {.graph = &graph,
                            .parameter = made_parameter,
                            .cookie = model,
                            .prefix = "",
                            .layout = layout};
    part->ports(model->variant, layout, &sizes, &ports);
    for (int i = 0; i < ports.inputs_count; i++)
        inputs[i] = zn_port_leaf(&graph, &ports.inputs[i], NULL);
    zn_part_build(part, &scope, model->variant, &sizes, inputs, outputs);
    const zenith_status status = graph.status;
    zn_graph_free(&graph);
    return status;
}

// The tensors of these parts (a bit each) of model->variant, with this layout (NULL: the usual
// one).
static inline zenith_status made_list(made_model *model, unsigned parts, const char *layout,
                                      zn_error *err)
{
    const zn_family *family = zn_family_of(model->variant);
    for (int i = 0; i < family->parts_count; i++)
        if (parts >> i & 1) ZN_TRY(made_part(model, &family->parts[i], layout, err));
    return ZENITH_OK;
}

// --- the file -----------------------------------------------------------------------------------

// The bytes of a tensor, as far as 64 bits count; 0 where a size is negative.
static inline uint64_t made_bytes(const made_tensor *tensor)
{
    uint64_t bytes = (uint64_t)made_dtypes[tensor->dtype].size;
    for (int i = 0; i < tensor->rank; i++)
        if (__builtin_mul_overflow(bytes, (uint64_t)tensor->dim[i], &bytes)) return 0;
    return bytes;
}

static inline size_t made_text(char *dst, size_t length, const char *text)
{
    for (; *text && length + 2 < MADE_HEADER; text++) {
        if (*text == '"' || *text == '\\') dst[length++] = '\\';
        dst[length++] = (unsigned char)*text < ' ' ? ' ' : *text;
    }
    dst[length] = 0;
    return length;
}

static inline size_t made_pair(char *dst, size_t length, const char *key, const char *value,
                               bool first)
{
    if (length + 256 > MADE_HEADER) return length;
    length += (size_t)snprintf(dst + length, MADE_HEADER - length, "%s\"%s\":\"", first ? "" : ",",
                               key);
    length = made_text(dst, length, value);
    return length + (size_t)snprintf(dst + length, MADE_HEADER - length, "\"");
}

static inline size_t made_metadata(const made_model *model, char *dst, size_t length)
{
    const zn_family *family = zn_family_of(model->variant);
    char key[ZN_NAME_SIZE];
    length += (size_t)snprintf(dst + length, MADE_HEADER - length, "{\"__metadata__\":{");
    length = made_pair(dst, length, "format", "pt", true);
    for (int i = 0; *model->layout && i < family->parts_count; i++)
        length = made_pair(dst, length, zn_layout_key(&family->parts[i], key), model->layout,
                           false);
    if (*model->config) length = made_pair(dst, length, ZN_WEIGHTS_CONFIG, model->config, false);
    return length + (size_t)snprintf(dst + length, MADE_HEADER - length, "}");
}

static inline size_t made_entry(const made_tensor *tensor, uint64_t begin, uint64_t end, char *dst,
                                size_t length)
{
    if (length + 2 * MADE_NAME + 512 > MADE_HEADER) return length;
    length += (size_t)snprintf(dst + length, MADE_HEADER - length, ",\"");
    length = made_text(dst, length, tensor->name);
    length += (size_t)snprintf(dst + length, MADE_HEADER - length,
                               "\":{\"dtype\":\"%s\",\"shape\":[", made_dtypes[tensor->dtype].name);
    for (int i = 0; i < tensor->rank; i++)
        length += (size_t)snprintf(dst + length, MADE_HEADER - length, "%s%lld", i ? "," : "",
                                   (long long)tensor->dim[i]);
    return length + (size_t)snprintf(dst + length, MADE_HEADER - length,
                                     "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)begin,
                                     (unsigned long long)end);
}

// Writes a file that is never longer than `most` bytes: what does not fit is cut off.
static inline bool made_write(const made_model *model, const char *path, uint64_t most)
{
    static char header[8 + MADE_HEADER];
    uint64_t offset = 0;
    size_t length = made_metadata(model, header + 8, 0);
    for (size_t i = 0; i < model->count; i++) {
        uint64_t end = offset + made_bytes(&model->tensors[i]);
        if (end < offset) end = offset;
        length = made_entry(&model->tensors[i], offset, end, header + 8, length);
        offset = end;
    }
    length += (size_t)snprintf(header + 8 + length, MADE_HEADER - length, "}");
    for (int i = 0; i < 8; i++) header[i] = (char)(length >> 8 * i);
    const uint64_t whole = 8 + length + offset;
    const int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    if (file < 0) return false;
    const bool written = write(file, header, 8 + length) == (ssize_t)(8 + length) &&
                         ftruncate(file, (off_t)(whole < most ? whole : most)) == 0;
    return close(file) == 0 && written;
}

// A path for this process alone; removed at a normal end.
static char made_path[512];

static inline void made_remove(void)
{
    unlink(made_path);
}

static inline const char *made_scratch(const char *name)
{
    const char *folder = getenv("TMPDIR");
    if (*made_path) return made_path;
    snprintf(made_path, sizeof made_path, "%s/zenith-%s-%ld.safetensors", folder ? folder : "/tmp",
             name, (long)getpid());
    atexit(made_remove);
    return made_path;
}

#endif
