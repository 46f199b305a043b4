// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a Y4M stream.
#include "tests/format/byte_stream.h"

#include "src/format/video/y4m.h"

#include "src/base/memory.h"

#include <string.h>

enum { MOST_PIXELS = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    zn_error err = {0};
    zn_y4m_reader reader = {.planes = NULL};
    byte_stream b = {data, size, 0};
    bool there = zn_y4m_open(&reader, byte_stream_read, &b, &err) == ZENITH_OK;
    const zn_y4m_header *h = &reader.header;
    if (there && (uint64_t)h->width * h->height <= MOST_PIXELS) {
        uint8_t *rgb = zn_alloc((size_t)h->width * h->height * 3);
        while (rgb && there)
            if (zn_y4m_next(&reader, rgb, &there, &err) != ZENITH_OK) break;
        zn_free(rgb);
    }
    zn_y4m_close(&reader);
    return 0;
}
