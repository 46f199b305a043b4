// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the record of a shard: refused with a sentence, or whole.
#include "src/format/archive/shard_record.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    zn_shard_record record;
    zn_error err = {{0}};
    const zenith_status status = zn_shard_record_parse((const char *)data, size, "record", &record,
                                                       &err);
    if (status != ZENITH_OK && (!*err.text || record.bad)) __builtin_trap();
    if (status == ZENITH_OK) {
        if (strlen(record.config) != 64 || strlen(record.output_sha256) != 64) __builtin_trap();
        for (size_t i = 0; i < record.bad_count; i++)
            if (!record.bad[i].key || !record.bad[i].reason) __builtin_trap();
        zn_json_free(zn_shard_record_reasons(&record));
    }
    zn_shard_record_free(&record);
    return 0;
}
