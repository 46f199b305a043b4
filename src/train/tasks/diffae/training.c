// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/train/tasks/diffae/training.h"

#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/random.h"
#include "src/base/text.h"
#include "src/model/diffae/diffae.h"
#include "src/model/locate.h"
#include "src/op/ops.h"
#include "src/train/loss/losses.h"
#include "src/train/run/sample_grid.h"

#include <math.h>
#include <string.h>

// Of what a sparse encoder sees, and of noise in linear codes: other numbers than crops and noise
// have.
static const uint64_t SEEN_SEED = 0x5ee2, CODE_SEED = 0xc0de;

static const char *const part_names[ZN_DIFFAE_TRAINED + 1] = {"encoder", "modulation", "denoiser",
                                                              NULL};

static zn_diffae_training *own_of(const zn_trainer *t)
{
    return t->own;
}

// --- networks -----------------------------------------------------------------------------------

// Layers that the authors let begin with nothing: the last of each block and of attention, and the
// last of all.
static void start_with_nothing(zn_network *network)
{
    static const char *const tails[] = {".out_layers.3.weight", ".out_layers.3.bias",
                                        ".proj_out.weight", ".proj_out.bias"};
    for (size_t i = 0; i < network->count; i++) {
        zn_train_parameter *p = &network->parameters[i];
        bool nothing = strcmp(p->name, "out.2.weight") == 0 || strcmp(p->name, "out.2.bias") == 0;
        for (size_t k = 0; k < sizeof tails / sizeof *tails; k++)
            nothing |= zn_text_ends_with(p->name, tails[k]);
        p->scale = nothing ? 0 : 1;
    }
}

zenith_status zn_diffae_open_start(zn_trainer *t, const char *const *parts, zn_error *err)
{
    const zn_train_config *c = &t->config;
    if (t->options->start) {
        t->start = zn_model_ref(t->options->start);
        return ZENITH_OK;
    }
    const zn_model_request request = {.name = c->model, .weights = c->weights, .parts = parts};
    return c->weights ? zn_model_open(&request, &t->start, err) : ZENITH_OK;
}

static zenith_status check(const zn_trainer *t, const char *layout, zn_error *err)
{
    zn_diffae_training *own = own_of(t);
    if (!zn_diffae_shape_read(layout, &own->shape))
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"network\" says sizes that no diffusion autoencoder has (%s)", layout);
    const zn_diffae_shape *is = &own->shape;
    const int levels = is->levels > is->encoder_levels ? is->levels : is->encoder_levels;
    const int64_t multiple = (int64_t)own->space.factor * is->patch << (levels - 1);
    if (is->inputs != 3 && !own->space.autoencoder[0])
        return zn_fail(
            err, ZENITH_UNSUPPORTED,
            "\"network.in_channels\" must be 3: the task diffae learns from pictures, or "
            "from latents of \"network.autoencoder\"");
    own->side = t->config.data.crop / own->space.factor;
    if (t->config.data.crop % multiple == 0) return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "\"data.crop\" must be a multiple of %lld for as many levels",
                   (long long)multiple);
}

// The model whose latents networks see.
static zenith_status open_autoencoder(zn_trainer *t, zn_error *err)
{
    static const char *const both[] = {"encoder", "decoder", NULL};
    const zn_diffae_space *space = &own_of(t)->space;
    const char *weights = t->config.weights;
    if (!space->autoencoder[0]) return ZENITH_OK;
    const zn_model_request request = {
        .name = space->autoencoder, .beside = weights ? weights : "", .parts = both};
    if (t->start)
        t->frozen = zn_model_ref(t->start->companion);
    else
        ZN_TRY(zn_model_open(&request, &t->frozen, err));
    if (space->sha256[0] && strcmp(space->sha256, zn_model_sha256(t->frozen)) != 0)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"network.autoencoder_sha256\" is not that of the weights of %s that were "
                       "found",
                       space->autoencoder);
    for (int i = 0; i < 2; i++)
        if (!zn_model_part(t->frozen, both[i]))
            return zn_fail(err, ZENITH_NOT_FOUND, "the weights of %s have no %s",
                           space->autoencoder, both[i]);
    ZN_TRY(
        zn_network_of_model(t->frozen, zn_model_part(t->frozen, both[0]), &t->frozen_encoder, err));
    return zn_network_of_model(t->frozen, zn_model_part(t->frozen, both[1]), &t->frozen_decoder,
                               err);
}

