// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The task of training a model from words to pictures: a text encoder (model/qwen3.h) and a diffusion transformer
// (model/zimage.h) together, by flow matching. A sample is a latent, its caption or, so often, the empty one, noise
// and a sigma; the loss is the mean square of what the velocity lacks.
//
//     ids ── text ── context ─┐
//     time ── modulation ─────┤
//     noisy ────────────── denoiser ── velocity ── loss ── picture - noise
//
// Noise, sigma, and which caption it has or whether it is dropped, are a pure function of the data's seed and the
// sample's number.
//
// Captions have several lengths, and a graph has one size: that of a caption with its padding. The text encoder is
// causal, so tokens after the caption change nothing before them; what they make is replaced by the learned token
// that padding is when pictures are made (zn_sizes.masked). So a network learns exactly what it will be asked: all
// captions are padded to the same 32 tokens there, and longer ones are refused here.
//
// A run has `stack` samples beside each other (zn_sizes.items), so that weights are read once for many tokens. They are
// columns of all maps, and share nothing but the weights: what a sample is depends on its own number alone.
#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/random.h"
#include "src/base/text.h"
#include "src/diffusion/flow_match.h"
#include "src/model/autoencoder.h"
#include "src/model/locate.h"
#include "src/model/qwen3.h"
#include "src/model/zimage.h"
#include "src/op/ops.h"
#include "src/train/diffae_training.h"
#include "src/train/losses.h"
#include "src/train/permutation.h"
#include "src/train/sample_grid.h"
#include "src/train/words_data.h"

#include <math.h>
#include <string.h>

enum { TEXT, CONTEXT, MODULATION, DENOISER, NETWORKS };
enum { OF_TEXT, OF_CONTEXT, OF_DENOISER, ANGLES };
static const char *const part_names[NETWORKS] = {"text", "context", "modulation", "denoiser"};
static const char *const folders[2] = {"text_encoder", "transformer"};
static const char *const angle_names[ANGLES] = {"text.angles", "context.angles", "angles"};
static const char prefix[] = "text."; // of the text encoder's nodes
static const uint64_t HELD = (uint64_t)1 << 63;

typedef struct words_training {
    zn_model *text;          // to begin with, until it is copied; NULL: none
    char *configs[2];        // config.json of both models
    zn_tokenizer *tokenizer; // of captions that are texts; NULL: they are numbers
    char *tokenizer_json;    // its file, for the results
    zn_words_data data, held;
    int64_t tokens, vocabulary, patch;
    zn_sizes sizes[NETWORKS];
    zn_ports ports[NETWORKS];
    float *angles[ANGLES]; // the same for all samples
    size_t angles_count[ANGLES];
} words_training;

static words_training *own_of(const zn_trainer *t)
{
    return t->own;
}

// --- networks -----------------------------------------------------------------------------------

// As diffusion transformers usually begin: layers change nothing, and the velocity is zero.
static void start_with_nothing(zn_network *network)
{
    for (size_t i = 0; i < network->count; i++) {
        zn_train_parameter *p = &network->parameters[i];
        if (strstr(p->name, ".adaLN_modulation.") ||
            (strncmp(p->name, "all_final_layer.", 16) == 0 && strstr(p->name, ".linear.")))
            p->scale = 0;
    }
}

static zenith_status open_model(const zn_trainer *t, int which, zn_model **out, zn_error *err)
{
    static const char *const text_parts[] = {"text", NULL};
    static const char *const parts[] = {"context", "modulation", "denoiser", NULL};
    char path[ZN_PATH_SIZE];
    if (zn_text_format(path, sizeof path, "%s/%s", t->config.weights, folders[which]) + 1 >=
        sizeof path)
        return zn_fail(err, ZENITH_LIMIT, "the path '%s' is too long", t->config.weights);
    const zn_model_request request = {.name = which ? t->config.model : "qwen3",
                                      .weights = path,
                                      .parts = which ? parts : text_parts};
    return zn_model_open(&request, out, err);
}

static zenith_status open_start(zn_trainer *t, zn_error *err)
{
    if (t->options->start)
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "\"task\": \"words\" begins with two models, which only \"init.weights\" "
                       "can name: a folder with text_encoder and transformer");
    if (!t->config.weights) return ZENITH_OK;
    ZN_TRY(open_model(t, 0, &own_of(t)->text, err));
    return open_model(t, 1, &t->start, err);
}

