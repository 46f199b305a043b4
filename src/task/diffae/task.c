// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Each call is one job on one stream of the engine. Inside, pictures are maps [height, width,
// channels]; callers have planes. What depends on the timesteps and the code alone is computed
// before the first step, for all steps.
#include "src/task/diffae/task.h"

#include "src/base/memory.h"
#include "src/model/diffae/diffae.h"
#include "src/task/diffae/recall_run.h"

#include <math.h>
#include <string.h>

typedef struct working {
    const zn_diffae_call *is;
    zn_part_place place;
    zenith_dtype dtype;
    zn_diffae_facts facts;
    zn_diffae_schedules schedules;
    zn_diffae_space space;
    zn_sizes sizes;   // of what networks see of a picture, or how many codes
    const char *part; // that predicts
    zn_arena arena;   // all arrays below
    float *modulation, *map, *planes;
    zn_diffae_guess *guesses; // of each step, with it
    float *draft;             // what a linear code draws; NULL: codes are not linear
    float *image;             // the picture as its autoencoder has it; NULL: networks see pictures
    float *start;             // that a step leads to; NULL: nobody asks
    int64_t row;              // numbers of the modulation for a step
    size_t values;            // that networks see of a picture
    zenith_status failed;     // of a preview
    zn_error *err;
} working;

// One call of ours, and its arrays.
typedef struct job {
    zn_engine *engine;
    const zn_diffae_call *is;
    zenith_status (*run)(working *w, const struct job *job, zn_error *err);
    const float *input, *noise;
    float *code, *output;
    size_t count;
    int attribute; // of an edit, and how much
    double amount;
    zn_error *err;
} job;

// --- arrays -------------------------------------------------------------------------------------

static zenith_status floats(working *w, int64_t rows, int64_t width, float **out, zn_error *err)
{
    return zn_arena_floats(&w->arena, (size_t)rows, (size_t)width, out, err);
}

static void to_map(const float *planes, size_t values, int64_t channels, float *map)
{
    const size_t depth = (size_t)channels, pixels = values / depth;
    for (size_t i = 0; i < values; i++) map[i % pixels * depth + i / pixels] = planes[i];
}

static void to_planes(const float *map, size_t values, int64_t channels, float *planes)
{
    const size_t depth = (size_t)channels, pixels = values / depth;
    for (size_t i = 0; i < values; i++) planes[i] = map[i % pixels * depth + i / pixels];
}

// --- parts --------------------------------------------------------------------------------------

static zenith_status call_three(const working *w, const char *part, zn_sizes sizes,
                                const float *const inputs[3], float *output, zn_error *err)
{
    const zn_part_call call = {.model = w->is->model,
                               .part = part,
                               .sizes = sizes,
                               .dtype = w->dtype,
                               .inputs = {inputs[0], inputs[1], inputs[2]},
                               .outputs = {output}};
    return zn_part_call_run(&w->place, &call, err);
}

static zenith_status call_part(const working *w, const char *part, zn_sizes sizes,
                               const float *first, const float *second, float *output,
                               zn_error *err)
{
    return call_three(w, part, sizes, (const float *[]){first, second, NULL}, output, err);
}

// The same of the autoencoder, whose 8 bits would need a calibration.
static zenith_status call_autoencoder(const working *w, const char *part, const float *input,
                                      float *output, zn_error *err)
{
    const zn_part_call call = {.model = w->is->model->companion,
                               .part = part,
                               .sizes = w->sizes,
                               .dtype = w->dtype == ZENITH_DTYPE_INT8
                                            ? zn_default_dtype(zn_engine_cpu(w->place.engine))
                                            : w->dtype,
                               .inputs = {input},
                               .outputs = {output}};
    return zn_part_call_run(&w->place, &call, err);
}

static zn_ddim_betas betas_of(const zn_diffae_schedule *schedule)
{
    return (zn_ddim_betas){schedule->timesteps, schedule->first, schedule->last};
}