// A linear encoder is solved for, not trained (tools/models/diffae_components.py).
static zenith_status open_solved(zn_trainer *t, const zn_json *config, zn_error *err)
{
    static const char *const parts[] = {"encoder", "draft", NULL};
    zn_diffae_training *own = own_of(t);
    const char *path = t->config.draft;
    zn_network *const networks[] = {&own->encoder, &own->draft};
    if (!own->shape.linear) return ZENITH_OK;
    ZN_TRY(zn_diffae_code_noise_read(config, &own->code_noise, err));
    if (!path && !t->start)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "\"network.linear_code\" needs \"draft\", a folder with what "
                       "tools/models/diffae_components.py makes");
    const zn_model_request request = {.name = t->config.model, .weights = path, .parts = parts};
    if (path)
        ZN_TRY(zn_model_open(&request, &own->solved, err));
    else
        own->solved = zn_model_ref(t->start);
    zn_trainer_record(t, path ? "draft" : "init.weights", zn_model_sha256(own->solved));
    for (int i = 0; i < 2; i++) {
        const zn_part *part = zn_model_part(own->solved, parts[i]);
        if (!part)
            return zn_fail(err, ZENITH_NOT_FOUND, "'%s' has no linear %s",
                           path ? path : "the start", parts[i]);
        ZN_TRY(zn_network_of_model(own->solved, part, networks[i], err));
    }
    zn_diffae_shape is;
    (void)!zn_diffae_shape_read(zn_network_layout(&own->draft), &is);
    if (is.linear == own->shape.linear && is.inputs == own->shape.inputs &&
        is.code == own->shape.code)
        return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "'%s' has codes of %lld numbers of maps of %lldx%lldx%lld, and \"network\" says "
                   "%lld numbers of %lldx%lldx%lld",
                   path ? path : "the start", (long long)is.code, (long long)is.linear,
                   (long long)is.linear, (long long)is.inputs, (long long)own->shape.code,
                   (long long)own->shape.linear, (long long)own->shape.linear,
                   (long long)own->shape.inputs);
}

// What a part is trained as; the encoder is not where codes are linear.
static const zn_network *network_of(const zn_trainer *t, int which)
{
    const zn_diffae_training *own = own_of(t);
    if (!own->solved) return &t->trained[which];
    return which == ZN_DIFFAE_ENCODER ? &own->encoder : &t->trained[which - 1];
}

static zenith_status open_networks(zn_trainer *t, zn_error *err)
{
    const zn_variant *variant = zn_variant_find(t->config.model);
    char layout[ZN_LAYOUT_SIZE];
    if (!variant || strcmp(variant->name, "diffae") != 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "\"model\" must be diffae for \"task\": \"diffae\"");
    t->own = zn_alloc_zero(sizeof(zn_diffae_training));
    if (!t->own) return zn_fail_memory(err, sizeof(zn_diffae_training));
    ZN_TRY(zn_diffae_open_start(t, part_names, err));
    const zn_json *config = t->start ? zn_weights_config(t->start->weights) : t->config.network;
    zn_diffae_schedules schedules;
    ZN_TRY(zn_diffae_schedules_read(config, &schedules, err));
    ZN_TRY(zn_diffae_space_read(config, &own_of(t)->space, err));
    ZN_TRY(open_autoencoder(t, err));
    own_of(t)->schedule = schedules.picture;
    if (config) ZN_TRY(zn_json_dump(config, &own_of(t)->config, NULL, err));
    if (t->start && config) zn_trainer_record_text(t, "init.weights.config", own_of(t)->config);
    zn_diffae_layout(config, 40, layout);
    ZN_TRY(check(t, layout, err));
    const zn_network_shape shape = {.layout = layout};
    ZN_TRY(open_solved(t, config, err));
    for (int i = own_of(t)->solved ? ZN_DIFFAE_MODULATION : 0; i < ZN_DIFFAE_TRAINED; i++) {
        const zn_part *part = zn_family_part(zn_family_of(variant), part_names[i]);
        zn_network *network = &t->trained[t->trained_count];
        if (t->start)
            ZN_TRY(zn_network_of_model(t->start, part, network, err));
        else
            ZN_TRY(zn_network_of_variant(variant, part, &shape, network, err));
        start_with_nothing(network);
        t->trained_count++;
    }
    return ZENITH_OK;
}

