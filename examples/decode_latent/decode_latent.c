// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A latent file to a PNG, row by row, in at most 256 MB:
//
//     decode_latent WEIGHTS LATENT PICTURE.png
//
// The file names the model that made it; WEIGHTS is the folder with that model's files.
#include <stdio.h>
#include <zenith/zenith.h>

// What is open. All NULL at first, and _free takes NULL, so one clean-up fits every failure.
struct job {
    zenith_context *context;
    zenith_model *model;
    zenith_latent_file *file;
    zenith_target *target;
};

static zenith_status decode(struct job *job, const char *weights, const char *from, const char *to)
{
    zenith_status status = zenith_latent_file_open(job->context, from, &job->file);
    if (status != ZENITH_OK) return status;
    zenith_latent_info about = {.size = sizeof about};
    zenith_latent_file_get_info(job->file, &about);

    zenith_model_params which = {
        .size = sizeof which, .name = about.model, .weights = weights, .parts = ZENITH_DECODER};
    status = zenith_model_open(job->context, &which, &job->model);
    if (status != ZENITH_OK) return status;
    zenith_model_info model = {.size = sizeof model};
    zenith_model_get_info(job->model, &model);

    zenith_latent latent = {.size = sizeof latent};
    status = zenith_latent_file_get(job->file, 0, &latent);
    if (status != ZENITH_OK) return status;
    zenith_image image = {.size = sizeof image,
                          .width = latent.width * model.factor,
                          .height = latent.height * model.factor,
                          .rows = zenith_target_rows};
    status = zenith_target_open(job->context, to, image.width, image.height, NULL, &job->target);
    if (status != ZENITH_OK) return status;
    image.cookie = job->target;

    zenith_run_params how = {.size = sizeof how, .max_memory = 256u << 20};
    status = zenith_decode(job->context, job->model, &latent, &image, 1, &how);
    if (status != ZENITH_OK) return status;
    return zenith_target_finish(job->target);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: %s WEIGHTS LATENT PICTURE.png\n", argv[0]);
        return 2;
    }
    struct job job = {0};
    zenith_context_params machine = {.size = sizeof machine}; // zero: the defaults
    zenith_status status = zenith_context_create(&machine, &job.context);
    if (status == ZENITH_OK) status = decode(&job, argv[1], argv[2], argv[3]);
    if (status != ZENITH_OK) {
        // What went wrong with the picture file is in the target, all else in the context.
        const char *why = job.target ? zenith_target_error(job.target) : "";
        if (*why == 0 && job.context) why = zenith_context_error(job.context);
        fprintf(stderr, "%s: %s\n", zenith_status_text(status), why);
    }
    zenith_target_free(job.target); // unfinished: nothing is left behind
    zenith_latent_file_free(job.file);
    zenith_model_free(job.model);
    zenith_context_free(job.context);
    return status == ZENITH_OK ? 0 : 1;
}