static zenith_status prepare_draft(working *w, const zn_diffae_schedule *schedule,
                                   const zn_ddim_step *steps, const float *code, zn_error *err)
{
    const size_t bytes = (size_t)w->is->steps * sizeof *w->guesses;
    w->guesses = zn_arena_alloc(&w->arena, bytes);
    if (!w->guesses) return zn_fail_memory(err, bytes);
    for (int i = 0; i < w->is->steps; i++)
        w->guesses[i] = zn_diffae_guess_of(schedule, sqrt(steps[i].now), sqrt(1 - steps[i].now));
    ZN_TRY(floats(w, (int64_t)w->values, 1, &w->draft, err));
    return call_part(w, "draft", (zn_sizes){.tokens = 1}, code, NULL, w->draft, err);
}

// The modulation of all steps at once: its weights are read once. code NULL: of the prior.
static zenith_status prepare_steps(working *w, const zn_diffae_schedule *schedule,
                                   const float *code, zn_error *err)
{
    const zn_ddim_betas betas = betas_of(schedule);
    const int steps = w->is->steps;
    zn_ddim_step *list = NULL;
    float *times = NULL;
    if (steps < 1 || steps > schedule->timesteps)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "%d steps: this model has 1 to %d", steps,
                       schedule->timesteps);
    list = zn_arena_alloc(&w->arena, (size_t)steps * sizeof *list);
    if (!list) return zn_fail_memory(err, (size_t)steps * sizeof *list);
    ZN_TRY(zn_ddim_steps(&betas, steps, list, err));
    ZN_TRY(floats(w, steps, 1, &times, err));
    for (int i = 0; i < steps; i++) times[i] = (float)list[i].timestep;
    w->row = code ? w->facts.modulation : w->facts.prior_modulation;
    w->part = code ? "denoiser" : "prior";
    ZN_TRY(floats(w, steps, w->row, &w->modulation, err));
    if (code && w->facts.shape.linear) ZN_TRY(prepare_draft(w, schedule, list, code, err));
    return call_part(w, code ? "modulation" : "prior_modulation", (zn_sizes){.tokens = steps},
                     times, code, w->modulation, err);
}

static zenith_status predict(void *cookie, int step, const float *x, float *answer, zn_error *err)
{
    const working *w = cookie;
    const float *inputs[] = {x, w->modulation + (int64_t)step * w->row, w->draft};
    ZN_TRY(call_three(w, w->part, w->sizes, inputs, answer, err));
    if (!w->draft) return ZENITH_OK;
    const zn_diffae_guess guess = w->guesses[step];
    for (size_t i = 0; i < w->values; i++)
        answer[i] += guess.noisy * x[i] + guess.draft * w->draft[i];
    return ZENITH_OK;
}

static zenith_status show(working *w, float *map, float *planes, zn_error *err);

static int stepped(void *cookie, int step, const float *x)
{
    working *w = cookie;
    if (!w->is->stepped) return 0;
    if (!w->planes) return w->is->stepped(w->is->cookie, step, x);
    if (w->start)
        w->failed = show(w, w->start, w->planes, w->err);
    else
        to_planes(x, w->values, w->facts.shape.inputs, w->planes);
    return w->failed != ZENITH_OK || w->is->stepped(w->is->cookie, step, w->planes);
}

static zn_ddim_run run_of(working *w, const zn_diffae_schedule *schedule)
{
    const zn_diffae_call *is = w->is;
    return (zn_ddim_run){.betas = betas_of(schedule),
                         .steps = is->steps,
                         .kind = is->kind,
                         .eta = is->eta,
                         .prediction = schedule->prediction,
                         .clips = schedule->clips,
                         .seed = is->seed,
                         .noise = is->noise,
                         .start = w->start,
                         .predict = predict,
                         .stepped = stepped,
                         .cookie = w};
}

// --- pictures -----------------------------------------------------------------------------------

enum { COLOURS = 3 };

