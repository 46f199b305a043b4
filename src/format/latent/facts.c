// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/format/latent/facts.h"

#include "src/base/json.h"
#include "src/base/text.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MAX_PAIRS = 10, NUMBER_TEXT = 32 };

// --- reading

typedef struct facts_reader {
    const zn_safetensors *file;
    const char *name;
    zn_error *err;
} facts_reader;

static zenith_status bad_value(const facts_reader *from, const char *key)
{
    return zn_fail(from->err, ZENITH_BAD_FILE, "%s: metadata \"%s\" has no valid value", from->name,
                   key);
}

static zenith_status read_text(const facts_reader *from, const char *key, char *dst, size_t size)
{
    const char *value = zn_safetensors_metadata(from->file, key);
    if (!value) return ZENITH_OK;
    size_t length = strlen(value);
    if (length >= size) return bad_value(from, key);
    memcpy(dst, value, length + 1);
    return ZENITH_OK;
}

// A JSON number, or an array of 1 to `max` of them; *count stays 0 when the key is absent.
static zenith_status read_numbers(const facts_reader *from, const char *key, double *dst,
                                  size_t max, size_t *count)
{
    *count = 0;
    const char *text = zn_safetensors_metadata(from->file, key);
    if (!text) return ZENITH_OK;
    zn_json *value = NULL;
    zn_error why = {{0}};
    zenith_status status = zn_json_parse(text, strlen(text), key, &value, &why);
    if (status == ZENITH_OUT_OF_MEMORY) return zn_fail(from->err, status, "%s", why.text);
    if (status != ZENITH_OK) return bad_value(from, key);
    size_t size = zn_json_is_array(value) ? zn_json_size(value) : 1;
    bool valid = size >= 1 && size <= max;
    for (size_t i = 0; valid && i < size; i++) {
        const zn_json *item = zn_json_is_array(value) ? zn_json_at(value, i) : value;
        valid = zn_json_as_number(item, &dst[i]) && fabs(dst[i]) <= (double)FLT_MAX;
    }
    zn_json_free(value);
    if (!valid) return bad_value(from, key);
    *count = size;
    return ZENITH_OK;
}

static zenith_status read_scale(const facts_reader *from, zn_latent_facts *out)
{
    double scale = 1, shift = 0;
    size_t scales, shifts;
    ZN_TRY(read_numbers(from, "zenith.scale", &scale, 1, &scales));
    ZN_TRY(read_numbers(from, "zenith.shift", &shift, 1, &shifts));
    out->has_scale = scales || shifts;
    out->scale = out->has_scale ? (float)scale : 0;
    out->shift = out->has_scale ? (float)shift : 0;
    return ZENITH_OK;
}

static zenith_status read_statistics(const facts_reader *from, zn_latent_facts *out)
{
    double mean[ZN_LATENT_MAX_STATISTICS], std[ZN_LATENT_MAX_STATISTICS];
    size_t means, stds;
    ZN_TRY(read_numbers(from, "zenith.mean", mean, ZN_LATENT_MAX_STATISTICS, &means));
    ZN_TRY(read_numbers(from, "zenith.std", std, ZN_LATENT_MAX_STATISTICS, &stds));
    if (means != stds) return bad_value(from, "zenith.std");
    out->statistics = (int)means;
    for (size_t i = 0; i < means; i++) {
        out->mean[i] = (float)mean[i];
        out->std[i] = (float)std[i];
    }
    return ZENITH_OK;
}

// `count` whole numbers of 32 bits, or none when the key is absent.
static zenith_status read_sizes(const facts_reader *from, const char *key, uint32_t *dst,
                                size_t count)
{
    double value[4];
    size_t found;
    ZN_TRY(read_numbers(from, key, value, count, &found));
    if (found == 0) return ZENITH_OK;
    if (found != count) return bad_value(from, key);
    for (size_t i = 0; i < count; i++) {
        if (value[i] < 0 || value[i] > UINT32_MAX || floor(value[i]) < value[i])
            return bad_value(from, key);
        dst[i] = (uint32_t)value[i];
    }
    return ZENITH_OK;
}

zenith_status zn_latent_facts_read(const zn_safetensors *file, const char *name,
                                   zn_latent_facts *out, zn_error *err)
{
    facts_reader from = {file, name, err};
    zn_latent_facts facts = {0};
    uint32_t source[2] = {0}, crop[4] = {0};
    ZN_TRY(read_text(&from, "zenith.model", facts.model, sizeof facts.model));
    ZN_TRY(read_text(&from, "zenith.space", facts.space, sizeof facts.space));
    ZN_TRY(read_text(&from, "zenith.pipeline", facts.pipeline, sizeof facts.pipeline));
    ZN_TRY(read_scale(&from, &facts));
    ZN_TRY(read_statistics(&from, &facts));
    ZN_TRY(read_sizes(&from, "zenith.source_size", source, 2));
    ZN_TRY(read_sizes(&from, "zenith.crop", crop, 4));
    ZN_TRY(read_sizes(&from, "zenith.frames", &facts.frames, 1));
    facts.source_width = source[0], facts.source_height = source[1];
    facts.crop_x = crop[0], facts.crop_y = crop[1];
    facts.crop_width = crop[2], facts.crop_height = crop[3];
    zn_error what = {{0}};
    if (zn_latent_facts_check(&facts, &what) != ZENITH_OK)
        return zn_fail(err, ZENITH_BAD_FILE, "%s: %s", name, what.text);
    *out = facts;
    return ZENITH_OK;
}

