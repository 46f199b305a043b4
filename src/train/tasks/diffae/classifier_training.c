// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The task of training a diffusion autoencoder's classifier: one linear layer from normalised codes
// to a score for each attribute, and the logistic loss of scores and labels. Codes without labels
// are left out, and counted.
#include "src/base/memory.h"
#include "src/base/sha256.h"
#include "src/base/text.h"
#include "src/format/archive/labels.h"
#include "src/train/loss/losses.h"
#include "src/train/tasks/diffae/code_data.h"

#include <math.h>
#include <string.h>

static const char *const part_names[] = {"classifier", NULL};

typedef struct classifier_training {
    zn_code_task task;
    zn_labels labels, held_labels; // the latter of a file of its own, if there is one
    const uint8_t **known, **held; // of each code of both sets
} classifier_training;

static classifier_training *own_of(const zn_trainer *t)
{
    return t->own;
}

static const zn_labels *held_labels(const classifier_training *own)
{
    return own->held_labels.rows_count ? &own->held_labels : &own->labels;
}

static zenith_status check_columns(const zn_train_config *c, const classifier_training *own,
                                   zn_error *err)
{
    const zn_labels *a = &own->labels, *b = held_labels(own);
    bool same = a->columns_count == b->columns_count;
    for (size_t k = 0; same && k < a->columns_count; k++)
        same = strcmp(a->columns[k], b->columns[k]) == 0;
    if (same) return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT, "'%s' and '%s' have different attributes",
                   c->validation.labels, c->data.labels);
}

// Names of attributes beside what config.json of the autoencoder says.
static zenith_status make_config(classifier_training *own, zn_error *err)
{
    const zn_labels *labels = &own->labels;
    zn_json *names = NULL, *config = NULL;
    zenith_status status;
    ZN_GO(zn_json_texts(labels->columns, labels->columns_count, &names, err));
    ZN_GO(zn_json_replaced(own->task.config, "attributes", names, &config, err));
    ZN_GO(zn_json_dump(config, &own->task.text, NULL, err));
fail:
    zn_json_free(names);
    zn_json_free(config);
    return status;
}

static zenith_status open_networks(zn_trainer *t, zn_error *err)
{
    const zn_train_config *c = &t->config;
    t->own = zn_alloc_zero(sizeof(classifier_training));
    if (!t->own) return zn_fail_memory(err, sizeof(classifier_training));
    classifier_training *own = own_of(t);
    ZN_TRY(zn_labels_open(c->data.labels, &own->labels, err));
    if (c->validation.labels) ZN_TRY(zn_labels_open(c->validation.labels, &own->held_labels, err));
    ZN_TRY(check_columns(c, own, err));
    ZN_TRY(zn_code_task_open(t, part_names, (int64_t)own->labels.columns_count, err));
    if (own->task.shape.attributes == (int64_t)own->labels.columns_count)
        return make_config(own, err);
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "\"init.weights\" has a classifier of %lld attributes, and '%s' has %zu",
                   (long long)own->task.shape.attributes, c->data.labels,
                   own->labels.columns_count);
}

// --- data ---------------------------------------------------------------------------------------

// Moves the codes that have labels to the front, and notes those.
static zenith_status match(const zn_labels *labels, const char *path, zn_code_set *set,
                           const uint8_t ***out, zn_error *err)
{
    size_t kept = 0;
    if (!set->names)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "'%s' does not say which pictures its codes are of", path);
    *out = zn_alloc(set->count * sizeof **out);
    if (!*out) return zn_fail_memory(err, set->count * sizeof **out);
    for (size_t i = 0; i < set->count; i++) {
        const uint8_t *values = zn_labels_find(labels, zn_code_set_name(set, i));
        if (!values) continue;
        memmove(set->codes + kept * set->numbers, set->codes + i * set->numbers,
                set->numbers * sizeof *set->codes);
        (*out)[kept++] = values;
    }
    set->count = kept;
    if (kept > 0) return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "no picture of '%s' has labels: names there must be the ends of paths such as "
                   "'%.200s'",
                   path, zn_code_set_name(set, 0));
}

static void tell_matched(const zn_trainer *t, const char *path, size_t kept, size_t all)
{
    if (kept < all)
        zn_log_write(t->options->log, ZN_LOG_WARNING,
                     "%zu of %zu codes of %s have no labels, and are left out", all - kept, all,
                     path);
}

// The attributes, and which codes have which: another picture's labels decide nothing.
static void record_labels(zn_trainer *t, const classifier_training *own)
{
    const size_t columns = own->labels.columns_count;
    char hex[65];
    zn_sha256 hash;
    zn_sha256_begin(&hash);
    for (size_t k = 0; k < columns; k++)
        zn_sha256_add(&hash, own->labels.columns[k], strlen(own->labels.columns[k]) + 1);
    for (size_t i = 0; i < own->task.data.set.count; i++)
        zn_sha256_add(&hash, own->known[i], columns);
    zn_sha256_end(&hash, hex);
    zn_trainer_record(t, "data.labels", hex);
}

