// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See measure.h.
#include "apps/cli/commands/program/measure.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>

struct buffers {
    uint8_t *pixels;
    float *values;
    double *times, *untuned;
    zenith_image image;
    zenith_latent latent;
};

uint64_t cli_peak_resident(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

// A picture with slopes and some noise; a latent of the size that latents have. Speed does not
// depend on the values, but zeros could flatter.
static void fill(struct buffers *buffers, size_t pixels, size_t values, uint32_t width)
{
    uint32_t random = 1;
    for (size_t i = 0; i < pixels; i++) {
        random = random * 1664525 + 1013904223;
        buffers->pixels[i] = (uint8_t)(i / 3 % width * 200 / width + (random >> 24) % 56);
    }
    for (size_t i = 0; i < values; i++) {
        random = random * 1664525 + 1013904223;
        buffers->values[i] = (float)(random >> 8) / (float)(1 << 23) - 1;
    }
}

static bool open_buffers(struct buffers *buffers, const zenith_model_info *model,
                         const cli_measure *measure, cli_failure *failure)
{
    uint32_t width = measure->width, height = measure->height;
    buffers->latent = (zenith_latent){.size = sizeof buffers->latent,
                                      .width = width / model->factor,
                                      .height = height / model->factor,
                                      .channels = model->latent_channels};
    size_t values = (size_t)buffers->latent.width * buffers->latent.height * model->latent_channels;
    buffers->pixels = malloc((size_t)width * height * 3);
    buffers->values = malloc(values * sizeof(float));
    buffers->times = calloc((size_t)measure->repeats, sizeof(double));
    buffers->untuned = calloc((size_t)measure->repeats, sizeof(double));
    if (buffers->pixels == NULL || buffers->values == NULL || buffers->times == NULL ||
        buffers->untuned == NULL)
        return cli_fail_text(failure, ZENITH_OUT_OF_MEMORY, "no memory for a picture of %ux%u",
                             (unsigned)width, (unsigned)height);
    fill(buffers, (size_t)width * height * 3, values, width);
    buffers->image = (zenith_image){
        .size = sizeof buffers->image, .width = width, .height = height, .data = buffers->pixels};
    buffers->latent.data = buffers->values;
    return true;
}

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// Between neighbours, as usual for quantiles of few values.
static double quantile(const double *sorted, int count, double where)
{
    double at = where * (count - 1);
    int below = (int)floor(at), above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

static void summarize(double *times, int count, cli_timing *out)
{
    qsort(times, (size_t)count, sizeof *times, compare_times);
    out->repeats = count;
    out->median = quantile(times, count, 0.5);
    out->lowest = times[0];
    out->highest = times[count - 1];
    out->spread = (quantile(times, count, 0.75) - quantile(times, count, 0.25)) / out->median;
}

static zenith_status run_once(cli_session *session, const cli_open_model *model, unsigned part,
                              bool tuned, struct buffers *buffers, zenith_run_facts *facts,
                              double *seconds)
{
    zenith_run_params params = cli_session_run_params(session, facts, 0);
    params.untuned = !tuned;
    double started = cli_clock();
    zenith_status status = part == ZENITH_ENCODER
                               ? zenith_encode(session->context, model->model, &buffers->image,
                                               &buffers->latent, 1, &params)
                               : zenith_decode(session->context, model->model, &buffers->latent,
                                               &buffers->image, 1, &params);
    *seconds = cli_clock() - started;
    return status;
}

// Runs that are not counted: one to compile and to pack weights, and those that measure plans.
static zenith_status warm_up(cli_session *session, const cli_open_model *model,
                             const cli_measure *measure, struct buffers *buffers, cli_timing *out)
{
    double seconds;
    zenith_status status = ZENITH_OK;
    for (bool warm = false; !warm && status == ZENITH_OK; warm = out->facts.measured == 0)
        status = run_once(session, model, measure->part, measure->tuned, buffers, &out->facts,
                          &seconds);
    return status;
}

static zenith_status repeat(cli_session *session, const cli_open_model *model,
                            const cli_measure *measure, struct buffers *buffers, cli_timing *out)
{
    double started = cli_clock();
    int count = 0;
    cli_progress_call(&session->progress, 0, 0, 0);
    zenith_status status = warm_up(session, model, measure, buffers, out);
    while (status == ZENITH_OK && count < measure->repeats) {
        if (measure->seconds > 0 && count > 0 && cli_clock() - started > measure->seconds) break;
        cli_progress_call(&session->progress,
                          (double)measure->width * measure->height * measure->repeats,
                          (double)count / measure->repeats, 1.0 / measure->repeats);
        if (measure->tuned)
            status = run_once(session, model, measure->part, false, buffers, &out->facts,
                              &buffers->untuned[count]);
        if (status == ZENITH_OK)
            status = run_once(session, model, measure->part, measure->tuned, buffers, &out->facts,
                              &buffers->times[count++]);
    }
    if (status != ZENITH_OK) return status;
    if (measure->tuned) {
        summarize(buffers->untuned, count, out);
        out->untuned = out->median;
    }
    summarize(buffers->times, count, out);
    return status;
}

static zenith_status estimate(cli_session *session, const cli_open_model *model,
                              const cli_measure *measure, cli_timing *out)
{
    zenith_run_facts unused;
    zenith_estimate_info info = {.size = sizeof info};
    zenith_run_params params = cli_session_run_params(session, &unused, 0);
    params.untuned = !measure->tuned;
    zenith_status status = zenith_estimate(session->context, model->model, measure->part,
                                           measure->width, measure->height, false, &params, &info);
    out->planned_bytes = info.total_bytes;
    out->flops = info.flops;
    return status;
}

bool cli_measure_run(cli_session *session, const cli_open_model *model, const cli_measure *measure,
                     cli_timing *out, cli_failure *failure)
{
    struct buffers buffers = {0};
    *out = (cli_timing){0};
    bool done = open_buffers(&buffers, &model->info, measure, failure);
    if (done) {
        zenith_status status = repeat(session, model, measure, &buffers, out);
        if (status == ZENITH_OK) status = estimate(session, model, measure, out);
        done = status == ZENITH_OK || cli_fail(session, failure, status, NULL);
    }
    free(buffers.pixels);
    free(buffers.values);
    free(buffers.times);
    free(buffers.untuned);
    return done;
}