static zenith_status open_network(zn_trainer *t, int which, zn_error *err)
{
    const zn_model *start = which == TEXT ? own_of(t)->text : t->start;
    const zn_variant *variant = zn_variant_find(which == TEXT ? "qwen3" : t->config.model);
    const zn_part *part = zn_family_part(zn_family_of(variant), part_names[which]);
    zn_network *network = &t->trained[which];
    char layout[ZN_LAYOUT_SIZE];
    if (which == TEXT)
        zn_qwen3_layout(t->config.text_network, layout);
    else
        zn_zimage_layout(t->config.network, layout);
    const zn_network_shape shape = {.width = 1, .layout = layout};
    if (start)
        ZN_TRY(zn_network_of_model(start, part, network, err));
    else
        ZN_TRY(zn_network_of_variant(variant, part, &shape, network, err));
    if (!start) start_with_nothing(network);
    t->trained_count++;
    return ZENITH_OK;
}

static zenith_status keep_configs(const zn_trainer *t, zn_error *err)
{
    words_training *own = own_of(t);
    const zn_json *configs[2] = {t->config.text_network, t->config.network};
    if (t->start) configs[0] = zn_weights_config(own->text->weights);
    if (t->start) configs[1] = zn_weights_config(t->start->weights);
    for (int i = 0; i < 2; i++)
        if (configs[i]) ZN_TRY(zn_json_dump(configs[i], &own->configs[i], NULL, err));
    return ZENITH_OK;
}

static zenith_status open_networks(zn_trainer *t, zn_error *err)
{
    const zn_variant *variant = zn_variant_find(t->config.model);
    if (!variant || strcmp(zn_family_of(variant)->name, "zimage") != 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "\"model\" must be z-image for \"task\": \"words\"");
    t->own = zn_alloc_zero(sizeof(words_training));
    if (!t->own) return zn_fail_memory(err, sizeof(words_training));
    ZN_TRY(open_start(t, err));
    ZN_TRY(keep_configs(t, err));
    for (int i = 0; i < NETWORKS; i++) ZN_TRY(open_network(t, i, err));
    own_of(t)->tokens = zn_zimage_caption_tokens(1);
    for (size_t i = 0; i < t->trained[TEXT].count; i++) {
        const zn_train_parameter *p = &t->trained[TEXT].parameters[i];
        if (strcmp(p->name, "embed_tokens.weight") == 0)
            own_of(t)->vocabulary = p->tensor.desc.shape.dim[0];
    }
    return ZENITH_OK;
}

static void close_task(zn_trainer *t)
{
    words_training *own = own_of(t);
    if (!own) return;
    zn_model_unref(own->text);
    for (int i = 0; i < 2; i++) zn_free(own->configs[i]);
    zn_tokenizer_free(own->tokenizer);
    zn_free(own->tokenizer_json);
    for (int i = 0; i < ANGLES; i++) zn_free(own->angles[i]);
    zn_words_data_free(&own->data);
    zn_words_data_free(&own->held);
    zn_free(own);
    t->own = NULL;
}

// --- data ---------------------------------------------------------------------------------------

// tokenizer.json by its path or its folder's.
static zenith_status open_tokenizer(zn_trainer *t, zn_error *err)
{
    words_training *own = own_of(t);
    char path[ZN_PATH_SIZE];
    zn_mapped file = {0};
    const char *said = t->config.tokenizer;
    if (!said) return ZENITH_OK;
    const bool folder = zn_path_is_directory(said);
    if (zn_text_format(path, sizeof path, "%s%s", said, folder ? "/tokenizer.json" : "") + 1 >=
        sizeof path)
        return zn_fail(err, ZENITH_LIMIT, "the path '%s' is too long", said);
    ZN_TRY(zn_mapped_open(path, &file, err));
    const zn_bytes bytes = {file.size ? (const char *)file.data : "", file.size};
    zenith_status status = zn_tokenizer_parse_json(bytes, path, &own->tokenizer, err);
    own->tokenizer_json = zn_alloc(bytes.size + 1);
    if (own->tokenizer_json) {
        memcpy(own->tokenizer_json, bytes.data, bytes.size);
        own->tokenizer_json[bytes.size] = 0;
    } else if (status == ZENITH_OK) {
        status = zn_fail_memory(err, bytes.size + 1);
    }
    zn_mapped_close(&file);
    return status;
}

