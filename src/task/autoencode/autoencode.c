// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/task/autoencode/autoencode.h"

#include "src/base/caller_struct.h"
#include "src/base/os.h"
#include "src/base/text.h"
#include "src/model/autoencoder.h"
#include "src/task/autoencode/pixels.h"
#include "src/task/engine/guard.h"

#include <string.h>

// --- checks -------------------------------------------------------------------------------------

zenith_status zn_check_part(const zn_model *model, unsigned part, zn_error *err)
{
    ZN_TRY(zn_autoencoder_check(model->variant, err));
    if (zn_autoencoder_flags(model) & part) return ZENITH_OK;
    return zn_fail(err, ZENITH_NOT_FOUND, "these weights of %s have no %s", model->variant->name,
                   zn_autoencoder_name(part));
}

zenith_status zn_check_size(const zn_model *model, const zenith_image *image, zn_error *err)
{
    const uint32_t factor = (uint32_t)model->variant->autoencoder->factor;
    if (image->width > 0 && image->height > 0 && image->width % factor == 0 &&
        image->height % factor == 0) {
        return ZENITH_OK;
    }
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "a picture for %s must have a width and a height that are multiples of %u, not "
                   "%u x %u",
                   model->variant->name, factor, image->width, image->height);
}

zenith_status zn_check_pair(const zn_model *model, const zenith_image *image,
                            const zenith_latent *latent, zn_error *err)
{
    const zn_variant *variant = model->variant;
    const zn_autoencoder_facts *facts = variant->autoencoder;
    const uint32_t factor = (uint32_t)facts->factor;
    const int64_t each = latent->kind == ZENITH_LATENT_MOMENTS ? 2 : 1;
    ZN_TRY(zn_check_size(model, image, err));
    if (latent->channels != each * facts->latent_channels) {
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "the latent has %u channels; %s of %s have %d",
                       latent->channels, each == 2 ? "moments" : "those", variant->name,
                       (int)(each * facts->latent_channels));
    }
    if (latent->width != image->width / factor || latent->height != image->height / factor) {
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "a picture of %u x %u goes with a latent of %u x %u, not %u x %u",
                       image->width, image->height, image->width / factor, image->height / factor,
                       latent->width, latent->height);
    }
    if (latent->space == ZENITH_SPACE_RAW && !facts->has_raw) {
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "%s's latents have no raw space with one scale and shift", variant->name);
    }
    ZN_TRY(zn_image_check(image, err));
    return zn_latent_check(latent, err);
}

static zenith_status check_kind(const zn_batch *batch, const zenith_latent *latent, zn_error *err)
{
    if (latent->kind == ZENITH_LATENT_MEAN) return ZENITH_OK;
    if (latent->kind > ZENITH_LATENT_MOMENTS)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "no kind of latent has the number %d",
                       (int)latent->kind);
    if (batch->part == ZENITH_DECODER)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "a decoder takes latents: samples and moments are what encoders make");
    if (batch->model->family->moments) return ZENITH_OK;
    return zn_fail(err, ZENITH_UNSUPPORTED,
                   "the encoder of %s gives one latent for a picture, and no variance to sample by",
                   batch->model->variant->name);
}

// --- one batch ----------------------------------------------------------------------------------

typedef struct picture_state {
    zenith_image image; // the caller's, in our own form
    zenith_latent latent;
    double fraction;    // for progress
    bool over;          // it has its result, good or bad
    zenith_dtype dtype; // it was computed in
} picture_state;

typedef struct batch_run {
    zn_engine *engine;
    const zn_batch *batch;
    zn_team *team; // of the stream on which the call is already; NULL: it hands its work over
    int stream;
    zn_mutex *lock;        // of what follows
    size_t next;           // picture to take
    picture_state *states; // of each picture
    uint64_t buffers;      // bytes that the caller holds, for all pictures
    uint64_t max_memory;   // for one stream: those, and an equal share of what they leave
    bool stopped;          // by the progress callback or the cancel flag
    size_t failed, first;  // how many pictures, and the one that `status` and `error` are of
    zenith_status status;
    zn_error error;
    zenith_run_facts facts;
} batch_run;