static zenith_status begin_picture(working *w, zn_error *err)
{
    const int64_t pixels = w->sizes.height * w->sizes.width, channels = w->facts.shape.inputs;
    const int64_t factor = w->facts.factor, room = factor * factor * COLOURS;
    w->values = (size_t)(pixels * channels);
    ZN_TRY(floats(w, pixels, channels, &w->map, err));
    if (w->is->model->companion) ZN_TRY(floats(w, pixels, room, &w->image, err));
    if (!w->is->stepped) return ZENITH_OK;
    return floats(w, pixels, room > channels ? room : channels, &w->planes, err);
}

static size_t picture_values(const working *w)
{
    const int64_t factor = w->facts.factor;
    return w->image ? (size_t)(w->sizes.height * w->sizes.width * factor * factor * COLOURS)
                    : w->values;
}

// What the networks see of a picture, into w->map.
static zenith_status see(working *w, const float *planes, zn_error *err)
{
    const size_t depth = (size_t)w->facts.shape.inputs, values = picture_values(w);
    if (!w->image) {
        to_map(planes, values, w->facts.shape.inputs, w->map);
        for (size_t i = 0; i < values; i++) w->map[i] *= w->space.contrast;
        return ZENITH_OK;
    }
    to_map(planes, values, COLOURS, w->image);
    for (size_t i = 0; i < values; i++) w->image[i] = w->image[i] * 0.5f + 0.5f;
    ZN_TRY(call_autoencoder(w, "encoder", w->image, w->map, err));
    for (size_t i = 0; i < w->values; i++)
        w->map[i] = (w->map[i] - w->space.mean[i % depth]) / w->space.deviation[i % depth];
    return ZENITH_OK;
}

// And back: a picture of it. The map is not the same after it.
static zenith_status show(working *w, float *map, float *planes, zn_error *err)
{
    const size_t depth = (size_t)w->facts.shape.inputs, values = picture_values(w);
    if (!w->image) {
        to_planes(map, values, w->facts.shape.inputs, planes);
        for (size_t i = 0; i < values; i++) planes[i] /= w->space.contrast;
        return ZENITH_OK;
    }
    for (size_t i = 0; i < w->values; i++)
        map[i] = map[i] * w->space.deviation[i % depth] + w->space.mean[i % depth];
    ZN_TRY(call_autoencoder(w, "decoder", map, w->image, err));
    to_planes(w->image, values, COLOURS, planes);
    for (size_t i = 0; i < values; i++) planes[i] = (planes[i] - 0.5f) / 0.5f;
    return ZENITH_OK;
}

static zenith_status call_encoder(working *w, float *code, zn_error *err)
{
    const size_t channels = (size_t)w->facts.shape.inputs, pixels = w->values / channels;
    float *seen = w->map;
    if (w->facts.shape.sparse) {
        ZN_TRY(floats(w, (int64_t)pixels, zn_diffae_seen_channels(&w->facts.shape), &seen, err));
        memcpy(seen, w->map, w->values * sizeof *seen);
        zn_diffae_see_some(seen, pixels, channels, w->is->seen > 0 ? w->is->seen : 1, w->is->seed);
    }
    return call_part(w, "encoder", w->sizes, seen, NULL, code, err);
}

static zenith_status encode(working *w, const job *j, zn_error *err)
{
    ZN_TRY(begin_picture(w, err));
    w->place.bound.buffers = w->arena.used;
    ZN_TRY(see(w, j->input, err));
    ZN_TRY(call_encoder(w, j->code, err));
    if (!j->output) return ZENITH_OK;
    ZN_TRY(prepare_steps(w, &w->schedules.picture, j->code, err));
    const zn_ddim_run run = run_of(w, &w->schedules.picture);
    w->place.bound.buffers = w->arena.used;
    ZN_TRY(zn_ddim_invert(&run, w->map, w->values, err));
    to_planes(w->map, w->values, w->facts.shape.inputs, j->output);
    return ZENITH_OK;
}

static zenith_status decode(working *w, const job *j, zn_error *err)
{
    ZN_TRY(begin_picture(w, err));
    to_map(j->noise, w->values, w->facts.shape.inputs, w->map);
    if (w->is->stepped && w->is->predicts)
        ZN_TRY(floats(w, w->sizes.height * w->sizes.width, w->facts.shape.inputs, &w->start, err));
    ZN_TRY(prepare_steps(w, &w->schedules.picture, j->input, err));
    const zn_ddim_run run = run_of(w, &w->schedules.picture);
    w->place.bound.buffers = w->arena.used;
    zenith_status status = zn_ddim_sample(&run, w->map, w->values, err);
    if (w->failed != ZENITH_OK) return w->failed;
    if (status == ZENITH_OK) status = show(w, w->map, j->output, err);
    return status;
}

