// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Frames from and to Y4M streams.
#include "src/api/context.h"
#include "src/base/input.h"
#include "src/base/memory.h"
#include "src/format/video/y4m.h"

#include <string.h>

static const char *shown(const char *path)
{
    return strcmp(path, "-") ? path : "standard input";
}

// --- reading ------------------------------------------------------------------------------------

struct zenith_video_source {
    zenith_context *context;
    zn_y4m_reader reader;
    bool standard_input;
    zn_input input; // of a file, mapped
    size_t at;
};

// A pipe gives a little at a time; less than was asked for is its end.
static zenith_status read_pipe(void *dst, size_t size, size_t *got, zn_error *err)
{
    *got = 0;
    while (*got < size) {
        size_t more = 0;
        ZN_TRY(zn_standard_input_read((uint8_t *)dst + *got, size - *got, &more, err));
        if (more == 0) break;
        *got += more;
    }
    return ZENITH_OK;
}

static zenith_status read_bytes(void *cookie, void *dst, size_t size, size_t *got, zn_error *err)
{
    zenith_video_source *source = cookie;
    if (source->standard_input) return read_pipe(dst, size, got, err);
    const size_t left = source->input.size - source->at;
    *got = size < left ? size : left;
    if (*got) memcpy(dst, source->input.data + source->at, *got);
    source->at += *got;
    zn_input_use(&source->input, *got);
    return ZENITH_OK;
}

static zenith_status open_source(zenith_context *context, const char *path,
                                 zenith_video_source **out)
{
    zn_error *err = &context->error;
    zenith_video_source *source = zn_alloc_zero(sizeof *source);
    if (!source) return zn_fail_memory(err, sizeof *source);
    zenith_status status = ZENITH_OK;
    source->context = context;
    source->standard_input = strcmp(path, "-") == 0;
    if (!source->standard_input) ZN_GO(zn_input_open(path, 0, &source->input, err));
    ZN_GO(zn_y4m_open(&source->reader, read_bytes, source, err));
    *out = source;
    return ZENITH_OK;
fail:
    zn_error_prefix(err, shown(path));
    zenith_video_source_free(source);
    return status;
}

zenith_status zenith_video_source_open(zenith_context *context, const char *path,
                                       zenith_video_source **out)
{
    ZN_TRY(zn_context_enter(context));
    zenith_status status = path && out ? open_source(context, path, out)
                                       : zn_fail(&context->error, ZENITH_INVALID_ARGUMENT,
                                                 "a video source needs a path and a place");
    return zn_context_leave(context, status);
}

void zenith_video_source_free(zenith_video_source *source)
{
    if (!source) return;
    zn_y4m_close(&source->reader);
    zn_input_close(&source->input);
    zn_free(source);
}

void zenith_video_source_get_info(const zenith_video_source *source, zenith_video_info *out)
{
    if (!source || !out) return;
    const zn_y4m_header *h = &source->reader.header;
    const zenith_video_info info = {
        .width = h->width, .height = h->height, .rate = h->rate, .rate_scale = h->rate_scale};
    zn_caller_struct_out(&info, sizeof info, out);
}

zenith_status zenith_video_source_next(zenith_video_source *source, void *pixels, bool *there)
{
    if (!source || !pixels || !there) return ZENITH_INVALID_ARGUMENT;
    ZN_TRY(zn_context_enter(source->context));
    bool found = false;
    zenith_status status = zn_y4m_next(&source->reader, pixels, &found, &source->context->error);
    if (status == ZENITH_OK) *there = found;
    return zn_context_leave(source->context, status);
}

// --- writing ------------------------------------------------------------------------------------

struct zenith_video_target {
    zenith_context *context;
    zn_writer *writer;
    zn_y4m_header header;
    uint8_t *planes;
};

static zenith_status open_target(zenith_context *context, const char *path,
                                 const zenith_video_info *info, zenith_video_target **out)
{
    zn_error *err = &context->error;
    zenith_video_info full;
    char line[ZN_Y4M_LINE];
    ZN_TRY(zn_params_copy(info, &full, sizeof full, err));
    zenith_video_target *target = zn_alloc_zero(sizeof *target);
    if (!target) return zn_fail_memory(err, sizeof *target);
    zenith_status status = ZENITH_OK;
    target->context = context;
    target->header = (zn_y4m_header){.width = full.width,
                                     .height = full.height,
                                     .rate = full.rate,
                                     .rate_scale = full.rate_scale,
                                     .chroma = ZN_Y4M_444};
    const size_t length = zn_y4m_line(&target->header, line);
    ZN_GO(zn_y4m_parse(line, length - 1, &target->header, err)); // sizes that readers refuse
    const size_t bytes = zn_y4m_frame_bytes(&target->header);
    target->planes = zn_alloc(bytes);
    if (!target->planes) ZN_GO(zn_fail_memory(err, bytes));
    ZN_GO(zn_writer_open(path, &target->writer, err));
    ZN_GO(zn_writer_write(target->writer, line, length, err));
    *out = target;
    return ZENITH_OK;
fail:
    zenith_video_target_free(target);
    return status;
}

zenith_status zenith_video_target_open(zenith_context *context, const char *path,
                                       const zenith_video_info *info, zenith_video_target **out)
{
    ZN_TRY(zn_context_enter(context));
    zenith_status status = path && info && out
                               ? open_target(context, path, info, out)
                               : zn_fail(&context->error, ZENITH_INVALID_ARGUMENT,
                                         "a video target needs a path, its sizes and a place");
    return zn_context_leave(context, status);
}

static zenith_status write_frame(zenith_video_target *target, const void *pixels)
{
    static const char line[] = "FRAME\n";
    zn_error *err = &target->context->error;
    zn_y4m_from_rgb(&target->header, pixels, target->planes);
    ZN_TRY(zn_writer_write(target->writer, line, sizeof line - 1, err));
    return zn_writer_write(target->writer, target->planes, zn_y4m_frame_bytes(&target->header),
                           err);
}

zenith_status zenith_video_target_write(zenith_video_target *target, const void *pixels)
{
    if (!target || !target->writer || !pixels) return ZENITH_INVALID_ARGUMENT;
    ZN_TRY(zn_context_enter(target->context));
    return zn_context_leave(target->context, write_frame(target, pixels));
}

zenith_status zenith_video_target_finish(zenith_video_target *target)
{
    if (!target || !target->writer) return ZENITH_INVALID_ARGUMENT;
    ZN_TRY(zn_context_enter(target->context));
    zn_writer *writer = target->writer;
    target->writer = NULL;
    return zn_context_leave(target->context, zn_writer_commit(writer, &target->context->error));
}

void zenith_video_target_free(zenith_video_target *target)
{
    if (!target) return;
    zn_writer_discard(target->writer);
    zn_free(target->planes);
    zn_free(target);
}
