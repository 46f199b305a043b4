// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// How soon a call stops. Decodes 4096 x 4096 with TAESD on one thread and cancels it from another
// at random moments of the first three seconds: 100 times each for f32 and bf16, in bands and with
// whole maps.
//
//     bench_cancel WEIGHTS [CANCELS [SIZE]]
//
// Prints the latency from request to return and fails unless 95 of 100 are within 50 ms and all
// within 250 ms.
#include "src/base/os.h"
#include "src/base/random.h"
#include "zenith/zenith.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_CANCELS = 1000 };
static const double usual = 0.050, worst = 0.250, window = 3; // seconds

typedef struct bench {
    zenith_context *context;
    zenith_model *model;
    zenith_cancel *cancel;
    zenith_latent latent;
    zenith_image image;
    int cancels;
} bench;

typedef struct request {
    zenith_cancel *cancel;
    double after, at;
} request;

static void *request_later(void *arg)
{
    request *r = arg;
    const struct timespec time = {.tv_sec = (time_t)r->after,
                                  .tv_nsec = (long)((r->after - (double)(time_t)r->after) * 1e9)};
    nanosleep(&time, NULL);
    r->at = zn_clock_seconds();
    zenith_cancel_request(r->cancel);
    return NULL;
}

// Seconds from request to return; below zero: the call was not cancelled.
static double cancel_once(bench *b, const zenith_run_params *params, double after)
{
    request r = {b->cancel, after, 0};
    pthread_t thread;
    zenith_cancel_reset(b->cancel);
    if (pthread_create(&thread, NULL, request_later, &r) != 0) return -1;
    zenith_status status = zenith_decode(b->context, b->model, &b->latent, &b->image, 1, params);
    double end = zn_clock_seconds();
    pthread_join(thread, NULL);
    if (status == ZENITH_CANCELLED) return end - r.at;
    fprintf(stderr, "not cancelled: status %d: %s\n", (int)status,
            zenith_context_error(b->context));
    return -1;
}

static int in_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static int measure(bench *b, zenith_dtype dtype, zenith_bands bands)
{
    static double seconds[MOST_CANCELS];
    const zenith_run_params params = {
        .size = sizeof params, .dtype = dtype, .bands = bands, .cancel = b->cancel};
    zn_random random = {.seed = (uint64_t)dtype * 10 + (uint64_t)bands};
    int soon = 0;
    for (int i = 0; i < b->cancels; i++) {
        double after = window * (double)zn_random_below(&random, 1000000) / 1e6;
        seconds[i] = cancel_once(b, &params, after);
        if (seconds[i] < 0) return 0;
        soon += seconds[i] <= usual;
    }
    qsort(seconds, (size_t)b->cancels, sizeof *seconds, in_order);
    double last = seconds[b->cancels - 1];
    int good = soon * 100 >= 95 * b->cancels && last <= worst;
    printf("%-4s  %-10s  p50 %6.1f ms  p95 %6.1f ms  max %6.1f ms  %d of %d within 50 ms%s\n",
           dtype == ZENITH_DTYPE_BF16 ? "bf16" : "f32",
           bands == ZENITH_BANDS_OFF ? "whole maps" : "bands", 1e3 * seconds[b->cancels / 2],
           1e3 * seconds[b->cancels * 95 / 100], 1e3 * last, soon, b->cancels,
           good ? "" : "  TOO SLOW");
    fflush(stdout);
    return good;
}

static int open_bench(bench *b, const char *weights, uint32_t size)
{
    const zenith_context_params machine = {.size = sizeof machine, .threads = 1};
    const zenith_model_params which = {.size = sizeof which, .name = "taesd", .weights = weights};
    if (zenith_context_create(&machine, &b->context) != ZENITH_OK ||
        zenith_cancel_create(&b->cancel) != ZENITH_OK)
        return 0;
    if (zenith_model_open(b->context, &which, &b->model) != ZENITH_OK) {
        fprintf(stderr, "%s\n", zenith_context_error(b->context));
        return 0;
    }
    b->latent = (zenith_latent){.size = sizeof b->latent,
                                .width = size / 8,
                                .height = size / 8,
                                .channels = 4,
                                .data = calloc((size_t)size * size / 16, sizeof(float))};
    b->image = (zenith_image){.size = sizeof b->image,
                              .width = size,
                              .height = size,
                              .data = malloc((size_t)size * size * 3)};
    return b->latent.data && b->image.data;
}

static void close_bench(bench *b)
{
    free(b->latent.data);
    free(b->image.data);
    zenith_cancel_free(b->cancel);
    zenith_model_free(b->model);
    zenith_context_free(b->context);
}

int main(int argc, char **argv)
{
    bench b = {.cancels = argc > 2 ? atoi(argv[2]) : 100};
    if (argc < 2 || b.cancels < 1 || b.cancels > MOST_CANCELS) {
        fprintf(stderr, "usage: bench_cancel WEIGHTS [CANCELS [SIZE]]\n");
        return 2;
    }
    int good = open_bench(&b, argv[1], argc > 3 ? (uint32_t)atoi(argv[3]) / 8 * 8 : 4096);
    static const zenith_dtype dtypes[] = {ZENITH_DTYPE_BF16, ZENITH_DTYPE_F32};
    static const zenith_bands bands[] = {ZENITH_BANDS_AUTO, ZENITH_BANDS_OFF};
    for (int i = 0; b.image.data && i < 4; i++) {
        good &= measure(&b, dtypes[i / 2], bands[i % 2]);
    }
    close_bench(&b);
    return good ? 0 : 1;
}
