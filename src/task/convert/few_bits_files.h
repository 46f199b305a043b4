// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Weights of text models and diffusion transformers in few bits: see zenith_convert.
#ifndef ZN_TASK_CONVERT_FEW_BITS_FILES_H
#define ZN_TASK_CONVERT_FEW_BITS_FILES_H

#include "src/base/executor.h"
#include "src/task/convert/panel_file.h"

#include <stdatomic.h>

typedef struct zn_few_bits_report {
    const char *part;      // the pipeline's component; "": the source is one model
    const char *tensor;    // in work
    uint32_t index, count; // which of how many models
    uint64_t done, bytes;  // of this model's source
} zn_few_bits_report;

typedef struct zn_few_bits {
    const char *source; // a pipeline's folder, a model's folder, or a file
    const char *output; // a folder; of one model also a file that ends with .safetensors
    zn_recipe recipe;
    bool rotate;
    atomic_int *cancel;                                            // or NULL
    int (*report)(void *cookie, const zn_few_bits_report *report); // not zero: stop; or NULL
    void *cookie;
} zn_few_bits;

// *out: what was written, as JSON text, which is freed by zn_free.
zenith_status zn_write_few_bits(zn_executor *executor, const zn_few_bits *call, char **out,
                                zn_error *err);

#endif
