// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A path is tried by its bytes (bytes.h), and as weights, in this order.
#include "src/task/inspect/inspection.h"

#include "src/base/input.h"
#include "src/base/json.h"
#include "src/base/os.h"
#include "src/format/tensor/safetensors.h"
#include "src/format/tensor/weight_scale.h"
#include "src/model/locate.h"
#include "src/model/model.h"
#include "src/model/pipeline.h"
#include "src/task/engine/compile.h"
#include "src/task/inspect/bytes.h"
#include "src/task/inspect/weight_facts.h"

#include <jansson.h>
#include <string.h>

// --- weights ------------------------------------------------------------------------------------

static json_t *variants_json(const zn_family *family, unsigned fits)
{
    json_t *list = json_array();
    for (int i = 0; family && i < family->variants_count; i++) {
        if (fits >> i & 1) json_array_append_new(list, json_string(family->variants[i].name));
    }
    return list;
}

static json_t *parts_json(const zn_family *family, unsigned parts)
{
    json_t *list = json_array();
    for (int i = 0; family && i < family->parts_count; i++) {
        if (parts >> i & 1) json_array_append_new(list, json_string(family->parts[i].name));
    }
    return list;
}

static json_t *has_part(const zn_family *family, unsigned parts, const char *name)
{
    const zn_part *part = family ? zn_family_part(family, name) : NULL;
    return json_boolean(part && parts >> (part - family->parts) & 1);
}

static json_t *tensors_json(const zn_weights *weights)
{
    json_t *list = json_array();
    for (size_t i = 0; i < zn_weights_count(weights); i++) {
        const zn_file_tensor *tensor = zn_weights_get(weights, i);
        json_t *entry = json_pack("{s:s, s:s, s:o}", "name", tensor->name, "type", tensor->dtype,
                                  "shape", zn_shape_json(&tensor->shape));
        float scale = 1; // a scale that cannot be read is a problem of the model, which says so
        if (zn_weight_scale(weights, tensor, &scale, NULL) == ZENITH_OK && scale != 1.0f)
            json_object_set_new(entry, "scale", json_real((double)scale));
        json_array_append_new(list, entry);
    }
    return list;
}

static json_t *node_json(const zn_node *node)
{
    json_t *inputs = json_array();
    for (int i = 0; i < node->inputs_count; i++) {
        json_array_append_new(inputs, json_string(node->inputs[i]->name));
    }
    return json_pack("{s:s, s:s, s:s, s:o, s:o}", "name", node->name, "op", node->op->name, "type",
                     zn_type_name(node->desc.type), "shape", zn_shape_json(&node->desc.shape),
                     "inputs", inputs);
}

enum { SIDE = 64, TOKENS = 256 };

// The operators of one part, with pixels in bytes; maps of SIDE, sequences of TOKENS.
static zenith_status graph_json(const zn_model *model, const zn_part *part, json_t **out,
                                zn_error *err)
{
    const zn_compile_key key = {.model = (zn_model *)(uintptr_t)model,
                                .part = part,
                                .sizes = {.height = SIDE, .width = SIDE, .tokens = TOKENS},
                                .pixels = ZENITH_U8};
    zn_graph graph;
    ZN_TRY(zn_build_part(&key, &graph, err));
    *out = json_array();
    for (size_t i = 0; i < graph.count; i++) {
        if (graph.nodes[i]->kind == ZN_NODE_OP)
            json_array_append_new(*out, node_json(graph.nodes[i]));
    }
    zn_graph_free(&graph);
    return ZENITH_OK;
}

