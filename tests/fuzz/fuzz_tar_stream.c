// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a tar archive that comes as a stream, in pieces: the members are those of the
// archive in memory, with the same bytes, and it ends at the same place in the same way.
#include "tests/format/byte_stream.h"

#include "src/format/archive/tar.h"
#include "src/format/archive/tar_stream.h"

#include <string.h>

// Reads some of a member, or none: what is left is passed over.
static void check_bytes(zn_tar_stream *stream, const uint8_t *expected, size_t size)
{
    uint8_t some[700];
    const size_t wanted = size < sizeof some ? size : sizeof some;
    if (zn_tar_stream_read(stream, some, wanted, NULL) != ZENITH_OK) __builtin_trap();
    if (memcmp(some, expected, wanted) != 0) __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    byte_stream from = {data, size, 0};
    zn_tar tar;
    zn_tar_stream *stream = NULL;
    if (zn_tar_stream_open(byte_stream_read, &from, size, &stream, NULL) != ZENITH_OK) return 0;
    zn_tar_begin(&tar, data, size);
    for (bool found = true; found;) {
        zn_error err = {{0}};
        zn_tar_member member = {0};
        bool streamed = false;
        const char *name = NULL;
        uint64_t bytes_there = 0;
        const zenith_status status = zn_tar_next(&tar, &member, &found, NULL);
        const zenith_status other = zn_tar_stream_next(stream, &name, &bytes_there, &streamed,
                                                       &err);
        if ((status == ZENITH_OK) != (other == ZENITH_OK)) __builtin_trap();
        if (other != ZENITH_OK && !*err.text) __builtin_trap();
        if (other != ZENITH_OK) break;
        if (found != streamed) __builtin_trap();
        if (!found) break;
        if (strcmp(name, member.name) != 0 || bytes_there != member.size) __builtin_trap();
        if (member.offset & 512) check_bytes(stream, data + member.offset, member.size);
    }
    zn_tar_stream_free(stream);
    return 0;
}
