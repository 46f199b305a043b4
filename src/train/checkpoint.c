// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/train/checkpoint.h"

#include "src/base/directory.h"
#include "src/base/os.h"
#include "src/base/text.h"
#include "src/model/locate.h"

#include <stdlib.h>
#include <string.h>

enum { EMA = 3, BLOCKS = 4, KEPT = 2, NAME_ROOM = ZN_NAME_SIZE + 16 };
static const char *const block_names[BLOCKS] = {"weights", "m", "v", "ema"};
static const char head[] = "checkpoint-", tail[] = ".safetensors";

// A parameter's values in a block; NULL: it has none there.
static float *values_of(const zn_optimizer *o, int block, const zn_train_parameter *p)
{
    float *const blocks[BLOCKS] = {o->weights, o->m, o->v, o->ema};
    if (!blocks[block] || (block == EMA && p->offset >= o->parts[0].end)) return NULL;
    return blocks[block] + p->offset;
}

static zenith_status path_of(const char *folder, uint64_t step, char path[ZN_PATH_SIZE],
                             zn_error *err)
{
    size_t length = zn_text_format(path, ZN_PATH_SIZE, "%s/%s%08llu%s", folder, head,
                                   (unsigned long long)step, tail);
    if (length + 1 < ZN_PATH_SIZE) return ZENITH_OK;
    return zn_fail(err, ZENITH_LIMIT, "the path '%s' is too long", folder);
}

// --- which there are ----------------------------------------------------------------------------

typedef struct listing {
    uint64_t steps[64]; // newest first
    size_t count;
} listing;

static bool step_of(const char *name, uint64_t *step)
{
    char *end;
    if (strncmp(name, head, strlen(head)) != 0) return false;
    const char *digits = name + strlen(head);
    if (*digits < '0' || *digits > '9') return false;
    *step = strtoull(digits, &end, 10);
    return strcmp(end, tail) == 0;
}

static zenith_status note(void *cookie, const char *name)
{
    listing *l = cookie;
    uint64_t step;
    if (!step_of(name, &step)) return ZENITH_OK;
    size_t room = sizeof l->steps / sizeof *l->steps, at = 0;
    while (at < l->count && l->steps[at] > step) at++;
    if (at == room) return ZENITH_OK;
    if (l->count < room) l->count++;
    memmove(&l->steps[at + 1], &l->steps[at], (l->count - at - 1) * sizeof *l->steps);
    l->steps[at] = step;
    return ZENITH_OK;
}

zenith_status zn_checkpoint_find(const char *folder, bool *found, uint64_t *step, zn_error *err)
{
    listing l = {.count = 0};
    ZN_TRY(zn_directory_each(folder, note, &l, err));
    *found = l.count > 0;
    *step = l.count > 0 ? l.steps[0] : 0;
    return ZENITH_OK;
}

static zenith_status remove_old(const char *folder, zn_error *err)
{
    listing l = {.count = 0};
    char path[ZN_PATH_SIZE];
    ZN_TRY(zn_directory_each(folder, note, &l, err));
    for (size_t i = KEPT; i < l.count; i++) {
        ZN_TRY(path_of(folder, l.steps[i], path, err));
        ZN_TRY(zn_file_remove(path, err));
    }
    return ZENITH_OK;
}

static zenith_status remove_rest(void *cookie, const char *name)
{
    char path[ZN_PATH_SIZE];
    if (name[0] != '.' || !strstr(name, ".tmp-")) return ZENITH_OK;
    size_t length = zn_text_format(path, sizeof path, "%s/%s", (const char *)cookie, name);
    return length + 1 < sizeof path ? zn_file_remove(path, NULL) : ZENITH_OK;
}

zenith_status zn_checkpoint_clean(const char *folder, zn_error *err)
{
    return zn_directory_each(folder, remove_rest, (void *)(uintptr_t)folder, err);
}

// --- writing ------------------------------------------------------------------------------------

static size_t all_parameters(const zn_network *networks, size_t count)
{
    size_t all = 0;
    for (size_t i = 0; i < count; i++) all += networks[i].count;
    return all;
}

// The tensors of all blocks that are there, with their names in `names`.
static size_t list_tensors(const zn_network *networks, size_t count, const zn_optimizer *o,
                           zn_file_tensor *tensors, char (*names)[NAME_ROOM])
{
    size_t n = 0;
    for (int b = 0; b < BLOCKS; b++) {
        for (size_t i = 0; i < count; i++) {
            for (size_t j = 0; j < networks[i].count; j++) {
                const zn_train_parameter *p = &networks[i].parameters[j];
                const float *values = values_of(o, b, p);
                if (!values) continue;
                zn_text_format(names[n], NAME_ROOM, "%s.%s", block_names[b], p->name);
                tensors[n] = (zn_file_tensor){.name = names[n],
                                              .type = ZN_F32,
                                              .shape = p->tensor.desc.shape,
                                              .data = (const uint8_t *)values};
                n++;
            }
        }
    }
    return n;
}

