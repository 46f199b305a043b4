// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Models and files of tensors that must open, and files of tensors that are written.
#ifndef ZN_TESTS_MODEL_WEIGHT_FILES_H
#define ZN_TESTS_MODEL_WEIGHT_FILES_H

#include "tests/testing.h"

#include "src/format/tensor/safetensors.h"
#include "src/model/model.h"

// name may be NULL.
static inline zn_model *model_at(const char *weights, const char *name)
{
    zn_error err = {0};
    zn_model *model = NULL;
    const zn_model_request request = {.name = name, .weights = weights};
    zn_test_ok(zn_model_open(&request, &model, &err), &err);
    return model;
}

static inline zn_safetensors *tensors_at(const char *path)
{
    zn_error err = {0};
    zn_safetensors *tensors = NULL;
    zn_test_ok(zn_safetensors_open(path, &tensors, &err), &err);
    return tensors;
}

// Puts the tensors into the order of the header.
static inline void write_tensors(const char *path, zn_file_tensor *tensors, size_t count,
                                 const zn_metadata *facts, size_t facts_count)
{
    zn_error err = {0};
    zn_writer *file = NULL;
    zn_test_ok(zn_writer_open(path, &file, &err), &err);
    zn_test_ok(zn_safetensors_write_header(file, tensors, count, facts, facts_count, &err), &err);
    for (size_t i = 0; i < count; i++)
        zn_test_ok(zn_writer_write(file, tensors[i].data, tensors[i].bytes, &err), &err);
    zn_test_ok(zn_writer_commit(file, &err), &err);
}

#endif
