// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/task/inspect/weight_facts.h"

#include "src/base/text.h"
#include "src/format/tensor/stored_weight.h"
#include "src/format/tensor/weight_scale.h"

#include <jansson.h>
#include <string.h>

enum { TEXT_SHOWN = 256 };

// --- what GGUF files say

// Numbers and short texts as they are; of what is longer, how much there is.
static json_t *value_json(const zn_gguf_value *value)
{
    char text[64];
    int64_t integer = 0;
    double number = 0;
    zn_gguf_text long_text = {0};
    if (value->text && strlen(value->text) <= TEXT_SHOWN) return json_string(value->text);
    if (zn_gguf_as_text(value, &long_text)) {
        zn_text_format(text, sizeof text, "[%zu bytes of text]", long_text.length);
        return json_string(text);
    }
    if (value->type == ZN_GGUF_ARRAY) {
        zn_text_format(text, sizeof text, "[%zu %s]", value->count,
                       value->item == ZN_GGUF_TEXT ? "texts" : "items");
        return json_string(text);
    }
    if (zn_gguf_as_integer(value, &integer))
        return value->type == ZN_GGUF_BOOL ? json_boolean(integer) : json_integer(integer);
    return zn_gguf_as_number(value, &number) ? json_real(number) : NULL;
}

static void add_values(const zn_gguf *file, json_t *json)
{
    const zn_gguf_value *architecture = zn_gguf_value_find(file, "general.architecture");
    json_t *pairs = json_object();
    if (architecture && architecture->text)
        json_object_set_new(json, "architecture", json_string(architecture->text));
    for (size_t i = 0; i < zn_gguf_value_count(file); i++) {
        const zn_gguf_value *value = zn_gguf_value_get(file, i);
        json_object_set_new(pairs, value->key, value_json(value));
    }
    if (json_object_size(pairs) > 0) json_object_set(json, "metadata", pairs);
    json_decref(pairs);
}

// --- forms

typedef struct totals {
    json_t *forms; // of {"type", "tensors", "weights", "bytes"}
    uint64_t weights, bytes;
} totals;

static json_t *find_form(totals *all, const char *text)
{
    size_t i;
    json_t *form;
    json_array_foreach(all->forms, i, form)
    {
        if (strcmp(json_string_value(json_object_get(form, "type")), text) == 0) return form;
    }
    form = json_pack("{s:s, s:i, s:i, s:i}", "type", text, "tensors", 0, "weights", 0, "bytes", 0);
    return json_array_append_new(all->forms, form) == 0 ? form : NULL;
}

static void add_number(json_t *form, const char *key, size_t number)
{
    json_t *value = json_object_get(form, key);
    json_integer_set(value, json_integer_value(value) + (json_int_t)number);
}

// One weight; a tensor that cannot be read counts as the file describes it.
static void add_weight(totals *all, const zn_weights *weights, const zn_file_tensor *tensor)
{
    zn_stored_weight weight;
    char text[64];
    size_t elements = 0;
    if (zn_stored_weight_of(weights, tensor, NULL, &weight, NULL) == ZENITH_OK) {
        zn_stored_weight_text(&weight, text, sizeof text);
    } else {
        weight = (zn_stored_weight){.shape = tensor->shape, .bytes = tensor->bytes};
        zn_text_format(text, sizeof text, "%.32s, not read", tensor->dtype);
    }
    json_t *form = find_form(all, text);
    zn_shape_elements(&weight.shape, &elements);
    all->weights += elements;
    if (!form) return;
    add_number(form, "tensors", 1);
    add_number(form, "weights", elements);
    add_number(form, "bytes", weight.bytes);
}

static double bits(uint64_t bytes, uint64_t weights)
{
    return weights > 0 ? 8.0 * (double)bytes / (double)weights : 0;
}

static void add_forms(const zn_weights *weights, json_t *json)
{
    size_t i;
    json_t *form;
    totals all = {.forms = json_array()};
    for (size_t t = 0; t < zn_weights_count(weights); t++) {
        const zn_file_tensor *tensor = zn_weights_get(weights, t);
        all.bytes += tensor->bytes;
        if (!zn_weight_is_note(weights, tensor)) add_weight(&all, weights, tensor);
    }
    json_array_foreach(all.forms, i, form)
    {
        const double each = bits((uint64_t)json_integer_value(json_object_get(form, "bytes")),
                                 (uint64_t)json_integer_value(json_object_get(form, "weights")));
        json_object_set_new(form, "bits_per_weight", json_real(each));
    }
    json_object_set_new(json, "stored_as", all.forms);
    json_object_set_new(json, "bytes", json_integer((json_int_t)all.bytes));
    json_object_set_new(json, "bits_per_weight", json_real(bits(all.bytes, all.weights)));
}

void zn_weight_facts(const zn_weights *weights, zn_json *json)
{
    const zn_gguf *gguf = zn_weights_gguf(weights);
    json_object_set_new(json, "format", json_string(gguf ? "GGUF" : "safetensors"));
    if (gguf) add_values(gguf, json);
    add_forms(weights, json);
}
