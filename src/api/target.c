// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith_target: rows of a run as a picture file. The file is written beside its name and put in
// place by zenith_target_finish; whatever goes wrong before leaves nothing behind.
#include "src/api/context.h"
#include "src/api/memory_files.h"
#include "src/base/memory.h"
#include "src/format/image/image.h"

#include <string.h>

struct zenith_target {
    zn_writer *file; // NULL once it is in place, or given up
    zn_image_writer *image;
    zenith_bytes *bytes; // NULL: a file
    char *path;          // for messages
    char *parameters;    // of options; NULL: none
    bool stream;         // standard output
    zn_image_write_options options;
    uint32_t width, height, next_row;
    zn_error error;
    zn_sentences *sentences; // of the context: finishing is a call on it
};

// Both together are milliseconds that an int holds.
enum { MOST_FRAMES = 10000, MOST_DELAY = 60000, USUAL_DELAY = 100 };

static const struct {
    const char *name;
    zn_image_format format;
} formats[] = {
    {"png", ZN_IMAGE_PNG}, {"jpeg", ZN_IMAGE_JPEG}, {"webp", ZN_IMAGE_WEBP}, {"ppm", ZN_IMAGE_PNM}};

static zenith_status choose_format(const char *path, const char *name, zn_image_format *out,
                                   zn_error *err)
{
    for (size_t i = 0; name && i < sizeof formats / sizeof *formats; i++)
        if (strcmp(name, formats[i].name) == 0) *out = formats[i].format;
    if (!name) *out = zn_image_format_of_path(path);
    if (*out != ZN_IMAGE_UNKNOWN) return ZENITH_OK;
    if (name)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "Images cannot be written as '%s', only as png, jpeg, webp or ppm.", name);
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "The name '%s' does not say in which format to write the image: end it in .png, "
                   ".jpg, .webp or .ppm, or name the format.",
                   path);
}

static zenith_status write_options(const char *path, const zenith_target_params *params,
                                   zn_image_write_options *out, zn_error *err)
{
    zn_image_write_options options = {.lossless = params->lossless, .cut_out = params->cut_out};
    ZN_TRY(choose_format(path, params->format, &options.format, err));
    if (params->quality < 0 || params->quality > 100)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "Quality %d is not in 1 .. 100.",
                       params->quality);
    if (params->level < 0 || params->level > 9)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "Compression level %d is not in 1 .. 9.",
                       params->level);
    if (params->frames > MOST_FRAMES || params->delay > MOST_DELAY)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "An animation has up to %d frames, each for up to %d milliseconds.",
                       MOST_FRAMES, MOST_DELAY);
    options.frames = params->frames;
    options.delay = params->delay ? params->delay : USUAL_DELAY;
    options.quality = params->quality;
    options.level = params->level ? params->level : 1;
    *out = options;
    return ZENITH_OK;
}

// Errors of the file name it already; those of the picture's encoder do not.
static zenith_status named(const zenith_target *target, zenith_status status, zn_error *err)
{
    if (status != ZENITH_OK && !strstr(err->text, target->path)) zn_error_prefix(err, target->path);
    return status;
}

static zenith_status copy_text(const char *text, char **out, zn_error *err)
{
    const size_t size = strlen(text) + 1;
    *out = zn_alloc(size);
    if (!*out) return zn_fail_memory(err, size);
    memcpy(*out, text, size);
    return ZENITH_OK;
}

static zenith_status begin(zenith_target *target, zn_error *err)
{
    const zn_place place = {target->stream ? "-" : target->path, target->bytes};
    ZN_TRY(zn_place_open(&place, &target->file, err));
    return named(target,
                 zn_image_writer_open(target->file, target->width, target->height, &target->options,
                                      &target->image, err),
                 err);
}

static zenith_status open_target(const zn_place *place, uint32_t width, uint32_t height,
                                 const zenith_target_params *params, zn_sentences *sentences,
                                 zenith_target **out, zn_error *err)
{
    const char *path = place->path;
    zenith_target_params full;
    zn_image_write_options options;
    ZN_TRY(zn_params_copy(params, &full, sizeof full, err));
    ZN_TRY(write_options(path, &full, &options, err));
    zenith_target *target = zn_alloc_zero(sizeof *target);
    if (!target) return zn_fail_memory(err, sizeof *target);
    target->sentences = zn_sentences_ref(sentences);
    target->bytes = place->bytes;
    target->stream = strcmp(path, "-") == 0;
    target->options = options;
    target->width = width;
    target->height = height;
    zenith_status status;
    ZN_GO(copy_text(target->stream ? "standard output" : path, &target->path, err));
    if (full.parameters) ZN_GO(copy_text(full.parameters, &target->parameters, err));
    target->options.parameters = target->parameters;
    ZN_GO(begin(target, err));
    *out = target;
    return ZENITH_OK;
fail:
    zenith_target_free(target);
    return status;
}