// --- codes --------------------------------------------------------------------------------------

typedef struct recalled {
    working *w;
    zn_recall recall;
    zn_ddim_step *steps;
} recalled;

static zenith_status guess(void *cookie, int step, const float *x, float *answer, zn_error *err)
{
    const recalled *r = cookie;
    const size_t code = r->recall.cells.code;
    for (size_t i = 0; i < r->w->values; i += code)
        ZN_TRY(zn_recall_guess(&r->recall, r->steps[step].now, x + i, answer + i, err));
    return ZENITH_OK;
}

static int stepped_codes(void *cookie, int step, const float *x)
{
    return stepped(((recalled *)cookie)->w, step, x);
}

static zenith_status begin_recall(working *w, recalled *r, zn_error *err)
{
    const zn_ddim_betas betas = betas_of(&w->schedules.prior);
    const size_t bytes = (size_t)w->is->steps * sizeof *r->steps;
    *r = (recalled){.w = w};
    ZN_TRY(zn_recall_begin(w->is->model, &w->place, &w->arena, &r->recall, err));
    r->steps = zn_arena_alloc(&w->arena, bytes);
    if (!r->steps) return zn_fail_memory(err, bytes);
    w->place.bound.buffers = w->arena.used;
    return zn_ddim_steps(&betas, w->is->steps, r->steps, err);
}

// Normal numbers become codes. With fresh noise in each step, a part that was chosen early, when
// all was noise, can be chosen again.
static zenith_status sample_recalled(working *w, const job *j, zn_error *err)
{
    recalled r;
    ZN_TRY(begin_recall(w, &r, err));
    zn_ddim_run run = run_of(w, &w->schedules.prior);
    run.prediction = ZN_PREDICT_START;
    run.clips = false;
    run.eta = 1;
    run.each = r.recall.cells.code;
    run.predict = guess;
    run.stepped = stepped_codes;
    run.cookie = &r;
    ZN_TRY(zn_ddim_sample(&run, j->output, w->values, err));
    for (size_t i = 0; i < w->values; i++) j->output[i] /= r.recall.spread[i % r.recall.cells.code];
    return ZENITH_OK;
}

static zenith_status sample(working *w, const job *j, zn_error *err)
{
    float *normalised = NULL;
    w->sizes = (zn_sizes){.tokens = (int64_t)j->count};
    w->values = j->count * (size_t)w->facts.shape.code;
    if (zn_diffae_recalls(w->is->model)) return sample_recalled(w, j, err);
    ZN_TRY(floats(w, w->sizes.tokens, w->facts.shape.code, &normalised, err));
    memcpy(normalised, j->output, w->values * sizeof(float));
    ZN_TRY(prepare_steps(w, &w->schedules.prior, NULL, err));
    const zn_ddim_run run = run_of(w, &w->schedules.prior);
    ZN_TRY(zn_ddim_sample(&run, normalised, w->values, err));
    return call_part(w, "statistics", w->sizes, normalised, NULL, j->output, err);
}

// (code - mean) / deviation, into dst, which may be the code.
static zenith_status normalise(const zn_model *model, const float *codes, size_t count, float *dst,
                               zn_error *err)
{
    const size_t size = (size_t)zn_diffae_facts_of(model).shape.code;
    float *numbers = zn_alloc(2 * size * sizeof *numbers);
    if (!numbers) return zn_fail_memory(err, 2 * size * sizeof *numbers);
    zenith_status status = zn_diffae_statistics(model, numbers, numbers + size, err);
    for (size_t i = 0; status == ZENITH_OK && i < count * size; i++)
        dst[i] = (codes[i] - numbers[i % size]) / numbers[size + i % size];
    zn_free(numbers);
    return status;
}

