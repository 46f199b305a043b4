// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/train/tasks/diffae/code_data.h"

#include "src/base/memory.h"
#include "src/base/sha256.h"
#include "src/base/text.h"
#include "src/model/locate.h"
#include "src/train/data/permutation.h"

#include <string.h>

enum {
    MOST_ROWS = 64
}; // of a sample: enough for the products, few enough for a sample on each thread
static const uint64_t HELD = (uint64_t)1 << 63;

// --- networks -----------------------------------------------------------------------------------

static zenith_status find_config(zn_trainer *t, zn_code_task *task, zn_error *err)
{
    const zn_train_config *c = &t->config;
    char path[ZN_PATH_SIZE];
    task->config = t->start ? zn_weights_config(t->start->weights) : c->network;
    if (task->config || !c->autoencoder) return ZENITH_OK;
    if (zn_text_format(path, sizeof path, "%s/config.json", c->autoencoder) + 1 >= sizeof path)
        return zn_fail(err, ZENITH_LIMIT, "the path '%s' is too long", c->autoencoder);
    ZN_TRY(zn_json_open(path, &task->document, err));
    task->config = task->document;
    return ZENITH_OK;
}

// It has the sizes, and the schedule that noise is drawn by.
static zenith_status record_config(zn_trainer *t, const zn_code_task *task, zn_error *err)
{
    char *text = NULL;
    if (!task->config || task->config == t->config.network) return ZENITH_OK;
    ZN_TRY(zn_json_dump(task->config, &text, NULL, err));
    zn_trainer_record_text(t, t->start ? "init.weights.config" : "autoencoder.config", text);
    zn_free(text);
    return ZENITH_OK;
}

static zenith_status open_part(zn_trainer *t, const zn_variant *variant, const char *name,
                               const char *layout, zn_error *err)
{
    const zn_part *part = zn_family_part(zn_family_of(variant), name);
    const zn_network_shape shape = {.layout = layout};
    zn_network *network = &t->trained[t->trained_count];
    if (t->start)
        ZN_TRY(zn_network_of_model(t->start, part, network, err));
    else
        ZN_TRY(zn_network_of_variant(variant, part, &shape, network, err));
    t->trained_count++;
    return ZENITH_OK;
}

zenith_status zn_code_task_open(zn_trainer *t, const char *const *parts, int64_t attributes,
                                zn_error *err)
{
    zn_code_task *task = t->own;
    const zn_variant *variant = zn_variant_find(t->config.model);
    char layout[ZN_LAYOUT_SIZE];
    if (!variant || strcmp(variant->name, "diffae") != 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "\"model\" must be diffae for this \"task\"");
    ZN_TRY(zn_diffae_open_start(t, parts, err));
    ZN_TRY(find_config(t, task, err));
    ZN_TRY(record_config(t, task, err));
    zn_diffae_layout(task->config, attributes, layout);
    if (!zn_diffae_shape_read(layout, &task->shape))
        return zn_fail(err, ZENITH_BAD_FILE,
                       "config.json says sizes that no diffusion autoencoder has (%s)", layout);
    for (int i = 0; parts[i]; i++) ZN_TRY(open_part(t, variant, parts[i], layout, err));
    return ZENITH_OK;
}

void zn_code_task_free(zn_code_task *task)
{
    zn_json_free(task->document);
    zn_free(task->text);
    zn_code_data_free(&task->data);
}

// --- codes --------------------------------------------------------------------------------------

static void normalise(zn_code_set *set, const float *mean, const float *deviation)
{
    for (size_t i = 0; i < set->count; i++)
        for (size_t k = 0; k < set->numbers; k++) {
            float *value = &set->codes[i * set->numbers + k];
            *value = (*value - mean[k]) / deviation[k];
        }
}

static zenith_status check_held(const zn_train_config *c, const zn_code_data *data, zn_error *err)
{
    if (strcmp(data->held.weights, data->set.weights) == 0 &&
        data->held.numbers == data->set.numbers)
        return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "the codes of '%s' and of '%s' were made by different weights",
                   c->validation.codes, c->data.codes);
}

