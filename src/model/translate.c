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
