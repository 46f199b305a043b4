// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a GGUF file; whatever opens is read to the last byte, values and tensors, and the
// tokenizer that it carries.
#include "src/base/memory.h"
#include "src/format/tensor/gguf.h"
#include "src/text/tokenizer.h"

static volatile uint8_t sink; // keeps the reads

static void read_tensor(const zn_file_tensor *tensor)
{
    size_t elements;
    for (size_t i = 0; i < tensor->bytes; i++) sink ^= tensor->data[i];
    if (!zn_shape_elements(&tensor->shape, &elements) || elements > 1 << 20) return;
    float *values = zn_alloc(elements * sizeof *values);
    zenith_status status = zn_file_tensor_read(tensor, values, NULL);
    if ((status == ZENITH_OK) != zn_file_tensor_readable(tensor)) __builtin_trap();
    zn_free(values);
}

static void read_text(const zn_gguf_text *text)
{
    for (size_t i = 0; i < text->length; i++) sink ^= (uint8_t)text->data[i];
}

static void read_value(const zn_gguf_value *value)
{
    int64_t integer;
    double number;
    zn_gguf_text text;
    if (zn_gguf_as_text(value, &text)) read_text(&text);
    if (zn_gguf_as_integer(value, &integer)) sink ^= (uint8_t)integer;
    if (zn_gguf_as_number(value, &number)) sink ^= number > 0;
    zn_gguf_items items = zn_gguf_items_of(value);
    while (zn_gguf_next_text(&items, &text)) read_text(&text);
    while (zn_gguf_next_integer(&items, &integer)) sink ^= (uint8_t)integer;
    while (zn_gguf_next_number(&items, &number)) sink ^= number > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    zn_gguf *file = NULL;
    zn_error err = {{0}};
    if (zn_gguf_open_memory(data, size, "fuzz", &file, &err) != ZENITH_OK) {
        if (file || !*err.text) __builtin_trap(); // every refusal has its sentence
        return 0;
    }
    zn_tokenizer *tokenizer = NULL;
    if (zn_tokenizer_from_gguf(file, "fuzz", &tokenizer, &err) == ZENITH_OK)
        zn_tokenizer_free(tokenizer);
    else if (tokenizer || !*err.text)
        __builtin_trap();
    size_t bytes = 0;
    for (size_t i = 0; i < zn_gguf_count(file); i++) {
        const zn_file_tensor *tensor = zn_gguf_get(file, i);
        if (zn_gguf_find(file, tensor->name) != tensor) __builtin_trap();
        bytes += tensor->bytes;
        read_tensor(tensor);
    }
    if (bytes > size) __builtin_trap(); // tensors do not share bytes
    for (size_t i = 0; i < zn_gguf_value_count(file); i++) {
        const zn_gguf_value *value = zn_gguf_value_get(file, i);
        if (zn_gguf_value_find(file, value->key) != value) __builtin_trap();
        read_value(value);
    }
    zn_gguf_free(file);
    return 0;
}