static void put_checksum(zn_trainer *t, const zn_code_set *set)
{
    const size_t row = set->numbers * sizeof *set->codes;
    zn_sha256 hash;
    zn_sha256_begin(&hash);
    zn_sha256_add(&hash, set->codes, set->count * row);
    zn_sha256_add(&hash, set->mean, row);
    zn_sha256_add(&hash, set->deviation, row);
    zn_sha256_end(&hash, t->checksum);
}

void zn_code_data_hold(zn_trainer *t, const zn_code_data *data)
{
    const size_t asked = (size_t)t->config.validation.count, all = data->held.count;
    t->held_count = asked > 0 && asked < all ? asked : all;
    t->held_count = (t->held_count + t->rows - 1) / t->rows; // samples
}

zenith_status zn_code_data_open(zn_trainer *t, zn_code_data *data, zn_error *err)
{
    const zn_train_config *c = &t->config;
    const zn_code_task *task = t->own;
    ZN_TRY(zn_code_set_open(c->data.codes, &data->set, err));
    if ((int64_t)data->set.numbers != task->shape.code)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the codes of '%s' have %zu numbers, and those of the model %lld",
                       c->data.codes, data->set.numbers, (long long)task->shape.code);
    put_checksum(t, &data->set);
    normalise(&data->set, data->set.mean, data->set.deviation);
    t->rows = (size_t)c->batch < MOST_ROWS ? (size_t)c->batch : MOST_ROWS;
    while ((size_t)c->batch % t->rows != 0) t->rows--;
    if (!c->validation.codes) return ZENITH_OK;
    ZN_TRY(zn_code_set_open(c->validation.codes, &data->held, err));
    ZN_TRY(check_held(c, data, err));
    normalise(&data->held, data->set.mean, data->set.deviation);
    zn_code_data_hold(t, data);
    return ZENITH_OK;
}

void zn_code_data_free(zn_code_data *data)
{
    zn_code_set_free(&data->set);
    zn_code_set_free(&data->held);
}

// Codes that are held back fill whole samples: after the last comes the first again.
zn_code_row zn_code_data_row(const zn_trainer *t, const zn_code_data *data, uint64_t sample,
                             size_t row)
{
    const uint64_t number = (sample & ~HELD) * t->rows + row;
    if (sample & HELD)
        return (zn_code_row){&data->held, (size_t)(number % data->held.count), UINT64_MAX - number};
    const uint64_t count = data->set.count;
    const uint64_t index = zn_permutation_at((uint64_t)t->config.data.seed, number / count, count,
                                             number % count);
    return (zn_code_row){&data->set, (size_t)index, number};
}

zenith_status zn_code_data_held(void *cookie, size_t index, uint8_t *pixels, uint64_t *number,
                                zn_error *err)
{
    (void)cookie, (void)pixels, (void)err;
    *number = HELD | index;
    return ZENITH_OK;
}

// --- results ------------------------------------------------------------------------------------

zenith_status zn_code_task_write(const zn_trainer *t, const char *folder, const float *block,
                                 zn_error *err)
{
    const zn_code_task *task = t->own;
    const zn_code_set *set = &task->data.set;
    const zn_shape shape = ZN_SHAPE((int64_t)set->numbers);
    const zn_file_tensor statistics[] = {
        {.name = "conds_mean", .type = ZN_F32, .shape = shape, .data = (const void *)set->mean},
        {.name = "conds_std", .type = ZN_F32, .shape = shape, .data = (const void *)set->deviation},
    };
    if (task->text) ZN_TRY(zn_diffae_write_text(folder, "config.json", task->text, err));
    const zn_weights_beside beside = {statistics, 2, set->weights};
    return zn_weights_write_whole(folder, t->trained, t->trained_count, block, &beside, err);
}
