// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See store.h. The JSON is written by hand, key after key: its bytes are part of the tar's, which
// must not depend on the version of a library.
#include "src/task/dataset/store.h"

#include "src/base/text.h"
#include "src/format/latent/facts.h"
#include "src/format/tensor/elements.h"
#include "src/format/tensor/npy.h"
#include "src/model/autoencoder.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 4096, BYTE_MOST = 255 };

const char zn_dataset_facts_ending[] = ".latent.json";

void zn_dataset_ending(const zn_dataset *set, size_t index, char dst[ZN_DATASET_ENDING])
{
    const char *file = set->container == ZENITH_CONTAINER_SAFETENSORS ? "safetensors" : "npy";
    if (set->model_count == 1)
        zn_text_format(dst, ZN_DATASET_ENDING, ".%s", file);
    else
        zn_text_format(dst, ZN_DATASET_ENDING, ".%s.%s", set->models[index]->variant->name, file);
}

// --- numbers ------------------------------------------------------------------------------------

static size_t plane_of(const zn_stored_latent *latent)
{
    return (size_t)latent->height * latent->width;
}

zenith_status zn_stored_latent_make(const zn_dataset *set, size_t index, const zn_fit_plan *plan,
                                    zn_stored_latent *out, zn_error *err)
{
    const zn_autoencoder_facts *facts = set->models[index]->variant->autoencoder;
    const uint32_t factor = (uint32_t)facts->factor;
    const uint32_t each = set->params.kind == ZENITH_LATENT_MOMENTS ? 2 : 1;
    *out = (zn_stored_latent){.channels = (uint32_t)facts->latent_channels * each,
                              .height = plan->height / factor,
                              .width = plan->width / factor};
    const size_t bytes = plane_of(out) * out->channels * sizeof *out->data;
    out->data = zn_alloc(bytes);
    if (!out->data) return zn_fail_memory(err, bytes);
    if (set->type != ZN_U8) return ZENITH_OK;
    out->ranges = zn_alloc(2 * out->channels * sizeof *out->ranges);
    return out->ranges ? ZENITH_OK : zn_fail_memory(err, 2 * out->channels * sizeof *out->ranges);
}

void zn_stored_latent_free(zn_stored_latent *latent)
{
    zn_free(latent->data);
    zn_free(latent->ranges);
    *latent = (zn_stored_latent){.data = NULL};
}

uint64_t zn_stored_latent_bytes(const zn_stored_latent *latent)
{
    return (uint64_t)plane_of(latent) * latent->channels * sizeof *latent->data;
}

// From here on, rounding gives infinity.
static float beyond(zn_type type)
{
    return type == ZN_F16 ? 65520.0f : type == ZN_BF16 ? 0x1.ffp127f : INFINITY;
}

// In double, since the difference of two floats may be beyond a float.
static void find_range(const zn_stored_latent *latent, size_t c)
{
    const float *src = latent->data + c * plane_of(latent);
    float low = src[0], high = src[0];
    for (size_t i = 1; i < plane_of(latent); i++) {
        low = fminf(low, src[i]);
        high = fmaxf(high, src[i]);
    }
    latent->ranges[c] = low;
    latent->ranges[latent->channels + c] = (float)(((double)high - (double)low) / BYTE_MOST);
}

bool zn_stored_latent_fits(const zn_dataset *set, zn_stored_latent *latent)
{
    const float bound = beyond(set->type);
    for (size_t i = 0; i < plane_of(latent) * latent->channels; i++)
        if (!(fabsf(latent->data[i]) < bound)) return false;
    if (set->type == ZN_U8)
        for (size_t c = 0; c < latent->channels; c++) find_range(latent, c);
    return true;
}

// Numbers of channel c as 0 .. 255, not yet rounded. A channel of one value has the scale 0.
static void to_range(const zn_stored_latent *latent, size_t c, const float *src, size_t count,
                     float *dst)
{
    const double offset = latent->ranges[c], scale = latent->ranges[latent->channels + c];
    for (size_t i = 0; i < count; i++)
        dst[i] = scale > 0 ? (float)(((double)src[i] - offset) / scale) : 0;
}

static zenith_status write_numbers(const zn_dataset *set, const zn_stored_latent *latent,
                                   zn_tar_writer *tar, zn_error *err)
{
    uint8_t stored[CHUNK * sizeof(float)];
    float ranged[CHUNK];
    const size_t plane = plane_of(latent);
    for (size_t c = 0; c < latent->channels; c++)
        for (size_t i = 0; i < plane; i += CHUNK) {
            const size_t now = plane - i < CHUNK ? plane - i : CHUNK;
            const float *src = latent->data + c * plane + i;
            if (set->type == ZN_U8) to_range(latent, c, src, now, ranged);
            zn_elements_from_f32(set->type, set->type == ZN_U8 ? ranged : src, now, stored);
            ZN_TRY(zn_tar_write_bytes(tar, stored, now * zn_type_size(set->type), err));
        }
    return ZENITH_OK;
}

