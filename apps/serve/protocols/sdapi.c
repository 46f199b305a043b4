// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See sdapi.h. Clients send some fifty members with each request. Those that would change the
// picture and cannot be followed are refused; others have no effect. Every sampler's name is taken,
// since most clients send one that they were made with; what is used is Euler's method with the
// pipeline's schedule, and the answer says so.
#include "apps/serve/protocols/sdapi.h"

#include "apps/serve/parse/base64.h"

#include <stdlib.h>
#include <string.h>

static const char sampler[] = "Euler";

static void answer_object(serve_answer *answer, json_t *object)
{
    serve_answer_text(answer, "application/json", object != NULL ? json_dumps(object, 0) : NULL);
    json_decref(object);
}

// --- requests -----------------------------------------------------------------------------------

// Whether a member asks for something: not null, false, 0, "", [] or {}.
static bool asks(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    if (value == NULL || json_is_null(value) || json_is_false(value)) return false;
    if (json_is_number(value)) return json_number_value(value) > 0;
    if (json_is_string(value)) return json_string_length(value) > 0;
    return json_is_true(value) || json_array_size(value) > 0 || json_object_size(value) > 0;
}

static bool check_members(const json_t *object, serve_failure *failure)
{
    static const char *const others[] = {
        "enable_hr", "restore_faces",    "tiling", "subseed_strength", "script_name", "styles",
        "mask",      "alwayson_scripts", NULL};
    for (const char *const *each = others; *each; each++)
        if (asks(object, *each))
            return serve_fail_content(failure, "there is no '%s' here: leave it out", *each);
    return true;
}

static bool read_texts(const json_t *object, serve_wish *wish, serve_failure *failure)
{
    const char *prompt = NULL, *negative = NULL, *model = "";
    double scale = -1; // not said
    if (!serve_json_text(object, "prompt", SERVE_LONGEST_PROMPT, &prompt, failure) ||
        !serve_json_text(object, "negative_prompt", SERVE_LONGEST_PROMPT, &negative, failure) ||
        !serve_json_text(json_object_get(object, "override_settings"), "sd_model_checkpoint",
                         sizeof wish->model - 1, &model, failure) ||
        !serve_json_real(object, "cfg_scale", 0, 100, &scale, failure))
        return false;
    // Others count from 1. There, too, a negative prompt has no effect without guidance.
    if (scale >= 0) wish->guidance = scale > 1 ? scale - 1 : 0;
    snprintf(wish->model, sizeof wish->model, "%s", model);
    return serve_wish_texts(wish, prompt, wish->guidance > 0 ? negative : NULL, failure);
}

static bool read_numbers(const json_t *object, serve_wish *wish, serve_failure *failure)
{
    int64_t batch = 1, batches = 1, steps = wish->steps, seed = -1, width = 0, height = 0;
    bool sends = true;
    if (!serve_json_number(object, "batch_size", 1, SERVE_MOST_PICTURES, &batch, failure) ||
        !serve_json_number(object, "n_iter", 1, SERVE_MOST_PICTURES, &batches, failure) ||
        !serve_json_number(object, "steps", 1, SERVE_MOST_STEPS, &steps, failure) ||
        !serve_json_number(object, "seed", -1, INT64_MAX, &seed, failure) ||
        !serve_json_number(object, "width", 1, 1 << 24, &width, failure) ||
        !serve_json_number(object, "height", 1, 1 << 24, &height, failure) ||
        !serve_json_bool(object, "send_images", &sends, failure))
        return false;
    if (batch * batches > SERVE_MOST_PICTURES)
        return serve_fail_request(failure, "'batch_size' times 'n_iter' is at most %d",
                                  SERVE_MOST_PICTURES);
    if ((width == 0) != (height == 0))
        return serve_fail_request(failure, "'width' and 'height' go together");
    wish->count = (uint32_t)(batch * batches);
    wish->steps = (uint32_t)steps;
    wish->width = (uint32_t)width;
    wish->height = (uint32_t)height;
    wish->unsent = !sends;
    if (seed >= 0) wish->seed = (uint64_t)seed;
    return true;
}

