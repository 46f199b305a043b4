// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See training.h: networks, data, the graph and validation.
#include "src/train/tasks/text_to_image/training.h"
#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/text.h"
#include "src/model/locate.h"
#include "src/model/text_to_image/qwen3.h"
#include "src/model/text_to_image/zimage.h"
#include "src/op/ops.h"
#include "src/train/loss/losses.h"
#include "src/train/tasks/diffae/training.h"

#include <string.h>

static const char *const part_names[ZN_WORDS_NETWORKS] = {"text", "context", "modulation",
                                                          "denoiser"};
static const char prefix[] = "text."; // of the text encoder's nodes

// --- networks -----------------------------------------------------------------------------------

// As diffusion transformers usually begin: layers change nothing, and the velocity is zero.
static void start_with_nothing(zn_network *network)
{
    for (size_t i = 0; i < network->count; i++) {
        zn_train_parameter *p = &network->parameters[i];
        if (strstr(p->name, ".adaLN_modulation.") || strncmp(p->name, "cap_pool.scale.", 15) == 0 ||
            (strncmp(p->name, "all_final_layer.", 16) == 0 && strstr(p->name, ".linear.")))
            p->scale = 0;
    }
}

static zenith_status open_model(const zn_trainer *t, int which, zn_model **out, zn_error *err)
{
    static const char *const text_parts[] = {"text", NULL};
    static const char *const parts[] = {"context", "modulation", "denoiser", NULL};
    char path[ZN_PATH_SIZE];
    if (zn_text_format(path, sizeof path, "%s/%s", t->config.weights, zn_words_folders[which]) +
            1 >=
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
    ZN_TRY(open_model(t, 0, &zn_words_own(t)->text, err));
    return open_model(t, 1, &t->start, err);
}

static zenith_status open_network(zn_trainer *t, int which, zn_error *err)
{
    const zn_model *start = which == ZN_WORDS_TEXT ? zn_words_own(t)->text : t->start;
    const zn_variant *variant = zn_variant_find(which == ZN_WORDS_TEXT ? "qwen3" : t->config.model);
    const zn_part *part = zn_family_part(zn_family_of(variant), part_names[which]);
    zn_network *network = &t->trained[which];
    char layout[ZN_LAYOUT_SIZE];
    if (which == ZN_WORDS_TEXT)
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

// What draws the mean picture of words is solved for, not trained (tools/models/words_draft.py).
static zenith_status open_draft(zn_trainer *t, zn_error *err)
{
    static const char *const parts[] = {"draft", NULL};
    zn_words_training *own = zn_words_own(t);
    char path[ZN_PATH_SIZE];
    size_t length = 0;
    if (!zn_zimage_layout_drafts(zn_network_layout(&t->trained[ZN_WORDS_DENOISER])))
        return ZENITH_OK;
    if (t->config.draft)
        length = zn_text_format(path, sizeof path, "%s", t->config.draft);
    else if (t->start)
        length = zn_text_format(path, sizeof path, "%s/%s", t->config.weights, zn_words_folders[1]);
    else
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "\"network.draft_dim\" needs \"draft\", a folder with the draft "
                       "that tools/models/words_draft.py makes");
    if (length + 1 >= sizeof path)
        return zn_fail(err, ZENITH_LIMIT, "the path of the draft is too long");
    const zn_model_request request = {.name = t->config.model, .weights = path, .parts = parts};
    ZN_TRY(zn_model_open(&request, &own->drafting, err));
    zn_trainer_record(t, t->config.draft ? "draft" : "init.weights.draft",
                      zn_model_sha256(own->drafting));
    return zn_network_of_model(own->drafting, zn_model_part(own->drafting, parts[0]), &own->draft,
                               err);
}

static zenith_status keep_configs(const zn_trainer *t, zn_error *err)
{
    zn_words_training *own = zn_words_own(t);
    const zn_json *configs[2] = {t->config.text_network, t->config.network};
    if (t->start) configs[0] = zn_weights_config(own->text->weights);
    if (t->start) configs[1] = zn_weights_config(t->start->weights);
    for (int i = 0; i < 2; i++)
        if (configs[i]) ZN_TRY(zn_json_dump(configs[i], &own->configs[i], NULL, err));
    return ZENITH_OK;
}

// A student's teacher is what it begins with, however often it is resumed.
static void record_teacher(zn_trainer *t)
{
    zn_trainer_record(t, "init.weights.text_encoder", zn_model_sha256(zn_words_own(t)->text));
    zn_trainer_record(t, "init.weights.transformer", zn_model_sha256(t->start));
}

static zenith_status open_networks(zn_trainer *t, zn_error *err)
{
    const zn_variant *variant = zn_variant_find(t->config.model);
    if (!variant || strcmp(zn_family_of(variant)->name, "zimage") != 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "\"model\" must be z-image for \"task\": \"words\"");
    t->own = zn_alloc_zero(sizeof(zn_words_training));
    if (!t->own) return zn_fail_memory(err, sizeof(zn_words_training));
    ZN_TRY(open_start(t, err));
    ZN_TRY(keep_configs(t, err));
    for (int i = 0; i < ZN_WORDS_NETWORKS; i++) ZN_TRY(open_network(t, i, err));
    ZN_TRY(open_draft(t, err));
    if (t->config.distil.steps > 0 && t->start) record_teacher(t);
    zn_words_own(t)->tokens = zn_zimage_caption_tokens(1);
    for (size_t i = 0; i < t->trained[ZN_WORDS_TEXT].count; i++) {
        const zn_train_parameter *p = &t->trained[ZN_WORDS_TEXT].parameters[i];
        if (strcmp(p->name, "embed_tokens.weight") == 0)
            zn_words_own(t)->vocabulary = p->tensor.desc.shape.dim[0];
    }
    return ZENITH_OK;
}

static void close_task(zn_trainer *t)
{
    zn_words_training *own = zn_words_own(t);
    if (!own) return;
    zn_model_unref(own->text);
    zn_network_free(&own->draft);
    zn_model_unref(own->drafting);
    for (int i = 0; i < 2; i++) zn_free(own->configs[i]);
    zn_tokenizer_free(own->tokenizer);
    zn_free(own->tokenizer_json);
    for (int i = 0; i < ZN_WORDS_ANGLES; i++) zn_free(own->angles[i]);
    zn_words_data_free(&own->data);
    zn_words_data_free(&own->held);
    zn_words_close_distil(&own->distil);
    zn_free(own);
    t->own = NULL;
}

// --- data ---------------------------------------------------------------------------------------

// tokenizer.json by its path or its folder's.
static zenith_status open_tokenizer(zn_trainer *t, zn_error *err)
{
    zn_words_training *own = zn_words_own(t);
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
    zn_words_training *own = zn_words_own(t);
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
    zn_words_training *own = zn_words_own(t);
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

// The draft is made for the latents' size, and config.json of the network says the same of it.
static zenith_status check_draft(const zn_trainer *t, zn_error *err)
{
    const zn_words_training *own = zn_words_own(t);
    if (!own->drafting) return ZENITH_OK;
    const int64_t asked = own->ports[ZN_WORDS_DENOISER].inputs[4].desc.shape.dim[1];
    const char *const layouts[] = {zn_network_layout(&own->draft),
                                   zn_network_layout(&t->trained[ZN_WORDS_DENOISER])};
    for (int i = 0; i < 2; i++) {
        zn_ports ports;
        own->draft.part->ports(own->draft.variant, layouts[i], &(zn_sizes){.tokens = own->tokens},
                               &ports);
        const int64_t places = ports.outputs[0].desc.shape.dim[1];
        if (places != asked)
            return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                           "\"draft_places\" of the %s is %lld, and the latents of '%s' have %lld "
                           "tokens",
                           i ? "network" : "draft", (long long)places, t->config.data.latents,
                           (long long)asked);
    }
    return ZENITH_OK;
}

// What one network gives to another, and the latents, must fit.
static zenith_status check_sizes(const zn_trainer *t, zn_error *err)
{
    const zn_words_training *own = zn_words_own(t);
    const int64_t text = own->ports[ZN_WORDS_TEXT].outputs[0].desc.shape.dim[3];
    const int64_t caption = own->ports[ZN_WORDS_CONTEXT].inputs[0].desc.shape.dim[3];
    const int64_t channels = own->ports[ZN_WORDS_DENOISER].inputs[0].desc.shape.dim[3];
    if (text != caption)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "\"network.cap_feat_dim\" is %lld and \"text.hidden_size\" %lld: they must "
                       "be equal",
                       (long long)caption, (long long)text);
    if (channels != own->data.shape.dim[1])
        return zn_fail(
            err, ZENITH_INVALID_ARGUMENT,
            "\"network.in_channels\" is %lld, and the latents of '%s' have %lld channels",
            (long long)channels, t->config.data.latents, (long long)own->data.shape.dim[1]);
    return check_draft(t, err);
}

