// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The models whose weights are in the given folders, as rows of a table: facts, memory and, with
// --time, one run.
//
//     bench_models [--time] FOLDER..
//
// bench/models.py puts the rows into docs/MODELS.md.
#include "zenith/zenith.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 512, LARGER = 1024 };

static zenith_context *context;

static double megabytes(zenith_model *model, unsigned part, uint32_t side, zenith_dtype dtype)
{
    zenith_estimate_info info = {.size = sizeof info};
    const zenith_run_params params = {.size = sizeof params, .dtype = dtype};
    if (zenith_estimate(context, model, part, side, side, true, &params, &info) != ZENITH_OK)
        return 0;
    return (double)info.total_bytes * 1e-6;
}

// Seconds of the second of two runs.
static double seconds(zenith_model *model, const zenith_model_info *info, unsigned part)
{
    zenith_run_facts facts = {.size = sizeof facts};
    const zenith_run_params params = {.size = sizeof params, .facts = &facts};
    const uint32_t side = SIDE / info->factor;
    zenith_image image = {.size = sizeof image, .width = SIDE, .height = SIDE};
    zenith_latent latent = {
        .size = sizeof latent, .width = side, .height = side, .channels = info->latent_channels};
    image.data = calloc((size_t)SIDE * SIDE, 3);
    latent.data = calloc((size_t)side * side * info->latent_channels, sizeof(float));
    for (int i = 0; i < 2 && image.data && latent.data; i++) {
        const zenith_status status = part == ZENITH_ENCODER ? zenith_encode(context, model, &image,
                                                                            &latent, 1, &params)
                                                            : zenith_decode(context, model, &latent,
                                                                            &image, 1, &params);
        if (status != ZENITH_OK)
            fprintf(stderr, "%s: %s\n", info->name, zenith_context_error(context));
    }
    free(image.data);
    free(latent.data);
    return facts.seconds;
}

static void print_part(zenith_model *model, const zenith_model_info *info, unsigned part, bool time)
{
    if (!(info->parts & part)) {
        printf(" | | |");
        return;
    }
    printf(" %.0f | %.0f |", megabytes(model, part, SIDE, ZENITH_DTYPE_F32),
           megabytes(model, part, LARGER, ZENITH_DTYPE_F32));
    if (time)
        printf(" %.3g |", seconds(model, info, part));
    else
        printf(" |");
}

static void print_model(zenith_model *model, bool time)
{
    zenith_model_info info = {.size = sizeof info};
    zenith_model_get_info(model, &info);
    printf("| %s | %u | %u | ", info.name, info.latent_channels, info.factor);
    if (info.has_raw)
        printf("%.7g | %.7g |", (double)info.scale, (double)info.shift);
    else
        printf("by channel | |");
    printf(" %.2f | f32, bf16%s |", (double)info.parameters * 1e-6, info.has_int8 ? ", int8" : "");
    print_part(model, &info, ZENITH_ENCODER, time);
    print_part(model, &info, ZENITH_DECODER, time);
    printf("\n");
    fflush(stdout);
}

static void print_folder(const char *folder, bool time)
{
    const char *name = NULL;
    for (size_t i = 0; (name = zenith_model_name(i)); i++) {
        zenith_model *model = NULL;
        const zenith_model_params params = {.size = sizeof params, .name = name, .weights = folder};
        if (zenith_model_open(context, &params, &model) != ZENITH_OK) continue;
        print_model(model, time);
        zenith_model_free(model);
    }
}

int main(int argc, char **argv)
{
    const bool time = argc > 1 && strcmp(argv[1], "--time") == 0;
    const zenith_context_params params = {.size = sizeof params, .threads = 1};
    if (argc < 2 + time || zenith_context_create(&params, &context) != ZENITH_OK) {
        fprintf(stderr, "usage: bench_models [--time] FOLDER..\n");
        return 2;
    }
    for (int i = 1 + time; i < argc; i++) print_folder(argv[i], time);
    zenith_context_free(context);
    return 0;
}