// Whether a picture that fails ends the batch: where the caller has no place for results of each.
static bool one_for_all(const batch_run *all)
{
    return !all->batch->params.results;
}

typedef struct picture_run {
    batch_run *all;
    size_t index;
    const zenith_image *image;
    const zenith_latent *latent;
    zn_guard guard;
    bool shown; // rows were handed to the caller
} picture_run;

static zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count, void *dst,
                               zn_error *err)
{
    const picture_run *p = cookie;
    (void)input;
    if (p->all->batch->part == ZENITH_ENCODER)
        return zn_image_read_rows(p->image, row, count, dst, err);
    return zn_latent_read_rows(p->latent, p->all->batch->model->variant->autoencoder, row, count,
                               dst, err);
}

static zenith_status write_rows(void *cookie, int output, int64_t row, int64_t count,
                                const void *src, zn_error *err)
{
    picture_run *p = cookie;
    (void)output;
    ZN_TRY(zn_guard_check(&p->guard, err));
    p->shown = true;
    if (p->all->batch->part == ZENITH_DECODER)
        return zn_image_write_rows(p->image, row, count, src, err);
    if (p->latent->kind ==
        ZENITH_LATENT_SAMPLE) // in the plan's window, which nobody reads any more
        zn_latent_sample_rows(p->latent, row, count, (float *)(uintptr_t)src);
    return zn_latent_write_rows(p->latent, p->all->batch->model->variant->autoencoder, row, count,
                                src, err);
}

static void look(void *cookie, const zn_node *node, int64_t row, int64_t count, const void *data)
{
    picture_run *p = cookie;
    (void)row;
    zn_guard_look(&p->guard, node, count, data);
}

// Progress of the batch; also where a picture learns that it is not wanted any more.
static int report(void *cookie, double fraction)
{
    const picture_run *p = cookie;
    batch_run *all = p->all;
    const zenith_run_params *params = &all->batch->params;
    double sum = 0;
    zn_mutex_lock(all->lock);
    all->states[p->index].fraction = fraction;
    for (size_t i = 0; i < all->batch->count; i++) sum += all->states[i].fraction;
    const bool lost = all->status != ZENITH_OK && one_for_all(all);
    if (params->progress && !all->stopped && !lost) {
        double done = sum / (double)all->batch->count;
        all->stopped = params->progress(params->progress_cookie, done) != 0;
    }
    int stop = all->stopped || lost || p->guard.found;
    zn_mutex_unlock(all->lock);
    return stop;
}

static zn_compile_key key_for(const zn_batch *batch, const zenith_image *image)
{
    const zenith_run_params *params = &batch->params;
    const zn_model *model = batch->model;
    const int64_t factor = model->variant->autoencoder->factor;
    zn_compile_key key = {
        .model = batch->model,
        .part = zn_autoencoder_part(model->family, batch->part),
        .sizes = {.height = image->height / factor, .width = image->width / factor},
        .dtype = params->dtype,
        .pixels = zn_image_plan_number(image)};
    if (key.dtype == ZENITH_DTYPE_INT8) key.calibration = batch->model->calibration;
    if (params->bands == ZENITH_BANDS_OFF) key.mode = ZN_PLAN_PLANES;
    if (params->bands == ZENITH_BANDS_ROWS) {
        key.mode = ZN_PLAN_ROLLING;
        key.band = params->band_rows ? params->band_rows : 1;
    }
    return key;
}

static void note_facts(batch_run *all, const zn_compiled *compiled)
{
    zenith_run_facts *facts = &all->facts;
    uint64_t arena = zn_plan_bytes(compiled->plan);
    zn_mutex_lock(all->lock);
    if (arena >= facts->arena_bytes) {
        facts->arena_bytes = arena;
        facts->dtype = compiled->key.dtype;
        facts->banded = zn_plan_chosen_mode(compiled->plan) == ZN_PLAN_ROLLING;
        facts->band_rows = (uint32_t)zn_plan_band(compiled->plan);
        facts->spill_bytes = zn_plan_spill_bytes(compiled->plan);
        facts->flops = zn_plan_flops(compiled->plan);
    }
    facts->weights_bytes = zn_packs_bytes(compiled->key.model->packs);
    zn_mutex_unlock(all->lock);
}

