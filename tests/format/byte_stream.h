// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes in memory, for what reads a stream.
#ifndef ZN_TESTS_FORMAT_BYTE_STREAM_H
#define ZN_TESTS_FORMAT_BYTE_STREAM_H

#include "src/base/status.h"

#include <stdint.h>
#include <string.h>

typedef struct byte_stream {
    const uint8_t *data;
    size_t size, at;
} byte_stream;

static inline zenith_status byte_stream_read(void *cookie, void *dst, size_t size, size_t *got,
                                             zn_error *err)
{
    byte_stream *from = cookie;
    (void)err;
    *got = from->size - from->at < size ? from->size - from->at : size;
    if (*got) memcpy(dst, from->data + from->at, *got);
    from->at += *got;
    return ZENITH_OK;
}

#endif
