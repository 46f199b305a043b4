// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Jobs: a task of the executor, and what its caller may ask of it.
//
// Invariants
//   1. A job ends once: by the stream that took it, by the cancel that withdrew it, or by the end
//      of the executor that drops it. Each of them first takes the state away from WAITING.
//   2. While the state is WAITING and the job's lock is held, the executor is there: it ends only
//      after it has dropped this job, which takes the lock. So locks are taken in the order job,
//      executor.
//   3. After the state is OVER, nobody but the owner touches the job.
#include "src/api/context.h"
#include "src/api/models.h"
#include "src/base/memory.h"
#include "src/model/autoencoder.h"
#include "src/task/autoencode/autoencode.h"
#include "src/task/autoencode/pixels.h"
#include "zenith/zenith.h"

struct zenith_job {
    zn_task task;
    uint64_t process;
    zn_executor *executor; // looked at while WAITING only
    zn_engine *engine;
    zn_model *model;
    zenith_job_kind kind;
    zenith_image image, result;
    zenith_latent latent;
    zenith_run_params run;
    zenith_run_facts *facts;      // the caller's; may be NULL
    zenith_progress_fn *progress; // likewise
    void *progress_cookie;
    double from, share; // of the job, that the part in work is
    zenith_cancel cancel;
    zenith_job_fn *done;
    void *done_cookie;
    double submitted;
    zn_mutex *lock; // of what follows
    zn_condition *changed;
    zenith_job_state state;
    zenith_status status;
    double began, ended;
    zn_error error;
};

// --- the work -----------------------------------------------------------------------------------

static int report(void *cookie, double fraction)
{
    const zenith_job *job = cookie;
    return job->progress(job->progress_cookie, job->from + job->share * fraction);
}

static zenith_status run_part(zenith_job *job, unsigned part, const zenith_image *image,
                              const zenith_latent *latent, zn_team *team, int stream, zn_error *err)
{
    zenith_run_facts facts = {0};
    zn_batch batch = {.model = job->model,
                      .part = part,
                      .images = image,
                      .latents = latent,
                      .count = 1,
                      .params = job->run};
    batch.params.facts = &facts;
    batch.params.cancel = &job->cancel;
    if (job->progress) {
        batch.params.progress = report;
        batch.params.progress_cookie = job;
    }
    ZN_TRY(zn_autoencode_on_stream(job->engine, &batch, team, stream, err));
    if (job->facts) zn_caller_struct_out(&facts, sizeof facts, job->facts);
    return ZENITH_OK;
}

// The latent lies in memory of the job's own where the caller does not want it.
static zenith_status reconstruct(zenith_job *job, zn_team *team, int stream, zn_error *err)
{
    zenith_latent latent = job->latent;
    void *own = NULL;
    if (!latent.data) {
        const size_t bytes = sizeof(float) * latent.channels * latent.width * latent.height;
        own = zn_alloc(bytes);
        if (!own) return zn_fail_memory(err, bytes);
        latent.data = own;
    }
    zenith_status status;
    job->share = 0.5;
    ZN_GO(run_part(job, ZENITH_ENCODER, &job->image, &latent, team, stream, err));
    job->from = 0.5;
    latent.kind = ZENITH_LATENT_MEAN; // the decoder's word for any latent
    ZN_GO(run_part(job, ZENITH_DECODER, &job->result, &latent, team, stream, err));
fail:
    zn_free(own);
    return status;
}

static zenith_status work(zenith_job *job, zn_team *team, int stream, zn_error *err)
{
    if (atomic_load(&job->cancel.requested)) return zn_fail(err, ZENITH_CANCELLED, "cancelled");
    if (job->kind == ZENITH_JOB_RECONSTRUCT) return reconstruct(job, team, stream, err);
    const unsigned part = job->kind == ZENITH_JOB_ENCODE ? ZENITH_ENCODER : ZENITH_DECODER;
    return run_part(job, part, &job->image, &job->latent, team, stream, err);
}

// --- its end ------------------------------------------------------------------------------------

// The state is RUNNING, by whoever calls this. The caller is told first: what `done` looks at is
// then still there.
static void finish(zenith_job *job, zenith_status status, const zn_error *error)
{
    if (job->done) job->done(job->done_cookie, status, error->text);
    zn_mutex_lock(job->lock);
    job->status = status;
    job->error = *error;
    job->ended = zn_clock_seconds();
    job->state = ZENITH_JOB_OVER;
    zn_condition_wake_all(job->changed);
    zn_mutex_unlock(job->lock);
}

