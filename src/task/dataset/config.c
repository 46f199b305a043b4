// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The settings that decide the bytes of a dataset, as one line of JSON. What cannot change a byte
// (threads, memory, leases) is not among them.
#include "src/base/json.h"
#include "src/base/os.h"
#include "src/base/sha256.h"
#include "src/base/text.h"
#include "src/task/autoencode/picture.h"
#include "src/task/dataset/dataset.h"
#include "src/task/engine/guard.h"

#include <jansson.h>
#include <string.h>

enum { MOST_CONFIG = 16 << 20 };

static const char *const fits[] = {[ZENITH_FIT_CROP] = "crop",
                                   [ZENITH_FIT_PAD] = "pad",
                                   [ZENITH_FIT_RESIZE] = "resize",
                                   [ZENITH_FIT_EXACT] = "exact"};

static json_t *picture_settings(const zenith_source_params *s)
{
    return json_pack("{s:s, s:i, s:i, s:i, s:s, s:[i,i,i], s:b, s:I, s:s}", "fit", fits[s->fit],
                     "width", (int)s->width, "height", (int)s->height, "multiple", (int)s->multiple,
                     "filter", s->filter == ZENITH_BICUBIC ? "bicubic" : "lanczos", "background",
                     s->background[0], s->background[1], s->background[2], "first_frame",
                     (int)s->first_frame, "max_pixels", (json_int_t)s->max_pixels, "pipeline",
                     ZN_PIPELINE_VERSION);
}

static json_t *buckets_of(const zn_dataset *set)
{
    json_t *list = json_array();
    for (size_t i = 0; i < set->params.bucket_count; i++)
        json_array_append_new(
            list, json_pack("[i,i]", (int)set->buckets[i].width, (int)set->buckets[i].height));
    if (json_array_size(list) == set->params.bucket_count) return list;
    json_decref(list);
    return NULL;
}

// What is chosen for each picture. The seed of those who need none is 0.
static json_t *choice_settings(const zn_dataset *set)
{
    const zenith_dataset_params *p = &set->params;
    char seed[32]; // text: JSON has no numbers of 64 bits that everybody reads
    zn_text_format(seed, sizeof seed, "%llu",
                   p->random_crop || p->mirror ? (unsigned long long)p->seed : 0ULL);
    return json_pack("{s:s, s:b, s:s, s:o}", "crop", p->random_crop ? "random" : "centre", "mirror",
                     (int)p->mirror, "seed", seed, "buckets", buckets_of(set));
}

static json_t *settings_of(const zn_dataset *set)
{
    const zenith_dataset_params *p = &set->params;
    json_t *made = json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "format", 2, "model",
                             set->model_names, "weights_sha256", set->weights, "dtype",
                             zn_dtype_name(set->run.dtype), "store", zn_type_name(set->type),
                             "container",
                             set->container == ZENITH_CONTAINER_SAFETENSORS ? "safetensors" : "npy",
                             "space", p->space == ZENITH_SPACE_RAW ? "raw" : "model", "latent",
                             p->kind == ZENITH_LATENT_MOMENTS ? "moments" : "mean");
    json_t *pictures = picture_settings(&set->source);
    json_t *choices = choice_settings(set);
    bool whole = made && pictures && choices && json_object_update(made, pictures) == 0 &&
                 json_object_update(made, choices) == 0;
    if (whole && zn_shards_are_cut(set->shards))
        whole = json_object_set_new(made, "shard", json_integer(p->shard_pictures)) == 0;
    json_decref(pictures);
    json_decref(choices);
    if (whole) return made;
    json_decref(made);
    return NULL;
}

static void hash_text(const char *text, size_t size, char hex[65])
{
    zn_sha256 hash;
    zn_sha256_begin(&hash);
    zn_sha256_add(&hash, text, size);
    zn_sha256_end(&hash, hex);
}

