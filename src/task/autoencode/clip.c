// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A clip owns its plans, one of the first step and one of the next for each stream of the engine
// that it has run on: both must be there when states are made, and a cache could drop one for the
// other.
#include "src/task/autoencode/clip.h"

#include "src/graph/states.h"
#include "src/model/autoencoder.h"
#include "src/task/autoencode/autoencode.h"
#include "src/task/autoencode/pixels.h"
#include "src/task/engine/guard.h"

enum { FIRST, NEXT, KINDS };

typedef struct plans {
    zn_compiled *steps[KINDS];
} plans;

struct zn_clip {
    zn_engine *engine;
    zn_clip_request is; // holds a reference to the model
    zn_states *states;
    size_t budget; // of the arena; 0: none
    bool late;     // frames of states are written over each other: fewer bytes
    bool begun;    // the first step is done
    bool spoiled;  // by a step that was stopped
    plans streams[];
};

// --- plans --------------------------------------------------------------------------------------

static zn_compile_key key_of(const zn_clip *clip, int kind)
{
    const zn_clip_request *is = &clip->is;
    const int64_t factor = is->model->variant->autoencoder->factor;
    zn_compile_key key = {.model = is->model,
                          .part = zn_autoencoder_part(is->model->family, is->part),
                          .sizes = {.height = is->height / factor,
                                    .width = is->width / factor,
                                    .step = kind == FIRST ? ZN_STEP_FIRST : ZN_STEP_NEXT},
                          .dtype = is->params.dtype,
                          .pixels = is->pixels,
                          .late_frames = clip->late};
    if (is->params.bands == ZENITH_BANDS_OFF) key.mode = ZN_PLAN_PLANES;
    if (is->params.bands == ZENITH_BANDS_ROWS) {
        key.mode = ZN_PLAN_ROLLING;
        key.band = is->params.band_rows ? is->params.band_rows : 1;
    }
    return key;
}

static void drop_plans(plans *p)
{
    for (int kind = 0; kind < KINDS; kind++) {
        zn_compiled_free(p->steps[kind]);
        p->steps[kind] = NULL;
    }
}

// needs: of the first plan that does not fit, after ZENITH_LIMIT; may be NULL.
static zenith_status make_plans(zn_clip *clip, int stream, zn_plan_needs *needs, zn_error *err)
{
    zn_machine machine;
    plans *p = &clip->streams[stream];
    const zenith_cancel *cancel = clip->is.params.cancel;
    ZN_TRY(zn_engine_machine(clip->engine, stream, &machine, err));
    machine.cancel = cancel ? &cancel->requested : NULL;
    for (int kind = 0; kind < KINDS; kind++) {
        const zn_compile_key key = key_of(clip, kind);
        if (p->steps[kind]) continue;
        const zn_allowance allowed = {.max_bytes = clip->budget, .needs = needs};
        ZN_TRY(zn_compile(&key, &allowed, &machine, &p->steps[kind], err));
    }
    return ZENITH_OK;
}

static size_t arena_of(const plans *p)
{
    const size_t first = zn_plan_bytes(p->steps[FIRST]->plan);
    const size_t next = zn_plan_bytes(p->steps[NEXT]->plan);
    return first > next ? first : next;
}

// --- opening ------------------------------------------------------------------------------------

typedef struct open_job {
    zn_clip *clip;
    zn_error *err;
} open_job;

static zenith_status too_small(uint64_t needed, uint64_t limit, zn_error *err)
{
    return zn_fail(
        err, ZENITH_LIMIT,
        "a clip of this size needs at least %llu bytes of memory, and the limit is %llu bytes",
        (unsigned long long)needed, (unsigned long long)limit);
}

// What states and packed weights take is known when plans are made: with a bound, those are then
// made again, with fewer bytes of states, and for what is left.
static zenith_status open_on_stream(void *arg, zn_team *team, int stream)
{
    const open_job *job = arg;
    zn_clip *clip = job->clip;
    const uint64_t limit = clip->is.params.max_memory;
    uint64_t needed = 0, fixed = 0;
    (void)team;
    for (int attempt = 0; attempt < 4; attempt++) {
        size_t states = 0;
        zn_error reason = {0};
        zn_plan_needs needs = {0};
        plans *p = &clip->streams[stream];
        zenith_status status = make_plans(clip, stream, &needs, &reason);
        if (status == ZENITH_LIMIT && needs.bytes)
            return too_small(fixed + needs.bytes, limit, job->err);
        if (status != ZENITH_OK) return zn_fail(job->err, status, "%s", reason.text);
        const zn_plan *const all[] = {p->steps[FIRST]->plan, p->steps[NEXT]->plan};
        ZN_TRY(zn_states_measure(all, KINDS, &states, job->err));
        fixed = states + zn_packs_bytes(clip->is.model->packs);
        needed = fixed + arena_of(p);
        if (!limit || needed <= limit) {
            zn_weights_forget(clip->is.model->weights); // what steps read of them is packed
            return zn_states_create(all, KINDS, &clip->states, job->err);
        }
        drop_plans(p);
        if (clip->late) clip->budget = limit > fixed ? (size_t)(limit - fixed) : 1;
        clip->late = true;
    }
    return too_small(needed, limit, job->err);
}