static void find_ports(zn_trainer *t)
{
    zn_words_training *own = zn_words_own(t);
    const int64_t *dim = own->data.shape.dim;
    const int64_t items = (int64_t)t->rows, tokens = own->tokens;
    own->sizes[ZN_WORDS_TEXT] = (zn_sizes){.tokens = tokens, .items = items};
    own->sizes[ZN_WORDS_CONTEXT] = (zn_sizes){.tokens = tokens, .masked = true, .items = items};
    own->sizes[ZN_WORDS_MODULATION] = (zn_sizes){.tokens = items};
    own->sizes[ZN_WORDS_DENOISER] = (zn_sizes){
        .height = dim[2], .width = dim[3], .tokens = tokens, .items = items};
    for (int i = 0; i < ZN_WORDS_NETWORKS; i++) {
        const zn_network *network = &t->trained[i];
        network->part->ports(network->variant, zn_network_layout(network), &own->sizes[i],
                             &own->ports[i]);
    }
}

static const zn_port *angles_port(const zn_words_training *own, int which)
{
    static const struct {
        int network, input;
    } at[ZN_WORDS_ANGLES] = {{ZN_WORDS_TEXT, 1}, {ZN_WORDS_CONTEXT, 1}, {ZN_WORDS_DENOISER, 3}};
    return &own->ports[at[which].network].inputs[at[which].input];
}

