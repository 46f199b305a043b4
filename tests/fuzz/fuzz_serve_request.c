// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any text as the parameters and headers of a request to `zenith serve`. The first byte chooses protocol, operation and
// model; then come lines: the query, the content type, what is accepted, and the size of the body. What is asked for
// must be within the limits that later code relies on.
#include "apps/serve/serve_ask.h"
#include "apps/serve/serve_numbers.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint64_t most_pixels = 1 << 24;

// Cuts the text at the next `end`.
static char *cut(char **text, char end)
{
    char *begin = *text, *at = strchr(begin, end);
    if (at != NULL) *at = 0;
    *text = at != NULL ? at + 1 : begin + strlen(begin);
    return begin;
}

static void check(const serve_ask *ask, const serve_envelope *envelope)
{
    const zenith_model_info *model = envelope->model;
    if (ask->count < 1 || ask->count > 16) abort();
    if (ask->output == SERVE_OUT_PICTURE && (!ask->format || ask->count != 1)) abort();
    if (ask->space == SERVE_SPACE_RAW && !model->has_raw) abort();
    if (ask->space == SERVE_SPACE_OWN && !(ask->scale != 0)) abort();
    if (ask->quality > 100 || ask->source.max_pixels != most_pixels) abort();
    if (!ask->tensor) return;
    const bool latents = ask->operation == SERVE_DECODE;
    const uint64_t factor = latents ? model->factor : 1, each = ask->channels;
    const uint64_t pixels = (uint64_t)ask->width * ask->height;
    if (pixels == 0 || pixels * factor * factor > most_pixels) abort();
    if (each != (latents ? model->latent_channels : 3)) abort();
    if (pixels * each * ask->count * serve_number_size(ask->number) != envelope->body) abort();
    if (!latents && (ask->width % model->factor || ask->height % model->factor)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const zenith_model_info models[] = {
        {.name = "a",
         .parts = 3,
         .latent_channels = 4,
         .factor = 8,
         .has_raw = true,
         .scale = 0.18215f},
        {.name = "b", .parts = 3, .latent_channels = 16, .factor = 8}};
    if (size == 0) return 0;
    char *text = malloc(size), *rest = text;
    if (!text) abort();
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    char *query = cut(&rest, '\n');
    const char *type = cut(&rest, '\n'), *accept = cut(&rest, '\n'), *length = cut(&rest, '\n');
    serve_parameters parameters = {0};
    while (*query) {
        char *pair = cut(&query, '&');
        const char *name = cut(&pair, '=');
        serve_parameters_add(&parameters, name, pair);
    }
    const serve_envelope envelope = {.parameters = &parameters,
                                     .content_type = *type ? type : NULL,
                                     .accept = *accept ? accept : NULL,
                                     .body = strtoull(length, NULL, 10),
                                     .model = &models[data[0] & 1],
                                     .types = 1u << ZENITH_DTYPE_F32,
                                     .max_pixels = most_pixels};
    const serve_operation operation = (serve_operation)(data[0] / 4 % 3);
    serve_ask ask;
    serve_failure failure = {0};
    const bool remote = (data[0] & 2) && operation != SERVE_RECONSTRUCT;
    const bool good = remote ? serve_ask_remote(&envelope, operation, &ask, &failure)
                             : serve_ask_native(&envelope, operation, &ask, &failure);
    if (good == (failure.code != 0)) abort();
    if (good) check(&ask, &envelope);
    if (!good && (failure.code < 400 || failure.code > 499 || !failure.text[0])) abort();
    free(text);
    return 0;
}
