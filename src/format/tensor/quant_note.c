// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/format/tensor/quant_note.h"

#include "src/base/text.h"
#include "src/format/tensor/convrot.h"

#include <string.h>

enum { USUAL_GROUP = 256 };

// The object that has the key: the note, or its "params"; NULL where neither has.
static const zn_json *holder(const zn_json *note, const char *key)
{
    const zn_json *params = NULL;
    if (zn_json_has(note, key)) return note;
    if (!zn_json_has(note, "params") ||
        zn_json_get_object(note, "params", &params, NULL) != ZENITH_OK)
        return NULL;
    return zn_json_has(params, key) ? params : NULL;
}

static zenith_status read_format(const zn_json *note, zn_quant_note *out, zn_error *err)
{
    const char *format = "";
    const zn_json *from = holder(note, "format");
    if (from) ZN_TRY(zn_json_get_text(from, "format", &format, err));
    if (strlen(format) >= sizeof out->format)
        return zn_fail(err, ZENITH_BAD_FILE, "\"format\" is longer than any that there is");
    zn_text_format(out->format, sizeof out->format, "%s", format);
    return ZENITH_OK;
}

static zenith_status read_rotation(const zn_json *note, zn_quant_note *out, zn_error *err)
{
    bool rotated = false;
    int64_t group = USUAL_GROUP;
    const zn_json *from = holder(note, "convrot");
    if (from) ZN_TRY(zn_json_get_flag(from, "convrot", &rotated, err));
    if (!rotated) return ZENITH_OK;
    from = holder(note, "convrot_groupsize");
    if (from) ZN_TRY(zn_json_get_integer(from, "convrot_groupsize", 1, INT32_MAX, &group, err));
    if (!zn_convrot_group((size_t)group))
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "\"convrot_groupsize\" is %lld; powers of four from 4 to %d are read",
                       (long long)group, ZN_CONVROT_MOST);
    out->rotated_by = (size_t)group;
    return ZENITH_OK;
}

static zenith_status read_size(const zn_json *note, const char *key, int64_t *out, zn_error *err)
{
    const zn_json *from = holder(note, key);
    return from ? zn_json_get_integer(from, key, 1, INT32_MAX, out, err) : ZENITH_OK;
}

static zenith_status read_note(const zn_json *note, zn_quant_note *out, zn_error *err)
{
    if (!zn_json_is_object(note)) return zn_fail(err, ZENITH_BAD_FILE, "it is not a JSON object");
    ZN_TRY(read_format(note, out, err));
    if (strcmp(out->format, ZN_PANELS_FORMAT) ==
        0) { // others may mean something else by these keys
        ZN_TRY(read_size(note, "bits", &out->bits, err));
        ZN_TRY(read_size(note, "outputs", &out->outputs, err));
        ZN_TRY(read_size(note, "inputs", &out->inputs, err));
    }
    return read_rotation(note, out, err);
}

zenith_status zn_quant_note_read(const zn_json *note, const char *where, zn_quant_note *out,
                                 zn_error *err)
{
    zn_error what = {{0}};
    zn_quant_note found = {.format = ""};
    zenith_status status = read_note(note, &found, &what);
    if (status != ZENITH_OK)
        return zn_fail(err, status, "%s: the note on its quantisation: %s", where, what.text);
    *out = found;
    return ZENITH_OK;
}

zenith_status zn_quant_note_parse(const char *text, size_t size, const char *where,
                                  zn_quant_note *out, zn_error *err)
{
    zn_json *note = NULL;
    ZN_TRY(zn_json_parse(text, size, where, &note, err));
    zenith_status status = zn_quant_note_read(note, where, out, err);
    zn_json_free(note);
    return status;
}
