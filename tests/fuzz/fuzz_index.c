// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any text as the index of a sharded checkpoint: no shard's name may lead out of its folder.
#include "src/format/tensor/weights_index.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    zn_arena arena = {0};
    zn_index_entry *entries = NULL;
    size_t count = 0;
    zn_error err = {{0}};
    zenith_status status = zn_weights_index_parse((const char *)data, size, "fuzz", &arena,
                                                  &entries, &count, &err);
    if (status != ZENITH_OK && !*err.text) __builtin_trap();
    for (size_t i = 0; i < count; i++) {
        const char *shard = entries[i].shard;
        if (strchr(shard, '/') || strchr(shard, '\\') || shard[0] == '.') __builtin_trap();
        if (i > 0 && strcmp(entries[i - 1].shard, shard) > 0) __builtin_trap();
    }
    zn_arena_free(&arena);
    return 0;
}
