// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocations of a whole generation: open a pipeline's folder, two prompts, one step. In f32, and
// in int8 with the weights in few bits.
#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/task/convert/few_bits_files.h"
#include "src/task/generate/generator.h"
#include "tests/oom/oom.h"

#include <stdio.h>

enum { VALUES = 16 * 4 * 4 };

static char few_bits[1024]; // the folder of the pipeline

static zenith_status run(zn_engine *engine, zn_generator *generator, zenith_dtype dtype,
                         float *latent, zn_error *err)
{
    zn_generator_tokens tokens;
    const zn_generator_call call = {
        .prompt = "a",
        .negative = "b",
        .seed = 1,
        .how = {.dtype = dtype, .height = 4, .width = 4, .steps = 1, .guidance = 1}};
    return zn_generator_run(engine, generator, &call, latent, &tokens, err);
}

static zenith_status session(const char *folder, zenith_dtype dtype, float *latent)
{
    zn_error err = {0};
    const zn_cpu cpu = zn_cpu_detect();
    zn_executor *executor = NULL;
    zn_engine *engine = NULL;
    zn_generator *generator = NULL;
    zenith_status status = zn_executor_create(1, 1, &executor, &err);
    if (status == ZENITH_OK) status = zn_engine_create(executor, &cpu, 0, NULL, &engine, &err);
    const zn_generator_files files = {.folder = folder};
    if (status == ZENITH_OK) status = zn_generator_open(&files, &generator, &err);
    if (status == ZENITH_OK) status = run(engine, generator, dtype, latent, &err);
    zn_engine_free(engine);
    zn_executor_free(executor);
    zn_generator_free(generator);
    return status;
}

static zenith_status in_f32(void *latent)
{
    return session(zn_test_path(zn_test_golden(), "pipeline"), ZENITH_DTYPE_F32, latent);
}

static zenith_status in_few_bits(void *latent)
{
    return session(few_bits, ZENITH_DTYPE_INT8, latent);
}

static int write_few_bits(void **state)
{
    (void)state;
    zn_error err = {0};
    zn_executor *executor = NULL;
    char *answer = NULL;
    const char *source = zn_test_path(zn_test_golden(), "pipeline");
    snprintf(few_bits, sizeof few_bits, "%s", zn_test_path(zn_test_build(), "oom_pipeline"));
    (void)!zn_file_remove(zn_test_path(few_bits, "model_index.json"), NULL);
    const zn_few_bits call = {.source = source, .output = few_bits, .rotate = true};
    zn_test_ok(zn_executor_create(1, 1, &executor, &err), &err);
    zn_test_ok(zn_write_few_bits(executor, &call, &answer, &err), &err);
    zn_executor_free(executor);
    zn_free(answer);
    return 0;
}

const oom_program program_generate_oom = {
    .need = "pipeline/io_turbo.safetensors",
    .open = write_few_bits,
    .sessions = {{"in_f32", in_f32, VALUES * sizeof(float), 60, 97, 0},
                 {"in_few_bits", in_few_bits, VALUES * sizeof(float), 60, 97, 0}},
};