static zenith_status write_file(const char *path, zn_file_tensor *tensors, size_t count,
                                const zn_metadata *facts, size_t pairs, zn_error *err)
{
    zn_writer *file;
    ZN_TRY(zn_writer_open(path, &file, err));
    zenith_status status = zn_safetensors_write(file, tensors, count, facts, pairs, err);
    if (status == ZENITH_OK) return zn_writer_commit(file, err);
    zn_writer_discard(file);
    return status;
}

zenith_status zn_checkpoint_write(const char *folder, const zn_network *networks, size_t count,
                                  const zn_optimizer *optimizer, const zn_run_identity *identity,
                                  zn_error *err)
{
    char path[ZN_PATH_SIZE], step[32], scale[96];
    size_t most = BLOCKS * all_parameters(networks, count);
    ZN_TRY(path_of(folder, optimizer->step, path, err));
    zn_text_format(step, sizeof step, "%llu", (unsigned long long)optimizer->step);
    zn_text_format(scale, sizeof scale, "%d %llu %llu", optimizer->scale.exponent,
                   (unsigned long long)optimizer->scale.steps,
                   (unsigned long long)optimizer->scale.overflows);
    const zn_metadata facts[] = {{"zenith.step", step},
                                 {"zenith.config", identity->config},
                                 {"zenith.data", identity->data},
                                 {"zenith.loss_scale", scale}};
    const size_t facts_count = optimizer->scale.used ? 4 : 3;
    zn_file_tensor *tensors = zn_alloc(most * sizeof *tensors);
    char(*names)[NAME_ROOM] = zn_alloc(most * sizeof *names);
    zenith_status status;
    if (tensors && names) {
        size_t n = list_tensors(networks, count, optimizer, tensors, names);
        status = write_file(path, tensors, n, facts, facts_count, err);
    } else {
        status = zn_fail_memory(err, most * sizeof *names);
    }
    zn_free(tensors);
    zn_free(names);
    return status == ZENITH_OK ? remove_old(folder, err) : status;
}

zenith_status zn_weights_write(const char *folder, const zn_network *network, const float *block,
                               zn_error *err)
{
    char path[ZN_PATH_SIZE], key[ZN_NAME_SIZE];
    const zn_metadata facts[] = {{"zenith.model", network->variant->name},
                                 {zn_layout_key(network->part, key), network->layout}};
    const size_t facts_count = *network->layout ? 2 : 1;
    size_t length = zn_text_format(path, sizeof path, "%s/%s_%s%s", folder, network->variant->name,
                                   network->part->name, tail);
    if (length + 1 >= sizeof path)
        return zn_fail(err, ZENITH_LIMIT, "the path '%s' is too long", folder);
    zn_file_tensor *tensors = zn_alloc(network->count * sizeof *tensors);
    if (!tensors) return zn_fail_memory(err, network->count * sizeof *tensors);
    for (size_t i = 0; i < network->count; i++) {
        const zn_train_parameter *p = &network->parameters[i];
        tensors[i] = (zn_file_tensor){.name = p->name + strlen(network->part->prefix),
                                      .type = ZN_F32,
                                      .shape = p->tensor.desc.shape,
                                      .data = (const uint8_t *)(block + p->offset)};
    }
    zenith_status status = write_file(path, tensors, network->count, facts, facts_count, err);
    zn_free(tensors);
    return status;
}

static void list_whole(const zn_network *networks, size_t count, const float *block,
                       zn_file_tensor *tensors)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < networks[i].count; j++) {
            const zn_train_parameter *p = &networks[i].parameters[j];
            *tensors++ = (zn_file_tensor){.name = p->name,
                                          .type = ZN_F32,
                                          .shape = p->tensor.desc.shape,
                                          .data = (const uint8_t *)(block + p->offset)};
        }
}

zenith_status zn_weights_write_whole(const char *folder, const zn_network *networks, size_t count,
                                     const float *block, const zn_weights_beside *beside,
                                     zn_error *err)
{
    char path[ZN_PATH_SIZE];
    const bool learned = beside && beside->autoencoder && *beside->autoencoder;
    const zn_metadata facts[] = {{"zenith.model", networks->variant->name},
                                 {"zenith.autoencoder", learned ? beside->autoencoder : ""}};
    const size_t more = beside ? beside->count : 0;
    size_t all = more;
    for (size_t i = 0; i < count; i++) all += networks[i].count;
    if (zn_text_format(path, sizeof path, "%s/model%s", folder, tail) + 1 >= sizeof path)
        return zn_fail(err, ZENITH_LIMIT, "the path '%s' is too long", folder);
    zn_file_tensor *tensors = zn_alloc(all * sizeof *tensors);
    if (!tensors) return zn_fail_memory(err, all * sizeof *tensors);
    for (size_t i = 0; i < more; i++) tensors[i] = beside->tensors[i];
    list_whole(networks, count, block, tensors + more);
    zenith_status status = write_file(path, tensors, all, facts, learned ? 2 : 1, err);
    zn_free(tensors);
    return status;
}

