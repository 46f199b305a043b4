// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/task/autoencode.h"

#include "src/base/os.h"
#include "src/task/pixels.h"

// --- checks -------------------------------------------------------------------------------------

static zenith_status check_size(const zn_model *model, const zenith_image *image, zn_error *err)
{
    const uint32_t factor = (uint32_t)model->variant->factor;
    if (image->width > 0 && image->height > 0 && image->width % factor == 0 &&
        image->height % factor == 0) {
        return ZENITH_OK;
    }
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "a picture for %s must have a width and a height that are multiples of %u, not "
                   "%u x %u",
                   model->variant->name, factor, image->width, image->height);
}

static zenith_status check_pair(const zn_model *model, const zenith_image *image,
                                const zenith_latent *latent, zn_error *err)
{
    const zn_variant *variant = model->variant;
    const uint32_t factor = (uint32_t)variant->factor;
    ZN_TRY(check_size(model, image, err));
    if (latent->channels != variant->latent_channels) {
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the latent has %u channels; those of %s have %d", latent->channels,
                       variant->name, (int)variant->latent_channels);
    }
    if (latent->width != image->width / factor || latent->height != image->height / factor) {
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "a picture of %u x %u goes with a latent of %u x %u, not %u x %u",
                       image->width, image->height, image->width / factor, image->height / factor,
                       latent->width, latent->height);
    }
    if ((!image->data && !image->rows) || (!latent->data && !latent->rows)) {
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "a picture or latent has neither data nor rows");
    }
    if (latent->space == ZENITH_SPACE_RAW && !variant->has_raw) {
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "%s's latents have no raw space with one scale and shift", variant->name);
    }
    bool numbers = image->number <= ZENITH_F32 && latent->number != ZENITH_U8 &&
                   latent->number <= ZENITH_BF16 && (latent->data || latent->number <= ZENITH_F32);
    if (numbers) return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "pictures are u8 or f32; latents f32, f16 or bf16, and f32 when streamed");
}

// --- one batch ----------------------------------------------------------------------------------

typedef struct batch_run {
    zn_engine *engine;
    const zn_batch *batch;
    zn_mutex *lock;      // of what follows
    size_t next;         // picture to take
    double *fractions;   // of each picture, for progress
    uint64_t max_memory; // for one stream: an equal share of what the callers' buffers leave
    bool stopped;        // by the progress callback
    zenith_status status;
    zn_error error;
    zenith_run_facts facts;
} batch_run;

typedef struct picture_run {
    batch_run *all;
    size_t index;
    zenith_image image;
    zenith_latent latent;
} picture_run;

static zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count, void *dst,
                               zn_error *err)
{
    const picture_run *p = cookie;
    (void)input;
    if (p->all->batch->part == ZN_ENCODER)
        return zn_image_read_rows(&p->image, row, count, dst, err);
    return zn_latent_read_rows(&p->latent, p->all->batch->model->variant, row, count, dst, err);
}

static zenith_status write_rows(void *cookie, int output, int64_t row, int64_t count,
                                const void *src, zn_error *err)
{
    const picture_run *p = cookie;
    (void)output;
    if (p->all->batch->part == ZN_DECODER)
        return zn_image_write_rows(&p->image, row, count, src, err);
    return zn_latent_write_rows(&p->latent, p->all->batch->model->variant, row, count, src, err);
}

// Progress of the batch; also where a picture learns that another one has failed or was stopped.
static int report(void *cookie, double fraction)
{
    const picture_run *p = cookie;
    batch_run *all = p->all;
    const zenith_run_params *params = &all->batch->params;
    double sum = 0;
    zn_mutex_lock(all->lock);
    all->fractions[p->index] = fraction;
    for (size_t i = 0; i < all->batch->count; i++) sum += all->fractions[i];
    if (params->progress && !all->stopped && all->status == ZENITH_OK) {
        double done = sum / (double)all->batch->count;
        all->stopped = params->progress(params->progress_cookie, done) != 0;
    }
    int stop = all->stopped || all->status != ZENITH_OK;
    zn_mutex_unlock(all->lock);
    return stop;
}

static zn_compile_key key_for(const zn_batch *batch, const zenith_image *image)
{
    const zenith_run_params *params = &batch->params;
    const int64_t factor = batch->model->variant->factor;
    zn_compile_key key = {.model = batch->model,
                          .part = batch->part,
                          .latent_height = image->height / factor,
                          .latent_width = image->width / factor,
                          .dtype = params->dtype,
                          .pixels = zn_image_number(image)};
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
    }
    facts->weights_bytes = zn_packs_bytes(compiled->key.model->packs);
    zn_mutex_unlock(all->lock);
}

static zenith_status run_picture(batch_run *all, size_t index, zn_team *team, int stream,
                                 zn_error *err)
{
    const zn_batch *batch = all->batch;
    picture_run p = {.all = all, .index = index};
    p.image = *zn_image_at(batch->images, index);
    p.latent = *zn_latent_at(batch->latents, index);
    const zenith_run_params *params = &batch->params;
    zn_compile_key key = key_for(batch, &p.image);
    const zn_compiled *compiled = NULL;
    const atomic_int *cancel = params->cancel ? &params->cancel->requested : NULL;
    ZN_TRY(zn_engine_plan(all->engine, stream, &key, all->max_memory, 0, cancel, &compiled, err));
    const zn_run run = {
        .read = read_rows, .write = write_rows, .cookie = &p, .cancel = cancel, .progress = report};
    ZN_TRY(zn_engine_run(all->engine, stream, team, compiled, &run, err));
    note_facts(all, compiled);
    return ZENITH_OK;
}

