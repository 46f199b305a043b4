// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run computes with: the flat blocks of the optimizer, and the graphs of a step and a
// validation.
#include "src/base/memory.h"
#include "src/train/network/discriminator.h"
#include "src/train/network/quantise.h"
#include "src/train/run/task.h"

#include <string.h>

zenith_status zn_trainer_open_networks(zn_trainer *t, zn_error *err)
{
    t->task = zn_train_task_of(&t->config);
    ZN_TRY(t->task->open(t, err));
    if (t->kept_count < t->trained_count) t->kept_count = t->trained_count;
    return ZENITH_OK;
}

// --- the optimizer's blocks ---------------------------------------------------------------------

// What the network has in common with the one of another model.
static zenith_status take_weights(zn_trainer *t, zn_network *network, zn_error *err)
{
    zn_network donor;
    const zn_part *part = zn_model_part(t->start, network->part->name);
    ZN_TRY(zn_network_of_model(t->start, part, &donor, err)); // it was asked for when it was opened
    size_t taken = zn_network_take(network, &donor, t->optimizer.weights);
    zn_network_free(&donor);
    zn_log_write(t->options->log, ZN_LOG_INFO, "%zu of %zu tensors begin as those of %s", taken,
                 network->count, t->config.donor);
    return ZENITH_OK;
}

// The flat blocks: the model's elements, then the discriminator's, on a piece of their own.
static zenith_status create_blocks(zn_trainer *t, zn_error *err)
{
    const zn_train_config *c = &t->config;
    const bool adversarial = t->networks.discriminator;
    size_t elements = 0, begin = 0;
    for (size_t i = 0; i < t->trained_count; i++)
        elements = zn_network_place(&t->trained[i], elements);
    if (adversarial) {
        begin = zn_round_up(elements, ZN_OPTIMIZER_PIECE);
        elements = zn_network_place(&t->trained[t->trained_count], begin);
    }
    ZN_TRY(zn_optimizer_create(&c->optimizer, elements, (uint64_t)c->steps, t->executor,
                               &t->optimizer, err));
    if (!adversarial) return ZENITH_OK;
    const zn_train_optimizer settings = zn_discriminator_optimizer(&c->discriminator,
                                                                   &c->optimizer);
    zn_optimizer_divide(&t->optimizer, begin, &settings);
    zn_network_randomise(&t->trained[t->trained_count], t->optimizer.weights,
                         (uint64_t)c->init_seed + 2, 0,
                         ZN_INIT_HE); // the model's parts have the two before
    return ZENITH_OK;
}

// The block that networks see instead, where they are trained with rounding.
static zenith_status open_rounding(zn_trainer *t, zn_error *err)
{
    const zn_train_config *c = &t->config;
    if (c->quantise == ZN_F32) return ZENITH_OK;
    t->shown = zn_alloc_zero(t->optimizer.count * sizeof *t->shown);
    if (!t->shown) return zn_fail_memory(err, t->optimizer.count * sizeof *t->shown);
    for (size_t i = 0; i < t->trained_count; i++) {
        ZN_TRY(zn_quantise_choose(&t->trained[i], (zn_type)c->quantise, t->calibration, err));
        zn_quantise_show(&t->trained[i], t->shown);
    }
    zn_trainer_show(t);
    return ZENITH_OK;
}

void zn_trainer_show(zn_trainer *t)
{
    zn_optimizer *o = &t->optimizer;
    const size_t bytes = o->count * sizeof *o->weights;
    for (size_t i = 0; t->shown && i < t->trained_count; i++)
        zn_quantise_round(&t->trained[i], o->weights, t->shown);
    if (!t->runner) return;
    zn_batch_runner_changed(t->runner, o->weights, bytes);
    if (t->shown) zn_batch_runner_changed(t->runner, t->shown, bytes);
}

