// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a file says on how one module is quantised, as ComfyUI writes it: JSON, in bytes of a tensor
// "MODULE.comfy_quant" or, for all modules, in the file's metadata "_quantization_metadata" as
// {"layers": {MODULE: note, ...}}.
//   {"format": "int8_tensorwise", "convrot": true, "convrot_groupsize": 256}
//   {"format": "zenith_panels_1", "bits": 4, "outputs": 3840, "inputs": 2560, "convrot": true}
// The keys may also be inside "params"; other keys are allowed and ignored.
#ifndef ZN_FORMAT_TENSOR_QUANT_NOTE_H
#define ZN_FORMAT_TENSOR_QUANT_NOTE_H

#include "src/base/json.h"
#include "src/base/status.h"

#include <stddef.h>

#define ZN_PANELS_FORMAT "zenith_panels_1" // a change of their layout changes the number

typedef struct zn_quant_note {
    char format[32];   // "int8_tensorwise", "float8_e4m3fn", "nvfp4"; "" where it does not say
    size_t rotated_by; // features that are rotated together (convrot.h); 0: none
    // Of panels, whose shapes are filled up; 0 where it does not say.
    int64_t bits, outputs, inputs;
} zn_quant_note;

// `where` names the text in messages. ZENITH_BAD_FILE for what is no such object,
// ZENITH_UNSUPPORTED for a rotation of a size that there is none of.
zenith_status zn_quant_note_parse(const char *text, size_t size, const char *where,
                                  zn_quant_note *out, zn_error *err);
zenith_status zn_quant_note_read(const zn_json *note, const char *where, zn_quant_note *out,
                                 zn_error *err);

#endif