static zenith_status add_list(char *text, size_t size, const char *key, const float *numbers,
                              int64_t count, zn_error *err)
{
    char number[32];
    size_t length = strlen(text);
    for (int64_t i = 0; i < count; i++) {
        ZN_TRY(zn_json_float_text(numbers[i], number, err));
        length += zn_text_format(text + length, size - length, "%s%s%s%s", i ? "," : ",\"",
                                 i ? "" : key, i ? "" : "\":[", number);
    }
    zn_text_format(text + length, size - length, "]");
    return ZENITH_OK;
}

// config.json of the results: what was found out besides what it said.
static zenith_status complete_config(zn_diffae_training *own, const char *sha256, bool measured,
                                     zn_error *err)
{
    enum { NUMBER = 33, KEYS = 256 };
    const zn_diffae_space *space = &own->space;
    const size_t length = strlen(own->config); // it ends with a brace
    const size_t size = length + 2 * NUMBER * (size_t)space->channels + KEYS;
    char *text = zn_alloc(size);
    if (!text) return zn_fail_memory(err, size);
    zn_text_format(text, size, "%.*s", (int)length - 1, own->config);
    zenith_status status = ZENITH_OK;
    if (measured) status = add_list(text, size, "latent_mean", space->mean, space->channels, err);
    if (measured && status == ZENITH_OK)
        status = add_list(text, size, "latent_std", space->deviation, space->channels, err);
    const size_t now = strlen(text);
    const bool said = space->sha256[0];
    zn_text_format(text + now, size - now, "%s%s%s}", said ? "" : ",\"autoencoder_sha256\":\"",
                   said ? "" : sha256, said ? "" : "\"");
    zn_free(own->config);
    own->config = text;
    return status;
}

// The latents of all pictures, and the numbers that make them fit for networks.
static zenith_status open_latents(zn_trainer *t, zn_error *err)
{
    zn_diffae_training *own = own_of(t);
    const bool measured = !own->space.scaled;
    if (!own->space.autoencoder[0]) return ZENITH_OK;
    ZN_TRY(zn_latents_open(t, &own->latents, err));
    t->numbered = true;
    if (measured) zn_latents_statistics(own->latents, own->space.mean, own->space.deviation);
    return complete_config(own, zn_model_sha256(t->frozen), measured, err);
}

zenith_status zn_diffae_shares(const zn_diffae_schedule *schedule, float **kept, float **added,
                               zn_error *err)
{
    const int count = schedule->timesteps;
    const zn_ddim_betas betas = zn_diffae_betas(schedule);
    zn_ddim_step *steps = zn_alloc((size_t)count * sizeof *steps);
    *kept = zn_alloc((size_t)count * sizeof **kept);
    *added = zn_alloc((size_t)count * sizeof **added);
    zenith_status status = steps && *kept && *added
                               ? zn_ddim_steps(&betas, count, steps, err)
                               : zn_fail_memory(err, (size_t)count * sizeof *steps);
    for (int i = 0; i < count && status == ZENITH_OK; i++) {
        (*kept)[i] = (float)sqrt(steps[i].now);
        (*added)[i] = (float)sqrt(1 - steps[i].now);
    }
    zn_free(steps);
    return status;
}

