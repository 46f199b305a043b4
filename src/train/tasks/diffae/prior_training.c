// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The task of training a diffusion autoencoder's prior: from normalised codes with noise to the
// noise. A sample has many rows, each a code with a timestep and noise of its own.
//
//     times ── prior_modulation ─┐
//     noisy ─────────────────── prior ── prediction ── loss ── noise
#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/train/loss/losses.h"
#include "src/train/tasks/diffae/code_data.h"

#include <math.h>
#include <string.h>

enum { MODULATION, PRIOR };
static const char *const part_names[] = {"prior_modulation", "prior", NULL};

typedef struct prior_training {
    zn_code_task task;
    zn_diffae_schedule schedule;
    float *kept, *added; // of each timestep: shares of the code and of the noise
} prior_training;

static prior_training *own_of(const zn_trainer *t)
{
    return t->own;
}

// Layers that the authors let begin as PyTorch does: a sixth of the variance that He's rule gives.
static void start_as_published(zn_network *network, int64_t last)
{
    char tail[48];
    zn_text_format(tail, sizeof tail, "layers.%lld.linear.weight", (long long)last);
    for (size_t i = 0; i < network->count; i++) {
        zn_train_parameter *p = &network->parameters[i];
        const bool plain = strstr(p->name, "time_embed.") || zn_text_ends_with(p->name, tail);
        p->scale = plain ? sqrtf(1.0f / 6) : 1;
    }
}

static zenith_status open_networks(zn_trainer *t, zn_error *err)
{
    enum { USUAL_ATTRIBUTES = 40 }; // none of these parts has them
    zn_diffae_schedules schedules;
    t->own = zn_alloc_zero(sizeof(prior_training));
    if (!t->own) return zn_fail_memory(err, sizeof(prior_training));
    prior_training *own = own_of(t);
    ZN_TRY(zn_code_task_open(t, part_names, USUAL_ATTRIBUTES, err));
    ZN_TRY(zn_diffae_schedules_read(own->task.config, &schedules, err));
    own->schedule = schedules.prior;
    if (own->task.config) ZN_TRY(zn_json_dump(own->task.config, &own->task.text, NULL, err));
    for (size_t i = 0; i < t->trained_count; i++)
        start_as_published(&t->trained[i], own->task.shape.prior_layers - 1);
    return zn_diffae_shares(&own->schedule, &own->kept, &own->added, err);
}

static zenith_status open_data(zn_trainer *t, zn_error *err)
{
    return zn_code_data_open(t, &own_of(t)->task.data, err);
}

static void close_task(zn_trainer *t)
{
    prior_training *own = own_of(t);
    if (!own) return;
    zn_code_task_free(&own->task);
    zn_free(own->kept);
    zn_free(own->added);
    zn_free(own);
    t->own = NULL;
}

// --- the graph ----------------------------------------------------------------------------------

static zn_node *build_one(zn_train_building *b, int which, zn_node *const *inputs)
{
    const zn_trainer *t = b->networks;
    const zn_network *network = &t->trained[which];
    const zn_sizes sizes = {.tokens = (int64_t)t->rows, .own_times = true};
    zn_node *y = NULL;
    zn_network_build(network, &sizes, b->graph, "", inputs, &y, zn_train_parameters(b, network));
    return y;
}

static void build(zn_train_building *b)
{
    const zn_trainer *t = b->networks;
    const int64_t rows = (int64_t)t->rows, numbers = own_of(t)->task.shape.code;
    const zn_desc codes = zn_desc_make(ZN_F32, ZN_SHAPE(1, rows, 1, numbers));
    zn_graph *g = b->graph;
    zn_node *noisy = zn_graph_input(g, "noisy", codes);
    zn_node *target = zn_graph_input(g, "target", codes);
    zn_node *times = zn_graph_input(g, "times", zn_desc_make(ZN_F32, ZN_SHAPE(1, rows, 1, 1)));
    zn_node *modulation = build_one(b, MODULATION, &times);
    b->result = build_one(b, PRIOR, (zn_node *[]){noisy, modulation});
    const zn_loss_inputs in = {.original = target, .reconstruction = b->result};
    b->losses[0] = zn_loss_build(g, &t->config.losses[0], &in);
    b->loss = zn_loss_sum(g, t->config.losses, b->losses, 1);
    zn_train_keep(b, b->result);
}

static zn_precision precision(const zn_train_building *b, const zn_node *node)
{
    const zn_trainer *t = b->networks;
    return t->trained[PRIOR].family->precision(t->trained[PRIOR].variant, node->name);
}

static zn_train_builder builder(const zn_trainer *t)
{
    return (zn_train_builder){build, precision, t, t->trained[0].count + t->trained[1].count};
}

// --- samples ------------------------------------------------------------------------------------

typedef struct row_values {
    float *noisy, *target, *time;
} row_values;

// The target is the noise first, and what is predicted in the end.
static void fill_row(const zn_trainer *t, zn_code_row row, row_values dst)
{
    const prior_training *own = own_of(t);
    const size_t numbers = row.set->numbers;
    const float *code = row.set->codes + row.index * numbers;
    // Another seed than the order of codes has.
    const uint32_t drawn = zn_diffae_noise(~(uint64_t)t->config.data.seed, row.number, dst.target,
                                           numbers);
    const uint64_t time = (uint64_t)drawn * (uint64_t)own->schedule.timesteps >> 32;
    const float kept = own->kept[time], added = own->added[time];
    *dst.time = (float)time;
    for (size_t i = 0; i < numbers; i++) {
        dst.noisy[i] = kept * code[i] + added * dst.target[i];
        dst.target[i] = zn_prediction_answer(own->schedule.prediction, kept, added, code[i],
                                             dst.target[i]);
    }
}

static void fill(const void *cookie, zn_sample *sample)
{
    const zn_trainer *t = cookie;
    const zn_code_data *data = &own_of(t)->task.data;
    const row_values all = {zn_sample_input(sample, "noisy"), zn_sample_input(sample, "target"),
                            zn_sample_input(sample, "times")};
    const size_t numbers = data->set.numbers;
    for (size_t r = 0; r < t->rows; r++)
        fill_row(t, zn_code_data_row(t, data, sample->number, r),
                 (row_values){all.noisy + r * numbers, all.target + r * numbers, all.time + r});
}

static zenith_status validate(zn_trainer *t, size_t asked, zn_step_facts *facts, zn_error *err)
{
    const size_t count = t->held_count; // whole samples
    const zn_batch batch = {count, zn_code_data_held, fill, t};
    (void)asked;
    ZN_TRY(zn_batch_losses(t->runner, &batch, NULL, err));
    zn_diffae_add(t, count, (double)count, facts);
    return ZENITH_OK;
}

const zn_train_task zn_train_diffae_prior = {
    .open = open_networks,
    .open_data = open_data,
    .builder = builder,
    .fill = fill,
    .add = zn_diffae_add,
    .validate = validate,
    .write = zn_code_task_write,
    .close = close_task,
};
