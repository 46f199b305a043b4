// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Diffusion autoencoders: zenith/diffae.h. Pictures are planes in -1 .. 1 inside.
#include "zenith/diffae.h"

#include "src/api/code_file.h"
#include "src/api/context.h"
#include "src/api/models.h"
#include "src/base/memory.h"
#include "src/model/diffae/diffae.h"
#include "src/task/autoencode/autoencode.h"
#include "src/task/autoencode/pixels.h"
#include "src/task/diffae/task.h"
#include "src/tensor/finite.h"

#include <math.h>
#include <string.h>

enum {
    PICTURE_CHANNELS = 3,
    TO_NOISE = 250,
    BACK = 100,
    OF_PRIOR = 200,
    OF_RECALL = 20,
    MOST_CODES = 1 << 20
};

// --- models -------------------------------------------------------------------------------------

zenith_status zn_diffae_of(const zenith_model *model, const zn_model **out, zn_error *err)
{
    if (!model) return zn_fail(err, ZENITH_INVALID_ARGUMENT, "the model is NULL");
    if (strcmp(model->inner->family->name, "diffae") != 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "%s is no diffusion autoencoder: name the folder of one, with config.json "
                       "and safetensors (zenith_model_params.weights)",
                       model->inner->variant->name);
    *out = model->inner;
    return ZENITH_OK;
}

static bool has(const zn_model *model, const char *part)
{
    return zn_model_part(model, part) != NULL;
}

static bool has_decoder(const zn_model *model)
{
    return has(model, "modulation") && has(model, "denoiser");
}

static bool has_prior(const zn_model *model)
{
    return has(model, "prior_modulation") && has(model, "prior") && has(model, "statistics");
}

static bool has_classifier(const zn_model *model)
{
    return has(model, "classifier") && has(model, "statistics");
}

static zenith_status get_info(const zenith_model *model, zenith_diffae_info *out, zn_error *err)
{
    const zn_model *inner = NULL;
    zn_diffae_schedules schedules;
    if (!out) return zn_fail(err, ZENITH_INVALID_ARGUMENT, "the place for the facts is NULL");
    ZN_TRY(zn_diffae_of(model, &inner, err));
    ZN_TRY(zn_diffae_schedules_read(zn_weights_config(inner->weights), &schedules, err));
    const zn_diffae_sizes sizes = zn_diffae_sizes_of(inner);
    const zenith_diffae_info info = {
        .width = sizes.width,
        .height = sizes.height,
        .multiple = sizes.multiple,
        .channels = sizes.channels,
        .factor = sizes.factor,
        .numbers = (uint32_t)sizes.code,
        .timesteps = (uint32_t)schedules.picture.timesteps,
        .has_encoder = has(inner, "encoder"),
        .has_decoder = has_decoder(inner),
        .has_prior = has_prior(inner) || zn_diffae_recalls(inner),
        .attributes = has_classifier(inner) ? (uint32_t)sizes.attributes : 0};
    zn_caller_struct_out(&info, sizeof info, out);
    return ZENITH_OK;
}

zenith_status zenith_diffae_get_info(zenith_context *context, const zenith_model *model,
                                     zenith_diffae_info *out)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, get_info(model, out, &context->error));
}

const char *zenith_diffae_attribute(const zenith_model *model, size_t index)
{
    const zn_model *inner = NULL;
    if (zn_diffae_of(model, &inner, NULL) != ZENITH_OK) return NULL;
    return zn_diffae_attribute(inner, index);
}

// --- codes --------------------------------------------------------------------------------------

static zenith_status check_weights(const zn_model *model, const zenith_code *code, zn_error *err)
{
    if (!code->weights || !*code->weights || strcmp(code->weights, zn_model_sha256(model)) == 0)
        return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "this code was made by other weights, and to these its numbers mean nothing: "
                   "take those, or do without the check (zenith_code.weights NULL)");
}

static size_t noise_values(const zn_model *model, const zenith_code *code)
{
    const zn_diffae_sizes is = zn_diffae_sizes_of(model);
    return (size_t)is.channels * (code->height / is.factor) * (code->width / is.factor);
}