static zenith_status prepare(zn_trainer *t, zn_error *err)
{
    zn_diffae_training *own = own_of(t);
    ZN_TRY(zn_diffae_shares(&own->schedule, &own->kept, &own->added, err));
    return open_latents(t, err);
}

static void close_task(zn_trainer *t)
{
    zn_diffae_training *own = own_of(t);
    if (!own) return;
    zn_latents_free(own->latents);
    zn_network_free(&own->encoder);
    zn_network_free(&own->draft);
    zn_model_unref(own->solved);
    zn_free(own->config);
    zn_free(own->kept);
    zn_free(own->added);
    zn_free(own);
    t->own = NULL;
}

// --- the graph ----------------------------------------------------------------------------------

static zn_node *build_one(zn_train_building *b, int which, zn_sizes sizes, zn_node *const *inputs)
{
    const zn_network *network = network_of(b->networks, which);
    const bool solved = network == &own_of(b->networks)->encoder;
    zn_node *y = NULL;
    zn_network_build(network, &sizes, b->graph, "", inputs, &y,
                     solved ? NULL : zn_train_parameters(b, network));
    return y;
}

// A linear code with noise, and what it draws.
static zn_node *build_draft(zn_train_building *b, zn_node **code)
{
    const zn_diffae_training *own = own_of(b->networks);
    const zn_desc desc = zn_desc_make(ZN_F32, ZN_SHAPE(1, 1, 1, own->shape.code));
    zn_node *y = NULL;
    if (!own->solved) return NULL;
    *code = zn_add(b->graph, "code.noisy", *code, zn_graph_input(b->graph, "code_noise", desc));
    zn_network_build(&own->draft, &(zn_sizes){.tokens = 1}, b->graph, "", code, &y, NULL);
    *code = zn_channel_sum(b->graph, "code.row", *code); // one row, as a vector
    return y;
}

// What is expected already (zn_diffae_guess_of): the shares are the same for all channels.
static zn_node *add_guess(zn_train_building *b, zn_node *left, zn_node *noisy, zn_node *draft)
{
    static const char *const inputs[] = {"noisy_share", "draft_share"}, *const names[] = {
                                                                            "guess.noisy",
                                                                            "guess.draft"};
    zn_node *const maps[] = {noisy, draft};
    const zn_desc desc = zn_desc_make(ZN_F32, ZN_SHAPE(own_of(b->networks)->shape.inputs));
    for (int i = 0; i < 2; i++) {
        zn_node *part[] = {maps[i], zn_graph_input(b->graph, inputs[i], desc)};
        part[0] = zn_graph_add(b->graph, &zn_op_modulate, names[i], part, 2,
                               &(zn_modulate_attributes){.plain = true});
        left = zn_add(b->graph, i ? "answer" : "answer.noisy", left, part[0]);
    }
    return left;
}