// The tuner has a say where neither memory nor bands are the caller's.
static zn_tuner *tuner_for(zn_engine *engine, const zenith_run_params *params)
{
    const bool bound = params->untuned || params->max_memory || params->bands != ZENITH_BANDS_AUTO;
    return bound ? NULL : zn_engine_tuner(engine);
}

// The plan that the tuner wants, or, where that does not fit, the usual one.
static zenith_status tuned_plan(zn_engine *engine, int stream, const zn_batch *batch,
                                const zn_compile_key *key, zn_trial *trial, const zn_compiled **out,
                                zn_error *err)
{
    const zenith_run_params *params = &batch->params;
    const atomic_int *cancel = params->cancel ? &params->cancel->requested : NULL;
    zn_tuner *tuner = tuner_for(engine, params);
    zn_compile_key chosen = *key;
    zn_error why = {0};
    *trial = zn_tuner_choose(tuner, &chosen);
    const uint64_t packed = zn_packs_bytes(key->model->packs);
    const zn_bound none = {.max_memory = 0},
                   bound = {.max_memory = trial->max_bytes ? trial->max_bytes + packed : 0};
    zenith_status status = zn_engine_plan(engine, stream, &chosen, &bound, cancel, out, &why);
    if (status == ZENITH_OK) return status;
    if (!trial->max_bytes || status != ZENITH_LIMIT) return zn_fail(err, status, "%s", why.text);
    zn_tuner_note(tuner, key, trial, NULL, 0);
    trial->plan = -1;
    return zn_engine_plan(engine, stream, key, &none, cancel, out, err);
}

static void note_time(batch_run *all, const zn_compile_key *key, const zn_trial *trial,
                      const zn_compiled *compiled, double seconds)
{
    if (trial->plan < 0) return;
    zn_tuner_note(tuner_for(all->engine, &all->batch->params), key, trial, compiled->plan, seconds);
    zn_mutex_lock(all->lock);
    all->facts.measured++;
    zn_mutex_unlock(all->lock);
}

static zenith_status plan_picture(const batch_run *all, int stream, const zn_compile_key *key,
                                  zn_trial *trial, const zn_compiled **out, zn_error *err)
{
    const zenith_cancel *cancel = all->batch->params.cancel;
    *trial = (zn_trial){.plan = -1};
    if (tuner_for(all->engine, &all->batch->params))
        return tuned_plan(all->engine, stream, all->batch, key, trial, out, err);
    const zn_bound bound = {
        .max_memory = all->max_memory, .buffers = all->buffers, .spill = all->batch->params.spill};
    return zn_engine_plan(all->engine, stream, key, &bound, cancel ? &cancel->requested : NULL, out,
                          err);
}

static zenith_status run_in_type(picture_run *p, const zn_compile_key *key, zn_team *team,
                                 int stream, zn_error *err)
{
    batch_run *all = p->all;
    const zenith_cancel *flag = all->batch->params.cancel;
    const atomic_int *cancel = flag ? &flag->requested : NULL;
    const zn_compiled *compiled = NULL;
    zn_trial trial;
    ZN_TRY(plan_picture(all, stream, key, &trial, &compiled, err));
    const double begin = zn_clock_seconds();
    p->guard = (zn_guard){.watched = compiled->watched, .dtype = key->dtype, .team = team};
    const zn_run run = {.read = read_rows,
                        .write = write_rows,
                        .cookie = p,
                        .cancel = cancel,
                        .progress = report,
                        .observe = look};
    zn_error why = {0};
    zenith_status status = zn_engine_run(all->engine, stream, team, compiled, &run, &why);
    ZN_TRY(zn_guard_check(&p->guard, err)); // what stopped the run, whichever way it learnt of it
    if (status != ZENITH_OK) return zn_fail(err, status, "%s", why.text);
    all->states[p->index].dtype = key->dtype;
    note_time(all, key, &trial, compiled, zn_clock_seconds() - begin);
    note_facts(all, compiled);
    return ZENITH_OK;
}