zenith_status zn_code_in(const zn_model *model, const zenith_code *codes, size_t index,
                         zenith_code *out, zn_error *err)
{
    const size_t numbers = zn_diffae_sizes_of(model).code;
    if (!codes) return zn_fail(err, ZENITH_INVALID_ARGUMENT, "the code is NULL");
    ZN_TRY(zn_caller_element_in(codes, index, ZN_SIZE_UP_TO(zenith_code, weights), out, sizeof *out,
                                err));
    if (!out->code)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "a code needs room for %zu numbers", numbers);
    if (out->numbers && out->numbers != numbers)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "this code has %u numbers, but codes of this model have %zu: it belongs to "
                       "another model",
                       out->numbers, numbers);
    out->numbers = (uint32_t)numbers;
    if (out->noise && out->noise_numbers && out->noise_numbers != noise_values(model, out))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "this noise has %llu numbers, but noise of this model has %zu: it belongs "
                       "to another model",
                       (unsigned long long)out->noise_numbers, noise_values(model, out));
    return check_weights(model, out, err);
}

// One that is read: its numbers are some.
static zenith_status read_code(const zn_model *model, const zenith_code *codes, size_t index,
                               zenith_code *out, zn_error *err)
{
    ZN_TRY(zn_code_in(model, codes, index, out, err));
    if (zn_all_finite(ZN_F32, out->code, out->numbers) &&
        (!out->noise || zn_all_finite(ZN_F32, out->noise, noise_values(model, out))))
        return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT, "the code contains NaN or infinity");
}

// --- calls --------------------------------------------------------------------------------------

typedef struct watching {
    const zenith_diffae_params *params;
    zenith_image predicted; // without data: there is none
    float *pixels;          // of it
    double begun;
} watching;

static int on_step(void *cookie, int step, const float *planes)
{
    const watching *w = cookie;
    const size_t values = (size_t)PICTURE_CHANNELS * w->predicted.width * w->predicted.height;
    for (size_t i = 0; w->pixels && i < values; i++) w->pixels[i] = planes[i] * 0.5f + 0.5f;
    const zenith_diffae_report report = {.size = sizeof report,
                                         .step = (uint32_t)step + 1,
                                         .steps = w->params->steps,
                                         .seconds = zn_clock_seconds() - w->begun,
                                         .predicted = w->pixels ? &w->predicted : NULL};
    return w->params->report(w->params->report_cookie, &report);
}

static zenith_status fill_params(const zenith_diffae_params *params, uint32_t steps,
                                 zenith_diffae_params *out, zn_error *err)
{
    ZN_TRY(zn_params_copy(params, out, sizeof *out, err));
    if (out->steps == 0) out->steps = steps;
    if (out->steps <= ZN_DIFFAE_MOST_TIMESTEPS && (int)out->dtype >= 0 &&
        out->dtype <= ZENITH_DTYPE_INT8)
        return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT, "too many steps, or an unknown dtype");
}

static zn_diffae_call call_of(const zenith_model *model, const zenith_diffae_params *params,
                              watching *w)
{
    *w = (watching){.params = params, .begun = zn_clock_seconds()};
    return (zn_diffae_call){.model = model->inner,
                            .dtype = params->dtype,
                            .steps = (int)params->steps,
                            .max_memory = params->max_memory,
                            .seed = params->seed,
                            .cancel = params->cancel ? &params->cancel->requested : NULL,
                            .stepped = params->report ? on_step : NULL,
                            .cookie = w};
}

static void fill_facts(const zenith_context *context, const watching *w)
{
    const zenith_dtype asked = w->params->dtype;
    const zenith_diffae_facts facts = {
        .dtype = asked == ZENITH_DTYPE_DEFAULT ? zn_default_dtype(&context->cpu) : asked,
        .seconds = zn_clock_seconds() - w->begun};
    if (w->params->facts) zn_caller_struct_out(&facts, sizeof facts, w->params->facts);
}

// --- pictures -----------------------------------------------------------------------------------

