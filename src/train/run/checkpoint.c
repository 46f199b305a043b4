// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/train/run/checkpoint.h"

#include "src/base/directory.h"
#include "src/base/os.h"
#include "src/base/sha256.h"
#include "src/base/text.h"
#include "src/model/locate.h"

#include <stdlib.h>
#include <string.h>

enum { EMA = 3, BLOCKS = 4, KEPT = 2, NAME_ROOM = ZN_NAME_SIZE + 16 };
static const char *const block_names[BLOCKS] = {"weights", "m", "v", "ema"};
static const char head[] = "checkpoint-", tail[] = ".safetensors";
static const char checksum_key[] = "zenith.checksum";

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

// All but the one that was just written and those before it. A later one was damaged when the run
// went on from an older one; it must not count as one of the two.
static zenith_status remove_others(const char *folder, uint64_t written, zn_error *err)
{
    listing l = {.count = 0};
    char path[ZN_PATH_SIZE];
    size_t kept = 0;
    ZN_TRY(zn_directory_each(folder, note, &l, err));
    for (size_t i = 0; i < l.count; i++) {
        if (l.steps[i] <= written && kept++ < KEPT) continue;
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

// --- the checksum -------------------------------------------------------------------------------

static void add_pair(zn_sha256 *hash, const char *key, const char *value)
{
    zn_sha256_add(hash, key, strlen(key) + 1);
    zn_sha256_add(hash, value, strlen(value) + 1);
}

static void add_tensor(zn_sha256 *hash, const zn_file_tensor *tensor)
{
    const zn_shape *shape = &tensor->shape;
    char dim[32];
    zn_sha256_add(hash, tensor->name, strlen(tensor->name) + 1);
    for (int i = 0; i < shape->rank; i++) {
        size_t length = zn_text_format(dim, sizeof dim, "%lld ", (long long)shape->dim[i]);
        zn_sha256_add(hash, dim, length);
    }
    zn_sha256_add(hash, tensor->data, tensor->bytes);
}

void zn_checkpoint_checksum(const zn_safetensors *file, char hex[65])
{
    zn_sha256 hash;
    zn_sha256_begin(&hash);
    for (size_t i = 0; i < zn_safetensors_metadata_count(file); i++) {
        const zn_metadata pair = zn_safetensors_metadata_get(file, i);
        if (strcmp(pair.key, checksum_key) != 0) add_pair(&hash, pair.key, pair.value);
    }
    for (size_t i = 0; i < zn_safetensors_count(file); i++)
        add_tensor(&hash, zn_safetensors_get(file, i));
    zn_sha256_end(&hash, hex);
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const zn_metadata *)a)->key, ((const zn_metadata *)b)->key);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const zn_file_tensor *)a)->name, ((const zn_file_tensor *)b)->name);
}

// The same of what is about to be written. Sorts both, as an open file has them.
static void checksum_of(zn_file_tensor *tensors, size_t count, zn_metadata *facts, size_t pairs,
                        char hex[65])
{
    zn_sha256 hash;
    zn_sha256_begin(&hash);
    qsort(facts, pairs, sizeof *facts, by_key);
    qsort(tensors, count, sizeof *tensors, by_name);
    for (size_t i = 0; i < pairs; i++) add_pair(&hash, facts[i].key, facts[i].value);
    for (size_t i = 0; i < count; i++) add_tensor(&hash, &tensors[i]);
    zn_sha256_end(&hash, hex);
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
                                              .data = (const uint8_t *)values,
                                              .bytes = p->elements * sizeof *values};
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

// All blocks of a file, with what it is.
static zenith_status write_state(const char *path, const zn_network *networks, size_t count,
                                 const zn_optimizer *optimizer, zn_metadata *facts, size_t pairs,
                                 zn_error *err)
{
    char checksum[65];
    size_t most = BLOCKS * all_parameters(networks, count);
    zn_file_tensor *tensors = zn_alloc(most * sizeof *tensors);
    char(*names)[NAME_ROOM] = zn_alloc(most * sizeof *names);
    zenith_status status;
    if (tensors && names) {
        size_t n = list_tensors(networks, count, optimizer, tensors, names);
        checksum_of(tensors, n, facts, pairs, checksum);
        facts[pairs++] = (zn_metadata){checksum_key, checksum};
        status = write_file(path, tensors, n, facts, pairs, err);
    } else {
        status = zn_fail_memory(err, most * sizeof *names);
    }
    zn_free(tensors);
    zn_free(names);
    return status;
}

