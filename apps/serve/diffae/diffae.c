// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See diffae.h: one request, from its place in the queue to its answer.
#include "apps/serve/diffae/parts.h"
#include "apps/serve/http/clock.h"
#include "apps/serve/parse/base64.h"

#include <stdlib.h>
#include <string.h>

// --- the work -----------------------------------------------------------------------------------

static bool check(serve_diffae *r, zenith_status status, const char *sentence)
{
    if (status == ZENITH_OK) return true;
    if (sentence == NULL || *sentence == 0) sentence = zenith_context_error(r->all->context);
    return serve_fail_status(&r->errand.failure, status, sentence);
}

static int on_step(void *cookie, const zenith_diffae_report *report)
{
    serve_diffae *r = cookie;
    pthread_mutex_lock(&r->all->line.lock);
    if (r->what == SERVE_DIFFAE_SAMPLE && r->prior_steps == 0) {
        r->prior_steps = report->steps;
        r->total += report->steps;
    }
    r->step = r->before + report->step;
    r->all->steps++;
    pthread_mutex_unlock(&r->all->line.lock);
    return 0;
}

// A call of so many steps begins, after those that are over.
static zenith_diffae_params begin_call(serve_diffae *r, uint32_t steps, uint64_t seed)
{
    const serve_settings *settings = &r->all->settings;
    pthread_mutex_lock(&r->all->line.lock);
    r->before = r->step;
    pthread_mutex_unlock(&r->all->line.lock);
    return (zenith_diffae_params){.size = sizeof(zenith_diffae_params),
                                  .steps = steps,
                                  .seed = seed,
                                  .dtype = (zenith_dtype)settings->dtype,
                                  .max_memory = settings->max_memory,
                                  .report = on_step,
                                  .report_cookie = r,
                                  .cancel = r->errand.cancel,
                                  .no_pictures = true};
}

static bool encode(serve_diffae *r, serve_diffae_end *end)
{
    const zenith_diffae_params params = begin_call(r, end->code.steps, 0);
    const zenith_image image = {.size = sizeof image,
                                .width = end->code.width,
                                .height = end->code.height,
                                .rows = zenith_source_rows,
                                .cookie = end->source};
    return check(r,
                 zenith_diffae_encode(r->all->context, r->with->model, &image, &end->code, &params),
                 zenith_source_error(end->source));
}

static bool write_picture(serve_diffae *r, const zenith_image *image)
{
    zenith_target *target = NULL;
    const zenith_target_params params = {
        .size = sizeof params, .format = r->format, .quality = (int)r->quality};
    zenith_status status = zenith_target_open_bytes(r->all->context, r->bytes, image->width,
                                                    image->height, &params, &target);
    if (status == ZENITH_OK) status = zenith_target_rows(target, 0, image->height, image->data);
    if (status == ZENITH_OK) status = zenith_target_finish(target);
    const bool good = check(r, status, zenith_target_error(target));
    zenith_target_free(target);
    return good;
}

static bool decode(serve_diffae *r, const serve_diffae_end *end)
{
    zenith_code code = end->code;
    const zenith_diffae_params params = begin_call(r, r->steps, r->seed);
    if (r->random) code.noise = NULL;
    r->pixels = malloc((size_t)code.width * code.height * 3);
    if (r->pixels == NULL) return check(r, ZENITH_OUT_OF_MEMORY, "out of memory");
    const zenith_image image = {
        .size = sizeof image, .width = code.width, .height = code.height, .data = r->pixels};
    return check(r, zenith_diffae_decode(r->all->context, r->with->model, &code, &image, &params),
                 NULL) &&
           write_picture(r, &image);
}

static bool mix(serve_diffae *r)
{
    zenith_code a = r->ends[0].code, b = r->ends[1].code;
    if (r->ends[2].code.noise == NULL) a.noise = b.noise = NULL;
    return check(
        r, zenith_diffae_mix(r->all->context, r->with->model, &a, &b, r->weight, &r->ends[2].code),
        NULL);
}

static bool sample(serve_diffae *r)
{
    const zenith_diffae_params params = begin_call(r, r->prior_steps, r->seed);
    return check(
        r, zenith_diffae_sample(r->all->context, r->with->model, &r->ends[0].code, 1, &params),
        NULL);
}

static bool change(serve_diffae *r)
{
    for (size_t i = 0; i < r->changed; i++) {
        const serve_diffae_change *to = &r->changes[i];
        if (!check(r,
                   zenith_diffae_edit(r->all->context, r->with->model, &r->ends[0].code,
                                      to->attribute, to->strength),
                   NULL))
            return false;
    }
    return true;
}

static bool make(serve_diffae *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->ends[i].source != NULL && !encode(r, &r->ends[i])) return false;
    switch (r->what) {
    case SERVE_DIFFAE_ENCODE:
        return true;
    case SERVE_DIFFAE_EDIT:
        return change(r) && decode(r, &r->ends[0]);
    case SERVE_DIFFAE_INTERPOLATE:
        return mix(r) && decode(r, &r->ends[2]);
    case SERVE_DIFFAE_SAMPLE:
        return sample(r) && decode(r, &r->ends[0]);
    default:
        return decode(r, &r->ends[0]);
    }
}

static void run(serve_errand *errand)
{
    serve_diffae *r = (serve_diffae *)errand;
    const double began = serve_clock();
    if (!make(r) || r->total == 0) return;
    const double each = (serve_clock() - began) / r->total;
    pthread_mutex_lock(&r->all->line.lock);
    r->step = r->total;
    r->all->rate = r->all->rate > 0 ? 0.7 * r->all->rate + 0.3 * each : each;
    pthread_mutex_unlock(&r->all->line.lock);
}