// A caller's image of the code's size, and room for its planes; to be freed.
static zenith_status begin_picture(const zn_model *model, const zenith_image *image,
                                   const zenith_code *code, zenith_image *out, float **planes,
                                   zn_error *err)
{
    const zn_diffae_sizes sizes = zn_diffae_sizes_of(model);
    if (!sizes.pictures)
        return zn_fail(
            err, ZENITH_UNSUPPORTED,
            "this model works on latents with %u channels, not on images: \"autoencoder\" in its "
            "config.json must name the model that has these latents",
            sizes.channels);
    if (!image) return zn_fail(err, ZENITH_INVALID_ARGUMENT, "the image is NULL");
    ZN_TRY(zn_image_take(image, 0, out, err));
    ZN_TRY(zn_image_check(out, err));
    if (out->width < 1 || out->height < 1 || out->width != code->width ||
        out->height != code->height)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the image must have the size of the code: %u x %u, not %u x %u",
                       code->width, code->height, out->width, out->height);
    if (out->width % sizes.multiple || out->height % sizes.multiple)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "%u x %u pixels: this diffusion autoencoder takes multiples of %u",
                       out->width, out->height, sizes.multiple);
    size_t pixels = 0, bytes = 0;
    if (!zn_mul_size(out->width, out->height, &pixels) ||
        !zn_mul_size(pixels, PICTURE_CHANNELS * sizeof **planes, &bytes))
        return zn_fail_memory(err, SIZE_MAX);
    *planes = zn_alloc(bytes);
    return *planes ? ZENITH_OK : zn_fail_memory(err, bytes);
}

// Between a row of pixels and a row of each plane.
static void row_to_planes(const zenith_image *image, uint32_t y, const void *row, float *planes)
{
    const size_t plane = (size_t)image->width * image->height;
    const bool bytes = zn_image_plan_number(image) == ZENITH_U8;
    for (size_t i = 0; i < (size_t)PICTURE_CHANNELS * image->width; i++) {
        const float value = bytes ? (float)((const uint8_t *)row)[i] / 255
                                  : ((const float *)row)[i];
        planes[i % PICTURE_CHANNELS * plane + (size_t)y * image->width + i / PICTURE_CHANNELS] =
            (value - 0.5f) / 0.5f;
    }
}

static void planes_to_row(const zenith_image *image, uint32_t y, const float *planes, void *row)
{
    const size_t plane = (size_t)image->width * image->height;
    const bool bytes = zn_image_plan_number(image) == ZENITH_U8;
    for (size_t i = 0; i < (size_t)PICTURE_CHANNELS * image->width; i++) {
        const float value =
            planes[i % PICTURE_CHANNELS * plane + (size_t)y * image->width + i / PICTURE_CHANNELS] *
                0.5f +
            0.5f;
        if (bytes)
            ((uint8_t *)row)[i] = (uint8_t)(fminf(fmaxf(value, 0), 1) * 255 + 0.5f);
        else
            ((float *)row)[i] = value;
    }
}

// All rows into the planes, or out of them.
static zenith_status move_rows(const zenith_image *image, float *planes, bool in, zn_error *err)
{
    const size_t size = (size_t)PICTURE_CHANNELS * image->width * sizeof(float);
    void *row = zn_alloc(size);
    if (!row) return zn_fail_memory(err, size);
    zenith_status status = ZENITH_OK;
    for (uint32_t y = 0; status == ZENITH_OK && y < image->height; y++) {
        if (in) {
            status = zn_image_read_rows(image, y, 1, row, err);
            if (status == ZENITH_OK) row_to_planes(image, y, row, planes);
        } else {
            planes_to_row(image, y, planes, row);
            status = zn_image_write_rows(image, y, 1, row, err);
        }
    }
    zn_free(row);
    return status;
}

static zenith_status check_seen(const zn_model *model, const zenith_diffae_params *params,
                                const zenith_code *code, zn_error *err)
{
    const float seen = params->seen;
    if (seen == 0 || seen == 1) return ZENITH_OK;
    if (!(seen > 0 && seen < 1))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the share of pixels that the encoder sees must be between 0 and 1");
    if (!zn_diffae_sizes_of(model).sparse)
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "the encoder of this model needs all pixels: it was trained without "
                       "\"sparse_encoder\"");
    if (!code->noise) return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "noise holds the whole image: some of its pixels give a code alone");
}