// Rows of numbers are there for one sample: of several, each row is there as often. From the end,
// so that none is overwritten before it is read.
static void repeat_angles(const zn_words_training *own, int which, size_t items)
{
    const size_t width = (size_t)angles_port(own, which)->desc.shape.dim[3];
    float *rows = own->angles[which];
    for (size_t i = own->angles_count[which] / width; i-- > 0;)
        memmove(rows + i * width, rows + i / items * width, width * sizeof *rows);
}

static zenith_status prepare(zn_trainer *t, zn_error *err)
{
    zn_words_training *own = zn_words_own(t);
    const char *image = zn_network_layout(&t->trained[ZN_WORDS_DENOISER]);
    find_ports(t);
    ZN_TRY(check_sizes(t, err));
    for (int i = 0; i < ZN_WORDS_ANGLES; i++) {
        size_t count = 0;
        if (!zn_shape_elements(&angles_port(own, i)->desc.shape, &count))
            return zn_fail_memory(err, SIZE_MAX);
        own->angles_count[i] = count;
        own->angles[i] = zn_alloc(count * sizeof(float));
        if (!own->angles[i]) return zn_fail_memory(err, count * sizeof(float));
    }
    zn_qwen3_layout_angles(zn_network_layout(&t->trained[ZN_WORDS_TEXT]), own->tokens,
                           own->angles[ZN_WORDS_OF_TEXT]);
    zn_zimage_layout_caption_angles(image, own->tokens, own->angles[ZN_WORDS_OF_CONTEXT]);
    zn_zimage_layout_angles(image, &own->sizes[ZN_WORDS_DENOISER],
                            own->angles[ZN_WORDS_OF_DENOISER]);
    for (int i = 0; i < ZN_WORDS_ANGLES; i++) repeat_angles(own, i, t->rows);
    own->patch = zn_zimage_layout_patch(image);
    zn_model_unref(own->text); // its weights are copied
    own->text = NULL;
    return zn_words_open_distil(t, err);
}

static zn_node *build_one(zn_train_building *b, int which, zn_node *const *inputs)
{
    const zn_trainer *t = b->networks;
    const zn_network *network = &t->trained[which];
    zn_node *y = NULL;
    zn_network_build(network, &zn_words_own(t)->sizes[which], b->graph,
                     which == ZN_WORDS_TEXT ? prefix : "", inputs, &y,
                     zn_train_parameters(b, network));
    return y;
}

