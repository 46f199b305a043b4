// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/task/generate/memory.h"

#include "src/base/memory.h"

#include <string.h>

static void free_caption(zn_caption *caption)
{
    zn_free(caption->ids);
    zn_free(caption->hidden);
    *caption = (zn_caption){.count = 0};
}

void zn_generator_memory_free(zn_generator_memory *memory)
{
    for (int i = 0; i < 2; i++) zn_model_unref(memory->packed[i]);
    for (int i = 0; i < ZN_CAPTIONS_KEPT; i++) free_caption(&memory->captions[i]);
    zn_mutex_free(memory->lock);
    *memory = (zn_generator_memory){.uses = 0};
}

// --- models -------------------------------------------------------------------------------------

zenith_status zn_generator_memory_take(zn_generator_memory *memory, zn_generator_part part,
                                       zn_model *base, zn_model **out, zn_error *err)
{
    zenith_status status = ZENITH_OK;
    zn_mutex_lock(memory->lock);
    if (!memory->packed[part]) status = zn_model_again(base, &memory->packed[part], err);
    if (status == ZENITH_OK) *out = zn_model_ref(memory->packed[part]);
    zn_mutex_unlock(memory->lock);
    return status;
}

void zn_generator_memory_drop(zn_generator_memory *memory, zn_generator_part part)
{
    zn_mutex_lock(memory->lock);
    zn_model *dropped = memory->packed[part];
    memory->packed[part] = NULL;
    zn_mutex_unlock(memory->lock);
    zn_model_unref(dropped);
}

uint64_t zn_generator_memory_bytes(zn_generator_memory *memory, zn_generator_part part)
{
    zn_mutex_lock(memory->lock);
    const zn_model *model = memory->packed[part];
    const uint64_t bytes = model ? zn_packs_bytes(model->packs) : 0;
    zn_mutex_unlock(memory->lock);
    return bytes;
}

// --- captions -----------------------------------------------------------------------------------

static bool is_same(const zn_caption *a, const zn_caption *b)
{
    return a->hidden && a->count == b->count && a->dtype == b->dtype && a->cpu == b->cpu &&
           memcmp(a->ids, b->ids, a->count * sizeof *a->ids) == 0;
}

static void *copy_of(const void *data, size_t bytes)
{
    void *copy = zn_alloc(bytes);
    if (copy) memcpy(copy, data, bytes);
    return copy;
}

static size_t hidden_bytes(const zn_caption *caption)
{
    return caption->count * caption->width * sizeof(float);
}

zenith_status zn_generator_memory_recall(zn_generator_memory *memory, const zn_caption *key,
                                         float **out, zn_error *err)
{
    size_t bytes = 0;
    bool found = false;
    *out = NULL;
    zn_mutex_lock(memory->lock);
    for (int i = 0; i < ZN_CAPTIONS_KEPT && !found; i++) {
        zn_caption *caption = &memory->captions[i];
        if (!is_same(caption, key)) continue;
        found = true;
        caption->used = ++memory->uses;
        bytes = hidden_bytes(caption);
        *out = copy_of(caption->hidden, bytes);
    }
    zn_mutex_unlock(memory->lock);
    return found && !*out ? zn_fail_memory(err, bytes) : ZENITH_OK;
}

void zn_generator_memory_keep(zn_generator_memory *memory, const zn_caption *caption)
{
    zn_caption kept = *caption;
    kept.ids = copy_of(caption->ids, caption->count * sizeof *caption->ids);
    kept.hidden = copy_of(caption->hidden, hidden_bytes(caption));
    zn_mutex_lock(memory->lock);
    zn_caption *place = &memory->captions[0];
    for (int i = 1; i < ZN_CAPTIONS_KEPT; i++)
        if (memory->captions[i].used < place->used) place = &memory->captions[i];
    kept.used = ++memory->uses;
    if (kept.ids && kept.hidden) {
        zn_caption old = *place;
        *place = kept;
        kept = old;
    }
    zn_mutex_unlock(memory->lock);
    free_caption(&kept);
}
