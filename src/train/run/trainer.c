// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/train/run/trainer.h"

#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/text.h"
#include "src/model/locate.h"
#include "src/train/network/quantise.h"
#include "src/train/run/plot.h"
#include "src/train/run/task.h"

#include <math.h>
#include <string.h>

static const double plot_seconds = 10; // between two drawings of the plot

static bool leads(const zn_trainer *t)
{
    return t->ranks.rank == 0;
}

static zenith_status output_path(const zn_trainer *t, const char *name, char path[ZN_PATH_SIZE],
                                 zn_error *err)
{
    size_t length = zn_text_format(path, ZN_PATH_SIZE, "%s/%s", t->config.output, name);
    if (length + 1 < ZN_PATH_SIZE) return ZENITH_OK;
    return zn_fail(err, ZENITH_LIMIT, "\"output\" is too long a path: '%s'", t->config.output);
}

// --- the output folder --------------------------------------------------------------------------

// What the run is, with the weights that it reads and does not train.
static zenith_status open_identity(zn_trainer *t, zn_error *err)
{
    char hex[65];
    if (t->frozen) zn_trainer_record(t, "frozen", zn_model_sha256(t->frozen));
    if (t->squeezenet) zn_weights_sha256(t->squeezenet, hex);
    if (t->squeezenet) zn_trainer_record(t, "squeezenet", hex);
    if (t->calibration) zn_quantise_digest(t->calibration, hex);
    if (t->calibration) zn_trainer_record(t, "calibration", hex);
    return zn_train_config_identity(&t->config, &t->read, &t->identity, err);
}

static zenith_status make_samples(const zn_trainer *t, zn_error *err)
{
    char path[ZN_PATH_SIZE];
    if (t->config.sample_every == 0) return ZENITH_OK;
    ZN_TRY(output_path(t, "samples", path, err));
    return zn_directory_make(path, err);
}

static zenith_status copy_config(const zn_trainer *t, zn_error *err)
{
    char path[ZN_PATH_SIZE];
    zn_writer *file;
    ZN_TRY(output_path(t, "config.json", path, err));
    ZN_TRY(zn_writer_open(path, &file, err));
    zenith_status status = zn_writer_write(file, t->config.text, t->config.text_size, err);
    if (status == ZENITH_OK) return zn_writer_commit(file, err);
    zn_writer_discard(file);
    return status;
}

static zn_run_identity identity_of(const zn_trainer *t)
{
    return (zn_run_identity){t->identity, t->data ? zn_data_checksum(t->data) : t->checksum};
}

// Goes on from the newest checkpoint, or begins.
static zenith_status restore(zn_trainer *t, const zn_run_identity *identity, zn_error *err)
{
    bool found = false;
    uint64_t step = 0;
    if (zn_path_is_directory(t->config.output))
        ZN_TRY(zn_checkpoint_find(t->config.output, &found, &step, err));
    if (!found) return ZENITH_OK;
    if (!t->options->resume)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "'%s' has checkpoints of a run already: resume it "
                       "(zenith_train_params.resume), or choose another \"output\"",
                       t->config.output);
    return zn_checkpoint_read(t->config.output, t->trained, t->kept_count, &t->optimizer, identity,
                              zn_trainer_skip, t, err);
}

static zenith_status open_output(zn_trainer *t, zn_error *err)
{
    char path[ZN_PATH_SIZE];
    ZN_TRY(open_identity(t, err));
    const zn_run_identity identity = identity_of(t);
    ZN_TRY(zn_trainer_claim(t, err));
    ZN_TRY(restore(t, &identity, err));
    ZN_TRY(zn_trainer_agree(t, &identity, err));
    zn_trainer_show(t);
    if (!leads(t)) return ZENITH_OK;
    ZN_TRY(make_samples(t, err));
    ZN_TRY(zn_checkpoint_clean(t->config.output, err));
    ZN_TRY(copy_config(t, err));
    ZN_TRY(output_path(t, "train.jsonl", path, err));
    ZN_TRY(zn_training_log_open(path, t->optimizer.step, &t->log, err));
    t->cpu_seconds = t->log.cpu_seconds;
    for (const zn_skip *s = t->first_skip; s; s = s->next)
        ZN_TRY(zn_training_log_skip(&t->log, t->optimizer.step, s->name, s->reason, err));
    return ZENITH_OK;
}

// --- a step -------------------------------------------------------------------------------------

uint64_t zn_trainer_number(const zn_trainer *t, size_t index)
{
    const uint64_t count = zn_trainer_images(t), ranks = (uint64_t)t->ranks.count;
    const uint64_t first = (t->optimizer.step * ranks + (uint64_t)t->ranks.rank) * count;
    return first + t->batches * (uint64_t)zn_trainer_batch(t) + index;
}

