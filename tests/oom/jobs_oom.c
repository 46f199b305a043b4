// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Jobs and files in memory with each allocation failing in turn.
#include "tests/oom/oom.h"
#include "tests/task/session.h"
#include "zenith/zenith.h"

enum { SIDE = 32 };

static zenith_context *context;
static zenith_model *model;
static zenith_image image, result;
static zenith_latent latent;

// The job's own sentence, or that of its submission.
static zenith_status run_job(zn_error *err)
{
    zenith_job *job = NULL;
    const zenith_job_params params = {.size = sizeof params,
                                      .kind = ZENITH_JOB_RECONSTRUCT,
                                      .model = model,
                                      .image = &image,
                                      .result = &result};
    zenith_status status = zenith_job_submit(context, &params, &job);
    if (status != ZENITH_OK) return zn_fail(err, status, "%s", zenith_context_error(context));
    status = zenith_job_wait(job);
    zenith_job_info info = {.size = sizeof info};
    zenith_job_get_info(job, &info);
    if (status != ZENITH_OK) zn_fail(err, status, "%s", info.message);
    zenith_job_free(job);
    return status;
}

static zenith_status write_files(zn_error *err)
{
    zenith_bytes *bytes = NULL;
    zenith_target *target = NULL;
    zenith_latent_file *file = NULL;
    size_t size;
    zenith_status status;
    const zenith_target_params params = {.size = sizeof params, .format = "ppm"};
    status = zenith_bytes_create(&bytes);
    if (status != ZENITH_OK) return zn_fail(err, status, "no memory for bytes");
    ZN_GO(zenith_target_open_bytes(context, bytes, SIDE, SIDE, &params, &target));
    ZN_GO(zenith_target_rows(target, 0, SIDE, image.data));
    ZN_GO(zenith_target_finish(target));
    ZN_GO(zenith_latent_save_bytes(context, bytes, &latent, 1, NULL));
    const void *data = zenith_bytes_get(bytes, &size);
    ZN_GO(zenith_latent_file_open_memory(context, data, size, &file));
fail:
    if (status != ZENITH_OK) {
        const char *text = zenith_target_error(target);
        zn_fail(err, status, "%s", *text ? text : zenith_context_error(context));
    }
    zenith_latent_file_free(file);
    zenith_target_free(target);
    zenith_bytes_free(bytes);
    return status;
}

static int make_all(void **state)
{
    (void)state;
    zn_error err = {0};
    context = session_context(1, 1);
    model = session_tiny(context);
    image = session_image(SIDE, SIDE, 1);
    result = session_image(SIDE, SIDE, 2);
    latent = session_latent(SIDE, SIDE, 3);
    return run_job(&err) != ZENITH_OK; // its plans are compiled, and kept
}

static int free_all(void **state)
{
    (void)state;
    free(image.data), free(result.data), free(latent.data);
    zenith_model_free(model);
    zenith_context_free(context);
    return 0;
}

const oom_program program_jobs_oom = {
    .open = make_all,
    .close = free_all,
    .calls = {OOM_CALL(run_job, ZENITH_OK, 6), OOM_CALL(write_files, ZENITH_OK, 8)},
};