static zenith_status encode(zenith_context *context, zenith_model *model, const zenith_image *image,
                            const zenith_code *codes, const zenith_diffae_params *params)
{
    zn_error *err = &context->error;
    const zn_model *inner = NULL;
    zenith_diffae_params p;
    zenith_code code;
    zenith_image from;
    float *planes = NULL;
    watching w;
    ZN_TRY(zn_diffae_of(model, &inner, err));
    ZN_TRY(fill_params(params, TO_NOISE, &p, err));
    ZN_TRY(zn_code_in(inner, codes, 0, &code, err));
    ZN_TRY(check_seen(inner, &p, &code, err));
    ZN_TRY(begin_picture(inner, image, &code, &from, &planes, err));
    zn_diffae_call call = call_of(model, &p, &w);
    call.height = from.height;
    call.width = from.width;
    call.seen = p.seen;
    zenith_status status = move_rows(&from, planes, true, err);
    if (status == ZENITH_OK)
        status = zn_diffae_encode(context->engine, &call, planes, code.code, code.noise, err);
    if (status == ZENITH_OK) fill_facts(context, &w);
    zn_free(planes);
    return status;
}

zenith_status zenith_diffae_encode(zenith_context *context, zenith_model *model,
                                   const zenith_image *image, const zenith_code *code,
                                   const zenith_diffae_params *params)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, encode(context, model, image, code, params));
}

// Room for previews of the size of the picture, if someone looks at them.
static zenith_status begin_previews(const zenith_image *image, watching *w, zn_error *err)
{
    if (!w->params->report || w->params->no_pictures) return ZENITH_OK;
    const size_t bytes = (size_t)PICTURE_CHANNELS * image->width * image->height *
                         sizeof *w->pixels;
    w->pixels = zn_alloc(bytes);
    if (!w->pixels) return zn_fail_memory(err, bytes);
    w->predicted = (zenith_image){.size = sizeof w->predicted,
                                  .width = image->width,
                                  .height = image->height,
                                  .number = ZENITH_F32,
                                  .order = ZENITH_CHW,
                                  .data = w->pixels};
    return ZENITH_OK;
}

// Models may ask for less noise than they were trained with, so that pictures are calm.
static zenith_status temper(const zn_model *model, float *noise, size_t count, zn_error *err)
{
    float temperature;
    ZN_TRY(zn_diffae_temperature_read(zn_weights_config(model->weights), &temperature, err));
    for (size_t i = 0; i < count; i++) noise[i] *= temperature;
    return ZENITH_OK;
}

// The noise of a code, or of the seed; the latter to be freed.
static zenith_status begin_noise(const zn_model *model, const zenith_code *code, uint64_t seed,
                                 float **drawn, zn_error *err)
{
    const size_t values = noise_values(model, code);
    if (code->noise) return ZENITH_OK;
    *drawn = zn_alloc(values * sizeof **drawn); // no more than the picture, which is bounded
    if (!*drawn) return zn_fail_memory(err, values * sizeof **drawn);
    zn_noise_fill(ZN_NOISE_TORCH, seed, 0, *drawn, values);
    return temper(model, *drawn, values, err);
}

static zenith_status decode(zenith_context *context, zenith_model *model, const zenith_code *codes,
                            const zenith_image *image, const zenith_diffae_params *params)
{
    zn_error *err = &context->error;
    const zn_model *inner = NULL;
    zenith_diffae_params p;
    zenith_code code;
    zenith_image to;
    float *planes = NULL, *drawn = NULL;
    watching w = {.pixels = NULL};
    zenith_status status;
    ZN_TRY(zn_diffae_of(model, &inner, err));
    ZN_TRY(fill_params(params, BACK, &p, err));
    ZN_TRY(read_code(inner, codes, 0, &code, err));
    ZN_TRY(begin_picture(inner, image, &code, &to, &planes, err));
    zn_diffae_call call = call_of(model, &p, &w);
    call.height = to.height;
    call.width = to.width;
    call.predicts = !p.no_pictures;
    ZN_GO(begin_previews(&to, &w, err));
    ZN_GO(begin_noise(inner, &code, p.seed, &drawn, err));
    ZN_GO(zn_diffae_decode(context->engine, &call, code.code, code.noise ? code.noise : drawn,
                           planes, err));
    ZN_GO(move_rows(&to, planes, false, err));
    fill_facts(context, &w);
fail:
    zn_free(planes);
    zn_free(drawn);
    zn_free(w.pixels);
    return status;
}