// A file in base64, also as an address of the form data:image/png;base64,...
static bool read_picture(const json_t *object, serve_wish *wish, serve_failure *failure)
{
    const json_t *list = json_object_get(object, "init_images");
    const json_t *value = json_array_get(list, 0);
    const char *text = json_string_value(value);
    size_t length = json_string_length(value), size = 0;
    const char *comma = text != NULL && strncmp(text, "data:", 5) == 0 ? strchr(text, ',') : NULL;
    uint8_t *bytes = NULL;
    if (text == NULL || json_array_size(list) != 1)
        return serve_fail_request(failure, "'init_images' is a list of one picture in base64");
    if (comma != NULL) {
        length -= (size_t)(comma + 1 - text);
        text = comma + 1;
    }
    if (!serve_base64_read(text, length, &bytes, &size))
        return serve_fail_request(failure, "a picture of 'init_images' is no base64");
    wish->own = bytes;
    wish->image = bytes;
    wish->image_size = size;
    wish->strength = 0.75;
    return serve_json_real(object, "denoising_strength", 0.001, 1, &wish->strength, failure);
}

bool serve_sdapi_read(const void *body, size_t size, bool from, serve_wish *out,
                      serve_failure *failure)
{
    serve_wish_begin(out);
    json_t *object = serve_json_read(body, size, failure);
    const bool good = object != NULL && check_members(object, failure) &&
                      read_texts(object, out, failure) && read_numbers(object, out, failure) &&
                      (!from || read_picture(object, out, failure));
    json_decref(object);
    return good;
}

// --- answers ------------------------------------------------------------------------------------

static json_t *describe_wish(const serve_wish *wish)
{
    json_t *object = json_pack(
        "{s:s, s:s, s:I, s:i, s:i, s:f, s:i, s:i, s:s}", "prompt", wish->prompt, "negative_prompt",
        wish->negative ? wish->negative : "", "seed", (json_int_t)(wish->seed & INT64_MAX), "width",
        (int)wish->width, "height", (int)wish->height, "cfg_scale", 1 + wish->guidance, "steps",
        (int)wish->steps, "batch_size", (int)wish->count, "sampler_name", sampler);
    if (wish->image != NULL)
        json_object_set_new(object, "denoising_strength", json_real(wish->strength));
    return object;
}

// A text within the JSON, as there.
static json_t *describe_pictures(const serve_generation *generation)
{
    const serve_wish *wish = serve_generation_wish(generation);
    json_t *info = describe_wish(wish), *seeds = json_array(), *texts = json_array(),
           *prompts = json_array();
    for (uint32_t i = 0; i < serve_generation_made(generation); i++) {
        json_array_append_new(seeds, json_integer((json_int_t)((wish->seed + i) & INT64_MAX)));
        json_array_append_new(texts, json_string(serve_generation_text(generation, i)));
        json_array_append_new(prompts, json_string(wish->prompt));
    }
    json_object_set_new(info, "all_seeds", seeds);
    json_object_set_new(info, "all_prompts", prompts);
    json_object_set_new(info, "infotexts", texts);
    json_object_set_new(info, "index_of_first_image", json_integer(0));
    json_object_set_new(info, "version", json_sprintf("Zenith %s", zenith_version()));
    char *text = info != NULL ? json_dumps(info, 0) : NULL;
    json_t *value = text != NULL ? json_string(text) : NULL;
    free(text);
    json_decref(info);
    return value;
}