// --- files --------------------------------------------------------------------------------------

static const char *space_name(const zn_dataset *set)
{
    return set->params.space == ZENITH_SPACE_RAW ? "raw" : "model";
}

static void fill_facts(const zn_dataset *set, size_t index, const zn_picture *picture,
                       zn_latent_facts *out)
{
    const zn_image_facts *image = zn_picture_facts(picture);
    const zn_fit_plan *plan = zn_picture_plan(picture);
    *out = (zn_latent_facts){.source_width = image->width,
                             .source_height = image->height,
                             .crop_x = plan->crop_x,
                             .crop_y = plan->crop_y,
                             .crop_width = plan->crop_width,
                             .crop_height = plan->crop_height,
                             .pipeline = ZN_PIPELINE_VERSION};
    zn_text_format(out->model, sizeof out->model, "%s", set->models[index]->variant->name);
    zn_text_format(out->space, sizeof out->space, "%s", space_name(set));
    out->has_scale = zn_model_space(out->model, &out->scale, &out->shift);
}

// The tensors in the order of their data: offset and scale of u8, latent, logvar of moments.
static zenith_status safetensors_header(const zn_dataset *set, size_t index,
                                        const zn_stored_latent *latent, const zn_picture *picture,
                                        zn_writer *writer, zn_error *err)
{
    zn_file_tensor tensors[4] = {{.name = NULL}};
    const bool moments = set->params.kind == ZENITH_LATENT_MOMENTS;
    const uint32_t channels = latent->channels / (moments ? 2 : 1);
    const zn_shape shape = {.rank = 3, .dim = {channels, latent->height, latent->width}};
    const zn_shape of_channels = {.rank = 1, .dim = {latent->channels}};
    size_t count = 0, pairs = 0;
    zn_arena arena = {0};
    zn_metadata *metadata = NULL;
    zn_latent_facts facts;
    if (set->type == ZN_U8) {
        tensors[count++] = (zn_file_tensor){.name = "offset", .type = ZN_F32, .shape = of_channels};
        tensors[count++] = (zn_file_tensor){.name = "scale", .type = ZN_F32, .shape = of_channels};
    }
    tensors[count++] = (zn_file_tensor){.name = "latent", .type = set->type, .shape = shape};
    if (moments)
        tensors[count++] = (zn_file_tensor){.name = "logvar", .type = set->type, .shape = shape};
    fill_facts(set, index, picture, &facts);
    zenith_status status = zn_latent_facts_write(&facts, &arena, &metadata, &pairs, err);
    if (status == ZENITH_OK)
        status = zn_safetensors_write_header(writer, tensors, count, metadata, pairs, err);
    zn_arena_free(&arena);
    return status;
}

// Everything before the numbers.
static zenith_status make_header(const zn_dataset *set, size_t index,
                                 const zn_stored_latent *latent, const zn_picture *picture,
                                 zn_bytes *dst, zn_error *err)
{
    zn_writer *writer = NULL;
    uint8_t header[ZN_NPY_HEADER];
    size_t size = 0;
    dst->size = 0;
    if (set->container != ZENITH_CONTAINER_SAFETENSORS) {
        const zn_shape shape = {.rank = 3,
                                .dim = {latent->channels, latent->height, latent->width}};
        ZN_TRY(zn_npy_make_header(set->type, &shape, header, &size, err));
        return zn_bytes_append(dst, header, size, err);
    }
    ZN_TRY(zn_writer_open_bytes(dst, &writer, err));
    zenith_status status = safetensors_header(set, index, latent, picture, writer, err);
    if (status == ZENITH_OK) {
        ZN_TRY(zn_writer_commit(writer, err));
        if (!latent->ranges) return ZENITH_OK;
        return zn_bytes_append(dst, latent->ranges, 2 * latent->channels * sizeof *latent->ranges,
                               err);
    }
    zn_writer_discard(writer);
    return status;
}