// Rows that were handed out can be taken back where they lie in memory, or the caller says so.
static bool can_restart(const picture_run *p)
{
    if (!p->shown) return true;
    if (p->all->batch->part == ZENITH_ENCODER) return p->latent->data;
    return p->image->data || p->image->restarts;
}

static zenith_status too_narrow(zenith_dtype dtype, zn_error *err)
{
    return zn_fail(
        err, ZENITH_OVERFLOW,
        "numbers grew beyond what %s holds, after rows had been handed out that cannot be "
        "taken back: use f32",
        zn_dtype_name(dtype));
}

static zenith_status run_again(picture_run *p, zn_compile_key *key, zn_team *team, int stream,
                               zn_error *err)
{
    batch_run *all = p->all;
    const zenith_dtype narrow = key->dtype;
    if (!can_restart(p)) return too_narrow(narrow, err);
    key->dtype = ZENITH_DTYPE_F32;
    key->calibration = NULL;
    ZN_TRY(run_in_type(p, key, team, stream, err));
    zn_mutex_lock(all->lock);
    all->facts.again++;
    all->facts.overflowed = narrow;
    zn_mutex_unlock(all->lock);
    return ZENITH_OK;
}

static zenith_status run_picture(batch_run *all, size_t index, zn_team *team, int stream,
                                 zn_error *err)
{
    const zn_batch *batch = all->batch;
    picture_run p = {.all = all,
                     .index = index,
                     .image = &all->states[index].image,
                     .latent = &all->states[index].latent};
    zn_compile_key key = key_for(batch, p.image);
    if (p.latent->kind != ZENITH_LATENT_MEAN) key.part = batch->model->family->moments;
    zn_error first = {0};
    zenith_status status = run_in_type(&p, &key, team, stream, &first);
    if (status != ZENITH_OVERFLOW || key.dtype == ZENITH_DTYPE_F32)
        return status == ZENITH_OK ? status : zn_fail(err, status, "%s", first.text);
    return run_again(&p, &key, team, stream, err);
}

// --- what becomes of each picture ---------------------------------------------------------------

// Element i of the caller's results, as far apart as his header's struct is large.
static void write_result(const zn_batch *batch, size_t i, zenith_dtype dtype, zenith_status status,
                         const char *text)
{
    zenith_item_result result = {.status = status, .dtype = dtype};
    const size_t stride = zn_caller_size(batch->params.results);
    uint8_t *theirs = (uint8_t *)batch->params.results + i * stride;
    zn_text_format(result.message, sizeof result.message, "%s", text);
    memcpy(theirs, &stride, sizeof stride);
    zn_caller_struct_out(&result, sizeof result, theirs);
}

// The sentence of a batch is that of its first failure: in time where that ends the batch, else by
// number.
static void end_picture(batch_run *all, size_t index, zenith_status status, const zn_error *error)
{
    zn_mutex_lock(all->lock);
    const zenith_dtype dtype = all->states[index].dtype;
    all->states[index].fraction = 1;
    all->states[index].over = true;
    if (status != ZENITH_OK) {
        all->failed++;
        if (all->status == ZENITH_OK || (!one_for_all(all) && index < all->first)) {
            all->first = index;
            all->status = status;
            all->error = *error;
        }
        all->stopped |= status == ZENITH_CANCELLED;
    }
    if (!one_for_all(all)) write_result(all->batch, index, dtype, status, error->text);
    zn_mutex_unlock(all->lock);
}

static bool take_picture(batch_run *all, size_t *index)
{
    zn_mutex_lock(all->lock);
    while (all->next < all->batch->count && all->states[all->next].over) all->next++;
    *index = all->next++;
    bool wanted = !all->stopped && (all->status == ZENITH_OK || !one_for_all(all));
    bool taken = *index < all->batch->count && wanted;
    zn_mutex_unlock(all->lock);
    return taken;
}