zenith_status zn_checkpoint_write(const char *folder, const zn_network *networks, size_t count,
                                  const zn_optimizer *optimizer, const zn_run_identity *identity,
                                  zn_error *err)
{
    char path[ZN_PATH_SIZE], step[32], scale[96];
    ZN_TRY(path_of(folder, optimizer->step, path, err));
    zn_text_format(step, sizeof step, "%llu", (unsigned long long)optimizer->step);
    zn_text_format(scale, sizeof scale, "%d %llu %llu", optimizer->scale.exponent,
                   (unsigned long long)optimizer->scale.steps,
                   (unsigned long long)optimizer->scale.overflows);
    zn_metadata facts[5] = {{"zenith.step", step},
                            {"zenith.config", identity->config},
                            {"zenith.data", identity->data},
                            {"zenith.loss_scale", scale}}; // and room for the checksum
    ZN_TRY(
        write_state(path, networks, count, optimizer, facts, optimizer->scale.used ? 4 : 3, err));
    return remove_others(folder, optimizer->step, err);
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

static zenith_status check_whole(const zn_safetensors *file, zn_error *err)
{
    const char *stored = zn_safetensors_metadata(file, checksum_key);
    char hex[65];
    if (!stored)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "the file has no checksum: it is no checkpoint, or of an older version");
    zn_checkpoint_checksum(file, hex);
    if (strcmp(stored, hex) == 0) return ZENITH_OK;
    return zn_fail(err, ZENITH_BAD_FILE,
                   "the checkpoint is damaged: its checksum is not that of what it contains");
}

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
                   "the training data are not what the run began with: names or sizes of pictures "
                   "differ, or codes, latents or captions");
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
    const char *at = *text;
    uint64_t number = 0;
    for (; at && *at >= '0' && *at <= '9'; at++) {
        const uint64_t digit = (uint64_t)(*at - '0');
        if (number > (UINT64_MAX - digit) / 10) return false;
        number = number * 10 + digit;
    }
    if (!at || at == *text || *at != end) return false;
    *out = number;
    *text = at + (end != 0);
    return true;
}

static zenith_status read_step(const zn_safetensors *file, uint64_t last, uint64_t *step,
                               zn_error *err)
{
    const char *text = zn_safetensors_metadata(file, "zenith.step");
    if (read_number(&text, 0, step) && *step <= last) return ZENITH_OK;
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

zenith_status zn_checkpoint_take(const zn_safetensors *file, const zn_network *networks,
                                 size_t count, zn_optimizer *optimizer,
                                 const zn_run_identity *identity, zn_error *err)
{
    uint64_t step = 0;
    zn_loss_scale scale = optimizer->scale;
    ZN_TRY(check_whole(file, err));
    ZN_TRY(check_identity(file, identity, err));
    ZN_TRY(read_step(file, optimizer->all_steps, &step, err));
    ZN_TRY(read_scale(file, &scale, err));
    ZN_TRY(read_blocks(file, networks, count, optimizer, err));
    optimizer->step = step;
    optimizer->scale = scale;
    return ZENITH_OK;
}

// What damaged bytes of a file may lead to.
static bool is_damage(zenith_status status)
{
    return status == ZENITH_BAD_FILE || status == ZENITH_LIMIT || status == ZENITH_UNSUPPORTED;
}

static zenith_status take_file(const char *path, const zn_network *networks, size_t count,
                               zn_optimizer *optimizer, const zn_run_identity *identity,
                               zn_error *err)
{
    zn_safetensors *file = NULL;
    ZN_TRY(zn_safetensors_open(path, &file, err));
    zenith_status status = zn_checkpoint_take(file, networks, count, optimizer, identity, err);
    if (status != ZENITH_OK && !is_damage(status)) zn_error_prefix(err, path);
    zn_safetensors_free(file);
    return status;
}

zenith_status zn_checkpoint_read(const char *folder, const zn_network *networks, size_t count,
                                 zn_optimizer *optimizer, const zn_run_identity *identity,
                                 zn_skip_fn *skip, void *cookie, zn_error *err)
{
    listing l = {.count = 0};
    char path[ZN_PATH_SIZE];
    zenith_status status = ZENITH_BAD_FILE;
    ZN_TRY(zn_directory_each(folder, note, &l, err));
    if (l.count == 0) return zn_fail(err, ZENITH_NOT_FOUND, "'%s' has no checkpoint", folder);
    for (size_t i = 0; i < l.count && is_damage(status); i++) {
        zn_error why = {0};
        ZN_TRY(path_of(folder, l.steps[i], path, err));
        status = take_file(path, networks, count, optimizer, identity, &why);
        if (status == ZENITH_OK) return ZENITH_OK;
        if (!is_damage(status)) return zn_fail(err, status, "%s", why.text);
        if (skip) skip(cookie, path, why.text);
    }
    return zn_fail(err, status, "no checkpoint in '%s' is whole: remove them to begin again",
                   folder);
}
