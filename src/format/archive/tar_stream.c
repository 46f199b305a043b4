// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A window holds one header at a time, with what the parser looks at behind it (a long name, pax
// records, a sparse file's map). The parser of tar.c reads the window as if it were an archive;
// files' bytes go past it.
#include "src/format/archive/tar_stream.h"

#include "src/base/memory.h"
#include "src/format/archive/tar.h"

enum { BLOCK = 512, MOST_LOOKED_AT = 1 << 20, PASSED_AT_ONCE = 64 * 1024 };

struct zn_tar_stream {
    zn_stream_fn *read;
    void *cookie;
    zn_tar tar; // of the window
    uint8_t *window;
    size_t used, capacity;
    uint64_t bytes;         // of the archive
    uint64_t position;      // bytes that were read
    uint64_t left, padding; // of the file that was found
    bool ended;
};

zenith_status zn_tar_stream_open(zn_stream_fn *read, void *cookie, uint64_t bytes,
                                 zn_tar_stream **out, zn_error *err)
{
    zn_tar_stream *stream = zn_alloc_zero(sizeof *stream);
    if (!stream) return zn_fail_memory(err, sizeof *stream);
    stream->read = read;
    stream->cookie = cookie;
    stream->bytes = bytes ? bytes : SIZE_MAX / 2;
    *out = stream;
    return ZENITH_OK;
}

void zn_tar_stream_free(zn_tar_stream *stream)
{
    if (!stream) return;
    zn_free(stream->window);
    zn_free(stream);
}

// Exactly `size` bytes. `wanted` of them must be there; the rest is padding, which some writers
// leave out at the end.
static zenith_status take(zn_tar_stream *stream, void *dst, size_t size, size_t wanted,
                          zn_error *err)
{
    size_t got = 0;
    ZN_TRY(stream->read(stream->cookie, dst, size, &got, err));
    stream->position += got;
    if (got >= wanted) return ZENITH_OK;
    return zn_fail(err, ZENITH_BAD_FILE,
                   "the archive is cut off at byte %llu: it should go on to byte %llu at least",
                   (unsigned long long)stream->position,
                   (unsigned long long)(stream->position - got + wanted));
}

static zenith_status take_blocks(zn_tar_stream *stream, size_t size, zn_error *err)
{
    const size_t blocks = zn_round_up(size, BLOCK);
    ZN_TRY(zn_array_reserve((void **)&stream->window, &stream->capacity, stream->used + blocks, 1,
                            err));
    ZN_TRY(take(stream, stream->window + stream->used, blocks, size, err));
    stream->used += blocks;
    return ZENITH_OK;
}

static zenith_status fill_window(zn_tar_stream *stream, zn_error *err)
{
    const uint64_t begin = stream->position;
    stream->used = 0;
    ZN_TRY(take_blocks(stream, BLOCK, err));
    const uint64_t more = zn_tar_looked_at(stream->window);
    if (more > MOST_LOOKED_AT)
        return zn_fail(err, ZENITH_LIMIT,
                       "the archive has a header of %llu bytes at byte %llu; %d are read",
                       (unsigned long long)more, (unsigned long long)begin, MOST_LOOKED_AT);
    if (more > 0) ZN_TRY(take_blocks(stream, (size_t)more, err));
    bool map = zn_tar_map_follows(stream->window, true);
    while (map) {
        if (stream->used > MOST_LOOKED_AT)
            return zn_fail(err, ZENITH_LIMIT, "the archive has an endless map at byte %llu",
                           (unsigned long long)begin);
        ZN_TRY(take_blocks(stream, BLOCK, err));
        map = zn_tar_map_follows(stream->window + stream->used - BLOCK, false);
    }
    if (stream->position > stream->bytes)
        return zn_fail(err, ZENITH_BAD_FILE, "the archive has grown while it was read");
    stream->tar.data = stream->window;
    stream->tar.size = stream->used;
    stream->tar.position = 0;
    stream->tar.before = begin;
    stream->tar.whole = stream->bytes > begin ? stream->bytes - begin : 0;
    return ZENITH_OK;
}

static zenith_status pass(zn_tar_stream *stream, uint64_t size, uint64_t padding, zn_error *err)
{
    uint64_t rest = size + padding;
    if (rest == 0) return ZENITH_OK;
    uint8_t *waste = zn_alloc(PASSED_AT_ONCE);
    if (!waste) return zn_fail_memory(err, PASSED_AT_ONCE);
    zenith_status status = ZENITH_OK;
    while (rest > 0 && status == ZENITH_OK) {
        const size_t now = rest < PASSED_AT_ONCE ? (size_t)rest : PASSED_AT_ONCE;
        const size_t wanted = size < now ? (size_t)size : now;
        status = take(stream, waste, now, wanted, err);
        size -= wanted;
        rest -= now;
    }
    zn_free(waste);
    return status;
}

// The bytes of data that come behind the window, and what pads them.
static void note_data(zn_tar_stream *stream, const zn_tar_member *member)
{
    const uint64_t size = member->offset + member->size > stream->used
                              ? member->offset + member->size - stream->used
                              : 0;
    stream->left = size;
    stream->padding = stream->tar.position > stream->used
                          ? stream->tar.position - stream->used - size
                          : 0;
}

zenith_status zn_tar_stream_next(zn_tar_stream *stream, const char **name, uint64_t *size,
                                 bool *found, zn_error *err)
{
    bool is_file = false;
    while (!is_file && !stream->ended) {
        zn_tar_member member = {0};
        ZN_TRY(pass(stream, stream->left, stream->padding, err));
        stream->left = stream->padding = 0;
        ZN_TRY(fill_window(stream, err));
        ZN_TRY(zn_tar_step(&stream->tar, &member, &is_file, &stream->ended, err));
        if (!stream->ended) note_data(stream, &member);
    }
    *found = is_file && !stream->ended;
    if (!*found) return ZENITH_OK;
    *name = stream->tar.name;
    *size = stream->left;
    return ZENITH_OK;
}

zenith_status zn_tar_stream_read(zn_tar_stream *stream, void *dst, size_t size, zn_error *err)
{
    if (size > stream->left)
        return zn_fail(err, ZENITH_INTERNAL, "more bytes of a file are wanted than it has");
    ZN_TRY(take(stream, dst, size, size, err));
    stream->left -= size;
    return ZENITH_OK;
}
