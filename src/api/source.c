// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith_source: a picture file as rows for a run. Rows are asked for on an executor thread while
// the context belongs to the run, so the sentence of their failure stays in the source.
#include "src/api/context.h"
#include "src/base/input.h"
#include "src/base/memory.h"
#include "src/task/autoencode/picture.h"

#include <string.h>

struct zenith_source {
    zn_input input; // empty when the bytes are the caller's
    zn_picture *picture;
    char *name; // for messages
    zn_error error;
};

static const char *const format_names[] = {[ZN_IMAGE_UNKNOWN] = "unknown",
                                           [ZN_IMAGE_JPEG] = "jpeg",
                                           [ZN_IMAGE_PNG] = "png",
                                           [ZN_IMAGE_WEBP] = "webp",
                                           [ZN_IMAGE_PNM] = "pnm"};

static zenith_status open_picture(zenith_source *source, const uint8_t *data, size_t size,
                                  const zenith_source_params *params, zn_error *err)
{
    zn_image_options image = zn_image_options_default();
    memcpy(image.background, params->background, sizeof image.background);
    image.first_frame = params->first_frame;
    image.limits.max_pixels = params->max_pixels;
    // What standard input brought is held as well; 1 is the smallest bound, as 0 means none.
    if (params->max_memory)
        image.limits.max_memory = source->input.held < params->max_memory
                                      ? params->max_memory - source->input.held
                                      : 1;
    zn_fit_options fit = {.fit = params->fit,
                          .multiple = params->multiple,
                          .width = params->width,
                          .height = params->height,
                          .max_pixels = params->max_pixels};
    zenith_status status = zn_picture_open(data, size, &image, &fit, params->filter,
                                           &source->picture, err);
    zn_input_rest(&source->input); // readers look through the whole file for what it declares
    if (status != ZENITH_OK) zn_error_prefix(err, source->name);
    return status;
}

static zenith_status set_name(zenith_source *source, const char *name, zn_error *err)
{
    size_t size = strlen(name) + 1;
    source->name = zn_alloc(size);
    if (!source->name) return zn_fail_memory(err, size);
    memcpy(source->name, name, size);
    return ZENITH_OK;
}

// From `path`, or from memory where that is NULL.
static zenith_status open_source(const char *path, const void *data, size_t size,
                                 const zenith_source_params *params, zenith_source **out,
                                 zn_error *err)
{
    zenith_source_params full;
    ZN_TRY(zn_params_copy(params, &full, sizeof full, err));
    zenith_source *source = zn_alloc_zero(sizeof *source);
    if (!source) return zn_fail_memory(err, sizeof *source);
    const char *name = !path ? "picture in memory" : strcmp(path, "-") ? path : "standard input";
    zenith_status status;
    ZN_GO(set_name(source, name, err));
    if (path) {
        ZN_GO(zn_input_open(path, full.max_memory, &source->input, err));
        data = source->input.data;
        size = source->input.size;
    }
    if (!size) ZN_GO(zn_fail(err, ZENITH_BAD_FILE, "%s is empty.", name));
    ZN_GO(open_picture(source, data, size, &full, err));
    *out = source;
    return ZENITH_OK;
fail:
    zenith_source_free(source);
    return status;
}

zenith_status zenith_source_open(zenith_context *context, const char *path,
                                 const zenith_source_params *params, zenith_source **out)
{
    ZN_TRY(zn_context_enter(context));
    zenith_status status;
    if (!path || !out)
        status = zn_fail(&context->error, ZENITH_INVALID_ARGUMENT,
                         "zenith_source_open needs a path and a place for the source.");
    else
        status = open_source(path, NULL, 0, params, out, &context->error);
    return zn_context_leave(context, status);
}

zenith_status zenith_source_open_memory(zenith_context *context, const void *data, size_t size,
                                        const zenith_source_params *params, zenith_source **out)
{
    ZN_TRY(zn_context_enter(context));
    zenith_status status;
    if ((!data && size) || !out)
        status = zn_fail(&context->error, ZENITH_INVALID_ARGUMENT,
                         "zenith_source_open_memory needs data and a place for the source.");
    else
        status = open_source(NULL, data, size, params, out, &context->error);
    return zn_context_leave(context, status);
}

void zenith_source_free(zenith_source *source)
{
    if (!source) return;
    zn_picture_free(source->picture);
    zn_input_close(&source->input);
    zn_free(source->name);
    zn_free(source);
}

void zenith_source_get_info(const zenith_source *source, zenith_source_info *out)
{
    if (!source || !out) return;
    const zn_image_facts *facts = zn_picture_facts(source->picture);
    const zn_fit_plan *plan = zn_picture_plan(source->picture);
    zenith_source_info info = {
        .size = sizeof info,
        .format = format_names[facts->format],
        .width = plan->width,
        .height = plan->height,
        .stored_width = facts->stored_width,
        .stored_height = facts->stored_height,
        .turned_width = facts->width,
        .turned_height = facts->height,
        .crop_x = plan->crop_x,
        .crop_y = plan->crop_y,
        .crop_width = plan->crop_width,
        .crop_height = plan->crop_height,
        .orientation = facts->orientation,
        .bits = facts->bits,
        .channels = facts->channels,
        .has_alpha = facts->has_alpha,
        .has_profile = facts->has_icc,
        .colour = facts->colour,
        .streamed = zn_picture_streamed(source->picture),
        .parameters = facts->parameters,
    };
    zn_caller_struct_out(&info, sizeof info, out);
}

const char *zenith_source_error(const zenith_source *source)
{
    return source ? source->error.text : "";
}

zenith_status zenith_source_rows(void *cookie, uint32_t y, uint32_t count, void *rows)
{
    zenith_source *source = cookie;
    if (!source) return ZENITH_INVALID_ARGUMENT;
    source->error.text[0] = '\0';
    if (!rows && count)
        return zn_fail(&source->error, ZENITH_INVALID_ARGUMENT,
                       "%s: rows were asked for without a place to put them.", source->name);
    zenith_status status = zn_picture_rows(source->picture, y, count, rows, &source->error);
    if (status != ZENITH_OK)
        zn_error_prefix(&source->error, source->name);
    else
        zn_input_use(&source->input, 3 * (size_t)zn_picture_plan(source->picture)->width * count);
    return status;
}
