// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Each allocation of opening and writing files fails in turn.
#include "src/format/latent/file.h"
#include "src/format/tensor/weights.h"
#include "tests/format/craft_gguf.h"
#include "tests/oom/oom.h"

#include <sys/stat.h>

static zenith_status open_weights(zn_error *err)
{
    zn_weights *weights = NULL;
    ZN_TRY(zn_weights_open(scratch("oom_weights"), &weights, err));
    zn_weights_free(weights);
    return ZENITH_OK;
}

static zenith_status open_merged(zn_error *err)
{
    const char *path = scratch("oom_weights/a.safetensors");
    const char *const paths[] = {path, path}, *const prefixes[] = {"x.", "y."};
    zn_weights *weights = NULL;
    ZN_TRY(zn_weights_open_parts(paths, prefixes, 2, &weights, err));
    zn_weights_free(weights);
    return ZENITH_OK;
}

static zenith_status open_gguf(zn_error *err)
{
    zn_weights *weights = NULL;
    ZN_TRY(zn_weights_open(scratch("oom.gguf"), &weights, err));
    zn_weights_free(weights);
    return ZENITH_OK;
}

// The note is JSON, which allocates.
static zenith_status read_rotated(zn_error *err)
{
    float values[8];
    zn_weights *weights = NULL;
    ZN_TRY(zn_weights_open(scratch("oom_rotated.safetensors"), &weights, err));
    zenith_status status = zn_weights_read_f32(weights, "a.weight", NULL, values, err);
    zn_weights_free(weights);
    return status;
}

static void write_gguf(void)
{
    const uint64_t dims[] = {4};
    crafted file = craft_gguf(2, 1);
    put_value(&file, "general.architecture", 8);
    put_text(&file, "toy");
    put_tensor(&file, "a", 1, dims, 0, 0);
    put_tensor(&file, "b", 1, dims, 99, 32); // the name of an unknown type is made up
    put_data(&file, 32, 48);
    write_file(scratch("oom.gguf"), file.bytes, file.size);
}

static void write_rotated(void)
{
    const crafted file = craft_safetensors(
        "{\"a.weight\":{\"dtype\":\"I8\",\"shape\":[2,4],\"data_offsets\":[0,8]},"
        "\"a.weight_scale\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]},"
        "\"__metadata__\":{\"_quantization_metadata\":"
        "\"{\\\"layers\\\":{\\\"a\\\":{\\\"convrot\\\":true,\\\"convrot_groupsize\\\":4}}}\"}}",
        16);
    write_file(scratch("oom_rotated.safetensors"), file.bytes, file.size);
}

static zenith_status write_and_open_latent(zn_error *err)
{
    const float row[2] = {1, 2};
    zn_latent_facts facts = {.model = "m", .statistics = 2, .std = {1, 2}};
    zn_shape shape = ZN_SHAPE(1, 2, 1, 1);
    const char *path = scratch("oom.latent");
    zn_writer *to = NULL;
    zn_latent_file *file = NULL;
    zenith_status status;
    ZN_GO(zn_writer_open(path, &to, err));
    ZN_GO(zn_latent_write_header(to, ZN_LATENT_COMFY, &shape, ZN_F32, false, &facts, err));
    ZN_GO(zn_latent_write_image(to, ZN_F32, row, 2, err));
    status = zn_writer_commit(to, err);
    to = NULL;
    if (status == ZENITH_OK) status = zn_latent_file_open(path, &file, err);
fail:
    zn_latent_file_free(file);
    zn_writer_discard(to);
    return status;
}

static int write_files(void **state)
{
    (void)state;
    crafted file = craft_safetensors(
        "{\"t\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
        "\"__metadata__\":{\"k\":\"v\"}}",
        2);
    const char *dir = scratch("oom_weights");
    const char *index = "{\"weight_map\":{\"t\":\"a.safetensors\"}}";
    mkdir(dir, 0755);
    write_file(zn_test_path(dir, "a.safetensors"), file.bytes, file.size);
    write_file(zn_test_path(dir, "x.safetensors.index.json"), index, strlen(index));
    write_gguf();
    write_rotated();
    return 0;
}

const oom_program program_format_oom = {
    .open = write_files,
    .calls = {OOM_CALL(open_weights, ZENITH_OK, 5), OOM_CALL(open_merged, ZENITH_OK, 5),
              OOM_CALL(write_and_open_latent, ZENITH_OK, 6), OOM_CALL(open_gguf, ZENITH_OK, 5),
              OOM_CALL(read_rotated, ZENITH_OK, 5)},
};