static zenith_status classify(working *w, const job *j, zn_error *err)
{
    float *normalised = NULL;
    w->sizes = (zn_sizes){.tokens = (int64_t)j->count};
    ZN_TRY(floats(w, w->sizes.tokens, w->facts.shape.code, &normalised, err));
    ZN_TRY(normalise(w->is->model, j->input, j->count, normalised, err));
    return call_part(w, "classifier", w->sizes, normalised, NULL, j->output, err);
}

// n + amount * sqrt(size) * direction / |direction|, in the prior's space.
static zenith_status move(const zn_model *model, int attribute, double amount, float *code,
                          float *numbers, zn_error *err)
{
    const size_t size = (size_t)zn_diffae_facts_of(model).shape.code;
    float *direction = numbers, *mean = numbers + size, *deviation = numbers + 2 * size;
    double squares = 0;
    ZN_TRY(zn_diffae_statistics(model, mean, deviation, err));
    ZN_TRY(zn_diffae_direction(model, attribute, direction, NULL, err));
    for (size_t i = 0; i < size; i++) squares += (double)direction[i] * (double)direction[i];
    if (!(squares > 0))
        return zn_fail(err, ZENITH_BAD_FILE, "the classifier's weights of attribute %d are zero",
                       attribute);
    const double factor = amount * sqrt((double)size) / sqrt(squares);
    for (size_t i = 0; i < size; i++) {
        const float normalised = (code[i] - mean[i]) / deviation[i];
        code[i] = (float)((double)normalised + factor * (double)direction[i]) * deviation[i] +
                  mean[i];
    }
    return ZENITH_OK;
}

zenith_status zn_diffae_manipulate(const zn_model *model, int attribute, double amount, float *code,
                                   zn_error *err)
{
    const size_t bytes = 3 * (size_t)zn_diffae_facts_of(model).shape.code * sizeof(float);
    float *numbers = zn_alloc(bytes);
    if (!numbers) return zn_fail_memory(err, bytes);
    zenith_status status = move(model, attribute, amount, code, numbers, err);
    zn_free(numbers);
    return status;
}

static zenith_status edit(working *w, const job *j, zn_error *err)
{
    zn_recall recall;
    if (j->amount == 0) return ZENITH_OK;
    ZN_TRY(zn_recall_begin(w->is->model, &w->place, &w->arena, &recall, err));
    return zn_recall_edit(&recall, j->attribute, j->amount, &w->arena, j->code, err);
}

void zn_diffae_between_codes(const float *a, const float *b, double weight, float *dst,
                             size_t count)
{
    const float of_a = (float)(1 - weight), of_b = (float)weight;
    for (size_t i = 0; i < count; i++) dst[i] = a[i] * of_a + b[i] * of_b;
}

// --- jobs ---------------------------------------------------------------------------------------

static zenith_status check(const zn_diffae_call *is, const zn_diffae_facts *facts, zn_sizes *sizes,
                           zn_error *err)
{
    enum { MOST_SIDE = 1 << 14 };
    const int64_t height = is->height ? is->height : facts->shape.size;
    const int64_t width = is->width ? is->width : facts->shape.size;
    const int64_t multiple = facts->multiple * facts->factor;
    *sizes = (zn_sizes){.height = height / facts->factor, .width = width / facts->factor};
    if (facts->shape.linear && (height != facts->shape.size || width != facts->shape.size))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "%lld x %lld pixels: this model works at %lldx%lld only", (long long)width,
                       (long long)height, (long long)facts->shape.size,
                       (long long)facts->shape.size);
    if (height <= MOST_SIDE && width <= MOST_SIDE && height % multiple == 0 &&
        width % multiple == 0)
        return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "%lld x %lld pixels: this diffusion autoencoder takes multiples of %lld, up to "
                   "%d",
                   (long long)width, (long long)height, (long long)multiple, MOST_SIDE);
}

