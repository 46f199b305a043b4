// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Datasets of latents, whose work is in task/dataset/dataset.c.
#include "zenith/dataset.h"

#include "src/api/context.h"
#include "src/api/models.h"
#include "src/base/memory.h"
#include "src/model/autoencoder.h"
#include "src/task/dataset/dataset.h"

static const double lease_seconds = 60;

static zenith_status check(const zenith_dataset_params *p, zn_error *err)
{
    if (!p->input || !p->output)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "zenith_dataset_encode needs an input and an output folder");
    if (p->more_count && !p->more_models)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "the list of further models is NULL");
    if ((int)p->container < 0 || p->container > ZENITH_CONTAINER_SAFETENSORS)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "an unknown container");
    if (p->kind != ZENITH_LATENT_MEAN && p->kind != ZENITH_LATENT_MOMENTS)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "a dataset stores means or moments");
    if ((int)p->space < 0 || p->space > ZENITH_SPACE_RAW || !(p->lease_seconds >= 0))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "an unknown space, or a lease below 0 seconds");
    if (p->partitions ? p->partition >= p->partitions : p->partition != 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "there is no partition %u of %u", p->partition,
                       p->partitions);
    return ZENITH_OK;
}

static zenith_status choose_store(zn_dataset *set, zn_error *err)
{
    switch (set->params.number) {
    case ZENITH_NUMBER_DEFAULT:
    case ZENITH_F16:
        set->type = ZN_F16;
        break;
    case ZENITH_BF16:
        set->type = ZN_BF16;
        break;
    case ZENITH_F32:
        set->type = ZN_F32;
        break;
    case ZENITH_U8:
        set->type = ZN_U8;
        break;
    default:
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "latents of a dataset are stored as f16, bf16, f32 or u8");
    }
    set->container = set->params.container;
    if (!set->container)
        set->container = set->type == ZN_BF16 ? ZENITH_CONTAINER_SAFETENSORS : ZENITH_CONTAINER_NPY;
    if (set->type == ZN_BF16 && set->container == ZENITH_CONTAINER_NPY)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "npy has no bf16: store it in safetensors, or store f16 or f32");
    return ZENITH_OK;
}

static zenith_status fill_buckets(zn_dataset *set, zn_error *err)
{
    zenith_source_params *source = &set->source;
    const zenith_dataset_params *p = &set->params;
    if (p->bucket_count && !p->buckets)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "buckets is NULL, and bucket_count is %u",
                       p->bucket_count);
    if (p->bucket_count > ZN_DATASET_BUCKETS)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "at most %d buckets can be given, not %u",
                       ZN_DATASET_BUCKETS, p->bucket_count);
    if (p->bucket_count) source->fit = ZENITH_FIT_RESIZE, source->width = source->height = 0;
    for (size_t i = 0; i < p->bucket_count; i++) {
        const uint32_t width = p->buckets[2 * i], height = p->buckets[2 * i + 1];
        if (!width || !height || width % source->multiple || height % source->multiple ||
            width > INT32_MAX || height > INT32_MAX)
            return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                           "a bucket has %u x %u pixels: its sides must be multiples of %u", width,
                           height, source->multiple);
        set->buckets[i] = (zn_fit_size){width, height};
    }
    if (p->random_crop && source->fit != ZENITH_FIT_CROP && source->fit != ZENITH_FIT_RESIZE)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "a random crop needs a fit that crops images");
    return ZENITH_OK;
}

static zenith_status add_model(zn_dataset *set, const zenith_model *model, zn_error *err)
{
    if (!model) return zn_fail(err, ZENITH_INVALID_ARGUMENT, "the model is NULL");
    for (size_t i = 0; i < set->model_count; i++)
        if (set->models[i]->variant == model->inner->variant)
            return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                           "the model %s is named twice: its latents would have one name",
                           model->inner->variant->name);
    if (set->model_count == ZN_DATASET_MODELS)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "at most %d models can be used at once",
                       ZN_DATASET_MODELS);
    set->models[set->model_count++] = model->inner;
    return ZENITH_OK;
}