// --- reading ------------------------------------------------------------------------------------

static zenith_status check_identity(const zn_safetensors *file, const zn_run_identity *identity,
                                    zn_error *err)
{
    const char *config = zn_safetensors_metadata(file, "zenith.config");
    const char *data = zn_safetensors_metadata(file, "zenith.data");
    if (!config || !data)
        return zn_fail(err, ZENITH_BAD_FILE, "the file is not a checkpoint of a training run");
    ZN_TRY(zn_train_config_agree(identity->config, config, err));
    if (strcmp(identity->data, data) == 0) return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "the pictures of the training set are not those that the run began with: their "
                   "names or sizes differ");
}

static zenith_status read_blocks(const zn_safetensors *file, const zn_network *networks,
                                 size_t count, const zn_optimizer *o, zn_error *err)
{
    char name[NAME_ROOM];
    for (int b = 0; b < BLOCKS; b++) {
        for (size_t i = 0; i < count; i++) {
            for (size_t j = 0; j < networks[i].count; j++) {
                const zn_train_parameter *p = &networks[i].parameters[j];
                float *values = values_of(o, b, p);
                if (!values) continue;
                zn_text_format(name, sizeof name, "%s.%s", block_names[b], p->name);
                const zn_file_tensor *tensor = zn_safetensors_find(file, name);
                if (!tensor || !zn_shape_equal(&tensor->shape, &p->tensor.desc.shape))
                    return zn_fail(err, ZENITH_BAD_FILE,
                                   "the checkpoint lacks the tensor '%s', or it has another shape",
                                   name);
                ZN_TRY(zn_file_tensor_read(tensor, values, err));
            }
        }
    }
    return ZENITH_OK;
}

// The number at *text, which ends at `end`; *text goes on behind that. False: there is none.
static bool read_number(const char **text, char end, uint64_t *out)
{
    char *after = NULL;
    if (!*text || **text < '0' || **text > '9') return false;
    *out = strtoull(*text, &after, 10);
    if (*after != end) return false;
    *text = after + (end != 0);
    return true;
}

static zenith_status read_step(const zn_safetensors *file, uint64_t *step, zn_error *err)
{
    const char *text = zn_safetensors_metadata(file, "zenith.step");
    if (read_number(&text, 0, step)) return ZENITH_OK;
    return zn_fail(err, ZENITH_BAD_FILE, "the checkpoint does not say its step");
}

static zenith_status read_scale(const zn_safetensors *file, zn_loss_scale *scale, zn_error *err)
{
    const char *text = zn_safetensors_metadata(file, "zenith.loss_scale");
    uint64_t exponent = 0, steps = 0, overflows = 0;
    if (!scale->used) return ZENITH_OK;
    if (!read_number(&text, ' ', &exponent) || !read_number(&text, ' ', &steps) ||
        !read_number(&text, 0, &overflows) || exponent > ZN_LARGEST_SCALE)
        return zn_fail(err, ZENITH_BAD_FILE, "the checkpoint does not say its loss scale");
    *scale = (zn_loss_scale){true, (int)exponent, steps, overflows};
    return ZENITH_OK;
}

zenith_status zn_checkpoint_read(const char *folder, const zn_network *networks, size_t count,
                                 zn_optimizer *optimizer, const zn_run_identity *identity,
                                 zn_error *err)
{
    char path[ZN_PATH_SIZE];
    uint64_t step = 0;
    bool found = false;
    zn_safetensors *file = NULL;
    zn_loss_scale scale = optimizer->scale;
    ZN_TRY(zn_checkpoint_find(folder, &found, &step, err));
    if (!found) return zn_fail(err, ZENITH_NOT_FOUND, "'%s' has no checkpoint", folder);
    ZN_TRY(path_of(folder, step, path, err));
    ZN_TRY(zn_safetensors_open(path, &file, err));
    zenith_status status = read_step(file, &step, err);
    if (status == ZENITH_OK) status = check_identity(file, identity, err);
    if (status == ZENITH_OK) status = read_scale(file, &scale, err);
    if (status == ZENITH_OK) status = read_blocks(file, networks, count, optimizer, err);
    zn_safetensors_free(file);
    if (status != ZENITH_OK) {
        zn_error_prefix(err, path);
        return status;
    }
    optimizer->step = step;
    optimizer->scale = scale;
    return ZENITH_OK;
}