zenith_status zn_trainer_next(void *cookie, size_t index, uint8_t *pixels, uint64_t *number,
                              zn_error *err)
{
    zn_trainer *t = cookie;
    *number = zn_trainer_number(t, index);
    return t->data && !t->numbered ? zn_data_get(t->data, *number, pixels, err) : ZENITH_OK;
}

static zenith_status sum_ranks(zn_trainer *t, zn_step_facts *facts, zn_error *err)
{
    enum { OTHERS = 3 };
    float numbers[ZN_TRAIN_LOSSES + OTHERS] = {(float)facts->loss, (float)facts->psnr,
                                               (float)facts->discriminator};
    const size_t losses = t->config.losses_count;
    const double ranks = t->ranks.count;
    if (t->ranks.count == 1) return ZENITH_OK;
    for (size_t k = 0; k < losses; k++) numbers[OTHERS + k] = (float)facts->losses[k];
    ZN_TRY(zn_ranks_sum(&t->ranks, t->optimizer.gradient, t->optimizer.count, err));
    ZN_TRY(zn_ranks_sum(&t->ranks, numbers, losses + OTHERS, err));
    facts->loss = (double)numbers[0] / ranks;
    facts->psnr = (double)numbers[1] / ranks;
    facts->discriminator = (double)numbers[2] / ranks;
    for (size_t k = 0; k < losses; k++) facts->losses[k] = (double)numbers[OTHERS + k] / ranks;
    return ZENITH_OK;
}

// The sum over the batches of a step. Each is summed by itself first: with as many processes
// instead, the bits are the same.
static zenith_status accumulate(zn_trainer *t, zn_step_facts *facts, zn_error *err)
{
    const zn_batch batch = {zn_trainer_batch(t), zn_trainer_next, t->task->fill, t};
    const size_t batches = (size_t)t->config.accumulate;
    float *restrict sum = t->optimizer.gradient, *restrict group = t->group;
    for (t->batches = 0; t->batches < batches; t->batches++) {
        bool first = t->batches == 0;
        if (t->task->ask) ZN_TRY(t->task->ask(t, err));
        ZN_TRY(zn_batch_gradients(t->runner, &batch, first ? sum : group, err));
        for (size_t i = 0; !first && i < t->optimizer.count; i++) sum[i] += group[i];
        t->task->add(t, batch.count, (double)(batch.count * batches), facts);
    }
    return ZENITH_OK;
}

// A smaller scale helps gradients, not the maps that the loss comes from.
static zenith_status check_loss(const zn_trainer *t, const zn_step_facts *facts, zn_error *err)
{
    if (!t->optimizer.scale.used || isfinite(facts->loss)) return ZENITH_OK;
    return zn_fail(
        err, ZENITH_INVALID_ARGUMENT,
        "the loss of step %llu is not finite: a map may have grown beyond what f16 holds "
        "(65504), and \"dtype\": \"bf16\" helps; or a lower \"optimizer.lr\"",
        (unsigned long long)facts->step);
}

// What the next step's graph is run with. The discriminator learns from the first step on, so that
// it knows something when the model begins to listen to it.
static void set_scalars(zn_trainer *t)
{
    const bool listens = t->optimizer.step >= (uint64_t)t->config.discriminator.start;
    zn_batch_runner_set(t->runner, ZN_TRAIN_LOSS_SCALE, zn_optimizer_scale(&t->optimizer));
    zn_batch_runner_set(t->runner, ZN_TRAIN_ADVERSARY, listens ? 1 : 0);
}

static zenith_status train_step(zn_trainer *t, zn_step_facts *facts, zn_error *err)
{
    zn_optimizer *o = &t->optimizer;
    const size_t all = zn_trainer_images(t) * (size_t)t->ranks.count;
    double begin = zn_clock_seconds(), cpu_begin = zn_process_cpu_seconds();
    *facts = (zn_step_facts){.step = o->step + 1};
    set_scalars(t);
    ZN_TRY(accumulate(t, facts, err));
    ZN_TRY(sum_ranks(t, facts, err));
    ZN_TRY(check_loss(t, facts, err));
    zn_score_schedule_hold(&t->scores, o);
    ZN_TRY(zn_optimizer_step(o, 1.0f / (float)all, err));
    if (!o->overflowed) facts->pruned = zn_score_schedule_apply(&t->scores, o);
    zn_trainer_show(t);
    double seconds = zn_clock_seconds() - begin;
    t->step_seconds = t->step_seconds > 0 ? 0.9 * t->step_seconds + 0.1 * seconds : seconds;
    t->cpu_seconds += zn_process_cpu_seconds() - cpu_begin;
    facts->cpu_seconds = t->cpu_seconds;
    facts->norm = o->parts[0].norm;
    facts->lr = o->parts[0].lr;
    facts->discriminator_norm = o->parts[1].norm;
    facts->loss_scale = o->scale.used ? (double)zn_optimizer_scale(o) : 0;
    facts->overflows = o->scale.overflows;
    facts->seconds = zn_clock_seconds() - t->begun;
    facts->images_per_second = (double)(all * zn_trainer_rows(t)) / t->step_seconds;
    return t->log_status;
}

