// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See parts.h. A code is an object of JSON, as `encode` answers it: {"width", "height", "code":
// numbers, "noise": base64 of f32, little-endian, or absent, "steps", "weights"}. Defaults are
// those of `zenith diffae`.
#include "apps/serve/diffae/parts.h"
#include "apps/serve/parse/base64.h"
#include "apps/serve/parse/json.h"
#include "apps/serve/parse/multipart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { USUAL_TO_NOISE = 250, USUAL_BACK = 100, MOST_STEPS = 1000 };

static bool unprocessable(serve_failure *failure, const char *text)
{
    return serve_fail_content(failure, "%s", text);
}

static bool no_memory(serve_failure *failure)
{
    return serve_fail_memory(failure);
}

// --- codes --------------------------------------------------------------------------------------

size_t serve_diffae_noise_numbers(const serve_diffae *request, const zenith_code *code)
{
    const zenith_diffae_info *info = &request->with->info;
    return (size_t)info->channels * (code->width / info->factor) * (code->height / info->factor);
}

bool serve_diffae_end_create(const serve_diffae *request, bool noise, serve_diffae_end *end)
{
    const zenith_diffae_info *info = &request->with->info;
    zenith_code *code = &end->code;
    code->size = sizeof *code;
    if (code->width == 0) code->width = info->width;
    if (code->height == 0) code->height = info->height;
    code->numbers = info->numbers;
    code->code = calloc(info->numbers, sizeof(float));
    code->noise = noise ? calloc(serve_diffae_noise_numbers(request, code), sizeof(float)) : NULL;
    return code->code != NULL && (code->noise != NULL || !noise);
}

static bool read_numbers(const json_t *list, size_t count, float *dst, serve_failure *failure)
{
    if (!json_is_array(list) || json_array_size(list) != count)
        return serve_fail_content(failure, "'code' is a list of %zu numbers", count);
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(list, i);
        dst[i] = (float)json_number_value(value);
        if (!json_is_number(value) || !isfinite(dst[i]))
            return unprocessable(failure, "'code' has something that is no number");
    }
    return true;
}

static bool read_noise(const json_t *text, size_t count, float *dst, serve_failure *failure)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    bool good = json_is_string(text) &&
                serve_base64_read(json_string_value(text), json_string_length(text), &bytes,
                                  &size) &&
                size == count * sizeof(float);
    if (good) memcpy(dst, bytes, size);
    free(bytes);
    for (size_t i = 0; good && i < count; i++) good = isfinite(dst[i]);
    return good ||
           serve_fail_content(failure, "'noise' is the base64 of %zu numbers of 4 bytes", count);
}

static bool read_size(const serve_diffae *request, const json_t *object, zenith_code *code,
                      serve_failure *failure)
{
    const zenith_diffae_info *info = &request->with->info;
    int64_t width = info->width, height = info->height, steps = 0;
    if (!serve_json_number(object, "width", 1, 1 << 16, &width, failure) ||
        !serve_json_number(object, "height", 1, 1 << 16, &height, failure) ||
        !serve_json_number(object, "steps", 0, MOST_STEPS, &steps, failure))
        return false;
    if (width % info->multiple != 0 || height % info->multiple != 0)
        return serve_fail_content(failure, "width and height are multiples of %u", info->multiple);
    if ((uint64_t)(width * height) > request->all->settings.max_pixels)
        return serve_fail_size(failure, "the picture would be larger than the limit");
    code->width = (uint32_t)width;
    code->height = (uint32_t)height;
    code->steps = (uint32_t)steps;
    return true;
}

static bool read_code(const serve_diffae *request, const json_t *object, serve_diffae_end *end,
                      serve_failure *failure)
{
    static const char *const members[] = {"object", "model", "weights", "width", "height",
                                          "steps",  "code",  "noise",   NULL};
    const char *weights = NULL;
    if (!json_is_object(object)) return serve_fail_request(failure, "a code is an object of JSON");
    const json_t *noise = json_object_get(object, "noise");
    if (!serve_json_known(object, members, failure) ||
        !serve_json_text(object, "weights", sizeof end->weights - 1, &weights, failure) ||
        !read_size(request, object, &end->code, failure))
        return false;
    if (json_is_null(noise)) noise = NULL;
    if (!serve_diffae_end_create(request, noise != NULL, end)) return no_memory(failure);
    if (weights != NULL) snprintf(end->weights, sizeof end->weights, "%s", weights);
    if (weights != NULL) end->code.weights = end->weights;
    return read_numbers(json_object_get(object, "code"), end->code.numbers, end->code.code,
                        failure) &&
           (noise == NULL || read_noise(noise, serve_diffae_noise_numbers(request, &end->code),
                                        end->code.noise, failure));
}

