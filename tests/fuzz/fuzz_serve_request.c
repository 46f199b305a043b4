// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any text as the parameters and headers of a request to `zenith serve`. The first byte chooses
// protocol, operation and model; then come lines: the query, the content type, what is accepted,
// and the size of the body. What is asked for must be within the limits that later code relies on.
// With the bit 32 the lines are the length of the JSON, and a body of the Open Inference Protocol;
// with the bit 64, a content type and a body of OpenAI's images, as JSON or a form, and with the
// bit 1 besides of AUTOMATIC1111's.
#include "apps/serve/parse/numbers.h"
#include "apps/serve/protocols/ask.h"
#include "apps/serve/protocols/oip.h"
#include "apps/serve/protocols/openai.h"
#include "apps/serve/protocols/sdapi.h"

#include <stdlib.h>
#include <string.h>

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

static const zenith_model_info models[] = {
    {.name = "a",
     .parts = 3,
     .latent_channels = 4,
     .factor = 8,
     .has_raw = true,
     .scale = 0.18215f},
    {.name = "b", .parts = 3, .latent_channels = 16, .factor = 8}};

static void check_failure(bool good, const serve_failure *failure)
{
    if (good == (failure->code != 0)) abort();
    if (!good && (failure->code < 400 || failure->code > 499 || !failure->text[0])) abort();
}

// Zeros in the type and shape that the server would give.
static void answer_inference(const serve_oip *oip, const serve_ask *ask, serve_operation operation,
                             const zenith_model_info *model)
{
    serve_failure failure = {0};
    const size_t count = 24;
    serve_answer answer = {.code = 200,
                           .shape = "[1, 3, 2, 4]",
                           .dtype = serve_number_name(ask->out_number),
                           .size = count * serve_number_size(ask->out_number)};
    answer.data = calloc(count, 4);
    if (!answer.data || !serve_oip_answer(oip, model, operation, &answer, &failure)) abort();
    if (answer.inference_header > answer.size || (oip->binary != (answer.inference_header > 0)))
        abort();
    serve_answer_free(&answer);
}

static void infer(uint8_t which, char *text, size_t size)
{
    const zenith_model_info *model = &models[which & 1];
    const serve_operation operation = which & 4 ? SERVE_DECODE : SERVE_ENCODE;
    serve_envelope envelope = {.model = model, .max_pixels = most_pixels};
    serve_failure failure = {0};
    serve_oip oip;
    serve_ask ask;
    char *body = text;
    const char *length = cut(&body, '\n');
    const size_t rest = size - (size_t)(body - text);
    void *copy = malloc(rest ? rest : 1);
    if (!copy) abort();
    memcpy(copy, body, rest);
    const bool good = serve_oip_ask(&envelope, copy, rest, *length ? length : NULL, operation, &oip,
                                    &ask, &failure);
    check_failure(good, &failure);
    envelope.body = oip.size;
    if (good) check(&ask, &envelope);
    if (good) answer_inference(&oip, &ask, operation, model);
    serve_oip_free(&oip);
    free(copy);
}

static void check_wish(serve_wish *wish, const uint8_t *body, size_t size)
{
    static const zenith_generator_info info = {
        .factor = 8, .multiple = 16, .side = 512, .steps = 8};
    static const uint32_t none[2] = {0, 0};
    serve_failure failure = {0};
    const uint8_t *image = wish->image;
    if (wish->count < 1 || wish->count > SERVE_MOST_PICTURES) abort();
    if (wish->steps > SERVE_MOST_STEPS || !wish->format) abort();
    if (!wish->prompt || strlen(wish->prompt) > SERVE_LONGEST_PROMPT) abort();
    if (!(wish->strength > 0 && wish->strength <= 1) ||
        !(wish->guidance >= -1 && wish->guidance <= 100))
        abort();
    if (wish->partial > SERVE_MOST_PARTIAL || wish->quality > 100) abort();
    if (image && !wish->own && (image < body || image + wish->image_size > body + size)) abort();
    if (!serve_wish_settle(wish, &info, none, most_pixels, &failure)) return;
    if (wish->steps < 1 || wish->guidance < 0) abort();
    if (!wish->width || wish->width % 16 || wish->height % 16) abort();
    if ((uint64_t)wish->width * wish->height > most_pixels) abort();
}

// The body is a copy of its own size, so that a sanitizer sees what reads past it.
static void wish_for(uint8_t which, char *text, size_t size)
{
    serve_failure failure = {0};
    serve_wish wish;
    char *body = text;
    const char *type = cut(&body, '\n');
    const size_t rest = size - (size_t)(body - text);
    uint8_t *copy = malloc(rest ? rest : 1);
    if (!copy) abort();
    memcpy(copy, body, rest);
    const bool good = which & 1 ? serve_sdapi_read(copy, rest, which & 2, &wish, &failure)
                      : *type   ? serve_openai_read_edit(type, copy, rest, &wish, &failure)
                                : serve_openai_read(copy, rest, &wish, &failure);
    check_failure(good, &failure);
    if (good) check_wish(&wish, copy, rest);
    serve_wish_free(&wish);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    char *text = malloc(size), *rest = text;
    if (!text) abort();
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    if (data[0] & 96) {
        if (data[0] & 64)
            wish_for(data[0], text, size - 1);
        else
            infer(data[0], text, size - 1);
        free(text);
        return 0;
    }
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
    check_failure(good, &failure);
    if (good) check(&ask, &envelope);
    free(text);
    return 0;
}
