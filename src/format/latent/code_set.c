// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/format/latent/code_set.h"

#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/format/tensor/safetensors.h"
#include "src/tensor/finite.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum { MOST_SIDE = 1 << 14, MOST_NUMBERS = 1 << 14 };

// --- making -------------------------------------------------------------------------------------

static zenith_status add_name(zn_json **list, const char *name, zn_error *err)
{
    if (zn_utf8_valid(name, strlen(name)) != strlen(name))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the name '%s' is not UTF-8, and cannot be kept beside its code", name);
    if (!*list) *list = json_array();
    if (json_array_append_new(*list, json_string(name)) == 0) return ZENITH_OK;
    return zn_fail_memory(err, strlen(name));
}

zenith_status zn_code_set_add(zn_code_set *set, const char *name, const float *code, zn_error *err)
{
    const size_t bytes = set->numbers * sizeof *code;
    ZN_TRY(zn_array_reserve((void **)&set->codes, &set->capacity, set->count + 1, bytes, err));
    ZN_TRY(add_name(&set->names, name, err));
    memcpy(set->codes + set->count * set->numbers, code, bytes);
    set->count++;
    return ZENITH_OK;
}

zenith_status zn_code_set_add_failed(zn_code_set *set, const char *name, zn_error *err)
{
    return add_name(&set->failed, name, err);
}

// Of number `k` of all codes, as torch.mean and torch.std have them.
static void measure_one(zn_code_set *set, size_t k)
{
    const float *codes = set->codes + k;
    const size_t count = set->count, step = set->numbers;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) sum += (double)codes[i * step];
    const double middle = sum / (double)count;
    for (size_t i = 0; i < count; i++) {
        const double d = (double)codes[i * step] - middle;
        squares += d * d;
    }
    set->mean[k] = (float)middle;
    set->deviation[k] = count > 1 ? (float)sqrt(squares / (double)(count - 1)) : 0;
    if (!(set->deviation[k] > 0) || !isfinite(set->deviation[k])) set->deviation[k] = 1;
}

zenith_status zn_code_set_measure(zn_code_set *set, zn_error *err)
{
    const size_t bytes = set->numbers * sizeof(float);
    if (!set->mean) set->mean = zn_alloc(bytes);
    if (!set->deviation) set->deviation = zn_alloc(bytes);
    if (!set->mean || !set->deviation) return zn_fail_memory(err, bytes);
    for (size_t k = 0; k < set->numbers; k++) measure_one(set, k);
    return ZENITH_OK;
}

// --- writing ------------------------------------------------------------------------------------

zenith_status zn_code_set_write(zn_writer *writer, const zn_code_set *set, zn_error *err)
{
    const int64_t numbers = (int64_t)set->numbers;
    char size[32], *names = NULL, *failed = NULL;
    size_t pairs = 1;
    zenith_status status;
    zn_metadata metadata[5] = {{"zenith.model", "diffae"}};
    zn_file_tensor tensors[] = {
        {.name = "z",
         .type = ZN_F32,
         .shape = ZN_SHAPE((int64_t)set->count, numbers),
         .data = (const void *)set->codes},
        {.name = "conds_mean",
         .type = ZN_F32,
         .shape = ZN_SHAPE(numbers),
         .data = (const void *)set->mean},
        {.name = "conds_std",
         .type = ZN_F32,
         .shape = ZN_SHAPE(numbers),
         .data = (const void *)set->deviation},
    };
    zn_text_format(size, sizeof size, "[%u,%u]", set->width, set->height);
    if (set->width) metadata[pairs++] = (zn_metadata){"zenith.size", size};
    if (set->weights[0]) metadata[pairs++] = (zn_metadata){"zenith.weights", set->weights};
    if (set->names) ZN_GO(zn_json_dump(set->names, &names, NULL, err));
    if (set->failed) ZN_GO(zn_json_dump(set->failed, &failed, NULL, err));
    if (names) metadata[pairs++] = (zn_metadata){"zenith.pictures", names};
    if (failed) metadata[pairs++] = (zn_metadata){"zenith.failed", failed};
    ZN_GO(zn_safetensors_write(writer, tensors, sizeof tensors / sizeof *tensors, metadata, pairs,
                               err));
fail:
    zn_free(names);
    zn_free(failed);
    return status;
}

// --- reading ------------------------------------------------------------------------------------

static zenith_status bad(const char *name, const char *what, zn_error *err)
{
    return zn_fail(
        err, ZENITH_BAD_FILE,
        "%s: %s; codes of pictures are expected, as 'zenith diffae features' writes them", name,
        what);
}

static zenith_status take_size(const char *text, const char *name, zn_code_set *out, zn_error *err)
{
    zn_json *value = NULL;
    int64_t sides[2] = {0, 0};
    ZN_TRY(zn_json_parse(text, strlen(text), name, &value, err));
    bool read = zn_json_size(value) == 2;
    for (size_t i = 0; read && i < 2; i++)
        read = zn_json_as_integer(zn_json_at(value, i), &sides[i]) && sides[i] >= 1 &&
               sides[i] <= MOST_SIDE;
    zn_json_free(value);
    out->width = (uint32_t)sides[0];
    out->height = (uint32_t)sides[1];
    return read ? ZENITH_OK : bad(name, "zenith.size is no [width,height]", err);
}

