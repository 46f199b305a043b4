// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/model/pipeline.h"

#include "src/base/os.h"
#include "src/base/text.h"
#include "src/model/model.h"

#include <string.h>

enum { NAMES_SHOWN = 256 };

static bool index_path(const char *folder, char path[ZN_PATH_SIZE])
{
    return zn_text_format(path, ZN_PATH_SIZE, "%s/model_index.json", folder) + 1 < ZN_PATH_SIZE;
}

bool zn_pipeline_is(const char *path)
{
    char index[ZN_PATH_SIZE];
    return zn_path_is_directory(path) && index_path(path, index) && zn_path_is_file(index);
}

zenith_status zn_pipeline_open(const char *folder, zn_pipeline *out, zn_error *err)
{
    zn_pipeline pipeline = {.index = {.count = 0}};
    zn_mapped file;
    char path[ZN_PATH_SIZE];
    if (!index_path(folder, path))
        return zn_fail(err, ZENITH_LIMIT, "the path '%s' is too long", folder);
    zn_text_format(pipeline.folder, sizeof pipeline.folder, "%s", folder);
    ZN_TRY(zn_mapped_open(path, &file, err));
    zenith_status status = zn_model_index_parse((const char *)file.data, file.size, path,
                                                &pipeline.arena, &pipeline.index, err);
    zn_mapped_close(&file);
    if (status == ZENITH_OK)
        *out = pipeline;
    else
        zn_pipeline_free(&pipeline);
    return status;
}

void zn_pipeline_free(zn_pipeline *pipeline)
{
    zn_arena_free(&pipeline->arena);
    *pipeline = (zn_pipeline){.index = {.count = 0}};
}

const zn_model_component *zn_pipeline_find(const zn_pipeline *pipeline, const char *name)
{
    for (size_t i = 0; i < pipeline->index.count; i++) {
        const zn_model_component *component = &pipeline->index.components[i];
        if (strcmp(component->name, name) == 0) return component;
    }
    return NULL;
}

zenith_status zn_pipeline_path(const zn_pipeline *pipeline, const char *name,
                               char path[ZN_PATH_SIZE], zn_error *err)
{
    size_t length = zn_text_format(path, ZN_PATH_SIZE, "%s/%s", pipeline->folder, name);
    if (length + 1 < ZN_PATH_SIZE) return ZENITH_OK;
    return zn_fail(err, ZENITH_LIMIT, "the path '%s' is too long", pipeline->folder);
}

// A folder of several files: those of one model as they are published, NAME_PART.safetensors.
static zenith_status open_published(const char *folder, zn_weights **out, zn_error *err)
{
    const zn_variant *variant;
    for (size_t i = 0; (variant = zn_variant_at(i)); i++) {
        zn_error why = {0};
        const zenith_status status = zn_locate_weights(variant->name, folder, out, &why);
        if (status == ZENITH_NOT_FOUND) continue;
        return status == ZENITH_OK ? status : zn_fail(err, status, "%s", why.text);
    }
    return ZENITH_AMBIGUOUS;
}

zenith_status zn_pipeline_weights(const zn_pipeline *pipeline, const char *name, zn_weights **out,
                                  zn_error *err)
{
    char path[ZN_PATH_SIZE];
    if (!zn_pipeline_find(pipeline, name))
        return zn_fail(err, ZENITH_NOT_FOUND, "%s has no component '%s'", pipeline->folder, name);
    ZN_TRY(zn_pipeline_path(pipeline, name, path, err));
    if (!zn_path_is_directory(path))
        return zn_fail(err, ZENITH_NOT_FOUND,
                       "%s is not a folder, though model_index.json names it", path);
    zn_error why = {0};
    zenith_status status = zn_weights_open(path, out, &why);
    if (status == ZENITH_AMBIGUOUS) status = open_published(path, out, err);
    return status == ZENITH_OK ? status : zn_fail(err, status, "%s", why.text);
}

// --- the one that is known ----------------------------------------------------------------------

// Which is meant: by name, or any autoencoder, or whatever there is.
typedef struct wanted {
    const char *name; // or NULL
    bool autoencoder;
} wanted;

static bool is_wanted(const zn_weights *weights, const wanted *which)
{
    unsigned fits = 0, parts;
    const zn_family *family = zn_model_probe(weights, &fits, &parts);
    for (int i = 0; family && i < family->variants_count; i++) {
        const zn_variant *variant = &family->variants[i];
        if (!(fits >> i & 1) || (which->autoencoder && !variant->autoencoder)) continue;
        if (!which->name || strcmp(variant->name, which->name) == 0) return true;
    }
    return false;
}

static void list(const zn_pipeline *pipeline, char dst[NAMES_SHOWN])
{
    size_t length = 0;
    dst[0] = 0;
    for (size_t i = 0; i < pipeline->index.count && length < NAMES_SHOWN; i++) {
        const zn_model_component *c = &pipeline->index.components[i];
        length += zn_text_format(dst + length, NAMES_SHOWN - length, "%s%s (%s)", i ? ", " : "",
                                 c->name, c->kind);
    }
}

static zenith_status find_model(const zn_pipeline *pipeline, const wanted *which, zn_weights **out,
                                zn_error *err)
{
    zn_weights *found = NULL;
    zn_error reason = {0};
    zenith_status trouble = ZENITH_OK;
    char names[NAMES_SHOWN];
    list(pipeline, names);
    for (size_t i = 0; i < pipeline->index.count; i++) {
        zn_weights *weights = NULL;
        zn_error why = {0};
        zenith_status status = zn_pipeline_weights(pipeline, pipeline->index.components[i].name,
                                                   &weights, &why);
        if (status == ZENITH_OUT_OF_MEMORY) { // says nothing of the component
            zn_weights_free(found);
            return zn_fail(err, status, "%s", why.text);
        }
        // Most have no weights; one whose files are broken matters if no other is meant.
        const bool broken = status != ZENITH_OK && status != ZENITH_NOT_FOUND;
        if (broken && trouble == ZENITH_OK) trouble = status, reason = why;
        if (status != ZENITH_OK) continue;
        if (!is_wanted(weights, which)) {
            zn_weights_free(weights);
        } else if (!found) {
            found = weights;
        } else {
            zn_weights_free(weights);
            zn_weights_free(found);
            return zn_fail(err, ZENITH_AMBIGUOUS,
                           "%s has several models: give the folder of the one you mean, out of %s",
                           pipeline->folder, names);
        }
    }
    if (found) {
        *out = found;
        return ZENITH_OK;
    }
    if (trouble != ZENITH_OK) return zn_fail(err, trouble, "%s", reason.text);
    return zn_fail(err, ZENITH_NOT_FOUND, "%s has no model that this version knows%s%s, only %s",
                   pipeline->folder, which->name ? " as " : "", which->name ? which->name : "",
                   names);
}

// Without a name the autoencoder is meant, if there is one: most that is done with a folder is done
// by it.
zenith_status zn_pipeline_model(const zn_pipeline *pipeline, const char *model, zn_weights **out,
                                zn_error *err)
{
    const wanted named = {.name = model}, first = {.autoencoder = true};
    if (model) return find_model(pipeline, &named, out, err);
    zn_error why = {0};
    const zenith_status status = find_model(pipeline, &first, out, &why);
    if (status == ZENITH_NOT_FOUND) return find_model(pipeline, &named, out, err);
    return status == ZENITH_OK ? status : zn_fail(err, status, "%s", why.text);
}
