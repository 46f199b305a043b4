// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing NAME.calib.json.
#include "src/format/pipeline/calibration.h"

#include "src/base/json.h"
#include "src/base/os.h"
#include "src/base/text.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

// More values than any model has: keeping them in order by insertion stays cheap.
enum { MOST_VALUES = 1 << 14 };

zenith_status zn_calibration_create(zn_calibration **out, zn_error *err)
{
    *out = zn_alloc_zero(sizeof **out);
    return *out ? ZENITH_OK : zn_fail_memory(err, sizeof **out);
}

void zn_calibration_free(zn_calibration *calibration)
{
    if (!calibration) return;
    zn_free(calibration->values);
    zn_arena_free(&calibration->arena);
    zn_free(calibration);
}

zn_calibrated *zn_calibration_find(zn_calibration *calibration, const char *name, bool add)
{
    size_t low = 0, high = calibration->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(calibration->values[middle].name, name);
        if (order == 0) return &calibration->values[middle];
        if (order < 0) low = middle + 1;
        if (order > 0) high = middle;
    }
    if (!add) return NULL;
    char *kept = zn_arena_text(&calibration->arena, name);
    if (!kept ||
        zn_array_reserve((void **)&calibration->values, &calibration->capacity,
                         calibration->count + 1, sizeof(zn_calibrated), NULL) != ZENITH_OK) {
        return NULL;
    }
    zn_calibrated *at = &calibration->values[low];
    memmove(at + 1, at, (calibration->count - low) * sizeof *at);
    calibration->count++;
    *at = (zn_calibrated){.name = kept};
    return at;
}

// --- reading ------------------------------------------------------------------------------------

static zenith_status read_value(void *cookie, const char *name, const zn_json *value, zn_error *err)
{
    zn_calibration *calibration = cookie;
    double largest = 0;
    bool positive = false, floating = false;
    ZN_TRY(zn_json_get_number(value, "largest", &largest, err));
    ZN_TRY(zn_json_get_flag(value, "positive", &positive, err));
    if (zn_json_has(value, "floating")) ZN_TRY(zn_json_get_flag(value, "floating", &floating, err));
    if (!(largest >= 0) || largest > 1e30) {
        return zn_fail(err, ZENITH_BAD_FILE, "'%s' has no usable 'largest'", name);
    }
    if (calibration->count == MOST_VALUES) {
        return zn_fail(err, ZENITH_LIMIT, "more than %d values", MOST_VALUES);
    }
    zn_calibrated *entry = zn_calibration_find(calibration, name, true);
    if (!entry) return zn_fail_memory(err, sizeof *entry);
    entry->largest = (float)largest;
    entry->positive = positive;
    entry->floating = floating;
    return ZENITH_OK;
}

static zenith_status read_int8(zn_calibration *calibration, const zn_json *names, zn_error *err)
{
    for (size_t i = 0; i < zn_json_size(names); i++) {
        const char *name = NULL;
        zn_calibrated *entry = NULL;
        if (zn_json_as_text(zn_json_at(names, i), &name)) {
            entry = zn_calibration_find(calibration, name, false);
        }
        if (!entry) return zn_fail(err, ZENITH_BAD_FILE, "'int8' names a value that is not there");
        entry->int8 = true;
    }
    return ZENITH_OK;
}

static zenith_status read_fields(zn_calibration *calibration, const zn_json *json, zn_error *err)
{
    const zn_json *values = NULL, *names = NULL;
    const char *model = NULL, *weights = NULL;
    int64_t format = 0, pictures = 0;
    ZN_TRY(zn_json_get_integer(json, "format", 1, 1, &format, err));
    ZN_TRY(zn_json_get_integer(json, "pictures", 0, INT32_MAX, &pictures, err));
    ZN_TRY(zn_json_get_text(json, "model", &model, err));
    ZN_TRY(zn_json_get_text(json, "weights", &weights, err));
    ZN_TRY(zn_json_get_object(json, "values", &values, err));
    ZN_TRY(zn_json_get_array(json, "int8", &names, err));
    zn_text_format(calibration->model, sizeof calibration->model, "%s", model);
    zn_text_format(calibration->weights, sizeof calibration->weights, "%s", weights);
    calibration->pictures = (int)pictures;
    ZN_TRY(zn_json_each(values, read_value, calibration, err));
    return read_int8(calibration, names, err);
}

zenith_status zn_calibration_parse(const char *text, size_t size, const char *where,
                                   zn_calibration **out, zn_error *err)
{
    zn_json *json = NULL;
    zn_calibration *calibration = NULL;
    ZN_TRY(zn_json_parse(text, size, where, &json, err));
    zenith_status status = zn_calibration_create(&calibration, err);
    if (status == ZENITH_OK) {
        status = read_fields(calibration, json, err);
        if (status != ZENITH_OK && err) zn_error_prefix(err, where);
    }
    zn_json_free(json);
    if (status == ZENITH_OK) {
        *out = calibration;
    } else {
        zn_calibration_free(calibration);
    }
    return status;
}

zenith_status zn_calibration_read(const char *path, zn_calibration **out, zn_error *err)
{
    zn_mapped file = {0};
    ZN_TRY(zn_mapped_open(path, &file, err));
    zenith_status status = zn_calibration_parse((const char *)file.data, file.size, path, out, err);
    zn_mapped_close(&file);
    return status;
}

// --- writing ------------------------------------------------------------------------------------

static bool add_entry(json_t *values, json_t *names, const zn_calibrated *entry)
{
    // Six decimals: the file is read by people, and a scale needs no more.
    double largest = round((double)entry->largest * 1e6) / 1e6;
    json_t *made = json_pack("{s:f, s:b}", "largest", largest, "positive", (int)entry->positive);
    if (entry->floating && json_object_set_new(made, "floating", json_true()) != 0) return false;
    if (json_object_set_new(values, entry->name, made) != 0) return false;
    return !entry->int8 || json_array_append_new(names, json_string(entry->name)) == 0;
}

// NULL: no memory.
static json_t *to_json(const zn_calibration *calibration)
{
    json_t *values = json_object(), *names = json_array();
    bool made = values && names;
    for (size_t i = 0; made && i < calibration->count; i++)
        made = add_entry(values, names, &calibration->values[i]);
    if (!made) {
        json_decref(values);
        json_decref(names);
        return NULL;
    }
    return json_pack("{s:i, s:s, s:s, s:i, s:o, s:o}", "format", 1, "model", calibration->model,
                     "weights", calibration->weights, "pictures", calibration->pictures, "values",
                     values, "int8", names);
}

zenith_status zn_calibration_write(const zn_calibration *calibration, const char *path,
                                   zn_error *err)
{
    json_t *json = to_json(calibration);
    if (!json) return zn_fail_memory(err, calibration->count * sizeof(zn_calibrated));
    char *text = json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    json_decref(json);
    if (!text) return zn_fail_memory(err, calibration->count * sizeof(zn_calibrated));
    zn_writer *writer = NULL;
    zenith_status status = zn_writer_open(path, &writer, err);
    if (status == ZENITH_OK) status = zn_writer_write(writer, text, strlen(text), err);
    if (status == ZENITH_OK) status = zn_writer_write(writer, "\n", 1, err);
    json_free_t free_text;
    json_get_alloc_funcs(NULL, &free_text);
    free_text(text);
    if (status == ZENITH_OK) return zn_writer_commit(writer, err);
    zn_writer_discard(writer);
    return status;
}
