// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any text as the note on how a module is quantised: a rotation is of a size that there is.
#include "src/format/tensor/convrot.h"
#include "src/format/tensor/quant_note.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    zn_quant_note note = {.format = "before"};
    zn_error err = {{0}};
    if (zn_quant_note_parse((const char *)data, size, "fuzz", &note, &err) != ZENITH_OK) {
        if (!*err.text || strcmp(note.format, "before") != 0) __builtin_trap();
        return 0;
    }
    if (!memchr(note.format, 0, sizeof note.format)) __builtin_trap();
    if (note.rotated_by && !zn_convrot_group(note.rotated_by)) __builtin_trap();
    return 0;
}