bool serve_sdapi_answer(const serve_generation *generation, serve_answer *answer,
                        serve_failure *failure)
{
    const serve_wish *wish = serve_generation_wish(generation);
    if (!serve_generation_result(generation, failure) && !serve_generation_interrupted(generation))
        return false;
    const uint32_t count = wish->unsent ? 0 : serve_generation_made(generation);
    json_t *images = json_array();
    for (uint32_t i = 0; i < count; i++) {
        size_t size;
        const void *picture = serve_generation_picture(generation, i, &size);
        char *file = serve_base64_write(picture, size);
        json_array_append_new(images, file != NULL ? json_string_nocheck(file) : NULL);
        free(file);
    }
    if (json_array_size(images) != count) {
        json_decref(images);
        return serve_fail_memory(failure);
    }
    answer_object(answer, json_pack("{s:o, s:o, s:o}", "images", images, "parameters",
                                    describe_wish(wish), "info", describe_pictures(generation)));
    return true;
}

// --- options ------------------------------------------------------------------------------------

bool serve_sdapi_set_options(serve_generators *all, const void *body, size_t size,
                             serve_answer *answer, serve_failure *failure)
{
    static const char *const known[] = {"sd_model_checkpoint", NULL};
    const char *name = NULL;
    json_t *object = serve_json_read(body, size, failure);
    bool good = object != NULL && serve_json_known(object, known, failure) &&
                serve_json_text(object, known[0], 256, &name, failure);
    if (good && name != NULL && (all == NULL || !serve_generators_choose(all, name)))
        good = serve_fail(failure, 404, "model_not_found", "there is no model '%.60s' here", name);
    json_decref(object);
    if (good) answer_object(answer, json_object());
    return good;
}

void serve_sdapi_write_options(serve_generators *all, serve_answer *answer)
{
    const char *name = serve_generators_count(all) ? serve_generators_chosen(all) : "";
    answer_object(answer, json_pack("{s:s, s:s, s:s}", "sd_model_checkpoint", name,
                                    "samples_format", "png", "randn_source", "CPU"));
}

void serve_sdapi_write_models(const serve_generators *all, serve_answer *answer)
{
    json_t *list = json_array();
    for (size_t i = 0; i < serve_generators_count(all); i++) {
        const char *name = serve_generators_name(all, i);
        json_array_append_new(list, json_pack("{s:s, s:s, s:n, s:n, s:s, s:n}", "title", name,
                                              "model_name", name, "hash", "sha256", "filename",
                                              name, "config"));
    }
    answer_object(answer, list);
}

void serve_sdapi_write_samplers(serve_answer *answer)
{
    answer_object(answer, json_pack("[{s:s, s:[s, s], s:{}}]", "name", sampler, "aliases",
                                    "k_euler", "euler", "options"));
}

// --- the one under way --------------------------------------------------------------------------

void serve_sdapi_write_progress(serve_generators *all, serve_answer *answer)
{
    serve_progress p;
    serve_generators_progress(all, SERVE_KIND_SDAPI, &p);
    const double done = p.busy ? (p.picture + (double)p.step / p.steps) / p.pictures : 0;
    const double left = done > 0 ? p.seconds / done - p.seconds : 0;
    json_t *state = json_pack(
        "{s:b, s:b, s:b, s:s, s:i, s:i, s:i, s:i}", "skipped", false, "interrupted", p.interrupted,
        "stopping_generation", p.interrupted, "job", p.busy ? "txt2img" : "", "job_count",
        p.busy ? (int)p.pictures : 0, "job_no", (int)p.picture, "sampling_step", (int)p.step,
        "sampling_steps", p.busy ? (int)p.steps : 0);
    answer_object(answer, json_pack("{s:f, s:f, s:o, s:n, s:n, s:i}", "progress", done,
                                    "eta_relative", left, "state", state, "current_image",
                                    "textinfo", "queue", (int)p.waiting));
}

void serve_sdapi_interrupt(serve_generators *all, serve_answer *answer)
{
    serve_generators_interrupt(all, SERVE_KIND_SDAPI);
    answer_object(answer, json_object());
}