zenith_status zenith_diffae_decode(zenith_context *context, zenith_model *model,
                                   const zenith_code *code, const zenith_image *image,
                                   const zenith_diffae_params *params)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, decode(context, model, code, image, params));
}

// --- between codes ------------------------------------------------------------------------------

static zenith_status edit(zenith_context *context, const zenith_model *model,
                          const zenith_code *codes, uint32_t attribute, double strength)
{
    zn_error *err = &context->error;
    const zn_model *inner = NULL;
    zenith_code code;
    ZN_TRY(zn_diffae_of(model, &inner, err));
    ZN_TRY(read_code(inner, codes, 0, &code, err));
    if (!isfinite(strength) || attribute > INT32_MAX)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the attribute or the strength is not a valid number");
    const zn_diffae_call call = {.model = model->inner, .steps = 1};
    return zn_diffae_edit(context->engine, &call, (int)attribute, strength, code.code, err);
}

zenith_status zenith_diffae_edit(zenith_context *context, const zenith_model *model,
                                 const zenith_code *code, uint32_t attribute, double strength)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, edit(context, model, code, attribute, strength));
}

static zenith_status mix(const zenith_model *model, const zenith_code *a, const zenith_code *b,
                         double weight, const zenith_code *out, zn_error *err)
{
    const zn_model *inner = NULL;
    zenith_code from, to, mixed;
    ZN_TRY(zn_diffae_of(model, &inner, err));
    ZN_TRY(read_code(inner, a, 0, &from, err));
    ZN_TRY(read_code(inner, b, 0, &to, err));
    ZN_TRY(zn_code_in(inner, out, 0, &mixed, err));
    if (!(weight >= 0 && weight <= 1))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the weight must be from 0 (the first code) to 1 (the second)");
    if (mixed.noise &&
        (!from.noise || !to.noise || from.width != to.width || from.height != to.height ||
         mixed.width != to.width || mixed.height != to.height))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "noise can be mixed only if both codes have noise of the same size");
    zn_diffae_between_codes(from.code, to.code, weight, mixed.code, mixed.numbers);
    if (mixed.noise)
        zn_ddim_slerp(from.noise, to.noise, weight, mixed.noise, noise_values(inner, &mixed));
    return ZENITH_OK;
}

zenith_status zenith_diffae_mix(zenith_context *context, const zenith_model *model,
                                const zenith_code *a, const zenith_code *b, double weight,
                                const zenith_code *out)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, mix(model, a, b, weight, out, &context->error));
}

// --- several codes ------------------------------------------------------------------------------

// Room for the numbers of all codes; to be freed.
static zenith_status collect(const zn_model *model, size_t count, float **out, zn_error *err)
{
    const size_t size = zn_diffae_sizes_of(model).code * sizeof **out;
    if (count < 1 || count > MOST_CODES)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "the number of codes must be from 1 to %d",
                       MOST_CODES);
    *out = zn_alloc(count * size); // both are bounded
    return *out ? ZENITH_OK : zn_fail_memory(err, count * size);
}

// Numbers of one generator: those of the code first, then those of the noise.
static zenith_status draw(const zn_model *model, const zenith_code *code, uint64_t seed,
                          float *numbers, zn_error *err)
{
    const size_t size = zn_diffae_sizes_of(model).code;
    const size_t values = code->noise ? noise_values(model, code) : 0;
    float *drawn = zn_alloc((size + values) * sizeof *drawn);
    if (!drawn) return zn_fail_memory(err, (size + values) * sizeof *drawn);
    zn_noise_fill(ZN_NOISE_TORCH, seed, 0, drawn, size);
    memcpy(numbers, drawn, size * sizeof *drawn);
    if (values > 0) {
        zn_noise_fill(ZN_NOISE_TORCH, seed, 0, drawn, size + values);
        memcpy(code->noise, drawn + size, values * sizeof *drawn);
    }
    zn_free(drawn);
    return temper(model, code->noise, values, err);
}