static zenith_status run_on_stream(void *arg, zn_team *team, int stream)
{
    const job *j = arg;
    const zn_diffae_call *is = j->is;
    working w = {.is = is,
                 .place = {.engine = j->engine,
                           .stream = stream,
                           .team = team,
                           .bound = {.max_memory = is->max_memory},
                           .cancel = is->cancel},
                 .dtype = is->dtype == ZENITH_DTYPE_DEFAULT
                              ? zn_default_dtype(zn_engine_cpu(j->engine))
                              : is->dtype,
                 .facts = zn_diffae_facts_of(is->model),
                 .err = j->err};
    const zn_json *config = zn_weights_config(is->model->weights);
    zenith_status status;
    ZN_GO(zn_diffae_space_read(config, &w.space, j->err));
    ZN_GO(zn_diffae_schedules_read(config, &w.schedules, j->err));
    ZN_GO(check(is, &w.facts, &w.sizes, j->err));
    ZN_GO(j->run(&w, j, j->err));
fail:
    zn_arena_free(&w.arena);
    return status;
}

static zenith_status run_job(job *j)
{
    enum { MOST_CODES = 1 << 20 };
    if (strcmp(j->is->model->family->name, "diffae") != 0)
        return zn_fail(j->err, ZENITH_INVALID_ARGUMENT, "%s is no diffusion autoencoder",
                       j->is->model->variant->name);
    if (j->count < 1 || j->count > MOST_CODES)
        return zn_fail(j->err, ZENITH_INVALID_ARGUMENT, "1 to %d codes go at once", MOST_CODES);
    return zn_executor_run(zn_engine_executor(j->engine), run_on_stream, j, 1, j->err);
}

zn_diffae_sizes zn_diffae_sizes_of(const zn_model *model)
{
    const zn_diffae_facts facts = zn_diffae_facts_of(model);
    const zn_diffae_shape *is = &facts.shape;
    return (zn_diffae_sizes){
        .channels = (uint32_t)is->inputs,
        .height = (uint32_t)is->size,
        .width = (uint32_t)is->size,
        .multiple = (uint32_t)(facts.multiple * facts.factor),
        .factor = (uint32_t)facts.factor,
        .pictures = model->companion || is->inputs == COLOURS,
        .sparse = is->sparse,
        .code = (size_t)is->code,
        .attributes = zn_model_part(model, "classifier") ? (size_t)is->attributes : 0};
}

zenith_status zn_diffae_encode(zn_engine *engine, const zn_diffae_call *call, const float *picture,
                               float *code, float *noise, zn_error *err)
{
    job j = {.engine = engine,
             .is = call,
             .run = encode,
             .input = picture,
             .code = code,
             .output = noise,
             .count = 1,
             .err = err};
    return run_job(&j);
}

zenith_status zn_diffae_decode(zn_engine *engine, const zn_diffae_call *call, const float *code,
                               const float *noise, float *picture, zn_error *err)
{
    job j = {.engine = engine,
             .is = call,
             .run = decode,
             .input = code,
             .noise = noise,
             .output = picture,
             .count = 1,
             .err = err};
    return run_job(&j);
}

zenith_status zn_diffae_sample(zn_engine *engine, const zn_diffae_call *call, size_t count,
                               float *codes, zn_error *err)
{
    job j = {
        .engine = engine, .is = call, .run = sample, .output = codes, .count = count, .err = err};
    return run_job(&j);
}

zenith_status zn_diffae_classify(zn_engine *engine, const zn_diffae_call *call, size_t count,
                                 const float *codes, float *scores, zn_error *err)
{
    job j = {.engine = engine,
             .is = call,
             .run = classify,
             .input = codes,
             .output = scores,
             .count = count,
             .err = err};
    return run_job(&j);
}

zenith_status zn_diffae_edit(zn_engine *engine, const zn_diffae_call *call, int attribute,
                             double amount, float *code, zn_error *err)
{
    job j = {.engine = engine,
             .is = call,
             .run = edit,
             .code = code,
             .count = 1,
             .attribute = attribute,
             .amount = amount,
             .err = err};
    if (!zn_diffae_recalls(call->model))
        return zn_diffae_manipulate(call->model, attribute, amount, code, err);
    return run_job(&j);
}