static zn_node *input_of(zn_train_building *b, const char *name, int which, int port)
{
    const zn_trainer *t = b->networks;
    return zn_graph_input(b->graph, name, zn_words_own(t)->ports[which].inputs[port].desc);
}

// The mean picture of each caption's words; NULL: the denoiser asks for none.
static zn_node *build_draft(zn_train_building *b, zn_node *ids, zn_node *angles)
{
    const zn_trainer *t = b->networks;
    const zn_words_training *own = zn_words_own(t);
    const zn_sizes sizes = {.tokens = own->tokens, .items = (int64_t)t->rows};
    zn_node *y = NULL;
    if (!own->drafting) return NULL;
    zn_network_build(&own->draft, &sizes, b->graph, "", (zn_node *[]){ids, angles}, &y, NULL);
    return y;
}

static void build(zn_train_building *b)
{
    const zn_trainer *t = b->networks;
    zn_graph *g = b->graph;
    zn_node *ids = input_of(b, "ids", ZN_WORDS_TEXT, 0),
            *mask = input_of(b, "mask", ZN_WORDS_CONTEXT, 2);
    zn_node *time = input_of(b, "time", ZN_WORDS_MODULATION, 0);
    zn_node *noisy = input_of(b, "noisy", ZN_WORDS_DENOISER, 0);
    zn_node *target = input_of(b, "target", ZN_WORDS_DENOISER, 0);
    zn_node *angles[ZN_WORDS_ANGLES];
    for (int i = 0; i < ZN_WORDS_ANGLES; i++)
        angles[i] = zn_graph_input(g, zn_words_angle_names[i],
                                   angles_port(zn_words_own(t), i)->desc);
    zn_node *text = build_one(b, ZN_WORDS_TEXT, (zn_node *[]){ids, angles[ZN_WORDS_OF_TEXT]});
    zn_node *context = build_one(b, ZN_WORDS_CONTEXT,
                                 (zn_node *[]){text, angles[ZN_WORDS_OF_CONTEXT], mask});
    zn_node *modulation = build_one(b, ZN_WORDS_MODULATION, &time);
    if (t->rows == 1)
        modulation = zn_channel_sum(g, "modulation.row", modulation); // one row, as a vector
    zn_node *draft = build_draft(b, ids, angles[ZN_WORDS_OF_CONTEXT]);
    b->result = build_one(
        b, ZN_WORDS_DENOISER,
        (zn_node *[]){noisy, context, modulation, angles[ZN_WORDS_OF_DENOISER], draft});
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
    const zn_network *network = &t->trained[text ? ZN_WORDS_TEXT : ZN_WORDS_DENOISER];
    return network->family->precision(network->variant, node->name + (text ? length : 0));
}

static zn_train_builder builder(const zn_trainer *t)
{
    size_t most = 0;
    for (int i = 0; i < ZN_WORDS_NETWORKS; i++) most += t->trained[i].count;
    return (zn_train_builder){build, precision, t, most};
}

static void fill(const void *cookie, zn_sample *sample)
{
    const zn_trainer *t = cookie;
    zn_words_fill(t, sample);
    if (zn_words_own(t)->distil.teacher) zn_words_put_lesson(t, sample);
}

// --- validation ----------------------------------------------------------------------------------

// With their own captions, and the same noise each time.
static zenith_status validate(zn_trainer *t, size_t asked, zn_step_facts *facts, zn_error *err)
{
    const size_t count = t->held_count;
    const zn_batch batch = {count, zn_words_fetch_held, zn_words_fill, t};
    (void)asked;
    ZN_TRY(zn_batch_losses(t->runner, &batch, NULL, err));
    zn_diffae_add(t, count, (double)count, facts);
    return ZENITH_OK;
}

const zn_train_task zn_train_words = {
    .open = open_networks,
    .open_data = open_data,
    .prepare = prepare,
    .builder = builder,
    .ask = zn_words_ask_teacher,
    .fill = fill,
    .add = zn_diffae_add,
    .validate = validate,
    .draw = zn_words_draw,
    .write = zn_words_write,
    .close = close_task,
};