static void build(zn_train_building *b)
{
    const zn_trainer *t = b->networks;
    const zn_diffae_training *own = own_of(t);
    const int64_t side = own->side;
    const zn_sizes map = {.height = side, .width = side}, one = {.tokens = 1};
    const zn_desc picture = zn_desc_make(ZN_F32, ZN_SHAPE(1, side, side, own->shape.inputs));
    zn_graph *g = b->graph;
    const zn_desc seen = zn_desc_make(
        ZN_F32, ZN_SHAPE(1, side, side, zn_diffae_seen_channels(&own->shape)));
    zn_node *clean = zn_graph_input(g, "picture", seen);
    zn_node *noisy = zn_graph_input(g, "noisy", picture);
    zn_node *target = zn_graph_input(g, "target", picture);
    zn_node *time = zn_graph_input(g, "time", zn_desc_make(ZN_F32, ZN_SHAPE(1, 1, 1, 1)));
    zn_node *code = build_one(b, ZN_DIFFAE_ENCODER, map, &clean);
    zn_node *draft = build_draft(b, &code);
    zn_node *rows = build_one(b, ZN_DIFFAE_MODULATION, one, (zn_node *[]){time, code});
    zn_node *modulation = zn_channel_sum(g, "modulation.row", rows); // one row, as a vector
    b->result = build_one(b, ZN_DIFFAE_DENOISER, map, (zn_node *[]){noisy, modulation, draft});
    if (draft) b->result = add_guess(b, b->result, noisy, draft);
    const zn_loss_inputs in = {.original = target, .reconstruction = b->result};
    b->losses[0] = zn_loss_build(g, &t->config.losses[0], &in);
    b->loss = zn_loss_sum(g, t->config.losses, b->losses, 1);
    zn_train_keep(b, code);
    zn_train_keep(b, b->result);
}

static zn_precision precision(const zn_train_building *b, const zn_node *node)
{
    const zn_trainer *t = b->networks;
    const zn_network *network = network_of(t, ZN_DIFFAE_DENOISER);
    return network->family->precision(network->variant, node->name);
}

static zn_train_builder builder(const zn_trainer *t)
{
    size_t most = 0;
    for (size_t i = 0; i < t->trained_count; i++) most += t->trained[i].count;
    return (zn_train_builder){build, precision, t, most};
}

// --- samples ------------------------------------------------------------------------------------

uint32_t zn_diffae_noise(uint64_t seed, uint64_t number, float *dst, size_t count)
{
    uint32_t first[4], drawn[4];
    float normals[4] = {0};
    zn_philox(seed, number, first);
    const uint64_t own = (uint64_t)first[0] << 32 | first[1]; // numbers of a sample begin at 0
    for (size_t i = 0; i < count; i++) {
        if (i % 4 == 0) {
            zn_philox(own, i / 4, drawn);
            zn_philox_normals(drawn, normals);
        }
        dst[i] = normals[i % 4];
    }
    return first[2];
}

static float pixel(uint8_t byte)
{
    return ((float)byte / 255.0f - 0.5f) / 0.5f;
}

void zn_diffae_see(const zn_trainer *t, uint64_t number, const uint8_t *pixels, float *dst)
{
    const zn_diffae_training *own = own_of(t);
    const zn_diffae_space *space = &own->space;
    const size_t values = zn_diffae_values(t), channels = (size_t)own->shape.inputs;
    if (own->latents) {
        zn_latents_get(own->latents, number, dst);
        for (size_t i = 0; i < values; i++)
            dst[i] = (dst[i] - space->mean[i % channels]) / space->deviation[i % channels];
        return;
    }
    for (size_t i = 0; i < values; i++) dst[i] = pixel(pixels[i]) * space->contrast;
}

// Of every share between 1 / 20 and all, as often of one as of twice it.
void zn_diffae_see_seen(const zn_trainer *t, uint64_t number, float *picture)
{
    static const float least = 0.05f;
    const zn_diffae_shape *is = &own_of(t)->shape;
    uint32_t drawn[4];
    if (!is->sparse) return;
    zn_philox((uint64_t)t->config.data.seed + SEEN_SEED, number, drawn);
    const float share = powf(least, (float)drawn[0] * 0x1p-32f);
    zn_diffae_see_some(picture, zn_diffae_values(t) / (size_t)is->inputs, (size_t)is->inputs, share,
                       (uint64_t)drawn[1] << 32 | drawn[2]);
}