static zenith_status open_held(zn_trainer *t, zn_error *err)
{
    const zn_train_validation *v = &t->config.validation;
    words_training *own = own_of(t);
    if (!v->latents) return ZENITH_OK;
    const zn_words_reading how = {own->vocabulary, (size_t)own->tokens, own->tokenizer};
    ZN_TRY(zn_words_data_open(v->latents, v->captions, &how, &own->held, err));
    for (int i = 1; i < 4; i++)
        if (own->held.shape.dim[i] != own->data.shape.dim[i])
            return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                           "the latents of '%s' and of '%s' have different sizes", v->latents,
                           t->config.data.latents);
    t->held_count = zn_words_data_count(&own->held);
    if (t->held_count > (size_t)v->count) t->held_count = (size_t)v->count;
    t->held_count = (t->held_count + t->rows - 1) / t->rows; // runs
    return ZENITH_OK;
}

static zenith_status open_data(zn_trainer *t, zn_error *err)
{
    const zn_train_data *d = &t->config.data;
    words_training *own = own_of(t);
    ZN_TRY(open_tokenizer(t, err));
    const zn_words_reading how = {own->vocabulary, (size_t)own->tokens, own->tokenizer};
    ZN_TRY(zn_words_data_open(d->latents, d->captions, &how, &own->data, err));
    if (d->drop > 0 && own->data.captions.empty_count == 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "'%s' has no line {\"empty\": [NUMBERS]}, which says what a dropped caption "
                       "is: add it, or set \"data.drop\" to 0",
                       d->captions);
    if (own->data.captions.left_out > 0)
        zn_log_write(t->options->log, ZN_LOG_WARNING,
                     "%zu caption%s of '%s' with more than %lld tokens %s left out",
                     own->data.captions.left_out, own->data.captions.left_out > 1 ? "s" : "",
                     d->captions, (long long)own->tokens,
                     own->data.captions.left_out > 1 ? "are" : "is");
    ZN_TRY(zn_words_data_checksum(&own->data, d->latents, d->captions, t->checksum, err));
    t->rows = (size_t)t->config.stack;
    return open_held(t, err);
}

// --- the graph ----------------------------------------------------------------------------------

// What one network gives to another, and the latents, must fit.
static zenith_status check_sizes(const zn_trainer *t, zn_error *err)
{
    const words_training *own = own_of(t);
    const int64_t text = own->ports[TEXT].outputs[0].desc.shape.dim[3];
    const int64_t caption = own->ports[CONTEXT].inputs[0].desc.shape.dim[3];
    const int64_t channels = own->ports[DENOISER].inputs[0].desc.shape.dim[3];
    if (text != caption)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "\"network.cap_feat_dim\" is %lld and \"text.hidden_size\" %lld: they must "
                       "be equal",
                       (long long)caption, (long long)text);
    if (channels == own->data.shape.dim[1]) return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "\"network.in_channels\" is %lld, and the latents of '%s' have %lld channels",
                   (long long)channels, t->config.data.latents, (long long)own->data.shape.dim[1]);
}

static void find_ports(zn_trainer *t)
{
    words_training *own = own_of(t);
    const int64_t *dim = own->data.shape.dim;
    const int64_t items = (int64_t)t->rows, tokens = own->tokens;
    own->sizes[TEXT] = (zn_sizes){.tokens = tokens, .items = items};
    own->sizes[CONTEXT] = (zn_sizes){.tokens = tokens, .masked = true, .items = items};
    own->sizes[MODULATION] = (zn_sizes){.tokens = items};
    own->sizes[DENOISER] = (zn_sizes){
        .height = dim[2], .width = dim[3], .tokens = tokens, .items = items};
    for (int i = 0; i < NETWORKS; i++) {
        const zn_network *network = &t->trained[i];
        network->part->ports(network->variant, zn_network_layout(network), &own->sizes[i],
                             &own->ports[i]);
    }
}

static const zn_port *angles_port(const words_training *own, int which)
{
    static const struct {
        int network, input;
    } at[ANGLES] = {{TEXT, 1}, {CONTEXT, 1}, {DENOISER, 3}};
    return &own->ports[at[which].network].inputs[at[which].input];
}