static bool take_picture(batch_run *all, size_t *index)
{
    zn_mutex_lock(all->lock);
    *index = all->next++;
    bool taken = *index < all->batch->count && all->status == ZENITH_OK;
    zn_mutex_unlock(all->lock);
    return taken;
}

// The job of each stream: pictures until there are no more, or one failed.
static zenith_status run_pictures(void *arg, zn_team *team, int stream)
{
    batch_run *all = arg;
    for (size_t index; take_picture(all, &index);) {
        zn_error error = {0};
        zenith_status status = run_picture(all, index, team, stream, &error);
        if (status == ZENITH_OK) continue;
        zn_mutex_lock(all->lock);
        if (all->status == ZENITH_OK) {
            all->status = status;
            all->error = error;
        }
        zn_mutex_unlock(all->lock);
    }
    return ZENITH_OK;
}

static zenith_status check_batch(const zn_batch *batch, zn_error *err)
{
    unsigned missing = batch->part & ~batch->model->parts;
    if (missing) {
        return zn_fail(err, ZENITH_NOT_FOUND, "these weights of %s have no %s",
                       batch->model->variant->name, missing & ZN_ENCODER ? "encoder" : "decoder");
    }
    for (size_t i = 0; i < batch->count; i++) {
        const zenith_image *image = zn_image_at(batch->images, i);
        const zenith_latent *latent = zn_latent_at(batch->latents, i);
        if (image->size < sizeof *image || latent->size < sizeof *latent) {
            return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                           "picture or latent %zu: `size` is not that of the struct", i);
        }
        ZN_TRY(check_pair(batch->model, image, latent, err));
    }
    return ZENITH_OK;
}

// The buffers of the whole batch are there all the time; what they leave is divided.
static zenith_status share_memory(batch_run *all, int jobs, zn_error *err)
{
    const zn_batch *batch = all->batch;
    const uint64_t limit = batch->params.max_memory;
    uint64_t buffers = 0;
    for (size_t i = 0; i < batch->count; i++) {
        buffers += zn_image_bytes(zn_image_at(batch->images, i)) +
                   zn_latent_bytes(zn_latent_at(batch->latents, i));
    }
    if (limit && buffers >= limit) {
        return zn_fail(err, ZENITH_LIMIT,
                       "the pictures and latents alone take %llu bytes, and the limit is %llu",
                       (unsigned long long)buffers, (unsigned long long)limit);
    }
    if (limit) all->max_memory = (limit - buffers) / (uint64_t)jobs;
    return ZENITH_OK;
}

zenith_status zn_autoencode(zn_engine *engine, const zn_batch *batch, zn_error *err)
{
    if (batch->count == 0) return ZENITH_OK;
    ZN_TRY(check_batch(batch, err));
    batch_run all = {.engine = engine, .batch = batch};
    double begin = zn_clock_seconds();
    zenith_status status;
    ZN_TRY(zn_mutex_create(&all.lock, err));
    all.fractions = zn_alloc_zero(batch->count * sizeof *all.fractions);
    if (!all.fractions) {
        status = zn_fail_memory(err, batch->count * sizeof *all.fractions);
        goto fail;
    }
    zn_executor *executor = zn_engine_executor(engine);
    int jobs = zn_executor_streams(executor);
    if ((size_t)jobs > batch->count) jobs = (int)batch->count;
    ZN_GO(share_memory(&all, jobs, err));
    ZN_GO(zn_executor_run(executor, run_pictures, &all, jobs, err));
    status = all.status;
    if (status != ZENITH_OK) {
        zn_fail(err, status, "%s", all.error.text);
        goto fail;
    }
    all.facts.seconds = zn_clock_seconds() - begin;
    if (batch->params.facts) *batch->params.facts = all.facts;
fail:
    zn_free(all.fractions);
    zn_mutex_free(all.lock);
    return status;
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
    ZN_TRY(zn_engine_plan(job->engine, stream, &key, job->batch->params.max_memory, job->buffers,
                          NULL, &compiled, job->err));
    zenith_estimate_info *out = job->out;
    out->dtype = key.dtype;
    out->banded = zn_plan_chosen_mode(compiled->plan) == ZN_PLAN_ROLLING;
    out->band_rows = (uint32_t)zn_plan_band(compiled->plan);
    out->arena_bytes = zn_plan_bytes(compiled->plan);
    out->weights_bytes = zn_packs_bytes(key.model->packs);
    out->buffer_bytes = job->buffers;
    out->total_bytes = out->arena_bytes + out->weights_bytes + out->buffer_bytes;
    out->flops = zn_plan_flops(compiled->plan);
    return ZENITH_OK;
}

zenith_status zn_estimate(zn_engine *engine, zn_model *model, unsigned part, uint32_t width,
                          uint32_t height, bool streamed, const zenith_run_params *params,
                          zenith_estimate_info *out, zn_error *err)
{
    const zenith_image image = {.width = width, .height = height};
    const zn_variant *variant = model->variant;
    ZN_TRY(check_size(model, &image, err));
    if (!(model->parts & part)) {
        return zn_fail(err, ZENITH_NOT_FOUND, "these weights of %s have no such part",
                       variant->name);
    }
    const zn_batch batch = {.model = model, .part = part, .params = *params};
    uint64_t pixels = (uint64_t)width * height;
    uint64_t factor = (uint64_t)variant->factor;
    uint64_t latent = pixels / (factor * factor) * (uint64_t)variant->latent_channels;
    estimate_job job = {.engine = engine,
                        .batch = &batch,
                        .image = &image,
                        .buffers = streamed ? 0 : pixels * 3 + latent * sizeof(float),
                        .out = out,
                        .err = err};
    return zn_executor_run(zn_engine_executor(engine), estimate, &job, 1, err);
}