static zenith_status open_data(zn_trainer *t, zn_error *err)
{
    const zn_train_config *c = &t->config;
    classifier_training *own = own_of(t);
    zn_code_data *data = &own->task.data;
    ZN_TRY(zn_code_data_open(t, data, err));
    size_t all = data->set.count;
    ZN_TRY(match(&own->labels, c->data.codes, &data->set, &own->known, err));
    tell_matched(t, c->data.codes, data->set.count, all);
    record_labels(t, own);
    if (data->held.count == 0) return ZENITH_OK;
    all = data->held.count;
    ZN_TRY(match(held_labels(own), c->validation.codes, &data->held, &own->held, err));
    tell_matched(t, c->validation.codes, data->held.count, all);
    zn_code_data_hold(t, data);
    return ZENITH_OK;
}

static void close_task(zn_trainer *t)
{
    classifier_training *own = own_of(t);
    if (!own) return;
    zn_code_task_free(&own->task);
    zn_labels_free(&own->labels);
    zn_labels_free(&own->held_labels);
    zn_free(own->known);
    zn_free(own->held);
    zn_free(own);
    t->own = NULL;
}

// --- the graph ----------------------------------------------------------------------------------

static void build(zn_train_building *b)
{
    const zn_trainer *t = b->networks;
    const zn_network *network = &t->trained[0];
    const zn_diffae_shape *shape = &own_of(t)->task.shape;
    const int64_t rows = (int64_t)t->rows;
    const zn_sizes sizes = {.tokens = rows};
    zn_graph *g = b->graph;
    zn_node *codes = zn_graph_input(g, "codes",
                                    zn_desc_make(ZN_F32, ZN_SHAPE(1, rows, 1, shape->code)));
    zn_node *labels = zn_graph_input(g, "labels",
                                     zn_desc_make(ZN_F32, ZN_SHAPE(1, rows, 1, shape->attributes)));
    zn_network_build(network, &sizes, g, "", &codes, &b->result, zn_train_parameters(b, network));
    const zn_loss_inputs in = {.original = labels, .reconstruction = b->result};
    b->losses[0] = zn_loss_build(g, &t->config.losses[0], &in);
    b->loss = zn_loss_sum(g, t->config.losses, b->losses, 1);
    zn_train_keep(b, b->result);
}

static zn_precision precision(const zn_train_building *b, const zn_node *node)
{
    (void)b, (void)node;
    return ZN_PRECISION_FULL;
}

static zn_train_builder builder(const zn_trainer *t)
{
    return (zn_train_builder){build, precision, t, t->trained[0].count};
}

static void fill(const void *cookie, zn_sample *sample)
{
    const zn_trainer *t = cookie;
    const classifier_training *own = own_of(t);
    const zn_code_data *data = &own->task.data;
    const size_t numbers = data->set.numbers, attributes = own->labels.columns_count;
    float *codes = zn_sample_input(sample, "codes"), *labels = zn_sample_input(sample, "labels");
    for (size_t r = 0; r < t->rows; r++, codes += numbers, labels += attributes) {
        const zn_code_row row = zn_code_data_row(t, data, sample->number, r);
        const uint8_t *yes = (row.set == &data->held ? own->held : own->known)[row.index];
        memcpy(codes, row.set->codes + row.index * numbers, numbers * sizeof *codes);
        for (size_t k = 0; k < attributes; k++) labels[k] = yes[k];
    }
}

// --- what is shown ------------------------------------------------------------------------------

// Of one attribute, over the codes that are held back.
typedef struct judgement {
    size_t right, positive, all;
} judgement;

static const float *parameter(const zn_trainer *t, const float *block, const char *name)
{
    const zn_network *network = &t->trained[0];
    for (size_t i = 0; i < network->count; i++)
        if (strcmp(network->parameters[i].name, name) == 0)
            return block + network->parameters[i].offset;
    return NULL;
}

// By the weights of a block: those that are shipped are judged, averaged or not.
static judgement judge(const zn_trainer *t, const float *block, size_t attribute)
{
    const classifier_training *own = own_of(t);
    const zn_code_set *held = &own->task.data.held;
    const float *weight = parameter(t, block, "classifier.weight");
    const float *bias = parameter(t, block, "classifier.bias");
    judgement out = {.all = held->count};
    for (size_t i = 0; i < held->count && weight && bias; i++) {
        double score = (double)bias[attribute];
        for (size_t k = 0; k < held->numbers; k++)
            score += (double)weight[attribute * held->numbers + k] *
                     (double)held->codes[i * held->numbers + k];
        const bool yes = own->held[i][attribute] != 0;
        out.right += (score > 0) == yes;
        out.positive += yes;
    }
    return out;
}

