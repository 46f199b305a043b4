// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The golden diffusion autoencoder: two pictures of 32x32, codes of 64 numbers. Statistics and
// classifier lie in another file than its networks, so a folder in the build tree is made that has
// all of it, as tools/convert.py makes one.
#ifndef ZN_TESTS_DIFFAE_GOLDEN_H
#define ZN_TESTS_DIFFAE_GOLDEN_H

#include "tests/model/part_runs.h"

#include "src/base/os.h"
#include "src/format/tensor/safetensors.h"

#include <sys/stat.h>

enum { SIDE = 32, PLANES = 3, PIXELS = SIDE * SIDE, VALUES = PIXELS * PLANES };
enum { CODE = 64, ATTRIBUTES = 40, PICTURES = 2, STEPS = 10, MOST_TENSORS = 320 };

static const char *const golden_io = "diffae/io.safetensors";

// A tensor of a golden file under a name of ours.
static inline void golden_add(zn_file_tensor *tensors, size_t *count, const zn_safetensors *file,
                              const char *theirs, const char *ours)
{
    const zn_file_tensor *tensor = zn_safetensors_find(file, theirs);
    assert_non_null(tensor);
    assert_true(*count < MOST_TENSORS);
    tensors[*count] = *tensor;
    tensors[(*count)++].name = ours;
}

// The golden's config.json with keys before its own, as "\"clip\": false, ".
static inline void golden_copy_config(const char *folder, const char *keys)
{
    zn_error err = {0};
    zn_mapped config;
    zn_writer *file = NULL;
    zn_test_ok(zn_mapped_open(zn_test_path(zn_test_golden(), "diffae/config.json"), &config, &err),
               &err);
    zn_test_ok(zn_writer_open(zn_test_path(folder, "config.json"), &file, &err), &err);
    const char *own = (const char *)config.data + 1; // after the brace
    zn_test_ok(zn_writer_write(file, "{", 1, &err), &err);
    zn_test_ok(zn_writer_write(file, keys, strlen(keys), &err), &err);
    zn_test_ok(zn_writer_write(file, own, config.size - 1, &err), &err);
    zn_test_ok(zn_writer_commit(file, &err), &err);
    zn_mapped_close(&config);
}

// The folder with all parts, into path.
static inline void golden_folder(const char *name, char path[256])
{
    static zn_file_tensor tensors[MOST_TENSORS];
    static float offsets[ATTRIBUTES];
    size_t count = 0;
    snprintf(path, 256, "%s", zn_test_path(zn_test_build(), name));
    (void)mkdir(path, 0777);
    zn_safetensors *networks = part_golden("diffae/model.safetensors"),
                   *io = part_golden(golden_io);
    for (size_t i = 0; i < zn_safetensors_count(networks); i++) {
        const char *own = zn_safetensors_get(networks, i)->name;
        if (!strstr(own, "linear_emb")) golden_add(tensors, &count, networks, own, own);
    }
    golden_add(tensors, &count, io, "stats.mean", "conds_mean");
    golden_add(tensors, &count, io, "stats.std", "conds_std");
    golden_add(tensors, &count, io, "classifier.weight", "classifier.weight");
    tensors[count] = tensors[count - 1];
    tensors[count].name = "classifier.bias";
    tensors[count].shape = ZN_SHAPE(ATTRIBUTES);
    tensors[count].data = (const void *)offsets;
    tensors[count++].bytes = sizeof offsets;
    write_tensors(zn_test_path(path, "model.safetensors"), tensors, count, NULL, 0);
    golden_copy_config(path, "");
    zn_safetensors_free(networks);
    zn_safetensors_free(io);
}

static inline zn_model *golden_model(const char *name)
{
    char path[256];
    golden_folder(name, path);
    return model_at(path, NULL);
}

// Item `number` of a tensor of pictures or codes, `count` numbers; to be freed.
static inline float *golden_item(const zn_safetensors *io, const char *name, int number,
                                 size_t count)
{
    size_t all;
    float *values = part_tensor(io, name, &all);
    assert_true((size_t)(number + 1) * count <= all);
    memmove(values, values + (size_t)number * count, count * sizeof *values);
    return values;
}

#endif