// Rows of numbers are there for one sample: of several, each row is there as often. From the end, so that none is
// overwritten before it is read.
static void repeat_angles(const words_training *own, int which, size_t items)
{
    const size_t width = (size_t)angles_port(own, which)->desc.shape.dim[3];
    float *rows = own->angles[which];
    for (size_t i = own->angles_count[which] / width; i-- > 0;)
        memmove(rows + i * width, rows + i / items * width, width * sizeof *rows);
}

static zenith_status prepare(zn_trainer *t, zn_error *err)
{
    words_training *own = own_of(t);
    const char *image = zn_network_layout(&t->trained[DENOISER]);
    find_ports(t);
    ZN_TRY(check_sizes(t, err));
    for (int i = 0; i < ANGLES; i++) {
        size_t count = 0;
        if (!zn_shape_elements(&angles_port(own, i)->desc.shape, &count))
            return zn_fail_memory(err, SIZE_MAX);
        own->angles_count[i] = count;
        own->angles[i] = zn_alloc(count * sizeof(float));
        if (!own->angles[i]) return zn_fail_memory(err, count * sizeof(float));
    }
    zn_qwen3_layout_angles(zn_network_layout(&t->trained[TEXT]), own->tokens, own->angles[OF_TEXT]);
    zn_zimage_layout_caption_angles(image, own->tokens, own->angles[OF_CONTEXT]);
    zn_zimage_layout_angles(image, &own->sizes[DENOISER], own->angles[OF_DENOISER]);
    for (int i = 0; i < ANGLES; i++) repeat_angles(own, i, t->rows);
    own->patch = zn_zimage_layout_patch(image);
    zn_model_unref(own->text); // its weights are copied
    own->text = NULL;
    return ZENITH_OK;
}

static zn_node *build_one(zn_train_building *b, int which, zn_node *const *inputs)
{
    const zn_trainer *t = b->networks;
    const zn_network *network = &t->trained[which];
    zn_node *y = NULL;
    zn_network_build(network, &own_of(t)->sizes[which], b->graph, which == TEXT ? prefix : "",
                     inputs, &y, zn_train_parameters(b, network));
    return y;
}

static zn_node *input_of(zn_train_building *b, const char *name, int which, int port)
{
    const zn_trainer *t = b->networks;
    return zn_graph_input(b->graph, name, own_of(t)->ports[which].inputs[port].desc);
}

static void build(zn_train_building *b)
{
    const zn_trainer *t = b->networks;
    zn_graph *g = b->graph;
    zn_node *ids = input_of(b, "ids", TEXT, 0), *mask = input_of(b, "mask", CONTEXT, 2);
    zn_node *time = input_of(b, "time", MODULATION, 0);
    zn_node *noisy = input_of(b, "noisy", DENOISER, 0);
    zn_node *target = input_of(b, "target", DENOISER, 0);
    zn_node *angles[ANGLES];
    for (int i = 0; i < ANGLES; i++)
        angles[i] = zn_graph_input(g, angle_names[i], angles_port(own_of(t), i)->desc);
    zn_node *text = build_one(b, TEXT, (zn_node *[]){ids, angles[OF_TEXT]});
    zn_node *context = build_one(b, CONTEXT, (zn_node *[]){text, angles[OF_CONTEXT], mask});
    zn_node *modulation = build_one(b, MODULATION, &time);
    if (t->rows == 1)
        modulation = zn_channel_sum(g, "modulation.row", modulation); // one row, as a vector
    b->result = build_one(b, DENOISER,
                          (zn_node *[]){noisy, context, modulation, angles[OF_DENOISER]});
    const zn_loss_inputs in = {.original = target, .reconstruction = b->result};
    b->losses[0] = zn_loss_build(g, &t->config.losses[0], &in);
    b->loss = zn_loss_sum(g, t->config.losses, b->losses, 1);
    zn_train_keep(b, b->result);
}

static zn_precision precision(const zn_train_building *b, const zn_node *node)
{
    const zn_trainer *t = b->networks;
    const size_t length = strlen(prefix);
    const bool text = strncmp(node->name, prefix, length) == 0;
    const zn_network *network = &t->trained[text ? TEXT : DENOISER];
    return network->family->precision(network->variant, node->name + (text ? length : 0));
}

static zn_train_builder builder(const zn_trainer *t)
{
    size_t most = 0;
    for (int i = 0; i < NETWORKS; i++) most += t->trained[i].count;
    return (zn_train_builder){build, precision, t, most};
}

// --- samples ------------------------------------------------------------------------------------