// What opening these weights as a model says; a failure is part of the answer.
static zenith_status add_model(json_t *json, const char *path, const char *name, bool with_graph,
                               zn_error *err)
{
    zn_error reason = {0};
    zn_model *model = NULL;
    const zn_model_request request = {.name = name, .weights = path};
    zenith_status status = zn_model_open(&request, &model, &reason);
    if (status == ZENITH_OUT_OF_MEMORY) return zn_fail_memory(err, 0);
    if (status != ZENITH_OK) {
        json_object_set_new(json, "problem", json_string(reason.text));
        return ZENITH_OK;
    }
    json_object_set_new(json, "model", json_string(model->variant->name));
    json_object_set_new(json, "description", json_string(model->variant->description));
    json_object_set_new(json, "parameters", json_integer((json_int_t)model->parameters));
    json_object_set_new(json, "unexpected", json_integer((json_int_t)model->unexpected));
    json_object_set_new(json, "sha256", json_string(zn_model_sha256(model)));
    json_object_set_new(json, "int8", json_boolean(zn_model_has_int8(model)));
    for (int i = 0; with_graph && i < model->family->parts_count; i++) {
        json_t *graph = NULL;
        const zn_part *part = &model->family->parts[i];
        if (!zn_model_has(model, part)) continue;
        status = graph_json(model, part, &graph, err);
        if (status != ZENITH_OK) break;
        json_object_set_new(json, part->name, graph);
    }
    zn_model_unref(model);
    return status;
}

// What a single file says about itself.
static void add_metadata(json_t *json, const char *path)
{
    zn_safetensors *file = NULL;
    if (zn_path_is_directory(path) || zn_safetensors_open(path, &file, NULL) != ZENITH_OK) return;
    json_t *pairs = json_object();
    for (size_t i = 0; i < zn_safetensors_metadata_count(file); i++) {
        const zn_metadata pair = zn_safetensors_metadata_get(file, i);
        json_object_set_new(pairs, pair.key, json_string(pair.value));
    }
    if (json_object_size(pairs) > 0) json_object_set(json, "metadata", pairs);
    json_decref(pairs);
    zn_safetensors_free(file);
}

static zenith_status inspect_weights(const char *path, const char *name, bool with_graph,
                                     json_t **out, zn_error *err)
{
    zn_weights *weights = NULL;
    unsigned fits = 0, parts = 0;
    ZN_TRY(zn_locate_weights(name, path, &weights, err));
    const zn_family *family = zn_model_probe(weights, &fits, &parts);
    json_t *json = json_pack("{s:s, s:s, s:o, s:o, s:o}", "kind", "weights", "family",
                             family ? family->name : "unknown", "fits", variants_json(family, fits),
                             "parts", parts_json(family, parts), "tensors", tensors_json(weights));
    if (json) {
        json_object_set_new(json, "encoder_there", has_part(family, parts, "encoder"));
        json_object_set_new(json, "decoder_there", has_part(family, parts, "decoder"));
        zn_weight_facts(weights, json);
    }
    zn_weights_free(weights);
    if (!json) return zn_fail_memory(err, 0);
    add_metadata(json, path);
    zenith_status status = add_model(json, path, name, with_graph, err);
    if (status != ZENITH_OK) {
        json_decref(json);
        return status;
    }
    *out = json;
    return ZENITH_OK;
}

// A folder with several models: which, and what there is of each.
static zenith_status inspect_folder(const char *path, json_t **out, zn_error *err)
{
    const zn_variant *variant;
    json_t *models = json_array();
    for (size_t i = 0; (variant = zn_variant_at(i)); i++) {
        zn_error reason = {0};
        zn_model *model = NULL;
        const zn_model_request request = {.name = variant->name, .weights = path};
        zenith_status status = zn_model_open(&request, &model, &reason);
        if (status == ZENITH_OUT_OF_MEMORY) {
            json_decref(models);
            return zn_fail_memory(err, 0);
        }
        if (status == ZENITH_NOT_FOUND) continue;
        json_t *entry = json_pack("{s:s}", "name", variant->name);
        if (status == ZENITH_OK) {
            json_object_set_new(entry, "encoder", has_part(model->family, model->parts, "encoder"));
            json_object_set_new(entry, "decoder", has_part(model->family, model->parts, "decoder"));
            json_object_set_new(entry, "parts", parts_json(model->family, model->parts));
            json_object_set_new(entry, "int8", json_boolean(zn_model_has_int8(model)));
            json_object_set_new(entry, "parameters", json_integer((json_int_t)model->parameters));
        } else {
            json_object_set_new(entry, "problem", json_string(reason.text));
        }
        json_array_append_new(models, entry);
        zn_model_unref(model);
    }
    if (json_array_size(models) == 0) {
        json_decref(models);
        return zn_fail(err, ZENITH_NOT_FOUND,
                       "%s: this folder has no weights of a known model (NAME_encoder.safetensors, "
                       "NAME_decoder.safetensors, or diffusers' config.json)",
                       path);
    }
    *out = json_pack("{s:s, s:o}", "kind", "folder", "models", models);
    return *out ? ZENITH_OK : zn_fail_memory(err, 0);
}