static const float *shipped(const zn_trainer *t)
{
    return t->optimizer.ema ? t->optimizer.ema : t->optimizer.weights;
}

static zenith_status validate(zn_trainer *t, size_t asked, zn_step_facts *facts, zn_error *err)
{
    const size_t count = t->held_count, attributes = own_of(t)->labels.columns_count;
    const zn_batch batch = {count, zn_code_data_held, fill, t};
    double mean = 0, worst = 1;
    (void)asked;
    ZN_TRY(zn_batch_losses(t->runner, &batch, NULL, err));
    zn_diffae_add(t, count, (double)count, facts);
    for (size_t k = 0; k < attributes; k++) {
        const judgement j = judge(t, shipped(t), k);
        const double share = (double)j.right / (double)j.all;
        mean += share / (double)attributes;
        worst = share < worst ? share : worst;
    }
    facts->more[0].name = "accuracy";
    facts->more[0].value = mean;
    facts->more[1].name = "worst_accuracy";
    facts->more[1].value = worst;
    facts->more_count = 2;
    return ZENITH_OK;
}

// --- results ------------------------------------------------------------------------------------

typedef struct writing {
    char *text;
    size_t size, length;
} writing;

static void put_shares(writing *w, const char *key, const double *shares, size_t count)
{
    w->length += zn_text_format(w->text + w->length, w->size - w->length, ",\n \"%s\": [", key);
    for (size_t k = 0; k < count; k++)
        w->length += zn_text_format(w->text + w->length, w->size - w->length, "%s%.4f",
                                    k ? ", " : "", shares[k]);
    w->length += zn_text_format(w->text + w->length, w->size - w->length, "]");
}

// shares: [2][attributes], those that the scores tell and those that the commoner answer would.
static zenith_status write_shares(const zn_trainer *t, const char *folder, const double *shares,
                                  zn_error *err)
{
    const classifier_training *own = own_of(t);
    const size_t count = own->labels.columns_count;
    zn_json *list = NULL;
    char *names = NULL;
    size_t length = 0;
    writing w = {0};
    zenith_status status;
    ZN_GO(zn_json_texts(own->labels.columns, count, &list, err));
    ZN_GO(zn_json_dump(list, &names, &length, err));
    w.size = length + count * 32 + 256;
    w.text = zn_alloc(w.size);
    if (!w.text) {
        status = zn_fail_memory(err, w.size);
        goto fail;
    }
    w.length = zn_text_format(w.text, w.size, "{\"codes\": %zu,\n \"attributes\": %s",
                              own->task.data.held.count, names);
    put_shares(&w, "accuracy", shares, count);
    put_shares(&w, "commoner", shares + count, count);
    zn_text_format(w.text + w.length, w.size - w.length, "}\n");
    ZN_GO(zn_diffae_write_text(folder, "accuracy.json", w.text, err));
fail:
    zn_json_free(list);
    zn_free(names);
    zn_free(w.text);
    return status;
}

// For each attribute the share of the held codes that the score tells, beside the share of the
// commoner answer.
static zenith_status write_accuracy(const zn_trainer *t, const char *folder, const float *block,
                                    zn_error *err)
{
    const zn_labels *labels = &own_of(t)->labels;
    const size_t count = labels->columns_count;
    double *shares = zn_alloc(2 * count * sizeof *shares);
    if (!shares) return zn_fail_memory(err, 2 * count * sizeof *shares);
    for (size_t k = 0; k < count; k++) {
        const judgement j = judge(t, block, k);
        const double yes = (double)j.positive / (double)j.all;
        shares[k] = (double)j.right / (double)j.all;
        shares[count + k] = yes > 0.5 ? yes : 1 - yes;
        if (block == shipped(t))
            zn_log_write(t->options->log, ZN_LOG_INFO,
                         "%s: %.2f %% are right; the commoner answer alone would be %.2f %%",
                         labels->columns[k], 100 * shares[k], 100 * shares[count + k]);
    }
    zenith_status status = write_shares(t, folder, shares, err);
    zn_free(shares);
    return status;
}

static zenith_status write_model(const zn_trainer *t, const char *folder, const float *block,
                                 zn_error *err)
{
    if (own_of(t)->task.data.held.count) ZN_TRY(write_accuracy(t, folder, block, err));
    return zn_code_task_write(t, folder, block, err);
}

const zn_train_task zn_train_diffae_classifier = {
    .open = open_networks,
    .open_data = open_data,
    .builder = builder,
    .fill = fill,
    .add = zn_diffae_add,
    .validate = validate,
    .write = write_model,
    .close = close_task,
};