static void begin(zenith_job *job)
{
    zn_mutex_lock(job->lock);
    job->state = ZENITH_JOB_RUNNING;
    job->began = zn_clock_seconds();
    zn_mutex_unlock(job->lock);
}

static zenith_status run(void *arg, zn_team *team, int stream)
{
    zenith_job *job = arg;
    zn_error error = {0};
    begin(job);
    zenith_status status = work(job, team, stream, &error);
    if (status != ZENITH_OK) zn_fail(&error, status, "%s", zenith_status_text(status));
    finish(job, status, &error);
    return ZENITH_OK;
}

static void drop(void *arg)
{
    zenith_job *job = arg;
    zn_error error = {0};
    begin(job);
    finish(job, zn_fail(&error, ZENITH_CANCELLED, "the context was freed before the job began"),
           &error);
}

void zenith_job_cancel(zenith_job *job)
{
    if (!job || job->process != zn_process_id()) return;
    zn_error error = {0};
    atomic_store(&job->cancel.requested, 1);
    zn_mutex_lock(job->lock);
    const bool taken_back = job->state == ZENITH_JOB_WAITING &&
                            zn_executor_withdraw(job->executor, &job->task);
    if (taken_back) {
        job->state = ZENITH_JOB_RUNNING;
        job->began = zn_clock_seconds();
    }
    zn_mutex_unlock(job->lock);
    if (taken_back)
        finish(job, zn_fail(&error, ZENITH_CANCELLED, "cancelled before it began"), &error);
}

// --- submitting ---------------------------------------------------------------------------------

static zenith_status copy_pictures(zenith_job *job, const zenith_job_params *params, zn_error *err)
{
    const bool both = job->kind == ZENITH_JOB_RECONSTRUCT;
    if (!params->image || (both ? !params->result : !params->latent)) {
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "an image or latent that this kind of job needs is NULL");
    }
    ZN_TRY(zn_image_take(params->image, 0, &job->image, err));
    if (both) ZN_TRY(zn_image_take(params->result, 0, &job->result, err));
    return params->latent ? zn_latent_take(params->latent, 0, &job->latent, err) : ZENITH_OK;
}

// A latent that nobody gave, for checks and until there is memory for it.
static zenith_status check_reconstruction(zenith_job *job, bool given, zn_error *err)
{
    const zn_autoencoder_facts *facts = job->model->variant->autoencoder;
    zenith_latent checked;
    ZN_TRY(zn_check_size(job->model, &job->image, err));
    if (!given)
        job->latent = (zenith_latent){.size = sizeof job->latent,
                                      .width = job->image.width / (uint32_t)facts->factor,
                                      .height = job->image.height / (uint32_t)facts->factor,
                                      .channels = (uint32_t)facts->latent_channels,
                                      .number = ZENITH_F32,
                                      .order = ZENITH_CHW};
    checked = job->latent;
    if (!given) checked.data = &checked; // there will be
    if (!checked.data || checked.kind == ZENITH_LATENT_MOMENTS)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the latent of a reconstruction must have data and cannot be moments");
    ZN_TRY(zn_check_pair(job->model, &job->image, &checked, err));
    return zn_check_pair(job->model, &job->result, &checked, err);
}

static zenith_status check(zenith_job *job, const zenith_job_params *params, zn_error *err)
{
    const unsigned parts[] = {[ZENITH_JOB_ENCODE] = ZENITH_ENCODER,
                              [ZENITH_JOB_DECODE] = ZENITH_DECODER,
                              [ZENITH_JOB_RECONSTRUCT] = ZENITH_ENCODER | ZENITH_DECODER};
    if ((int)params->kind < ZENITH_JOB_ENCODE || params->kind > ZENITH_JOB_RECONSTRUCT)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "unknown kind of job: %d", (int)params->kind);
    if (job->run.cancel || job->run.results)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the run parameters of a job must not have a cancel flag or results");
    for (unsigned part = ZENITH_ENCODER; part <= ZENITH_DECODER; part <<= 1)
        if (parts[params->kind] & part) ZN_TRY(zn_check_part(job->model, part, err));
    ZN_TRY(copy_pictures(job, params, err));
    if (job->kind == ZENITH_JOB_RECONSTRUCT)
        return check_reconstruction(job, params->latent != NULL, err);
    return zn_check_pair(job->model, &job->image, &job->latent, err);
}