void zn_diffae_expect(const zn_trainer *t, int timestep, zn_sample *sample)
{
    const zn_diffae_training *own = own_of(t);
    if (!own->solved) return;
    const zn_diffae_guess guess = zn_diffae_guess_of(&own->schedule, (double)own->kept[timestep],
                                                     (double)own->added[timestep]);
    float *noisy = zn_sample_input(sample, "noisy_share");
    float *draft = zn_sample_input(sample, "draft_share");
    for (int64_t c = 0; c < own->shape.inputs; c++) noisy[c] = guess.noisy, draft[c] = guess.draft;
}

void zn_diffae_disturb(const zn_trainer *t, uint64_t number, float amount, float *noise)
{
    const size_t count = (size_t)own_of(t)->shape.code;
    const uint32_t drawn = zn_diffae_noise((uint64_t)t->config.data.seed + CODE_SEED, number, noise,
                                           count);
    for (size_t i = 0; i < count; i++) noise[i] *= amount * (float)drawn * 0x1p-32f;
}

void zn_diffae_see_held(const zn_trainer *t, size_t index, float *dst)
{
    zn_diffae_see(t, UINT64_MAX - index, t->held + index * zn_trainer_sample_bytes(t), dst);
}

// The target is the noise first, and what is predicted in the end.
static void fill(const void *cookie, zn_sample *sample)
{
    const zn_trainer *t = cookie;
    const zn_diffae_training *own = own_of(t);
    const size_t values = zn_diffae_values(t);
    float *picture = zn_sample_input(sample, "picture"), *noisy = zn_sample_input(sample, "noisy");
    float *target = zn_sample_input(sample, "target");
    // Another seed than the pictures have, by which crops and mirrors are drawn.
    const uint32_t drawn = zn_diffae_noise(~(uint64_t)t->config.data.seed, sample->number, target,
                                           values);
    const uint64_t time = (uint64_t)drawn * (uint64_t)own->schedule.timesteps >> 32;
    const float kept = own->kept[time], added = own->added[time];
    *zn_sample_input(sample, "time") = (float)time;
    zn_diffae_see(t, sample->number, sample->pixels, picture);
    for (size_t i = 0; i < values; i++) {
        noisy[i] = kept * picture[i] + added * target[i];
        target[i] = zn_prediction_answer(own->schedule.prediction, kept, added, picture[i],
                                         target[i]);
    }
    zn_diffae_see_seen(t, sample->number, picture);
    zn_diffae_expect(t, (int)time, sample);
    if (own->solved)
        zn_diffae_disturb(t, sample->number, own->code_noise,
                          zn_sample_input(sample, "code_noise"));
}

// A step makes no picture, so there are no decibels.
void zn_diffae_add(const zn_trainer *t, size_t count, double n, zn_step_facts *facts)
{
    for (size_t i = 0; i < count; i++) {
        const float *numbers = zn_batch_numbers(t->runner, i);
        facts->loss += (double)numbers[0] / n;
        facts->losses[0] += (double)numbers[1] / n;
    }
    facts->psnr = facts->mse = NAN;
}

// --- what is shown ------------------------------------------------------------------------------

static double square(const zn_trainer *t, const float *made, size_t index)
{
    const size_t values = zn_trainer_sample_bytes(t);
    const uint8_t *picture = t->held + index * values;
    double sum = 0;
    for (size_t i = 0; i < values; i++) {
        const double d = (double)made[i] - (double)picture[i] / 255;
        sum += d * d;
    }
    return sum / (double)values;
}

static double decibels(double mse)
{
    return -10 * log10(fmax(mse, 1e-12));
}

// With another picture's code, how near the result is to that picture: 0 is its own, 1 is the
// other. A code that is ignored gives 0.
static double moved(const zn_trainer *t, const float *made, size_t index, size_t count)
{
    const double own = square(t, made, index), other = square(t, made, (index + 1) % count);
    return own / fmax(own + other, 1e-12);
}