static zenith_status sample(zenith_context *context, zenith_model *model, const zenith_code *codes,
                            size_t count, const zenith_diffae_params *params)
{
    zn_error *err = &context->error;
    const zn_model *inner = NULL;
    zenith_diffae_params p;
    zenith_code code;
    float *numbers = NULL;
    watching w;
    zenith_status status;
    ZN_TRY(zn_diffae_of(model, &inner, err));
    ZN_TRY(fill_params(params, zn_diffae_recalls(inner) ? OF_RECALL : OF_PRIOR, &p, err));
    if (!has_prior(inner) && !zn_diffae_recalls(inner))
        return zn_fail(err, ZENITH_NOT_FOUND,
                       "these weights have no prior with statistics of codes, which codes are "
                       "drawn by: convert a checkpoint of the prior, together with its latent.pkl");
    ZN_TRY(collect(inner, count, &numbers, err));
    const zn_diffae_call call = call_of(model, &p, &w);
    const size_t size = zn_diffae_sizes_of(inner).code;
    for (size_t i = 0; i < count; i++) {
        ZN_GO(zn_code_in(inner, codes, i, &code, err));
        ZN_GO(draw(inner, &code, p.seed + i, numbers + i * size, err));
    }
    ZN_GO(zn_diffae_sample(context->engine, &call, count, numbers, err));
    for (size_t i = 0; i < count; i++) {
        ZN_GO(zn_code_in(inner, codes, i, &code, err));
        memcpy(code.code, numbers + i * size, size * sizeof *numbers);
    }
    fill_facts(context, &w);
fail:
    zn_free(numbers);
    return status;
}

zenith_status zenith_diffae_sample(zenith_context *context, zenith_model *model,
                                   const zenith_code *codes, size_t count,
                                   const zenith_diffae_params *params)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, sample(context, model, codes, count, params));
}

static zenith_status classify(zenith_context *context, zenith_model *model,
                              const zenith_code *codes, size_t count, float *probabilities,
                              const zenith_diffae_params *params)
{
    zn_error *err = &context->error;
    const zn_model *inner = NULL;
    zenith_diffae_params p;
    zenith_code code;
    float *numbers = NULL;
    watching w;
    zenith_status status;
    ZN_TRY(zn_diffae_of(model, &inner, err));
    ZN_TRY(fill_params(params, 1, &p, err));
    if (!probabilities)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "the place for the probabilities is NULL");
    if (!has_classifier(inner))
        return zn_fail(err, ZENITH_NOT_FOUND,
                       "these weights have no classifier of attributes with statistics of codes: "
                       "convert the checkpoint together with its classifier");
    ZN_TRY(collect(inner, count, &numbers, err));
    const zn_diffae_call call = call_of(model, &p, &w);
    const zn_diffae_sizes sizes = zn_diffae_sizes_of(inner);
    for (size_t i = 0; i < count; i++) {
        ZN_GO(read_code(inner, codes, i, &code, err));
        memcpy(numbers + i * sizes.code, code.code, sizes.code * sizeof *numbers);
    }
    ZN_GO(zn_diffae_classify(context->engine, &call, count, numbers, probabilities, err));
    for (size_t i = 0; i < count * sizes.attributes; i++)
        probabilities[i] = (float)(1 / (1 + exp(-(double)probabilities[i])));
    fill_facts(context, &w);
fail:
    zn_free(numbers);
    return status;
}

zenith_status zenith_diffae_classify(zenith_context *context, zenith_model *model,
                                     const zenith_code *codes, size_t count, float *probabilities,
                                     const zenith_diffae_params *params)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, classify(context, model, codes, count, probabilities, params));
}