// What a component of a pipeline is: the family that knows its weights, if it has some.
static zenith_status component_json(const zn_pipeline *pipeline,
                                    const zn_model_component *component, json_t **out,
                                    zn_error *err)
{
    zn_weights *weights = NULL;
    zn_error reason = {0};
    unsigned fits = 0, parts = 0;
    zenith_status status = zn_pipeline_weights(pipeline, component->name, &weights, &reason);
    if (status == ZENITH_OUT_OF_MEMORY) return zn_fail_memory(err, 0);
    json_t *entry = json_pack("{s:s, s:s, s:s}", "name", component->name, "library",
                              component->library, "class", component->kind);
    if (!entry) {
        zn_weights_free(weights);
        return zn_fail_memory(err, 0);
    }
    if (weights) {
        const zn_family *family = zn_model_probe(weights, &fits, &parts);
        json_object_set_new(entry, "family", json_string(family ? family->name : "unknown"));
        json_object_set_new(entry, "tensors", json_integer((json_int_t)zn_weights_count(weights)));
    } else if (status != ZENITH_NOT_FOUND) {
        json_object_set_new(entry, "problem", json_string(reason.text));
    }
    zn_weights_free(weights);
    *out = entry;
    return ZENITH_OK;
}

// A folder of models that work together.
static zenith_status inspect_pipeline(const char *path, json_t **out, zn_error *err)
{
    zn_pipeline pipeline;
    ZN_TRY(zn_pipeline_open(path, &pipeline, err));
    json_t *components = json_array();
    zenith_status status = ZENITH_OK;
    for (size_t i = 0; status == ZENITH_OK && i < pipeline.index.count; i++) {
        json_t *entry = NULL;
        status = component_json(&pipeline, &pipeline.index.components[i], &entry, err);
        if (entry) json_array_append_new(components, entry);
    }
    if (status == ZENITH_OK) {
        *out = json_pack("{s:s, s:s, s:O}", "kind", "pipeline", "class", pipeline.index.kind,
                         "components", components);
        if (!*out) status = zn_fail_memory(err, 0);
    }
    json_decref(components);
    zn_pipeline_free(&pipeline);
    return status;
}

// Weights, or a folder of them where the name that would choose one was not given.
static zenith_status inspect_other(const char *path, const char *model, bool graph, json_t **out,
                                   zn_error *err)
{
    zn_error reason = {0};
    if (!model && zn_pipeline_is(path)) return inspect_pipeline(path, out, err);
    zenith_status status = inspect_weights(path, model, graph, out, &reason);
    if (status == ZENITH_AMBIGUOUS && !model && zn_path_is_directory(path))
        return inspect_folder(path, out, err);
    return status == ZENITH_OK ? status : zn_fail(err, status, "%s", reason.text);
}

static zenith_status inspect_bytes(const char *path, json_t **out, zn_error *err)
{
    zn_input input = {.size = 0};
    ZN_TRY(zn_input_open(path, 0, &input, err));
    zenith_status status = zn_inspect_bytes(input.data, input.size, path, out, err);
    zn_input_close(&input);
    if (status == ZENITH_UNSUPPORTED && strcmp(path, "-") == 0)
        return zn_fail(err, status,
                       "what came in is neither an image nor a latent nor a code: weights are "
                       "inspected by their path");
    return status;
}

zenith_status zn_inspect(const char *path, const char *model, bool graph, char **out, zn_error *err)
{
    json_t *json = NULL;
    zenith_status status = ZENITH_UNSUPPORTED;
    if (!zn_path_is_directory(path)) status = inspect_bytes(path, &json, err);
    // What is wrong with it as weights is the message.
    if (status == ZENITH_UNSUPPORTED && !err->text[0])
        status = inspect_other(path, model, graph, &json, err);
    ZN_TRY(status);
    if (!json) return zn_fail_memory(err, 0);
    status = zn_json_dump(json, out, NULL, err);
    json_decref(json);
    return status;
}