// One sample of a run.
typedef struct item {
    const zn_words_data *data;
    uint64_t number; // in the run, by which all that is random about it is drawn
    size_t index;    // of its latent
    size_t column;   // of the run's maps
} item;

// Samples that are held back fill whole runs: after the last comes the first again.
static item item_of(const zn_trainer *t, uint64_t run, size_t column)
{
    const words_training *own = own_of(t);
    const bool held = run & HELD;
    const zn_words_data *data = held ? &own->held : &own->data;
    const uint64_t number = (run & ~HELD) * t->rows + column, all = zn_words_data_count(data);
    const uint64_t index = held ? number % all
                                : zn_permutation_at((uint64_t)t->config.data.seed, number / all,
                                                    all, number % all);
    return (item){data, held ? HELD | index : number, (size_t)index, column};
}

// Where value i of a latent [h, w, C] is in a map that has those of all samples, patch by patch in turn.
static size_t place_of(const zn_trainer *t, size_t column, size_t i)
{
    const words_training *own = own_of(t);
    const size_t channels = (size_t)own->data.shape.dim[1], width = (size_t)own->data.shape.dim[3];
    const size_t patch = (size_t)own->patch, c = i % channels, x = i / channels % width;
    const size_t y = i / channels / width;
    const size_t beside = (x / patch * t->rows + column) * patch + x % patch;
    return (y * width * t->rows + beside) * channels + c;
}

static size_t values_of(const zn_words_data *data)
{
    return (size_t)(data->shape.dim[1] * data->shape.dim[2] * data->shape.dim[3]);
}

typedef struct drawing {
    float sigma;
    zn_caption caption;
} drawing;

// Which of its captions a sample has, or none. A sample's number is that of a picture in an epoch, so each epoch draws
// anew. What is held back always has its first.
static zn_caption draw_caption(const zn_trainer *t, const item *of, const uint32_t drawn[2])
{
    const zn_caption_ids *captions = &of->data->captions;
    const uint64_t several = zn_caption_ids_several(captions, of->index);
    if (of->number & HELD) return zn_caption_ids_get(captions, of->index, 0);
    if ((double)drawn[0] < t->config.data.drop * 0x1p32) return zn_caption_ids_empty(captions);
    return zn_caption_ids_get(captions, of->index, (size_t)(drawn[1] * several >> 32));
}

// Normal noise into its places in dst, and what else is random about a sample. Sigmas are logit-normal.
static drawing draw_sample(const zn_trainer *t, const item *of, float *dst)
{
    const zn_train_config *c = &t->config;
    const size_t count = values_of(of->data);
    uint32_t first[4], drawn[4];
    float normals[4] = {0};
    zn_philox(~(uint64_t)c->data.seed, of->number,
              first); // the order of pictures has the seed itself
    const uint64_t key = (uint64_t)first[0] << 32 | first[1];
    for (size_t i = 0; i < count; i++) {
        if (i % 4 == 0) {
            zn_philox(key, i / 4, drawn);
            zn_philox_normals(drawn, normals);
        }
        dst[place_of(t, of->column, i)] = normals[i % 4];
    }
    zn_philox(key, UINT64_MAX, drawn);
    zn_philox_normals(drawn, normals);
    const double logit = c->timesteps.mean + c->timesteps.deviation * (double)normals[0];
    return (drawing){(float)(1 / (1 + exp(-logit))), draw_caption(t, of, drawn + 2)};
}

static void put_caption(const zn_trainer *t, size_t column, zn_caption caption, zn_sample *sample)
{
    const words_training *own = own_of(t);
    float *ids = zn_sample_input(sample, "ids"), *mask = zn_sample_input(sample, "mask");
    const size_t tokens = (size_t)own->tokens;
    const size_t width = (size_t)own->ports[CONTEXT].inputs[2].desc.shape.dim[3];
    for (size_t i = 0; i < tokens; i++) {
        const size_t at = i * t->rows + column;
        ids[at] = i < caption.count ? (float)caption.ids[i] : 0;
        for (size_t c = 0; c < width; c++) mask[at * width + c] = i < caption.count;
    }
}