// --- the queue ----------------------------------------------------------------------------------

static double left(const serve_errand *errand)
{
    const serve_diffae *r = (const serve_diffae *)errand;
    return r->all->rate > 0 && r->step <= r->total ? (r->total - r->step) * r->all->rate : -1;
}

static bool enter(serve_diffae *r, serve_failure *failure)
{
    serve_diffaes *all = r->all;
    pthread_mutex_lock(&all->line.lock);
    r->admitted = all->admitted < all->settings.queue;
    if (r->admitted) all->admitted++;
    pthread_mutex_unlock(&all->line.lock);
    return r->admitted ||
           serve_fail(failure, 429, "queue_full", "the queue is full: ask again later");
}

static uint32_t count_steps(const serve_diffae *r)
{
    uint32_t total = r->what == SERVE_DIFFAE_ENCODE ? 0 : r->steps;
    if (r->what == SERVE_DIFFAE_SAMPLE) total += r->prior_steps;
    for (size_t i = 0; i < r->count; i++)
        if (r->ends[i].source != NULL) total += r->ends[i].code.steps;
    return total;
}

bool serve_diffae_open(serve_diffaes *all, const serve_diffae_params *params, serve_diffae **out,
                       serve_failure *failure)
{
    serve_diffae *r = calloc(1, sizeof *r);
    if (r == NULL) return serve_fail_memory(failure);
    r->errand.run = run;
    r->errand.left = left;
    r->all = all;
    r->what = params->what;
    bool good = serve_diffae_read(r, params, failure) && enter(r, failure);
    if (good && (zenith_bytes_create(&r->bytes) != ZENITH_OK ||
                 zenith_cancel_create(&r->errand.cancel) != ZENITH_OK))
        good = serve_fail_memory(failure);
    if (good) {
        r->total = count_steps(r);
        *out = r;
    } else {
        serve_diffae_free(r);
    }
    return good;
}

// Codes as numbers and as text, pixels, the file, and sources that are held whole.
uint64_t serve_diffae_bytes(const serve_diffae *r)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < SERVE_DIFFAE_ENDS; i++) {
        const zenith_code *code = &r->ends[i].code;
        zenith_source_info source = {.size = sizeof source};
        if (code->code == NULL) continue;
        if (r->ends[i].source != NULL) zenith_source_get_info(r->ends[i].source, &source);
        if (!source.streamed) bytes += 3 * (uint64_t)source.stored_width * source.stored_height;
        bytes += (uint64_t)code->width * code->height * 3 * 2 + 32ull * code->numbers;
        bytes += code->noise != NULL ? 10ull * serve_diffae_noise_numbers(r, code) : 0;
    }
    return bytes;
}

void serve_diffae_start(serve_diffae *r, void (*done)(void *cookie), void *cookie)
{
    serve_line_start(&r->all->line, &r->errand, done, cookie);
}

void serve_diffae_cancel(serve_diffae *r)
{
    serve_line_cancel(&r->all->line, &r->errand);
}

void serve_diffae_place(serve_diffae *r, serve_place *out)
{
    pthread_mutex_lock(&r->all->line.lock);
    serve_line_place(&r->all->line, &r->errand, out);
    out->step = r->step;
    out->total = r->total;
    pthread_mutex_unlock(&r->all->line.lock);
}

void serve_diffae_free(serve_diffae *r)
{
    if (r == NULL) return;
    if (r->admitted) {
        pthread_mutex_lock(&r->all->line.lock);
        r->all->admitted--;
        pthread_mutex_unlock(&r->all->line.lock);
    }
    for (size_t i = 0; i < SERVE_DIFFAE_ENDS; i++) {
        zenith_source_free(r->ends[i].source);
        free(r->ends[i].code.code);
        free(r->ends[i].code.noise);
    }
    serve_diffae_model_leave(r->with);
    zenith_bytes_free(r->bytes);
    zenith_cancel_free(r->errand.cancel);
    free(r->pixels);
    free(r);
}

// --- answers ------------------------------------------------------------------------------------

static bool answer_code(const serve_diffae *r, serve_answer *answer, serve_failure *failure)
{
    const zenith_code *code = &r->ends[0].code;
    json_t *numbers = json_array();
    for (uint32_t i = 0; i < code->numbers; i++)
        json_array_append_new(numbers, json_real((double)code->code[i]));
    json_t *object = json_pack(
        "{s:s, s:s, s:s*, s:I, s:I, s:I, s:o}", "object", "code", "model", r->with->name, "weights",
        zenith_model_weights_sha256(r->with->model), "width", (json_int_t)code->width, "height",
        (json_int_t)code->height, "steps", (json_int_t)code->steps, "code", numbers);
    char *noise = code->noise != NULL
                      ? serve_base64_write(code->noise,
                                           serve_diffae_noise_numbers(r, code) * sizeof(float))
                      : NULL;
    if (noise != NULL) json_object_set_new(object, "noise", json_string(noise));
    const bool good = object != NULL && (noise != NULL || code->noise == NULL);
    free(noise);
    if (good) serve_answer_text(answer, "application/json", json_dumps(object, 0));
    json_decref(object);
    return good || serve_fail_memory(failure);
}

bool serve_diffae_answer(serve_diffae *r, serve_answer *answer, serve_failure *failure)
{
    static const char *const types[] = {"image/png", "image/jpeg", "image/webp"};
    if (r->errand.failure.code != 0) {
        *failure = r->errand.failure;
        return false;
    }
    if (r->what == SERVE_DIFFAE_ENCODE) return answer_code(r, answer, failure);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i] + strlen("image/"), r->format) == 0) answer->content_type = types[i];
    answer->bytes = r->bytes;
    r->bytes = NULL;
    answer->code = 200;
    return true;
}