// --- what is shown and kept ---------------------------------------------------------------------

static zenith_status write_checkpoint(zn_trainer *t, zn_error *err)
{
    const zn_run_identity identity = identity_of(t);
    if (!leads(t)) return ZENITH_OK;
    return zn_checkpoint_write(t->config.output, t->trained, t->kept_count, &t->optimizer,
                               &identity, err);
}

static zenith_status draw_plot(zn_trainer *t, bool always, zn_error *err)
{
    char path[ZN_PATH_SIZE], title[256];
    double now = zn_clock_seconds();
    if (!leads(t) || (!always && now - t->plotted < plot_seconds)) return ZENITH_OK;
    t->plotted = now;
    zn_text_format(title, sizeof title, "%s: %s, step %llu of %llu", t->config.output,
                   t->config.model, (unsigned long long)t->optimizer.step,
                   (unsigned long long)t->config.steps);
    ZN_TRY(output_path(t, "plot.svg", path, err));
    return zn_plot_write(path, title, &t->log, err);
}

// A folder of the output that is made only now, so that a run that stops leaves none.
static zenith_status write_block(const zn_trainer *t, const char *name, const float *block,
                                 zn_error *err)
{
    char path[ZN_PATH_SIZE];
    ZN_TRY(output_path(t, name, path, err));
    ZN_TRY(zn_directory_make(path, err));
    return t->task->write(t, path, block, err);
}

static zenith_status write_results(const zn_trainer *t, zn_error *err)
{
    if (!leads(t)) return ZENITH_OK;
    ZN_TRY(write_block(t, "weights", t->optimizer.weights, err));
    return t->optimizer.ema ? write_block(t, "ema", t->optimizer.ema, err) : ZENITH_OK;
}

static zenith_status validate(zn_trainer *t, zn_error *err)
{
    zn_step_facts facts = {.step = t->optimizer.step};
    ZN_TRY(t->task->validate(t, (size_t)t->config.validation.count, &facts, err));
    return zn_training_log_validation(&t->log, &facts, err);
}

static zenith_status draw_samples(zn_trainer *t, zn_error *err)
{
    char name[64], path[ZN_PATH_SIZE];
    zn_text_format(name, sizeof name, "samples/%08llu.png", (unsigned long long)t->optimizer.step);
    ZN_TRY(output_path(t, name, path, err));
    return t->task->draw(t, (size_t)t->config.samples, path, err);
}

// What is only looked at ends no run: days of training are worth more than a picture of them.
static zenith_status look(zn_trainer *t, zenith_status (*at)(zn_trainer *t, zn_error *err),
                          zn_error *err)
{
    zn_error own = {0};
    if (!leads(t) || at(t, &own) == ZENITH_OK) return ZENITH_OK;
    zn_log_write(t->options->log, ZN_LOG_WARNING, "after step %llu: %s",
                 (unsigned long long)t->optimizer.step, own.text);
    return zn_training_log_fault(&t->log, t->optimizer.step, own.text, err);
}

static bool due(int64_t every, uint64_t step, uint64_t last)
{
    return every > 0 && (step % (uint64_t)every == 0 || step == last);
}

// After a step: log, validation, samples, plot. The checkpoint is last, so that what it stands for
// is in the log already.
static zenith_status after_step(zn_trainer *t, const zn_step_facts *facts, uint64_t last,
                                zn_error *err)
{
    const zn_train_config *c = &t->config;
    const uint64_t step = t->optimizer.step;
    if (leads(t) && due(c->log_every, step, last))
        ZN_TRY(zn_training_log_step(&t->log, c, facts, err));
    if (due(c->validate_every, step, last)) ZN_TRY(look(t, validate, err));
    if (due(c->sample_every, step, last)) ZN_TRY(look(t, draw_samples, err));
    ZN_TRY(draw_plot(t, step == last, err));
    if (due(c->checkpoint_every, step, last)) ZN_TRY(write_checkpoint(t, err));
    if (step < (uint64_t)c->steps && due(c->results_every, step, 0)) return write_results(t, err);
    return ZENITH_OK;
}