static bool read_picture(serve_diffae *request, const void *data, size_t size,
                         serve_diffae_end *end, serve_failure *failure)
{
    const zenith_diffae_info *info = &request->with->info;
    const zenith_source_params params = {.size = sizeof params,
                                         .fit = ZENITH_FIT_RESIZE,
                                         .multiple = info->multiple,
                                         .width = info->width,
                                         .height = info->height,
                                         .background = {255, 255, 255},
                                         .max_pixels = request->all->settings.max_pixels,
                                         .max_memory = request->all->settings.queue_memory};
    zenith_context *context = request->all->reading;
    if (!info->has_encoder) return unprocessable(failure, "this model has no encoder");
    const zenith_status status = zenith_source_open_memory(context, data, size, &params,
                                                           &end->source);
    if (status != ZENITH_OK)
        return serve_fail_status(failure, status, zenith_context_error(context));
    if (!serve_diffae_end_create(request, request->noise, end)) return no_memory(failure);
    end->code.steps = request->noise ? request->noise_steps : 0;
    return true;
}

// A picture, or a code.
static bool read_end(serve_diffae *request, const void *data, size_t size, serve_failure *failure)
{
    serve_diffae_end *end = &request->ends[request->count++];
    const bool is_code = size > 0 && *(const char *)data == '{';
    if (request->what == SERVE_DIFFAE_ENCODE || (!is_code && request->what != SERVE_DIFFAE_DECODE))
        return read_picture(request, data, size, end, failure);
    json_t *object = serve_json_read(data, size, failure);
    const bool good = object != NULL && read_code(request, object, end, failure);
    json_decref(object);
    return good;
}

// --- two of them --------------------------------------------------------------------------------

static bool read_form(serve_diffae *request, const serve_diffae_params *params,
                      serve_failure *failure)
{
    static const char *const names[] = {"a", "b"};
    serve_parts parts;
    if (!serve_multipart_read(params->content_type, params->body, params->size, &parts, failure))
        return false;
    for (size_t n = 0; n < 2; n++) {
        size_t i = 0;
        while (i < parts.count && strcmp(parts.list[i].name, names[n]) != 0) i++;
        if (i == parts.count) return serve_fail_request(failure, "the form has no '%s'", names[n]);
        if (!read_end(request, parts.list[i].data, parts.list[i].size, failure)) return false;
    }
    return true;
}

static bool read_pair(serve_diffae *request, const serve_diffae_params *params,
                      serve_failure *failure)
{
    static const char *const members[] = {"a", "b", NULL};
    json_t *object = serve_json_read(params->body, params->size, failure);
    bool good = object != NULL && serve_json_known(object, members, failure);
    for (size_t i = 0; good && i < 2; i++)
        good = read_code(request, json_object_get(object, members[i]),
                         &request->ends[request->count++], failure);
    json_decref(object);
    return good;
}

// Noise is mixed where both have it; else the seed's is everybody's.
static bool read_both(serve_diffae *request, const serve_diffae_params *params,
                      serve_failure *failure)
{
    const bool form = params->content_type != NULL &&
                      strncasecmp(params->content_type, "multipart/form-data", 19) == 0;
    if (!(form ? read_form : read_pair)(request, params, failure)) return false;
    zenith_code *a = &request->ends[0].code, *b = &request->ends[1].code;
    serve_diffae_end *between = &request->ends[2];
    if (a->width != b->width || a->height != b->height)
        return unprocessable(failure, "both are of one size");
    between->code.width = a->width;
    between->code.height = a->height;
    const bool noise = a->noise != NULL && b->noise != NULL;
    return serve_diffae_end_create(request, noise, between) || no_memory(failure);
}

// --- parameters ---------------------------------------------------------------------------------

static bool find_model(serve_diffae *request, const char *name, serve_failure *failure)
{
    serve_diffaes *all = request->all;
    for (size_t i = 0; all != NULL && i < all->count; i++)
        if (name == NULL || strcmp(all->names[i], name) == 0) {
            request->with = serve_diffae_model_hold(all, i);
            return true;
        }
    return serve_fail(failure, 404, "model_not_found",
                      name != NULL
                          ? "there is no diffusion autoencoder '%.60s' here"
                          : "no diffusion autoencoder is served%s: zenith-avatars64 is one",
                      name != NULL ? name : "");
}

static bool is_word(const char *whole, const char *word, size_t length)
{
    return strlen(whole) == length && memcmp(whole, word, length) == 0;
}

// By its name or its number. Not below the number of attributes: there is no such one.
static uint32_t attribute_at(const serve_diffae_model *with, const char *word, size_t length)
{
    uint32_t i = 0;
    for (; i < with->info.attributes; i++) {
        char number[16];
        const char *name = zenith_diffae_attribute(with->model, i);
        snprintf(number, sizeof number, "%u", i);
        if (is_word(number, word, length) || (name != NULL && is_word(name, word, length))) break;
    }
    return i;
}