zenith_status zn_stored_latent_write(const zn_dataset *set, size_t index,
                                     const zn_stored_latent *latent, const zn_picture *picture,
                                     const char *key, zn_tar_writer *tar, zn_bytes *scratch,
                                     zn_error *err)
{
    char name[ZN_TAR_NAME], ending[ZN_DATASET_ENDING];
    const size_t elements = plane_of(latent) * latent->channels;
    zn_dataset_ending(set, index, ending);
    zn_text_format(name, sizeof name, "%s%s", key, ending);
    ZN_TRY(make_header(set, index, latent, picture, scratch, err));
    ZN_TRY(zn_tar_write_member(tar, name, scratch->size + elements * zn_type_size(set->type), err));
    ZN_TRY(zn_tar_write_bytes(tar, scratch->data, scratch->size, err));
    ZN_TRY(write_numbers(set, latent, tar, err));
    return zn_tar_write_end(tar, err);
}

// --- the facts of a sample ----------------------------------------------------------------------

__attribute__((format(printf, 3, 4))) static zenith_status put(zn_bytes *dst, zn_error *err,
                                                               const char *format, ...)
{
    char text[256];
    va_list list;
    va_start(list, format);
    const size_t length = zn_text_format_list(text, sizeof text, format, list);
    va_end(list);
    return zn_bytes_append(dst, text, length, err);
}

static zenith_status put_floats(zn_bytes *dst, const char *key, const float *values, size_t count,
                                zn_error *err)
{
    ZN_TRY(put(dst, err, ",\"%s\":[", key));
    for (size_t i = 0; i < count; i++) {
        char text[32];
        ZN_TRY(zn_json_float_text(values[i], text, err));
        ZN_TRY(put(dst, err, "%s%s", i ? "," : "", text));
    }
    return put(dst, err, "]");
}

static zenith_status put_latent(const zn_dataset *set, size_t index, const zn_stored_latent *latent,
                                zn_bytes *dst, zn_error *err)
{
    char ending[ZN_DATASET_ENDING];
    zn_dataset_ending(set, index, ending);
    ZN_TRY(put(dst, err, "%s{\"member\":\"%s\",\"model\":\"%s\",\"space\":\"%s\"", index ? "," : "",
               ending + 1, set->models[index]->variant->name, space_name(set)));
    ZN_TRY(put(dst, err, ",\"kind\":\"%s\",\"type\":\"%s\",\"shape\":[%u,%u,%u]",
               set->params.kind == ZENITH_LATENT_MOMENTS ? "moments" : "mean",
               zn_type_name(set->type), latent->channels, latent->height, latent->width));
    if (latent->ranges) {
        ZN_TRY(put_floats(dst, "offset", latent->ranges, latent->channels, err));
        ZN_TRY(put_floats(dst, "scale", latent->ranges + latent->channels, latent->channels, err));
    }
    return put(dst, err, "}");
}

static zenith_status put_picture(const zn_dataset *set, const zn_picture *picture, zn_bytes *dst,
                                 zn_error *err)
{
    const zn_image_facts *image = zn_picture_facts(picture);
    const zn_fit_plan *plan = zn_picture_plan(picture);
    ZN_TRY(put(dst, err, "{\"source_size\":[%u,%u],\"crop\":[%u,%u,%u,%u]", image->width,
               image->height, plan->crop_x, plan->crop_y, plan->crop_width, plan->crop_height));
    ZN_TRY(put(dst, err, ",\"scaled_size\":[%u,%u],\"cut\":[%u,%u],\"size\":[%u,%u]",
               plan->scaled_width, plan->scaled_height, plan->cut_x, plan->cut_y, plan->width,
               plan->height));
    if (set->params.bucket_count) ZN_TRY(put(dst, err, ",\"bucket\":%zu", plan->bucket));
    return put(dst, err, ",\"mirror\":%s", plan->mirror ? "true" : "false");
}

zenith_status zn_dataset_facts_write(const zn_dataset *set, const zn_stored_latent *latents,
                                     const zn_picture *picture, const char *key, zn_tar_writer *tar,
                                     zn_bytes *scratch, zn_error *err)
{
    char name[ZN_TAR_NAME];
    scratch->size = 0;
    ZN_TRY(put_picture(set, picture, scratch, err));
    ZN_TRY(put(scratch, err, ",\"latents\":["));
    for (size_t i = 0; i < set->model_count; i++)
        ZN_TRY(put_latent(set, i, &latents[i], scratch, err));
    ZN_TRY(put(scratch, err, "]}\n"));
    zn_text_format(name, sizeof name, "%s%s", key, zn_dataset_facts_ending);
    ZN_TRY(zn_tar_write_member(tar, name, scratch->size, err));
    ZN_TRY(zn_tar_write_bytes(tar, scratch->data, scratch->size, err));
    return zn_tar_write_end(tar, err);
}