// --- checking

zenith_status zn_latent_facts_check(const zn_latent_facts *facts, zn_error *err)
{
    if (strcmp(facts->space, "raw") != 0 && strcmp(facts->space, "model") != 0 && *facts->space)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the latent's space is \"%s\"; it must be \"raw\" or \"model\"",
                       facts->space);
    if (facts->has_scale &&
        (!isfinite(facts->scale) || !isfinite(facts->shift) || facts->scale == 0))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the latent's scale and shift must be finite, and the scale not 0");
    if (facts->statistics < 0 || facts->statistics > ZN_LATENT_MAX_STATISTICS)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "a latent can have statistics for at most %d channels",
                       ZN_LATENT_MAX_STATISTICS);
    for (int i = 0; i < facts->statistics; i++)
        if (!isfinite(facts->mean[i]) || !isfinite(facts->std[i]) || !(facts->std[i] > 0))
            return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                           "mean or standard deviation of the latent's channel %d is not valid", i);
    return ZENITH_OK;
}

// --- writing

typedef struct facts_writer {
    zn_arena *arena;
    zn_metadata *pairs;
    size_t count;
    zn_error *err;
} facts_writer;

static zenith_status put_text(facts_writer *to, const char *key, const char *value)
{
    if (!*value) return ZENITH_OK;
    const char *copy = zn_arena_text(to->arena, value);
    if (!copy) return zn_fail_memory(to->err, strlen(value) + 1);
    to->pairs[to->count++] = (zn_metadata){key, copy};
    return ZENITH_OK;
}

static zenith_status put_number(facts_writer *to, const char *key, float value)
{
    char text[NUMBER_TEXT];
    ZN_TRY(zn_json_float_text(value, text, to->err));
    return put_text(to, key, text);
}

static zenith_status put_numbers(facts_writer *to, const char *key, const float *value, int count)
{
    char list[ZN_LATENT_MAX_STATISTICS * NUMBER_TEXT + 3], text[NUMBER_TEXT];
    size_t at = 0;
    for (int i = 0; i < count; i++) {
        ZN_TRY(zn_json_float_text(value[i], text, to->err));
        at += zn_text_format(list + at, sizeof list - at, "%c%s", i ? ',' : '[', text);
    }
    if (count == 0) return ZENITH_OK;
    zn_text_format(list + at, sizeof list - at, "]");
    return put_text(to, key, list);
}

static zenith_status put_sizes(facts_writer *to, const zn_latent_facts *facts)
{
    char text[64];
    if (facts->source_width && facts->source_height) {
        zn_text_format(text, sizeof text, "[%u,%u]", facts->source_width, facts->source_height);
        ZN_TRY(put_text(to, "zenith.source_size", text));
    }
    if (facts->crop_width && facts->crop_height) {
        zn_text_format(text, sizeof text, "[%u,%u,%u,%u]", facts->crop_x, facts->crop_y,
                       facts->crop_width, facts->crop_height);
        ZN_TRY(put_text(to, "zenith.crop", text));
    }
    if (facts->frames) {
        zn_text_format(text, sizeof text, "%u", facts->frames);
        ZN_TRY(put_text(to, "zenith.frames", text));
    }
    return ZENITH_OK;
}

zenith_status zn_latent_facts_write(const zn_latent_facts *facts, zn_arena *arena,
                                    zn_metadata **out, size_t *pairs, zn_error *err)
{
    ZN_TRY(zn_latent_facts_check(facts, err));
    facts_writer to = {.arena = arena, .err = err};
    to.pairs = zn_arena_alloc(arena, MAX_PAIRS * sizeof *to.pairs);
    if (!to.pairs) return zn_fail_memory(err, MAX_PAIRS * sizeof *to.pairs);
    ZN_TRY(put_text(&to, "zenith.model", facts->model));
    ZN_TRY(put_text(&to, "zenith.space", facts->space));
    ZN_TRY(put_text(&to, "zenith.pipeline", facts->pipeline));
    if (facts->has_scale) {
        ZN_TRY(put_number(&to, "zenith.scale", facts->scale));
        ZN_TRY(put_number(&to, "zenith.shift", facts->shift));
    }
    ZN_TRY(put_numbers(&to, "zenith.mean", facts->mean, facts->statistics));
    ZN_TRY(put_numbers(&to, "zenith.std", facts->std, facts->statistics));
    ZN_TRY(put_sizes(&to, facts));
    *out = to.pairs;
    *pairs = to.count;
    return ZENITH_OK;
}