// The job of each stream: pictures until there are no more, or none is wanted.
static zenith_status run_pictures(void *arg, zn_team *team, int stream)
{
    batch_run *all = arg;
    for (size_t index; take_picture(all, &index);) {
        zn_error error = {0};
        zenith_status status = run_picture(all, index, team, stream, &error);
        if (status != ZENITH_OK) zn_fail(&error, status, "%s", zenith_status_text(status));
        end_picture(all, index, status, &error);
    }
    return ZENITH_OK;
}

// Takes every picture, before anything is computed. One that cannot be worked fails alone; structs
// that cannot be read fail the call.
static zenith_status take_pictures(batch_run *all, zn_error *err)
{
    const zn_batch *batch = all->batch;
    for (size_t i = 0; i < batch->count; i++) {
        zenith_image *image = &all->states[i].image;
        zenith_latent *latent = &all->states[i].latent;
        ZN_TRY(zn_image_take(batch->images, i, image, err));
        ZN_TRY(zn_latent_take(batch->latents, i, latent, err));
    }
    for (size_t i = 0; i < batch->count; i++) {
        zn_error error = {0};
        const picture_state *of = &all->states[i];
        zenith_status status = check_kind(batch, &of->latent, &error);
        if (status == ZENITH_OK)
            status = zn_check_pair(batch->model, &of->image, &of->latent, &error);
        if (status != ZENITH_OK)
            end_picture(all, i, status, &error);
        else
            all->buffers += zn_image_bytes(&of->image) + zn_latent_bytes(&of->latent);
    }
    return ZENITH_OK;
}

static zenith_status check_batch(const zn_batch *batch, zn_error *err)
{
    const size_t least = ZN_SIZE_UP_TO(zenith_item_result, message);
    ZN_TRY(zn_check_part(batch->model, batch->part, err));
    if (batch->params.results && zn_caller_size(batch->params.results) < least) {
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the first of the results has size %zu: set its `size` field to sizeof",
                       zn_caller_size(batch->params.results));
    }
    return ZENITH_OK;
}

// The buffers of the whole batch are there all the time; what they leave is divided. Where they
// leave nothing, the plan of each picture says what it needs.
static void share_memory(batch_run *all, int jobs)
{
    const uint64_t limit = all->batch->params.max_memory;
    all->max_memory = limit;
    if (limit > all->buffers)
        all->max_memory = all->buffers + (limit - all->buffers) / (uint64_t)jobs;
}

// Checks, then the streams' jobs. A failure of its own is one of the whole call.
static zenith_status run_batch(batch_run *all, zn_error *err)
{
    const zn_batch *batch = all->batch;
    zn_executor *executor = zn_engine_executor(all->engine);
    int jobs = all->team ? 1 : zn_executor_streams(executor);
    if ((size_t)jobs > batch->count) jobs = (int)batch->count;
    ZN_TRY(take_pictures(all, err));
    if (all->status != ZENITH_OK && one_for_all(all)) return ZENITH_OK;
    share_memory(all, jobs);
    if (all->team) return run_pictures(all, all->team, all->stream);
    return zn_executor_run(executor, run_pictures, all, jobs, err);
}

// The status of the call from those of its pictures.
static zenith_status outcome(const batch_run *all, zn_error *err)
{
    const zn_batch *batch = all->batch;
    if (all->stopped) return zn_fail(err, ZENITH_CANCELLED, "cancelled");
    if (all->status == ZENITH_OK) return ZENITH_OK;
    const bool some = !one_for_all(all) && all->failed < batch->count;
    const zenith_status status = some ? ZENITH_PARTIAL : all->status;
    if (batch->count == 1) return zn_fail(err, status, "%s", all->error.text);
    return zn_fail(err, status, "picture %zu of %zu: %s", all->first + 1, batch->count,
                   all->error.text);
}

// Pictures that no stream came to share the end of the call.
static void settle(const batch_run *all, zenith_status status, const zn_error *err)
{
    for (size_t i = 0; !one_for_all(all) && i < all->batch->count; i++) {
        if (!all->states || !all->states[i].over)
            write_result(all->batch, i, ZENITH_DTYPE_DEFAULT, status, err->text);
    }
}

