// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A picture in memory to a latent in memory and back, with progress and cancelling:
//
//     roundtrip WEIGHTS [MODEL]
//
// The picture is drawn here. The round trip is made once in full, then once more and cancelled half
// way. A cancel flag is what another thread would use; progress may also stop the call it is in, by
// returning something other than zero.
#include <stdio.h>
#include <stdlib.h>
#include <zenith/zenith.h>

enum { SIDE = 256 };

// For the progress function: what to print, and when to ask for a stop.
struct watch {
    const char *what;
    zenith_cancel *cancel;
    double stop_at; // more than 1: never
    int tenths;     // printed last
};

static int watch_progress(void *cookie, double fraction)
{
    struct watch *watch = cookie;
    int tenths = (int)(fraction * 10);
    if (tenths != watch->tenths) fprintf(stderr, "%s %d %%\n", watch->what, tenths * 10);
    watch->tenths = tenths;
    if (fraction >= watch->stop_at) zenith_cancel_request(watch->cancel);
    return 0;
}

static void draw(unsigned char *pixels)
{
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            unsigned char *pixel = pixels + 3 * (y * SIDE + x);
            int disc = (x - 128) * (x - 128) + (y - 128) * (y - 128) < 80 * 80;
            pixel[0] = (unsigned char)x;
            pixel[1] = (unsigned char)(disc ? 220 : 60);
            pixel[2] = (unsigned char)y;
        }
    }
}

static double mean_difference(const unsigned char *a, const unsigned char *b)
{
    double sum = 0;
    for (size_t i = 0; i < 3 * SIDE * SIDE; i++) sum += abs(a[i] - b[i]);
    return sum / (3 * SIDE * SIDE);
}

// Encodes `image` and decodes the latent into `result`.
static zenith_status there_and_back(zenith_context *context, zenith_model *model,
                                    const zenith_image *image, const zenith_image *result,
                                    struct watch *watch)
{
    zenith_model_info info = {.size = sizeof info};
    zenith_model_get_info(model, &info);
    zenith_latent latent = {.size = sizeof latent,
                            .width = image->width / info.factor,
                            .height = image->height / info.factor,
                            .channels = info.latent_channels};
    latent.data = malloc(sizeof(float) * latent.width * latent.height * latent.channels);
    if (!latent.data) return ZENITH_OUT_OF_MEMORY;
    zenith_run_params how = {.size = sizeof how,
                             .progress = watch_progress,
                             .progress_cookie = watch,
                             .cancel = watch->cancel};
    watch->what = "encode";
    zenith_status status = zenith_encode(context, model, image, &latent, 1, &how);
    if (status == ZENITH_OK) {
        watch->what = "decode";
        status = zenith_decode(context, model, &latent, result, 1, &how);
    }
    free(latent.data);
    return status;
}

static int fail(const zenith_context *context, zenith_status status)
{
    fprintf(stderr, "%s: %s\n", zenith_status_text(status), zenith_context_error(context));
    return 1;
}

static int run(zenith_context *context, zenith_model *model, zenith_cancel *cancel)
{
    static unsigned char pixels[3 * SIDE * SIDE], again[3 * SIDE * SIDE];
    draw(pixels);
    zenith_image image = {.size = sizeof image, .width = SIDE, .height = SIDE, .data = pixels};
    zenith_image result = image;
    result.data = again;

    struct watch watch = {.cancel = cancel, .stop_at = 2};
    zenith_status status = there_and_back(context, model, &image, &result, &watch);
    if (status != ZENITH_OK) return fail(context, status);
    printf("mean difference %.2f of 255\n", mean_difference(pixels, again));

    watch.stop_at = 0.5;
    status = there_and_back(context, model, &image, &result, &watch);
    if (status != ZENITH_CANCELLED) return fail(context, status);
    printf("cancelled during %s\n", watch.what);
    zenith_cancel_reset(cancel); // the flag can be used again
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: %s WEIGHTS [MODEL]\n", argv[0]);
        return 2;
    }
    zenith_context_params machine = {.size = sizeof machine};
    zenith_model_params which = {
        .size = sizeof which, .name = argc == 3 ? argv[2] : "taesd", .weights = argv[1]};
    zenith_context *context = NULL;
    zenith_model *model = NULL;
    zenith_cancel *cancel = NULL;
    int failed = 1;
    if (zenith_context_create(&machine, &context) != ZENITH_OK) return 1;
    zenith_status status = zenith_model_open(context, &which, &model);
    if (status != ZENITH_OK)
        fail(context, status);
    else if (zenith_cancel_create(&cancel) == ZENITH_OK)
        failed = run(context, model, cancel);
    zenith_cancel_free(cancel);
    zenith_model_free(model);
    zenith_context_free(context);
    return failed;
}