static bool read_attributes(serve_diffae *request, const char *list, serve_failure *failure)
{
    const serve_diffae_model *with = request->with;
    if (with->info.attributes == 0) return unprocessable(failure, "this model has no attributes");
    for (const char *at = list != NULL ? list : "";; at++) {
        const size_t length = strcspn(at, ",");
        const uint32_t attribute = attribute_at(with, at, length);
        if (attribute == with->info.attributes || request->changed == SERVE_DIFFAE_CHANGES)
            return serve_fail_request(
                failure,
                "'attribute' is one of those that /v1/models lists, or up to %d of "
                "them with commas between",
                SERVE_DIFFAE_CHANGES);
        request->changes[request->changed++].attribute = attribute;
        at += length;
        if (*at == 0) return true;
    }
}

static bool is_between(double value, double least, double most)
{
    return value >= least && value <= most;
}

// One that is given is that of all attributes.
static bool share_strengths(serve_diffae *request, size_t given, serve_failure *failure)
{
    for (size_t i = 1; given == 1 && i < request->changed; i++)
        request->changes[i].strength = request->changes[0].strength;
    return given == 1 || given == request->changed ||
           serve_fail_request(failure, "%zu attributes have %zu strengths", request->changed,
                              given);
}

static bool read_strengths(serve_diffae *request, const char *list, serve_failure *failure)
{
    size_t count = 0;
    char *end = NULL;
    for (const char *at = list != NULL ? list : "0.3"; count < request->changed; at = end + 1) {
        const double value = *at != 0 && strchr("0123456789.+-", *at) != NULL ? strtod(at, &end)
                                                                              : NAN;
        if (!is_between(value, -100, 100) || (*end != 0 && *end != ',')) break;
        request->changes[count++].strength = value;
        if (*end == 0) return share_strengths(request, count, failure);
    }
    return serve_fail_request(
        failure, "'strength' is a number from -100 to 100, or one for each attribute with "
                 "commas between");
}

// 64 bits, which the numbers of other parameters do not have.
static bool read_seed(serve_diffae *request, const char *word, serve_failure *failure)
{
    uint32_t drawn = 0;
    if (word == NULL) {
        if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) drawn = 0;
        request->seed = drawn;
        return true;
    }
    const size_t length = strlen(word);
    request->seed = strtoull(word, NULL, 10);
    return (length > 0 && length < 20 && strspn(word, "0123456789") == length) ||
           serve_fail_request(failure, "'seed' is a whole number");
}

static bool read_format(serve_diffae *request, const serve_parameters *given,
                        serve_failure *failure)
{
    static const serve_word words[] = {{"png", 0}, {"jpeg", 1}, {"webp", 2}, {NULL, 0}};
    int format = 0;
    if (!serve_parameter_word(given, "format", words, &format, failure) ||
        !serve_parameter_number(given, "quality", 1, 100, &request->quality, failure))
        return false;
    request->format = words[format].word;
    return true;
}

static bool read_parameters(serve_diffae *request, const serve_parameters *given,
                            serve_failure *failure)
{
    static const char *const known[] = {"model",  "steps",   "noise_steps", "prior_steps", "noise",
                                        "random", "seed",    "attribute",   "strength",    "weight",
                                        "format", "quality", NULL};
    request->steps = USUAL_BACK;
    request->noise_steps = USUAL_TO_NOISE;
    request->noise = true;
    request->weight = 0.5;
    if (!serve_parameters_known(given, known, failure) ||
        !find_model(request, serve_parameter_get(given, "model"), failure) ||
        !serve_parameter_number(given, "steps", 1, MOST_STEPS, &request->steps, failure) ||
        !serve_parameter_number(given, "noise_steps", 1, MOST_STEPS, &request->noise_steps,
                                failure) ||
        !serve_parameter_number(given, "prior_steps", 1, MOST_STEPS, &request->prior_steps,
                                failure) ||
        !serve_parameter_bool(given, "noise", &request->noise, failure) ||
        !serve_parameter_bool(given, "random", &request->random, failure) ||
        !serve_parameter_real(given, "weight", &request->weight, failure) ||
        !read_seed(request, serve_parameter_get(given, "seed"), failure) ||
        !read_format(request, given, failure))
        return false;
    if (!is_between(request->weight, 0, 1))
        return serve_fail_request(failure, "'weight' is from 0 to 1");
    return request->what != SERVE_DIFFAE_EDIT ||
           (read_attributes(request, serve_parameter_get(given, "attribute"), failure) &&
            read_strengths(request, serve_parameter_get(given, "strength"), failure));
}

bool serve_diffae_read(serve_diffae *request, const serve_diffae_params *params,
                       serve_failure *failure)
{
    if (!read_parameters(request, params->parameters, failure)) return false;
    const zenith_diffae_info *info = &request->with->info;
    if (request->what != SERVE_DIFFAE_ENCODE && !info->has_decoder)
        return unprocessable(failure, "this model has no U-Net: codes cannot become pictures");
    if (request->what == SERVE_DIFFAE_INTERPOLATE) return read_both(request, params, failure);
    if (request->what != SERVE_DIFFAE_SAMPLE)
        return read_end(request, params->body, params->size, failure);
    if (!info->has_prior) return unprocessable(failure, "this model has no prior");
    return serve_diffae_end_create(request, true, &request->ends[0]) || no_memory(failure);
}
