// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith_latent_file: latents streamed out of a mapped file, or of memory.
#include "src/api/context.h"
#include "src/base/input.h"
#include "src/base/memory.h"
#include "src/format/latent/file.h"
#include "zenith/zenith.h"

#include <string.h>

// One latent of a file: the cookie of its rows.
typedef struct cursor {
    zenith_latent_file *file;
    uint32_t index;
} cursor;

struct zenith_latent_file {
    zn_input input; // empty when the bytes are the caller's
    zn_latent_file *latents;
    cursor *cursors; // one per latent
    zenith_latent_info info;
};

static zenith_status note_shape(zenith_latent_file *file, const char *name, zn_error *err)
{
    zn_shape shape = zn_latent_file_shape(file->latents);
    for (int i = 0; i < 4; i++)
        if (shape.dim[i] > INT32_MAX)
            return zn_fail(err, ZENITH_UNSUPPORTED,
                           "%s: a latent has a side of %lld; sides must be below 2^31.", name,
                           (long long)shape.dim[i]);
    const zn_latent_facts *facts = zn_latent_file_facts(file->latents);
    bool raw = strcmp(facts->space, "raw") == 0;
    file->info = (zenith_latent_info){
        .size = sizeof file->info,
        .count = (uint32_t)shape.dim[0],
        .channels = (uint32_t)shape.dim[1],
        .height = (uint32_t)shape.dim[2],
        .width = (uint32_t)shape.dim[3],
        .model = facts->model,
        .has_space = facts->space[0] != '\0',
        .space = raw ? ZENITH_SPACE_RAW : ZENITH_SPACE_MODEL,
        .source_width = facts->source_width,
        .source_height = facts->source_height,
        .crop_x = facts->crop_x,
        .crop_y = facts->crop_y,
        .crop_width = facts->crop_width,
        .crop_height = facts->crop_height,
        .frames = facts->frames,
    };
    return ZENITH_OK;
}

static zenith_status make_cursors(zenith_latent_file *file, zn_error *err)
{
    size_t bytes = file->info.count * sizeof *file->cursors; // count < 2^31
    file->cursors = zn_alloc(bytes);
    if (!file->cursors) return zn_fail_memory(err, bytes);
    for (uint32_t i = 0; i < file->info.count; i++) file->cursors[i] = (cursor){file, i};
    return ZENITH_OK;
}

// From `path`, or from memory where that is NULL.
static zenith_status open_file(const char *path, const void *data, size_t size,
                               zenith_latent_file **out, zn_error *err)
{
    zenith_latent_file *file = zn_alloc_zero(sizeof *file);
    if (!file) return zn_fail_memory(err, sizeof *file);
    const char *name = !path ? "latent in memory" : strcmp(path, "-") ? path : "standard input";
    zenith_status status;
    if (path) {
        ZN_GO(zn_input_open(path, 0, &file->input, err));
        data = file->input.data;
        size = file->input.size;
    }
    if (!size) ZN_GO(zn_fail(err, ZENITH_BAD_FILE, "%s is empty.", name));
    ZN_GO(zn_latent_file_open_memory(data, size, name, &file->latents, err));
    ZN_GO(note_shape(file, name, err));
    ZN_GO(make_cursors(file, err));
    *out = file;
    return ZENITH_OK;
fail:
    zenith_latent_file_free(file);
    return status;
}

zenith_status zenith_latent_file_open(zenith_context *context, const char *path,
                                      zenith_latent_file **out)
{
    ZN_TRY(zn_context_enter(context));
    zenith_status status;
    if (!path || !out)
        status = zn_fail(&context->error, ZENITH_INVALID_ARGUMENT,
                         "zenith_latent_file_open needs a path and a place for the file.");
    else
        status = open_file(path, NULL, 0, out, &context->error);
    return zn_context_leave(context, status);
}

zenith_status zenith_latent_file_open_memory(zenith_context *context, const void *data, size_t size,
                                             zenith_latent_file **out)
{
    ZN_TRY(zn_context_enter(context));
    zenith_status status;
    if ((!data && size) || !out)
        status = zn_fail(&context->error, ZENITH_INVALID_ARGUMENT,
                         "zenith_latent_file_open_memory needs data and a place for the file.");
    else
        status = open_file(NULL, data, size, out, &context->error);
    return zn_context_leave(context, status);
}

void zenith_latent_file_free(zenith_latent_file *file)
{
    if (!file) return;
    zn_latent_file_free(file->latents);
    zn_input_close(&file->input);
    zn_free(file->cursors);
    zn_free(file);
}

void zenith_latent_file_get_info(const zenith_latent_file *file, zenith_latent_info *out)
{
    if (file && out) zn_caller_struct_out(&file->info, sizeof file->info, out);
}

static zenith_status file_rows(void *cookie, uint32_t y, uint32_t count, void *rows)
{
    const cursor *at = cookie;
    const zenith_latent_info *info = &at->file->info;
    ZN_TRY(zn_latent_file_read_rows(at->file->latents, at->index, y, count, rows, NULL));
    zn_input_use(&at->file->input, (size_t)count * info->width * info->channels * sizeof(float));
    return ZENITH_OK;
}

zenith_status zenith_latent_file_get(zenith_latent_file *file, uint32_t index, zenith_latent *out)
{
    const size_t least = ZN_SIZE_UP_TO(zenith_latent, cookie);
    if (!file || !out || out->size < least || index >= file->info.count)
        return ZENITH_INVALID_ARGUMENT;
    zenith_latent latent = {.size = sizeof latent,
                            .width = file->info.width,
                            .height = file->info.height,
                            .channels = file->info.channels,
                            .space = file->info.space,
                            .number = ZENITH_F32,
                            .order = ZENITH_HWC,
                            .rows = file_rows,
                            .cookie = &file->cursors[index]};
    zn_caller_struct_out(&latent, sizeof latent, out);
    return ZENITH_OK;
}