// The next turn takes the same step again: same pictures, smaller scale.
static zenith_status note_overflow(zn_trainer *t, const zn_step_facts *facts, zn_error *err)
{
    return leads(t) ? zn_training_log_overflow(&t->log, facts, err) : ZENITH_OK;
}

static bool stop_asked(const zn_trainer *t, const zn_step_facts *facts)
{
    const zn_train_options *o = t->options;
    const uint64_t steps = (uint64_t)t->config.steps;
    const zn_train_report report = {.step = t->optimizer.step,
                                    .steps = steps,
                                    .loss = facts->loss,
                                    .psnr = facts->psnr,
                                    .images_per_second = facts->images_per_second,
                                    .seconds_left = (double)(steps - t->optimizer.step) *
                                                    t->step_seconds};
    bool asked = leads(t) && o->report && o->report(o->cookie, &report) != 0;
    return asked || (o->cancel && atomic_load(o->cancel) != 0);
}

static zenith_status stop_early(zn_trainer *t, zn_error *err)
{
    const uint64_t step = t->optimizer.step;
    if (step == 0 || !due(t->config.checkpoint_every, step, 0)) ZN_TRY(write_checkpoint(t, err));
    ZN_TRY(draw_plot(t, true, err));
    return zn_fail(err, ZENITH_CANCELLED,
                   "stopped after step %llu of %llu; its checkpoint is in '%s', and "
                   "zenith_train_params.resume continues from there",
                   (unsigned long long)t->optimizer.step, (unsigned long long)t->config.steps,
                   t->config.output);
}

static zenith_status run(zn_trainer *t, zn_error *err)
{
    const uint64_t steps = (uint64_t)t->config.steps, wanted = t->options->stop_at;
    const uint64_t last = wanted > 0 && wanted < steps ? wanted : steps;
    t->begun = t->plotted = zn_clock_seconds();
    while (t->optimizer.step < last) {
        zn_step_facts facts;
        ZN_TRY(train_step(t, &facts, err));
        if (t->optimizer.overflowed)
            ZN_TRY(note_overflow(t, &facts, err));
        else
            ZN_TRY(after_step(t, &facts, last, err));
        int stop = stop_asked(t, &facts);
        ZN_TRY(zn_ranks_agree(&t->ranks, &stop, err));
        if (stop && t->optimizer.step < last) return stop_early(t, err);
    }
    return last == steps ? write_results(t, err) : ZENITH_OK;
}

// A full disk is the usual reason: what was written before is whole.
static void say_how_to_go_on(const zn_trainer *t, zn_error *err)
{
    char text[sizeof err->text];
    bool found = false;
    uint64_t step = 0;
    if (zn_checkpoint_find(t->config.output, &found, &step, NULL) != ZENITH_OK || !found) return;
    memcpy(text, err->text, sizeof text);
    zn_text_format(err->text, sizeof err->text,
                   "%s; the newest checkpoint is of step %llu, and zenith_train_params.resume "
                   "continues from there",
                   text, (unsigned long long)step);
}

// --- the whole ----------------------------------------------------------------------------------

static zenith_status open(zn_trainer *t, zn_error *err)
{
    const zn_train_options *o = t->options;
    ZN_TRY(zn_train_config_open(o->config, &t->config, err));
    ZN_TRY(zn_ranks_open(&t->ranks, err));
    ZN_TRY(zn_trainer_open_networks(t, err));
    ZN_TRY(zn_trainer_open_executor(t, err));
    ZN_TRY(zn_trainer_open_optimizer(t, err));
    ZN_TRY(
        zn_score_schedule_create(&t->config.prune, t->trained, t->trained_count, &t->scores, err));
    ZN_TRY(zn_trainer_open_data(t, err));
    if (t->task->prepare) ZN_TRY(t->task->prepare(t, err));
    ZN_TRY(zn_trainer_open_runner(t, err));
    return open_output(t, err);
}

zenith_status zn_train(const zn_train_options *options, zn_error *err)
{
    zn_trainer *t = zn_alloc_zero(sizeof *t);
    if (!t) return zn_fail_memory(err, sizeof *t);
    t->options = options;
    zenith_status status = open(t, err);
    if (status == ZENITH_OK) status = run(t, err);
    if (status == ZENITH_IO && t->begun > 0) say_how_to_go_on(t, err);
    zn_trainer_release(t, status == ZENITH_OK || status == ZENITH_CANCELLED);
    zn_free(t);
    return status;
}
