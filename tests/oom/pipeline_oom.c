// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Each allocation of opening a pipeline, and of finding the model in it, fails in turn: the call
// must not say that another component is the one, nor that there is none.
#include "src/model/pipeline.h"
#include "tests/oom/oom.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[1024];

// Two components of the same weights, so that the model is ambiguous, and one without weights.
static int setup(void **state)
{
    static const char index[] =
        "{\"_class_name\": \"Toy\", \"vae\": [\"a\", \"A\"], \"vae2\": [\"b\", \"B\"], "
        "\"tokenizer\": [\"t\", \"T\"]}";
    const char *tiny = zn_test_path(zn_test_source(), "tests/golden/tiny_diffusers");
    (void)state;
    snprintf(folder, sizeof folder, "%s", zn_test_path(zn_test_build(), "pipeline-oom"));
    mkdir(folder, 0755);
    mkdir(zn_test_path(folder, "tokenizer"), 0755);
    FILE *file = fopen(zn_test_path(folder, "model_index.json"), "wb");
    if (!file || fputs(index, file) == EOF || fclose(file) != 0) return -1;
    for (int i = 0; i < 2; i++) {
        const char *place = zn_test_path(folder, i == 0 ? "vae" : "vae2");
        unlink(place);
        if (symlink(tiny, place) != 0) return -1;
    }
    return 0;
}

static zenith_status open_pipeline(zn_error *err)
{
    zn_pipeline pipeline;
    ZN_TRY(zn_pipeline_open(folder, &pipeline, err));
    zn_pipeline_free(&pipeline);
    return ZENITH_OK;
}

static zenith_status open_component(zn_error *err)
{
    zn_pipeline pipeline;
    zn_weights *weights = NULL;
    ZN_TRY(zn_pipeline_open(folder, &pipeline, err));
    zenith_status status = zn_pipeline_weights(&pipeline, "vae", &weights, err);
    if (status == ZENITH_OK) zn_weights_free(weights);
    zn_pipeline_free(&pipeline);
    return status;
}

static zenith_status find_model(zn_error *err)
{
    zn_pipeline pipeline;
    zn_weights *weights = NULL;
    ZN_TRY(zn_pipeline_open(folder, &pipeline, err));
    zenith_status status = zn_pipeline_model(&pipeline, NULL, &weights, err);
    if (status == ZENITH_OK) zn_weights_free(weights);
    zn_pipeline_free(&pipeline);
    return status;
}

const oom_program program_pipeline_oom = {
    .open = setup,
    .calls = {OOM_CALL(open_pipeline, ZENITH_OK, 1), OOM_CALL(open_component, ZENITH_OK, 3),
              OOM_CALL(find_model, ZENITH_AMBIGUOUS, 5)},
};