zenith_status zn_dataset_read_config(const zenith_storage *storage, const char *output,
                                     zn_json **out, char config[65], zn_error *err)
{
    char path[ZN_DATASET_PATH];
    zn_bytes file = {0};
    ZN_TRY(zn_dataset_path(output, "_zenith", ".json", path, err));
    zenith_status status = zn_object_get(storage, path, MOST_CONFIG, &file, err);
    if (status == ZENITH_OK)
        status = zn_json_parse((const char *)file.data, file.size, path, out, err);
    if (status == ZENITH_OK) hash_text((const char *)file.data, file.size, config);
    zn_bytes_free(&file);
    return status;
}

typedef struct comparison {
    const zn_json *theirs;
    const char *output;
} comparison;

static zenith_status compare(void *cookie, const char *key, const zn_json *value, zn_error *err)
{
    const comparison *with = cookie;
    const zn_json *theirs = zn_json_find(with->theirs, key);
    char *here = NULL, *there = NULL;
    if (theirs && json_equal(theirs, value)) return ZENITH_OK;
    (void)zn_json_dump(value, &here, NULL, NULL);
    if (theirs) (void)zn_json_dump(theirs, &there, NULL, NULL);
    zenith_status status = zn_fail(err, ZENITH_INVALID_ARGUMENT,
                                   "'%s' has latents that were made with other settings: %s is "
                                   "%.70s there and %.70s now. Give "
                                   "the same settings, or another output folder",
                                   with->output, key, there ? there : "not set", here ? here : "");
    zn_free(here);
    zn_free(there);
    return status;
}

static zenith_status compare_with_folder(const zn_dataset *set, const zn_json *ours, zn_error *err)
{
    char config[65];
    zn_json *theirs = NULL;
    ZN_TRY(zn_dataset_read_config(set->params.storage, set->params.output, &theirs, config, err));
    comparison with = {theirs, set->params.output};
    zenith_status status = ZENITH_OK;
    if (!zn_json_is_object(theirs))
        status = zn_fail(err, ZENITH_BAD_FILE, "'%s/_zenith.json' has no settings",
                         set->params.output);
    if (status == ZENITH_OK) status = zn_json_each(ours, compare, &with, err);
    if (status == ZENITH_OK && strcmp(config, set->config) != 0)
        status = zn_fail(err, ZENITH_INVALID_ARGUMENT,
                         "'%s' has latents that were made with settings that this version does not "
                         "know: give another output folder",
                         set->params.output);
    zn_json_free(theirs);
    return status;
}

// Of one model its own; of several the hash of all their hashes, each with a comma behind it.
static void name_models(zn_dataset *set)
{
    char all[ZN_DATASET_MODELS * 65 + 1] = "";
    size_t names = 0, hashes = 0;
    for (size_t i = 0; i < set->model_count; i++) {
        names += zn_text_format(set->model_names + names, sizeof set->model_names - names, "%s%s",
                                i ? "," : "", set->models[i]->variant->name);
        hashes += zn_text_format(all + hashes, sizeof all - hashes, "%s,",
                                 zn_model_sha256(set->models[i]));
    }
    if (set->model_count == 1)
        zn_text_format(set->weights, sizeof set->weights, "%s", zn_model_sha256(set->models[0]));
    else
        hash_text(all, hashes, set->weights);
}

zenith_status zn_dataset_agree(zn_dataset *set, zn_error *err)
{
    char path[ZN_DATASET_PATH], *text = NULL;
    size_t size = 0;
    bool made = false;
    zenith_object there;
    name_models(set);
    zn_json *ours = settings_of(set);
    if (!ours) return zn_fail_memory(err, 1024);
    zenith_status status;
    ZN_GO(zn_json_dump(ours, &text, &size, err));
    hash_text(text, size, set->config);
    ZN_GO(zn_dataset_path(set->params.output, "_zenith", ".json", path, err));
    if (zn_object_look(set->params.storage, path, &there, NULL) != ZENITH_OK)
        ZN_GO(zn_object_create(set->params.storage, path, text, size, &made, err));
    if (!made) ZN_GO(compare_with_folder(set, ours, err));
fail:
    zn_free(text);
    zn_json_free(ours);
    return status;
}