// A row is read into `room`, where the noise comes later, and its values go to their places.
static void put_latents(const zn_trainer *t, uint64_t run, float *room, float *dst)
{
    const zn_shape *shape = &own_of(t)->data.shape;
    const size_t count = (size_t)(shape->dim[1] * shape->dim[3]);
    for (size_t r = 0; r < t->rows; r++) {
        const item of = item_of(t, run, r);
        for (int64_t y = 0; y < shape->dim[2]; y++) {
            zn_words_data_row(of.data, of.index, y, room);
            for (size_t i = 0; i < count; i++) dst[place_of(t, r, (size_t)y * count + i)] = room[i];
        }
    }
}

static void put_angles(const words_training *own, zn_sample *sample)
{
    for (int i = 0; i < ANGLES; i++)
        memcpy(zn_sample_input(sample, angle_names[i]), own->angles[i],
               own->angles_count[i] * sizeof(float));
}

// The target is the picture first, and the way from noise to picture in the end.
static void fill(const void *cookie, zn_sample *sample)
{
    const zn_trainer *t = cookie;
    const words_training *own = own_of(t);
    const size_t values = values_of(&own->data);
    float *noisy = zn_sample_input(sample, "noisy"), *target = zn_sample_input(sample, "target");
    put_latents(t, sample->number, noisy, target);
    for (size_t r = 0; r < t->rows; r++) {
        const item of = item_of(t, sample->number, r);
        const drawing drawn = draw_sample(t, &of, noisy);
        for (size_t i = 0; i < values; i++) {
            const size_t at = place_of(t, r, i);
            const float picture = target[at], noise = noisy[at];
            target[at] = picture - noise;
            noisy[at] = drawn.sigma * noise + (1 - drawn.sigma) * picture;
        }
        zn_sample_input(sample, "time")[r] = 1 - drawn.sigma;
        put_caption(t, r, drawn.caption, sample);
    }
    put_angles(own, sample);
}

// --- validation ------------------------------------------------------------------------------------

static zenith_status fetch_held(void *cookie, size_t index, uint8_t *pixels, uint64_t *number,
                                zn_error *err)
{
    (void)cookie, (void)pixels, (void)err;
    *number = HELD | index;
    return ZENITH_OK;
}

// With their own captions, and the same noise each time.
static zenith_status validate(zn_trainer *t, size_t asked, zn_step_facts *facts, zn_error *err)
{
    const size_t count = t->held_count;
    const zn_batch batch = {count, fetch_held, fill, t};
    (void)asked;
    ZN_TRY(zn_batch_losses(t->runner, &batch, NULL, err));
    zn_diffae_add(t, count, (double)count, facts);
    return ZENITH_OK;
}

// --- samples to look at -------------------------------------------------------------------------

// Pictures of held captions on their way from noise, all in step.
typedef struct looking {
    zn_trainer *trainer;
    size_t runs, values;
    float sigmas[ZN_FLOW_MOST_STEPS + 1];
    float *results; // of all runs, as the graph has them
    const float *x; // what the network sees now
    int step;
    bool negative;
} looking;

static void fill_look(const void *cookie, zn_sample *sample)
{
    const looking *l = cookie;
    const zn_trainer *t = l->trainer;
    const words_training *own = own_of(t);
    float *noisy = zn_sample_input(sample, "noisy"), *target = zn_sample_input(sample, "target");
    for (size_t r = 0; r < t->rows; r++) {
        const item of = item_of(t, sample->number, r);
        const float *x = l->x + (sample->index * t->rows + r) * l->values;
        for (size_t i = 0; i < l->values; i++) noisy[place_of(t, r, i)] = x[i];
        zn_sample_input(sample, "time")[r] = zn_flow_time(l->sigmas[l->step]);
        put_caption(t, r,
                    l->negative ? zn_caption_ids_empty(&own->data.captions)
                                : zn_caption_ids_get(&of.data->captions, of.index, 0),
                    sample);
    }
    memset(target, 0, t->rows * l->values * sizeof *target); // losses are not used
    put_angles(own, sample);
}

static zenith_status predict(void *cookie, int step, bool negative, const float *x, float *answer,
                             zn_error *err)
{
    looking *l = cookie;
    const zn_trainer *t = l->trainer;
    const zn_batch batch = {l->runs, fetch_held, fill_look, l};
    const size_t run = t->rows * l->values;
    l->x = x;
    l->step = step;
    l->negative = negative;
    ZN_TRY(zn_batch_losses(t->runner, &batch, l->results, err));
    for (size_t i = 0; i < l->runs * run; i++) {
        const size_t column = i % run / l->values;
        answer[i] = l->results[i / run * run + place_of(t, column, i % l->values)];
    }
    return ZENITH_OK;
}