// The least common multiple of the models' factors.
static uint32_t multiple_of(const zn_dataset *set)
{
    uint32_t multiple = 1;
    for (size_t i = 0; i < set->model_count; i++) {
        const zn_autoencoder_facts *facts = set->models[i]->variant->autoencoder;
        const uint32_t factor = facts ? (uint32_t)facts->factor : 8, before = multiple;
        while (multiple % factor) multiple += before;
    }
    return multiple;
}

static zenith_status check_source(zn_dataset *set, zn_error *err)
{
    zenith_source_params *source = &set->source;
    if ((int)source->fit < 0 || source->fit > ZENITH_FIT_EXACT)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "an unknown fit");
    if (!source->multiple) source->multiple = multiple_of(set);
    return ZENITH_OK;
}

// *given, unless it is NULL, then points to ours.
static zenith_status copy_storage(const zenith_storage **given, zenith_storage *ours, zn_error *err)
{
    if (!*given) return ZENITH_OK;
    ZN_TRY(zn_params_copy(*given, ours, sizeof *ours, err));
    if (!ours->scheme || !ours->scheme[0] || !ours->list || !ours->look || !ours->read_open ||
        !ours->read || !ours->read_close || !ours->write_open || !ours->write ||
        !ours->write_close || !ours->put || !ours->remove)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "a zenith_storage needs a scheme and all functions");
    *given = ours;
    return ZENITH_OK;
}

static zenith_status fill(zenith_context *context, zenith_model *model,
                          const zenith_dataset_params *params, zn_dataset *set)
{
    zn_error *err = &context->error;
    zenith_dataset_params *p = &set->params;
    ZN_TRY(zn_params_copy(params, p, sizeof *p, err));
    ZN_TRY(check(p, err));
    ZN_TRY(add_model(set, model, err));
    for (size_t i = 0; i < p->more_count; i++) ZN_TRY(add_model(set, p->more_models[i], err));
    ZN_TRY(choose_store(set, err));
    ZN_TRY(zn_params_copy(p->source, &set->source, sizeof set->source, err));
    ZN_TRY(zn_run_params_fill(context, p->run, &set->run, err));
    ZN_TRY(check_source(set, err));
    ZN_TRY(fill_buckets(set, err));
    ZN_TRY(copy_storage(&p->storage, &set->storage, err));
    if (!p->partitions) p->partitions = 1;
    if (!p->shard_pictures) p->shard_pictures = ZN_DATASET_PICTURES;
    if (!(p->lease_seconds > 0)) p->lease_seconds = lease_seconds;
    set->run.facts = NULL;
    set->engine = context->engine;
    set->isa = zn_cpu_class(context->cpu.flags);
    set->report.size = sizeof set->report;
    return ZENITH_OK;
}

zenith_status zenith_dataset_encode(zenith_context *context, zenith_model *model,
                                    const zenith_dataset_params *params, zenith_dataset_info *out)
{
    ZN_TRY(zn_context_enter(context));
    zn_dataset *set = zn_alloc_zero(sizeof *set);
    if (!set) return zn_context_leave(context, zn_fail_memory(&context->error, sizeof *set));
    zenith_status status = fill(context, model, params, set);
    if (status == ZENITH_OK) status = zn_dataset_encode(set, &context->error);
    if (out) zn_caller_struct_out(&set->info, sizeof set->info, out);
    zn_free(set);
    return zn_context_leave(context, status);
}

static zenith_status look(const zenith_dataset_look_params *params, char **out, zn_error *err)
{
    zenith_dataset_look_params p;
    zenith_storage storage;
    ZN_TRY(zn_params_copy(params, &p, sizeof p, err));
    ZN_TRY(copy_storage(&p.storage, &storage, err));
    if (!p.input || !out)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "zenith_dataset_look needs an input and a place for the text");
    if (!(p.lease_seconds > 0)) p.lease_seconds = lease_seconds;
    return zn_dataset_look(&p, out, err);
}

zenith_status zenith_dataset_look(zenith_context *context, const zenith_dataset_look_params *params,
                                  char **out)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, look(params, out, &context->error));
}
