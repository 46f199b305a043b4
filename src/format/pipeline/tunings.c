// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/format/pipeline/tunings.h"

#include "src/base/json.h"
#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/text.h"

#include <jansson.h>
#include <string.h>

enum { VERSION = 1 };
static const double LONGEST = 1e6; // seconds that a picture may have taken
enum { WIDEST = 1 << 12 };         // rows of a band
static const int64_t MOST_BYTES = (int64_t)1 << 36;

zn_tuning *zn_tunings_find(zn_tunings *tunings, const char *key, bool add)
{
    for (size_t i = 0; i < tunings->count; i++)
        if (strcmp(tunings->list[i].key, key) == 0) return &tunings->list[i];
    if (!add || tunings->count == ZN_TUNINGS_MOST || strlen(key) >= ZN_TUNING_KEY) return NULL;
    if (zn_array_reserve((void **)&tunings->list, &tunings->capacity, tunings->count + 1,
                         sizeof *tunings->list, NULL) != ZENITH_OK)
        return NULL;
    zn_tuning *made = &tunings->list[tunings->count++];
    *made = (zn_tuning){.uses = 0};
    zn_text_format(made->key, sizeof made->key, "%s", key);
    return made;
}

void zn_tunings_free(zn_tunings *tunings)
{
    zn_free(tunings->list);
    *tunings = (zn_tunings){0};
}

// --- reading ------------------------------------------------------------------------------------

static zenith_status read_seconds(const zn_json *value, zn_tuning *out, zn_error *err)
{
    const zn_json *seconds = NULL;
    ZN_TRY(zn_json_get_array(value, "seconds", &seconds, err));
    for (int i = 0; i < ZN_TUNING_PLANS; i++) {
        double *to = &out->seconds[i];
        if (zn_json_as_number(zn_json_at(seconds, (size_t)i), to) && *to >= -1 && *to <= LONGEST &&
            (*to != 0 || i >= out->uses))
            continue;
        return zn_fail(err, ZENITH_BAD_FILE, "'seconds' are not those of a measured plan");
    }
    return ZENITH_OK;
}

static zenith_status read_tuning(const zn_json *value, zn_tuning *out, zn_error *err)
{
    int64_t uses = 0, bytes = 0;
    ZN_TRY(zn_json_get_flag(value, "planes", &out->planes, err));
    ZN_TRY(zn_json_get_integer(value, "band", 0, WIDEST, &out->band, err));
    ZN_TRY(zn_json_get_integer(value, "bytes", 0, MOST_BYTES, &bytes, err));
    ZN_TRY(zn_json_get_integer(value, "uses", 1, ZN_TUNING_PLANS * ZN_TUNING_ROUNDS, &uses, err));
    out->bytes = (uint64_t)bytes;
    out->uses = (int)uses;
    ZN_TRY(read_seconds(value, out, err));
    if (out->seconds[0] > 0 && (out->planes || out->band > 0)) return ZENITH_OK;
    return zn_fail(err, ZENITH_BAD_FILE, "the first plan makes no sense");
}

// One that makes no sense is measured again.
static zenith_status take(void *cookie, const char *key, const zn_json *value, zn_error *err)
{
    zn_tunings *tunings = cookie;
    zn_tuning made = {.uses = 0};
    (void)err;
    if (!zn_json_is_object(value) || read_tuning(value, &made, NULL) != ZENITH_OK) return ZENITH_OK;
    zn_tuning *known = zn_tunings_find(tunings, key, true);
    if (!known || known->uses >= made.uses) return ZENITH_OK;
    memcpy(made.key, known->key, sizeof made.key);
    *known = made;
    return ZENITH_OK;
}

zenith_status zn_tunings_parse(const char *text, size_t size, zn_tunings *tunings, zn_error *err)
{
    zn_json *json = NULL;
    const zn_json *plans = NULL;
    int64_t version = 0;
    ZN_TRY(zn_json_parse(text, size, "the measured plans", &json, err));
    zenith_status status;
    ZN_GO(zn_json_get_integer(json, "format", VERSION, VERSION, &version, err));
    ZN_GO(zn_json_get_object(json, "plans", &plans, err));
    ZN_GO(zn_json_each(plans, take, tunings, err));
fail:
    zn_json_free(json);
    return status;
}

zenith_status zn_tunings_read(const char *path, zn_tunings *tunings, zn_error *err)
{
    zn_mapped file = {0};
    ZN_TRY(zn_mapped_open(path, &file, err));
    zenith_status status = zn_tunings_parse((const char *)file.data, file.size, tunings, err);
    zn_mapped_close(&file);
    return status;
}

// --- writing ------------------------------------------------------------------------------------

static bool add_entry(json_t *plans, const zn_tuning *entry)
{
    json_t *seconds = json_array();
    for (int i = 0; i < ZN_TUNING_PLANS; i++)
        json_array_append_new(seconds, json_real(entry->seconds[i]));
    json_t *made = json_pack("{s:b, s:I, s:I, s:i, s:o}", "planes", (int)entry->planes, "band",
                             (json_int_t)entry->band, "bytes", (json_int_t)entry->bytes, "uses",
                             entry->uses, "seconds", seconds);
    return json_object_set_new(plans, entry->key, made) == 0;
}

// NULL: no memory.
static json_t *to_json(const zn_tunings *tunings)
{
    json_t *plans = json_object();
    bool made = plans != NULL;
    for (size_t i = 0; made && i < tunings->count; i++)
        if (tunings->list[i].uses > 0) made = add_entry(plans, &tunings->list[i]);
    if (made) return json_pack("{s:i, s:o}", "format", VERSION, "plans", plans);
    json_decref(plans);
    return NULL;
}

zenith_status zn_tunings_write(const zn_tunings *tunings, const char *path, zn_error *err)
{
    json_t *json = to_json(tunings);
    char *text = NULL;
    size_t size = 0;
    if (!json) return zn_fail_memory(err, tunings->count * sizeof(zn_tuning));
    zenith_status status = zn_json_dump(json, &text, &size, err);
    json_decref(json);
    if (status != ZENITH_OK) return status;
    zn_writer *writer = NULL;
    status = zn_writer_open(path, &writer, err);
    if (status == ZENITH_OK) status = zn_writer_write(writer, text, size, err);
    zn_free(text);
    if (status == ZENITH_OK) return zn_writer_commit(writer, err);
    zn_writer_discard(writer);
    return status;
}