// Latents of all runs, [h, w, C] each, into x, with the averaged weights where there are some.
static zenith_status walk(looking *l, float *x, zn_error *err)
{
    zn_trainer *t = l->trainer;
    const size_t pictures = l->runs * t->rows;
    const bool averaged = t->optimizer.ema, empty = own_of(t)->data.captions.empty_count > 0;
    const zn_flow_run run = {.steps = (int)t->config.eval_steps,
                             .shift = 1,
                             .guidance = empty ? (float)t->config.guidance : 0,
                             .predict = predict,
                             .cookie = l};
    ZN_TRY(zn_flow_sigmas(run.steps, run.shift, l->sigmas, err));
    for (size_t i = 0; i < pictures; i++)
        zn_diffae_noise((uint64_t)t->config.data.seed, UINT64_MAX - i, x + i * l->values,
                        l->values);
    if (averaged) zn_trainer_exchange(t);
    zenith_status status = zn_flow_sample(&run, x, pictures * l->values, err);
    if (averaged) zn_trainer_exchange(t);
    return status;
}

// What samples are decoded by; opened where the first are drawn.
typedef struct decoder {
    zn_model *model;
    zn_network network;
    zn_train_graph graph;
    zn_batch_runner *runner;
} decoder;

static void close_decoder(decoder *d)
{
    zn_batch_runner_free(d->runner);
    zn_train_graph_free(&d->graph);
    zn_network_free(&d->network);
    zn_model_unref(d->model);
}

static zenith_status open_decoder(const zn_trainer *t, size_t most, decoder *d, zn_error *err)
{
    static const char *const parts[] = {"decoder", NULL};
    const int64_t *dim = own_of(t)->held.shape.dim;
    const bool folder = zn_path_is_directory(t->config.autoencoder);
    const zn_model_request request = {.name = folder ? NULL : t->config.autoencoder,
                                      .weights = folder ? t->config.autoencoder : NULL,
                                      .parts = parts};
    ZN_TRY(zn_model_open(&request, &d->model, err));
    const zn_part *part = zn_model_part(d->model, parts[0]);
    const zn_autoencoder_facts *facts = d->model->variant->autoencoder;
    if (!part || !facts || facts->latent_channels != dim[1] || dim[2] != dim[3])
        return zn_fail(
            err, ZENITH_INVALID_ARGUMENT,
            "samples need a decoder of square latents with %lld channels, and %s is none",
            (long long)dim[1], t->config.autoencoder);
    ZN_TRY(zn_network_of_model(d->model, part, &d->network, err));
    return zn_frozen_open(t, &d->network, ZN_SHAPE(1, dim[2], dim[3], dim[1]), 0, most, &d->graph,
                          &d->runner, err);
}

// Held pictures as the autoencoder has them on the left, what was made of their captions on the right.
static zenith_status write_look(zn_trainer *t, size_t count, float *x, const char *path,
                                zn_error *err)
{
    const words_training *own = own_of(t);
    const size_t values = values_of(&own->held),
                 row = (size_t)own->held.shape.dim[3] * (size_t)own->held.shape.dim[1];
    decoder d = {.model = NULL};
    uint8_t *originals = NULL;
    float *pictures = NULL;
    zenith_status status = ZENITH_OK;
    ZN_GO(open_decoder(t, count, &d, err));
    const size_t side = (size_t)(own->held.shape.dim[2] * d.model->variant->autoencoder->factor);
    const size_t all = count * side * side * 3;
    pictures = zn_alloc(all * sizeof *pictures);
    originals = zn_alloc(all);
    if (!pictures || !originals) ZN_GO(zn_fail_memory(err, all * sizeof *pictures));
    float *made = x, *held = x + count * values;
    for (size_t i = 0; i < count; i++)
        for (int64_t y = 0; y < own->held.shape.dim[2]; y++)
            zn_words_data_row(&own->held, i, y, held + i * values + (size_t)y * row);
    ZN_GO(zn_frozen_decode(d.runner, count, held, values, pictures, err));
    for (size_t i = 0; i < all; i++) zn_type_store(ZN_U8, originals, i, pictures[i] * 255);
    ZN_GO(zn_frozen_decode(d.runner, count, made, values, pictures, err));
    const float *columns[] = {pictures};
    ZN_GO(zn_sample_grid_write(path, originals, columns, 1, count, (uint32_t)side, err));
fail:
    close_decoder(&d);
    zn_free(pictures);
    zn_free(originals);
    return status;
}