static zenith_status check(const zn_clip_request *request, zn_error *err)
{
    const zn_variant *variant = request->model->variant;
    ZN_TRY(zn_check_part(request->model, request->part, err));
    if (variant->autoencoder->frames == 0)
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "%s knows pictures only: a clip needs an autoencoder of video",
                       variant->name);
    const zenith_image image = {.width = request->width, .height = request->height};
    return zn_check_size(request->model, &image, err);
}

zenith_status zn_clip_open(zn_engine *engine, const zn_clip_request *request, zn_clip **out,
                           zn_error *err)
{
    ZN_TRY(check(request, err));
    zn_executor *executor = zn_engine_executor(engine);
    const size_t bytes = sizeof(zn_clip) + sizeof(plans) * (size_t)zn_executor_streams(executor);
    zn_clip *clip = zn_alloc_zero(bytes);
    if (!clip) return zn_fail_memory(err, bytes);
    clip->engine = engine;
    clip->is = *request;
    zn_model_ref(request->model);
    open_job job = {clip, err};
    zenith_status status = zn_executor_run(executor, open_on_stream, &job, 1, err);
    if (status == ZENITH_OK)
        *out = clip;
    else
        zn_clip_free(clip);
    return status;
}

void zn_clip_free(zn_clip *clip)
{
    if (!clip) return;
    for (int i = 0; i < zn_executor_streams(zn_engine_executor(clip->engine)); i++)
        drop_plans(&clip->streams[i]);
    zn_states_free(clip->states);
    zn_model_unref(clip->is.model);
    zn_free(clip);
}

// --- steps --------------------------------------------------------------------------------------

int zn_clip_frames(const zn_clip *clip)
{
    return zn_step_frames(clip->is.model->variant->autoencoder, clip->is.part,
                          clip->begun ? ZN_STEP_NEXT : ZN_STEP_FIRST);
}

uint64_t zn_clip_bytes(const zn_clip *clip)
{
    uint64_t arena = 0;
    for (int i = 0; i < zn_executor_streams(zn_engine_executor(clip->engine)); i++)
        if (clip->streams[i].steps[NEXT]) arena = arena_of(&clip->streams[i]);
    return arena + zn_states_bytes(clip->states);
}

static const zn_plan *next_plan(const zn_clip *clip)
{
    const zn_plan *plan = NULL;
    for (int i = 0; i < zn_executor_streams(zn_engine_executor(clip->engine)); i++)
        if (clip->streams[i].steps[NEXT]) plan = clip->streams[i].steps[NEXT]->plan;
    return plan;
}

zenith_run_facts zn_clip_facts(const zn_clip *clip)
{
    const zn_plan *plan = next_plan(clip);
    return (zenith_run_facts){.dtype = clip->is.params.dtype,
                              .banded = zn_plan_chosen_mode(plan) == ZN_PLAN_ROLLING,
                              .band_rows = (uint32_t)zn_plan_band(plan),
                              .arena_bytes = zn_clip_bytes(clip),
                              .weights_bytes = zn_packs_bytes(clip->is.model->packs)};
}

void zn_clip_reset(zn_clip *clip)
{
    zn_states_reset(clip->states);
    clip->begun = clip->spoiled = false;
}

typedef struct step_job {
    zn_clip *clip;
    zenith_image images[ZN_MOST_PORTS]; // the caller's, in our own form
    zenith_latent latent;
    zn_guard guard;
    zn_error *err;
} step_job;

static const zn_autoencoder_facts *facts_of(const step_job *job)
{
    return job->clip->is.model->variant->autoencoder;
}

static zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count, void *dst,
                               zn_error *err)
{
    const step_job *job = cookie;
    if (job->clip->is.part == ZENITH_DECODER)
        return zn_latent_read_rows(&job->latent, facts_of(job), row, count, dst, err);
    return zn_image_read_rows(&job->images[input], row, count, dst, err);
}

static zenith_status write_rows(void *cookie, int output, int64_t row, int64_t count,
                                const void *src, zn_error *err)
{
    const step_job *job = cookie;
    ZN_TRY(zn_guard_check(&job->guard, err));
    if (job->clip->is.part == ZENITH_ENCODER)
        return zn_latent_write_rows(&job->latent, facts_of(job), row, count, src, err);
    return zn_image_write_rows(&job->images[output], row, count, src, err);
}

static void look(void *cookie, const zn_node *node, int64_t row, int64_t count, const void *data)
{
    step_job *job = cookie;
    (void)row;
    zn_guard_look(&job->guard, node, count, data);
}

static int report(void *cookie, double fraction)
{
    const step_job *job = cookie;
    const zenith_run_params *params = &job->clip->is.params;
    if (job->guard.found) return 1;
    return params->progress ? params->progress(params->progress_cookie, fraction) : 0;
}

// What earlier steps left in the states is in the narrow type: a clip cannot go on in another.
static zenith_status outcome(const step_job *job, zenith_status status, const zn_error *why)
{
    zn_error found = {0};
    if (zn_guard_check(&job->guard, &found) == ZENITH_OK)
        return status == ZENITH_OK ? status : zn_fail(job->err, status, "%s", why->text);
    return zn_fail(
        job->err, ZENITH_OVERFLOW, "%s%s", found.text,
        job->clip->is.params.dtype == ZENITH_DTYPE_F32 ? "" : ": begin this clip again in f32");
}

static zenith_status run_on_stream(void *arg, zn_team *team, int stream)
{
    step_job *job = arg;
    zn_clip *clip = job->clip;
    const zenith_cancel *cancel = clip->is.params.cancel;
    ZN_TRY(make_plans(clip, stream, NULL, job->err));
    const zn_compiled *step = clip->streams[stream].steps[clip->begun ? NEXT : FIRST];
    job->guard = (zn_guard){.watched = step->watched, .dtype = clip->is.params.dtype, .team = team};
    const zn_run run = {.read = read_rows,
                        .write = write_rows,
                        .cookie = job,
                        .states = clip->states,
                        .cancel = cancel ? &cancel->requested : NULL,
                        .progress = report,
                        .observe = look};
    zn_error why = {0};
    zenith_status status = zn_engine_run(clip->engine, stream, team, step, &run, &why);
    return outcome(job, status, &why);
}

static zenith_status take_pictures(step_job *job, const zenith_image *images, size_t count,
                                   zn_error *err)
{
    const zn_clip *clip = job->clip;
    for (size_t i = 0; i < count; i++) {
        zenith_image *image = &job->images[i];
        ZN_TRY(zn_image_take(images, i, image, err));
        if (image->width != clip->is.width || image->height != clip->is.height ||
            zn_image_plan_number(image) != clip->is.pixels)
            return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                           "the pictures of this clip are %u x %u, all of one number type, and "
                           "picture %zu is not",
                           clip->is.width, clip->is.height, i + 1);
        ZN_TRY(zn_check_pair(clip->is.model, image, &job->latent, err));
    }
    return ZENITH_OK;
}

zenith_status zn_clip_step(zn_clip *clip, const zenith_image *images, const zenith_latent *latent,
                           zn_error *err)
{
    const size_t count = (size_t)zn_clip_frames(clip);
    step_job job = {.clip = clip, .err = err};
    ZN_TRY(zn_latent_take(latent, 0, &job.latent, err));
    if (job.latent.kind != ZENITH_LATENT_MEAN)
        return zn_fail(err, ZENITH_UNSUPPORTED, "clips have latents, without samples or moments");
    ZN_TRY(take_pictures(&job, images, count, err));
    if (clip->spoiled)
        return zn_fail(
            err, ZENITH_INVALID_ARGUMENT,
            "a step of this clip was stopped, and its memory limit left no room to make it "
            "again: reset the clip and begin with the first step");
    const zenith_status status = zn_executor_run(zn_engine_executor(clip->engine), run_on_stream,
                                                 &job, 1, err);
    if (status == ZENITH_OK) clip->begun = true;
    clip->spoiled = status != ZENITH_OK && clip->begun && zn_plan_spoils(next_plan(clip));
    return status;
}
