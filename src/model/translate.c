// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/model/translate.h"

#include "src/base/text.h"

#include <string.h>

size_t zn_translate_known(const zn_translation *set, const char *name, char dst[ZN_NAME_SIZE])
{
    const size_t length = strlen(dst);
    for (; set->ours; set++) {
        const size_t taken = strlen(set->ours);
        if (strncmp(name, set->ours, taken) != 0) continue;
        zn_text_format(dst + length, ZN_NAME_SIZE - length, "%s", set->theirs);
        return taken;
    }
    return 0;
}

size_t zn_translate_segment(const char *name, char dst[ZN_NAME_SIZE])
{
    const size_t length = strlen(dst);
    const char *dot = strchr(name, '.');
    const size_t taken = dot ? (size_t)(dot - name) + 1 : strlen(name);
    zn_text_format(dst + length, ZN_NAME_SIZE - length, "%.*s", (int)taken, name);
    return taken;
}

static size_t translate_next(const zn_translation *set, const char *name, char dst[ZN_NAME_SIZE])
{
    const size_t taken = zn_translate_known(set, name, dst);
    return taken ? taken : zn_translate_segment(name, dst);
}

bool zn_translate_find(const zn_weights *weights, const zn_name_set *sets, int count,
                       const char *name, zn_stored_name *dst)
{
    for (const zn_name_set *set = sets; set < sets + count; set++) {
        *dst = (zn_stored_name){.piece = 0};
        zn_text_format(dst->name, sizeof dst->name, "%s", set->outer);
        for (const char *at = name; *at;) at += translate_next(set->segments, at, dst->name);
        if (!zn_weights_find(weights, dst->name)) continue;
        for (const zn_name_piece *p = set->pieces; p && p->ours; p++)
            if (strstr(name, p->ours)) dst->piece = p->piece, dst->pieces = p->pieces;
        return true;
    }
    return false;
}