static zenith_status draw(zn_trainer *t, size_t asked, const char *path, zn_error *err)
{
    const size_t there = zn_words_data_count(&own_of(t)->held),
                 values = values_of(&own_of(t)->held);
    size_t count = t->held_count * t->rows;
    if (count > there) count = there;
    if (count > asked) count = asked;
    looking l = {.trainer = t, .values = values, .runs = (count + t->rows - 1) / t->rows};
    const size_t bytes = l.runs * t->rows * values * sizeof(float);
    float *x = zn_alloc(2 * bytes); // what is made, and what is held
    l.results = zn_alloc(bytes);
    zenith_status status = x && l.results ? walk(&l, x, err) : zn_fail_memory(err, 3 * bytes);
    if (status == ZENITH_OK) status = write_look(t, count, x, path, err);
    zn_free(l.results);
    zn_free(x);
    return status;
}

// --- results ------------------------------------------------------------------------------------

// A file in a folder of its own.
static zenith_status write_file(const char *folder, const char *part, const char *name,
                                const char *text, zn_error *err)
{
    char path[ZN_PATH_SIZE];
    if (zn_text_format(path, sizeof path, "%s/%s", folder, part) + 1 >= sizeof path)
        return zn_fail(err, ZENITH_LIMIT, "the path '%s' is too long", folder);
    ZN_TRY(zn_directory_make(path, err));
    return zn_diffae_write_text(path, name, text, err);
}

// What makes a pipeline of both networks. Sigmas are those that were trained, so the schedule does not move them.
static zenith_status write_pipeline(const zn_trainer *t, const char *folder, zn_error *err)
{
    static const char scheduler[] = "{\n  \"_class_name\": \"FlowMatchEulerDiscreteScheduler\",\n"
                                    "  \"num_train_timesteps\": 1000,\n  \"shift\": 1.0,\n"
                                    "  \"use_dynamic_shifting\": false\n}\n";
    static const char index[] =
        "{\n  \"_class_name\": \"ZImagePipeline\",\n"
        "  \"scheduler\": [\"diffusers\", \"FlowMatchEulerDiscreteScheduler\"],\n"
        "  \"text_encoder\": [\"transformers\", \"Qwen3Model\"],\n"
        "  \"tokenizer\": [\"transformers\", \"Qwen2Tokenizer\"],\n"
        "  \"transformer\": [\"diffusers\", \"ZImageTransformer2DModel\"]\n}\n";
    const char *tokenizer = own_of(t)->tokenizer_json;
    if (!tokenizer) return ZENITH_OK;
    ZN_TRY(write_file(folder, "tokenizer", "tokenizer.json", tokenizer, err));
    ZN_TRY(write_file(folder, "scheduler", "scheduler_config.json", scheduler, err));
    return zn_diffae_write_text(folder, "model_index.json", index, err);
}

// Two folders, as pipelines have them; with a tokenizer a whole pipeline.
static zenith_status write_models(const zn_trainer *t, const char *folder, const float *block,
                                  zn_error *err)
{
    for (int i = 0; i < 2; i++) {
        char path[ZN_PATH_SIZE];
        const char *config = own_of(t)->configs[i];
        const int first = i == 0 ? TEXT : CONTEXT, end = i == 0 ? CONTEXT : NETWORKS;
        if (zn_text_format(path, sizeof path, "%s/%s", folder, folders[i]) + 1 >= sizeof path)
            return zn_fail(err, ZENITH_LIMIT, "the path '%s' is too long", folder);
        ZN_TRY(zn_directory_make(path, err));
        if (config) ZN_TRY(zn_diffae_write_text(path, "config.json", config, err));
        ZN_TRY(zn_weights_write_whole(path, t->trained + first, (size_t)(end - first), block, NULL,
                                      err));
    }
    return write_pipeline(t, folder, err);
}

const zn_train_task zn_train_words = {
    .open = open_networks,
    .open_data = open_data,
    .prepare = prepare,
    .builder = builder,
    .fill = fill,
    .add = zn_diffae_add,
    .validate = validate,
    .draw = draw,
    .write = write_models,
    .close = close_task,
};
