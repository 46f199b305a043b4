// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any text as the index of a folder of models: no component's name may lead out of it.
#include "src/format/pipeline/model_index.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    zn_arena arena = {0};
    zn_model_index index = {.count = 0};
    zn_error err = {{0}};
    zenith_status status = zn_model_index_parse((const char *)data, size, "fuzz", &arena, &index,
                                                &err);
    if (status != ZENITH_OK && !*err.text) __builtin_trap();
    if (status == ZENITH_OK && (index.count == 0 || !index.kind)) __builtin_trap();
    for (size_t i = 0; i < index.count; i++) {
        const zn_model_component *c = &index.components[i];
        if (!*c->name || c->name[0] == '.' || strpbrk(c->name, "/\\: ")) __builtin_trap();
        if (!c->library || !c->kind) __builtin_trap();
    }
    zn_arena_free(&arena);
    return 0;
}
