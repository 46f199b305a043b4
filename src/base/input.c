// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A mapped file, or standard input read into a buffer that doubles.
#include "src/base/input.h"

#include "src/base/memory.h"

#include <string.h>

enum { FIRST_READ = 64 * 1024, FORGET_AFTER = 8 * 1024 * 1024 };

uint64_t zn_input_limit(uint64_t max_held)
{
    return max_held ? max_held : UINT64_C(2) << 30;
}

static zenith_status grow(zn_input *input, uint64_t limit, zn_error *err)
{
    // One byte more than allowed, to tell "as much as that" from "more than that".
    uint64_t wanted = input->held ? 2 * (uint64_t)input->held : FIRST_READ;
    if (wanted - 1 > limit) wanted = limit + 1;
    uint8_t *grown = wanted <= SIZE_MAX ? zn_alloc((size_t)wanted) : NULL;
    if (!grown) return zn_fail_memory(err, (size_t)wanted);
    if (input->size) memcpy(grown, input->buffer, input->size);
    zn_free(input->buffer);
    input->buffer = grown;
    input->held = (size_t)wanted;
    return ZENITH_OK;
}

static zenith_status read_standard_input(zn_input *input, uint64_t limit, zn_error *err)
{
    while (true) {
        if (input->size == input->held) ZN_TRY(grow(input, limit, err));
        size_t got = 0;
        ZN_TRY(zn_standard_input_read(input->buffer + input->size, input->held - input->size, &got,
                                      err));
        if (got == 0) break;
        input->size += got;
        if (input->size > limit)
            return zn_fail(err, ZENITH_LIMIT,
                           "Standard input brought more than the %llu bytes that may be held.",
                           (unsigned long long)limit);
    }
    input->data = input->size ? input->buffer : NULL;
    return ZENITH_OK;
}

zenith_status zn_input_open(const char *path, uint64_t max_held, zn_input *out, zn_error *err)
{
    zn_input input = {0};
    zenith_status status;
    if (strcmp(path, "-") == 0) {
        status = read_standard_input(&input, zn_input_limit(max_held), err);
    } else {
        status = zn_mapped_open(path, &input.mapped, err);
        input.data = input.mapped.data;
        input.size = input.mapped.size;
    }
    if (status == ZENITH_OK)
        *out = input;
    else
        zn_input_close(&input);
    return status;
}

void zn_input_close(zn_input *input)
{
    zn_mapped_close(&input->mapped);
    zn_free(input->buffer);
    *input = (zn_input){0};
}

void zn_input_use(zn_input *input, size_t bytes)
{
    input->used += bytes;
    if (!input->mapped.data || input->used < FORGET_AFTER) return;
    zn_input_rest(input);
}

void zn_input_rest(zn_input *input)
{
    input->used = 0;
    if (!input->mapped.data) return;
    // All pages, since nobody here knows where in the file the decoder is: those that it still
    // wants come back from the system's cache.
    zn_mapped_forget(&input->mapped, 0, input->mapped.size);
}