// A list of texts.
static zenith_status take_list(const char *text, const char *name, zn_json **out, zn_error *err)
{
    const char *word;
    ZN_TRY(zn_json_parse(text, strlen(text), name, out, err));
    bool texts = zn_json_is_array(*out);
    for (size_t i = 0; texts && i < zn_json_size(*out); i++)
        texts = zn_json_as_text(zn_json_at(*out, i), &word);
    return texts ? ZENITH_OK : bad(name, "its names are no list of texts", err);
}

static zenith_status take_facts(const zn_safetensors *file, const char *name, zn_code_set *out,
                                zn_error *err)
{
    const char *model = zn_safetensors_metadata(file, "zenith.model");
    const char *weights = zn_safetensors_metadata(file, "zenith.weights");
    const char *size = zn_safetensors_metadata(file, "zenith.size");
    const char *names = zn_safetensors_metadata(file, "zenith.pictures");
    const char *failed = zn_safetensors_metadata(file, "zenith.failed");
    if (!model || strcmp(model, "diffae") != 0) return bad(name, "zenith.model is not diffae", err);
    if (weights && strlen(weights) >= sizeof out->weights)
        return bad(name, "zenith.weights is no SHA-256", err);
    zn_text_format(out->weights, sizeof out->weights, "%s", weights ? weights : "");
    if (size) ZN_TRY(take_size(size, name, out, err));
    if (names) ZN_TRY(take_list(names, name, &out->names, err));
    if (failed) ZN_TRY(take_list(failed, name, &out->failed, err));
    if (!names || zn_json_size(out->names) == out->count) return ZENITH_OK;
    return bad(name, "there are not as many names as rows", err);
}

static zenith_status take_numbers(const zn_file_tensor *tensor, const char *name, float **out,
                                  zn_error *err)
{
    size_t count = 0;
    if (tensor->type != ZN_F32 || !tensor->supported || !zn_shape_elements(&tensor->shape, &count))
        return bad(name, "a tensor is not of f32", err);
    *out = zn_alloc(count * sizeof **out); // no more than the file has
    if (!*out) return zn_fail_memory(err, count * sizeof **out);
    ZN_TRY(zn_file_tensor_read(tensor, *out, err));
    if (zn_all_finite(ZN_F32, *out, count)) return ZENITH_OK;
    return bad(name, "there is NaN or infinity in it", err);
}

static bool is_vector(const zn_file_tensor *tensor, size_t numbers)
{
    return tensor->shape.rank == 1 && tensor->shape.dim[0] == (int64_t)numbers;
}

static zenith_status take_moments(const zn_safetensors *file, const char *name, zn_code_set *out,
                                  zn_error *err)
{
    const zn_file_tensor *mean = zn_safetensors_find(file, "conds_mean");
    const zn_file_tensor *deviation = zn_safetensors_find(file, "conds_std");
    if (mean && deviation) {
        if (!is_vector(mean, out->numbers) || !is_vector(deviation, out->numbers))
            return bad(name, "conds_mean and conds_std do not fit z", err);
        ZN_TRY(take_numbers(mean, name, &out->mean, err));
        ZN_TRY(take_numbers(deviation, name, &out->deviation, err));
        for (size_t i = 0; i < out->numbers; i++)
            if (!(out->deviation[i] > 0)) return bad(name, "conds_std is not above 0", err);
        return ZENITH_OK;
    }
    return zn_code_set_measure(out, err);
}

static zenith_status take_all(const zn_safetensors *file, const char *name, zn_code_set *out,
                              zn_error *err)
{
    const zn_file_tensor *z = zn_safetensors_find(file, "z");
    if (!z || z->shape.rank != 2 || z->shape.dim[0] < 1 || z->shape.dim[1] < 1 ||
        z->shape.dim[1] > MOST_NUMBERS)
        return bad(name, "there is no tensor z of rank 2", err);
    out->count = (size_t)z->shape.dim[0];
    out->numbers = (size_t)z->shape.dim[1];
    ZN_TRY(take_facts(file, name, out, err));
    ZN_TRY(take_numbers(z, name, &out->codes, err));
    return take_moments(file, name, out, err);
}

static zenith_status take(zn_safetensors *file, const char *name, zn_code_set *out, zn_error *err)
{
    zn_code_set read = {.count = 0};
    zenith_status status = take_all(file, name, &read, err);
    zn_safetensors_free(file);
    if (status == ZENITH_OK)
        *out = read;
    else
        zn_code_set_free(&read);
    return status;
}

zenith_status zn_code_set_open(const char *path, zn_code_set *out, zn_error *err)
{
    zn_safetensors *file = NULL;
    ZN_TRY(zn_safetensors_open(path, &file, err));
    return take(file, path, out, err);
}

zenith_status zn_code_set_read(const uint8_t *data, size_t size, const char *name, zn_code_set *out,
                               zn_error *err)
{
    zn_safetensors *file = NULL;
    ZN_TRY(zn_safetensors_open_memory(data, size, name, &file, err));
    return take(file, name, out, err);
}

const char *zn_code_set_name(const zn_code_set *set, size_t row)
{
    const char *name = NULL;
    (void)zn_json_as_text(zn_json_at(set->names, row), &name);
    return name;
}

void zn_code_set_free(zn_code_set *set)
{
    zn_free(set->codes);
    zn_free(set->mean);
    zn_free(set->deviation);
    zn_json_free(set->names);
    zn_json_free(set->failed);
    *set = (zn_code_set){.count = 0};
}