static zenith_status autoencode(batch_run *all, zn_error *err)
{
    const zn_batch *batch = all->batch;
    if (batch->count == 0) return ZENITH_OK;
    ZN_TRY(check_batch(batch, err));
    const size_t bytes = batch->count * sizeof *all->states;
    double begin = zn_clock_seconds();
    zenith_status status;
    ZN_GO(zn_mutex_create(&all->lock, err));
    all->states = zn_alloc_zero(bytes);
    if (!all->states) ZN_GO(zn_fail_memory(err, bytes));
    ZN_GO(run_batch(all, err));
    status = outcome(all, err);
    all->facts.seconds = zn_clock_seconds() - begin;
    if (batch->params.facts) *batch->params.facts = all->facts;
fail:
    settle(all, status, err);
    zn_free(all->states);
    zn_mutex_free(all->lock);
    return status;
}

zenith_status zn_autoencode(zn_engine *engine, const zn_batch *batch, zn_error *err)
{
    batch_run all = {.engine = engine, .batch = batch};
    return autoencode(&all, err);
}

zenith_status zn_autoencode_on_stream(zn_engine *engine, const zn_batch *batch, zn_team *team,
                                      int stream, zn_error *err)
{
    batch_run all = {.engine = engine, .batch = batch, .team = team, .stream = stream};
    return autoencode(&all, err);
}

// --- estimate -----------------------------------------------------------------------------------

typedef struct estimate_job {
    zn_engine *engine;
    const zn_batch *batch;
    const zenith_image *image;
    uint64_t buffers;
    zenith_estimate_info *out;
    zn_error *err;
} estimate_job;

static zenith_status estimate(void *arg, zn_team *team, int stream)
{
    estimate_job *job = arg;
    (void)team;
    zn_compile_key key = key_for(job->batch, job->image);
    const zn_compiled *compiled = NULL;
    const zn_bound bound = {.max_memory = job->batch->params.max_memory,
                            .buffers = job->buffers,
                            .spill = job->batch->params.spill};
    zn_trial trial;
    if (tuner_for(job->engine, &job->batch->params))
        ZN_TRY(tuned_plan(job->engine, stream, job->batch, &key, &trial, &compiled, job->err));
    else
        ZN_TRY(zn_engine_plan(job->engine, stream, &key, &bound, NULL, &compiled, job->err));
    zenith_estimate_info *out = job->out;
    out->dtype = key.dtype;
    out->banded = zn_plan_chosen_mode(compiled->plan) == ZN_PLAN_ROLLING;
    out->band_rows = (uint32_t)zn_plan_band(compiled->plan);
    out->arena_bytes = zn_plan_bytes(compiled->plan);
    out->weights_bytes = zn_packs_bytes(key.model->packs);
    out->buffer_bytes = job->buffers;
    out->total_bytes = out->arena_bytes + out->weights_bytes + out->buffer_bytes;
    out->flops = zn_plan_flops(compiled->plan);
    out->spill_bytes = zn_plan_spill_bytes(compiled->plan);
    return ZENITH_OK;
}

zenith_status zn_estimate(zn_engine *engine, zn_model *model, unsigned part, uint32_t width,
                          uint32_t height, bool streamed, const zenith_run_params *params,
                          zenith_estimate_info *out, zn_error *err)
{
    const zenith_image image = {.width = width, .height = height, .number = ZENITH_U8};
    const zn_autoencoder_facts *facts = model->variant->autoencoder;
    ZN_TRY(zn_check_part(model, part, err));
    ZN_TRY(zn_check_size(model, &image, err));
    const zn_batch batch = {.model = model, .part = part, .params = *params};
    uint64_t pixels = (uint64_t)width * height;
    uint64_t factor = (uint64_t)facts->factor;
    uint64_t latent = pixels / (factor * factor) * (uint64_t)facts->latent_channels;
    estimate_job job = {.engine = engine,
                        .batch = &batch,
                        .image = &image,
                        .buffers = streamed ? 0 : pixels * 3 + latent * sizeof(float),
                        .out = out,
                        .err = err};
    return zn_executor_run(zn_engine_executor(engine), estimate, &job, 1, err);
}