static void judge(const zn_trainer *t, const zn_diffae_views *views, size_t count,
                  zn_step_facts *facts)
{
    const size_t values = zn_trainer_sample_bytes(t);
    const double n = (double)count;
    double swap = 0, of_code = 0;
    facts->psnr = facts->mse = 0;
    for (size_t i = 0; i < count; i++) {
        const double mse = square(t, views->again + i * values, i);
        facts->mse += mse / n;
        facts->psnr += decibels(mse) / n;
        of_code += decibels(square(t, views->other_noise + i * values, i)) / n;
        swap += moved(t, views->other_code + i * values, i, count) / n;
    }
    facts->more[0].name = "code_psnr";
    facts->more[0].value = of_code;
    facts->more[1].name = "swap";
    facts->more[1].value = count > 1 ? swap : NAN;
    facts->more_count = 2;
}

static zenith_status validate(zn_trainer *t, size_t count, zn_step_facts *facts, zn_error *err)
{
    const zn_batch batch = {count, zn_trainer_held_pixels, fill, t};
    zn_diffae_views views;
    ZN_TRY(zn_batch_losses(t->runner, &batch, NULL, err));
    zn_diffae_add(t, count, (double)count, facts);
    ZN_TRY(zn_diffae_look(t, count, &views, err));
    judge(t, &views, count, facts);
    zn_diffae_views_free(&views);
    return ZENITH_OK;
}

static zenith_status draw(zn_trainer *t, size_t count, const char *path, zn_error *err)
{
    zn_diffae_views views;
    ZN_TRY(zn_diffae_look(t, count, &views, err));
    const float *columns[] = {views.again, views.other_noise, views.other_code};
    zenith_status status = zn_sample_grid_write(path, t->held, columns, 3, count,
                                                (uint32_t)t->config.data.crop, err);
    zn_diffae_views_free(&views);
    return status;
}

zenith_status zn_diffae_write_text(const char *folder, const char *name, const char *text,
                                   zn_error *err)
{
    char path[ZN_PATH_SIZE];
    zn_writer *file;
    if (zn_text_format(path, sizeof path, "%s/%s", folder, name) + 1 >= sizeof path)
        return zn_fail(err, ZENITH_LIMIT, "the path '%s' is too long", folder);
    ZN_TRY(zn_writer_open(path, &file, err));
    zenith_status status = zn_writer_write(file, text, strlen(text), err);
    if (status == ZENITH_OK) return zn_writer_commit(file, err);
    zn_writer_discard(file);
    return status;
}

// What was not trained. Encoder and draft share a matrix.
enum { MOST_SOLVED = 8 };
static size_t list_solved(const zn_trainer *t, zn_file_tensor dst[MOST_SOLVED])
{
    const zn_diffae_training *own = own_of(t);
    const zn_network *const networks[] = {&own->encoder, &own->draft};
    size_t count = 0;
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < networks[i]->count; k++) {
            const zn_train_parameter *p = &networks[i]->parameters[k];
            size_t at = 0;
            while (at < count && strcmp(dst[at].name, p->name) != 0) at++;
            if (at == count && count < MOST_SOLVED)
                dst[count++] = (zn_file_tensor){.name = p->name,
                                                .type = p->tensor.desc.type,
                                                .shape = p->tensor.desc.shape,
                                                .data = p->tensor.data};
        }
    return count;
}

// One file, as such models are published, and what it is.
static zenith_status write_model(const zn_trainer *t, const char *folder, const float *block,
                                 zn_error *err)
{
    const char *config = own_of(t)->config;
    zn_file_tensor solved[MOST_SOLVED];
    const zn_weights_beside beside = {solved, list_solved(t, solved), NULL};
    if (config) ZN_TRY(zn_diffae_write_text(folder, "config.json", config, err));
    return zn_weights_write_whole(folder, t->trained, t->trained_count, block, &beside, err);
}

const zn_train_task zn_train_diffae = {
    .open = open_networks,
    .prepare = prepare,
    .builder = builder,
    .fill = fill,
    .add = zn_diffae_add,
    .validate = validate,
    .draw = draw,
    .write = write_model,
    .close = close_task,
};