void zn_trainer_exchange(zn_trainer *t, float *block)
{
    zn_optimizer *o = &t->optimizer;
    for (size_t i = 0; i < o->parts[0].end; i++) {
        const float kept = o->weights[i];
        o->weights[i] = block[i];
        block[i] = kept;
    }
    zn_trainer_show(t);
}

// The flat block, filled with what the run begins with.
zenith_status zn_trainer_open_optimizer(zn_trainer *t, zn_error *err)
{
    const zn_train_config *c = &t->config;
    ZN_TRY(create_blocks(t, err));
    const size_t elements = t->optimizer.count;
    float *weights = t->optimizer.weights;
    for (size_t i = 0; i < t->trained_count; i++) {
        if (t->start && !c->donor) {
            zn_network_move(&t->trained[i], weights);
            continue;
        }
        zn_network_randomise(&t->trained[i], weights, (uint64_t)c->init_seed + i, (float)c->score,
                             (zn_init_rule)c->rule);
        if (c->donor) ZN_TRY(take_weights(t, &t->trained[i], err));
    }
    ZN_TRY(open_rounding(t, err));
    zn_model_unref(t->start); // its weights are copied
    t->start = NULL;
    if (t->optimizer.ema)
        memcpy(t->optimizer.ema, weights, t->optimizer.parts[0].end * sizeof *weights);
    if (c->accumulate == 1) return ZENITH_OK;
    t->group = zn_alloc_zero(elements * sizeof *weights);
    return t->group ? ZENITH_OK : zn_fail_memory(err, elements * sizeof *weights);
}

// --- computing -----------------------------------------------------------------------------------

// A picture for each thread is faster; one for all of them takes the memory of one.
zenith_status zn_trainer_open_executor(zn_trainer *t, zn_error *err)
{
    const bool together = t->config.recompute;
    const int asked = t->config.threads > 0 ? (int)t->config.threads : t->options->threads;
    const int threads = asked > 0 ? asked : 1;
    return zn_executor_create(together ? 1 : threads, together ? threads : 1, &t->executor, err);
}

zenith_status zn_trainer_open_runner(zn_trainer *t, zn_error *err)
{
    const zn_cpu *cpu = &t->options->cpu;
    const zn_train_graph *graphs[2] = {&t->graphs[0], &t->graphs[1]};
    const zn_train_builder builder = t->task->builder(t);
    size_t most = zn_trainer_batch(t);
    if (t->held_count > most) most = t->held_count;
    for (int i = 0; i < 2; i++)
        ZN_TRY(zn_train_graph_create(&t->config, &builder, i == 0, cpu, &t->graphs[i], err));
    return zn_batch_runner_create(t->executor, cpu, graphs, zn_trainer_sample_bytes(t), most,
                                  &t->runner, err);
}

void zn_trainer_release(zn_trainer *t, bool well)
{
    zn_training_log_close(&t->log);
    zn_batch_runner_free(t->runner);
    if (t->task && t->task->close) t->task->close(t);
    for (int i = 0; i < 2; i++) zn_train_graph_free(&t->graphs[i]);
    zn_data_free(t->data);
    zn_score_schedule_free(&t->scores);
    zn_optimizer_free(&t->optimizer);
    zn_executor_free(t->executor);
    for (int i = 0; i < ZN_TRAINED; i++) zn_network_free(&t->trained[i]);
    zn_network_free(&t->frozen_encoder);
    zn_network_free(&t->frozen_decoder);
    zn_weights_free(t->squeezenet);
    zn_model_unref(t->ranges);
    zn_free(t->shown);
    zn_model_unref(t->frozen);
    zn_model_unref(t->start);
    zn_lock_free(t->lock);
    zn_ranks_close(&t->ranks, well);
    zn_arena_free(&t->skips);
    zn_free(t->held);
    zn_free(t->held_spoiled);
    zn_free(t->group);
    zn_free(t->reconstructions);
    zn_free(t->identity);
    zn_train_config_close(&t->config);
}