static void fill(zenith_job *job, zenith_context *context, const zenith_job_params *params)
{
    job->process = zn_process_id();
    job->executor = context->executor;
    job->engine = context->engine;
    job->kind = params->kind;
    job->model = zn_model_ref(params->model->inner);
    job->facts = job->run.facts;
    job->progress = job->run.progress;
    job->progress_cookie = job->run.progress_cookie;
    job->share = 1;
    job->done = params->done;
    job->done_cookie = params->done_cookie;
    job->submitted = zn_clock_seconds();
    atomic_init(&job->cancel.requested, 0);
    job->task = (zn_task){.run = run, .drop = drop, .arg = job, .priority = params->priority};
}

static void destroy(zenith_job *job)
{
    zn_condition_free(job->changed);
    zn_mutex_free(job->lock);
    zn_model_unref(job->model);
    zn_free(job);
}

static zenith_status submit(zenith_context *context, const zenith_job_params *params,
                            zenith_job **out, zn_error *err)
{
    zenith_job_params full;
    zenith_run_params how;
    ZN_TRY(zn_params_copy(params, &full, sizeof full, err));
    if (!full.model || !out)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "zenith_job_submit needs a model and a place for the job");
    ZN_TRY(zn_run_params_fill(context, full.run, &how, err));
    zenith_job *job = zn_alloc_zero(sizeof *job);
    if (!job) return zn_fail_memory(err, sizeof *job);
    job->run = how;
    fill(job, context, &full);
    zenith_status status;
    ZN_GO(check(job, &full, err));
    ZN_GO(zn_mutex_create(&job->lock, err));
    ZN_GO(zn_condition_create(&job->changed, err));
    *out = job; // before `done` can come
    ZN_GO(zn_executor_submit(job->executor, &job->task, err));
    return ZENITH_OK;
fail:
    *out = NULL;
    destroy(job);
    return status;
}

zenith_status zenith_job_submit(zenith_context *context, const zenith_job_params *params,
                                zenith_job **out)
{
    // Not zn_context_enter: its lock is held as long as a plain call computes.
    if (!context) return ZENITH_INVALID_ARGUMENT;
    if (context->process != zn_process_id()) return ZENITH_FORKED;
    zn_error error = {0};
    zenith_status status = submit(context, params, out, &error);
    if (status != ZENITH_OK) zn_fail(&error, status, "%s", zenith_status_text(status));
    zn_sentences_set(context->sentences, error.text);
    return status;
}

// --- what its caller asks -----------------------------------------------------------------------

static zenith_status wait_for_end(zenith_job *job)
{
    zn_mutex_lock(job->lock);
    while (job->state != ZENITH_JOB_OVER) zn_condition_wait(job->changed, job->lock);
    const zenith_status status = job->status;
    zn_mutex_unlock(job->lock);
    return status;
}

zenith_status zenith_job_wait(zenith_job *job)
{
    if (!job) return ZENITH_INVALID_ARGUMENT;
    if (job->process != zn_process_id()) return ZENITH_FORKED;
    return wait_for_end(job);
}

void zenith_job_get_info(zenith_job *job, zenith_job_info *out)
{
    if (!job || !out || job->process != zn_process_id()) return;
    zn_mutex_lock(job->lock);
    const double now = zn_clock_seconds();
    const bool waits = job->state == ZENITH_JOB_WAITING, over = job->state == ZENITH_JOB_OVER;
    const int before = waits ? zn_executor_position(job->executor, &job->task) : 0;
    zenith_job_info info = {.state = job->state,
                            .status = job->status,
                            .message = over ? job->error.text : "",
                            .before = before > 0 ? (uint32_t)before : 0,
                            .waited = (waits ? now : job->began) - job->submitted,
                            .ran = waits ? 0 : (over ? job->ended : now) - job->began};
    zn_mutex_unlock(job->lock);
    zn_caller_struct_out(&info, sizeof info, out);
}

void zenith_job_free(zenith_job *job)
{
    if (!job) return;
    if (job->process == zn_process_id()) {
        zenith_job_cancel(job);
        wait_for_end(job);
    }
    destroy(job);
}