zenith_status zenith_target_open(zenith_context *context, const char *path, uint32_t width,
                                 uint32_t height, const zenith_target_params *params,
                                 zenith_target **out)
{
    ZN_TRY(zn_context_enter(context));
    zenith_status status;
    if (!path || !out)
        status = zn_fail(&context->error, ZENITH_INVALID_ARGUMENT,
                         "zenith_target_open needs a path and a place for the target.");
    else
        status = open_target(&(zn_place){path, NULL}, width, height, params, context->sentences,
                             out, &context->error);
    return zn_context_leave(context, status);
}

zenith_status zenith_target_open_bytes(zenith_context *context, zenith_bytes *to, uint32_t width,
                                       uint32_t height, const zenith_target_params *params,
                                       zenith_target **out)
{
    ZN_TRY(zn_context_enter(context));
    zenith_status status;
    if (!to || !out)
        status = zn_fail(&context->error, ZENITH_INVALID_ARGUMENT,
                         "zenith_target_open_bytes needs bytes and a place for the target.");
    else
        status = open_target(&(zn_place){"picture.png", to}, width, height, params,
                             context->sentences, out, &context->error);
    return zn_context_leave(context, status);
}

// Removes what was written: a file that failed once can only be begun again.
static void give_up(zenith_target *target)
{
    zn_image_writer_free(target->image);
    zn_writer_discard(target->file);
    target->image = NULL;
    target->file = NULL;
}

static zenith_status closed(zenith_target *target)
{
    return zn_fail(&target->error, ZENITH_INVALID_ARGUMENT,
                   "%s is finished, or failed before: nothing more can be written to it.",
                   target->path);
}

// Row 0 comes again where a picture is computed again. What went to standard output is gone.
static zenith_status restart(zenith_target *target)
{
    zn_error *err = &target->error;
    err->text[0] = '\0';
    give_up(target);
    if (target->stream)
        return zn_fail(err, ZENITH_OVERFLOW,
                       "%s: the image has to be computed again in f32, but some of its rows are "
                       "already written: use f32, or write to a file.",
                       target->path);
    target->next_row = 0;
    zenith_status status = begin(target, err);
    if (status != ZENITH_OK) give_up(target);
    return status;
}

zenith_status zenith_target_rows(void *cookie, uint32_t y, uint32_t count, void *rows)
{
    zenith_target *target = cookie;
    if (!target) return ZENITH_INVALID_ARGUMENT;
    if (!target->file) return closed(target);
    if (y == 0 && target->next_row > 0 && count > 0) ZN_TRY(restart(target));
    if (y != target->next_row || count > target->height - y || (!rows && count)) {
        target->error.text[0] = '\0';
        return zn_fail(&target->error, ZENITH_INVALID_ARGUMENT,
                       "%s: %u rows were given from row %u; %u of %u rows are written, and rows "
                       "must come in order.",
                       target->path, count, y, target->next_row, target->height);
    }
    zn_error *err = &target->error;
    err->text[0] = '\0';
    zenith_status status = zn_image_writer_rows(target->image, count, rows,
                                                3 * (size_t)target->width, err);
    if (status == ZENITH_OK)
        target->next_row += count;
    else
        give_up(target);
    return named(target, status, err);
}

static zenith_status finish(zenith_target *target)
{
    if (!target->file) return closed(target);
    zn_error *err = &target->error;
    err->text[0] = '\0';
    if (target->next_row != target->height)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "%s: only %u of %u rows are written, so it cannot be finished.",
                       target->path, target->next_row, target->height);
    zenith_status status = zn_image_writer_finish(target->image, err);
    if (status == ZENITH_OK) {
        zn_writer *file = target->file;
        target->file = NULL; // commit frees it either way
        status = zn_writer_commit(file, err);
    }
    give_up(target);
    return named(target, status, err);
}

zenith_status zenith_target_finish(zenith_target *target)
{
    if (!target) return ZENITH_INVALID_ARGUMENT;
    zenith_status status = finish(target);
    zn_sentences_set(target->sentences, status == ZENITH_OK ? "" : target->error.text);
    return status;
}

const char *zenith_target_error(const zenith_target *target)
{
    return target ? target->error.text : "";
}

void zenith_target_free(zenith_target *target)
{
    if (!target) return;
    give_up(target);
    zn_sentences_unref(target->sentences);
    zn_free(target->path);
    zn_free(target->parameters);
    zn_free(target);
}
