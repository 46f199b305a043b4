// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A model NAME lies in a folder as
//     NAME_PART.safetensors                    as published; parts may be missing
//     NAME.safetensors                         all parts in one file, as 'zenith diffae join'
//                                              writes it
//     NAME/PART.safetensors                    as we ship ours
//     NAME/                                    in diffusers' layout
// or the folder is itself one of the last two. In place of each file there may be shards
// (PART.safetensors.index.json beside them), or a folder NAME/PART/ with either. Which parts there
// can be, the families say. A folder with a model_index.json is one of several models (pipeline.h),
// of which the one is taken that a family knows. One file alone is one of the parts; which, the
// families tell from its tensors.
#include "src/model/locate.h"

#include "src/base/os.h"
#include "src/base/text.h"
#include "src/model/model.h"
#include "src/model/pipeline.h"

#include <string.h>

enum { SEARCH_PATH = 4, MOST_PREFIXES = 32, MOST_NAMINGS = 64 };

// FOLDER/RELATIVE, where each ".." that begins the latter takes a name off the former, which has no
// links.
static void join(const char *folder, const char *relative, char path[ZN_PATH_SIZE])
{
    size_t length = strlen(folder);
    while (strncmp(relative, "../", 3) == 0) {
        while (length > 0 && folder[--length] != '/') {
        }
        relative += 3;
    }
    zn_text_format(path, ZN_PATH_SIZE, "%.*s/%s", (int)length, folder, relative);
}

// The folders that are searched when none is given: false past the end, "" where one is not set.
static bool search_folder(int index, char path[ZN_PATH_SIZE])
{
    const char *models = zn_environment("ZENITH_MODELS"), *home = zn_environment("HOME");
    char own[ZN_PATH_SIZE];
    path[0] = 0;
    if (index == 0 && models) zn_text_format(path, ZN_PATH_SIZE, "%s", models);
    if (index == 1) zn_text_format(path, ZN_PATH_SIZE, "models");
    if (index == 2 && home) zn_text_format(path, ZN_PATH_SIZE, "%s/.local/share/zenith", home);
    if (index == 3 && zn_os_own_folder(own, sizeof own))
        join(own, ZENITH_SHARE_FROM_LIBRARY "/models", path);
    return index < SEARCH_PATH;
}

// The place of a part, of those named above; false where it is in none.
static bool find_part(const char *folder, const char *stem, const char *part,
                      char path[ZN_PATH_SIZE])
{
    zn_text_format(path, ZN_PATH_SIZE, "%s/%s%s.safetensors", folder, stem, part);
    if (zn_path_is_file(path)) return true;
    zn_text_format(path, ZN_PATH_SIZE, "%s/%s%s.safetensors.index.json", folder, stem, part);
    if (zn_path_is_file(path)) return true;
    zn_text_format(path, ZN_PATH_SIZE, "%s/%s", folder, part);
    return !*stem && zn_path_is_directory(path);
}

// Opens the parts of a family that are there; ZENITH_NOT_FOUND, without a sentence, where none is.
static zenith_status open_parts(const zn_family *family, const char *folder, const char *stem,
                                zn_weights **out, zn_error *err)
{
    char paths[ZN_MOST_PARTS][ZN_PATH_SIZE];
    const char *found[ZN_MOST_PARTS], *prefixes[ZN_MOST_PARTS];
    size_t count = 0;
    for (int i = 0; i < family->parts_count; i++) {
        const zn_part *part = &family->parts[i];
        if (!find_part(folder, stem, part->name, paths[count])) continue;
        prefixes[count] = part->prefix;
        found[count] = paths[count];
        count++;
    }
    if (count == 0) return ZENITH_NOT_FOUND;
    zn_error why = {0};
    zenith_status status = zn_weights_open_parts(found, prefixes, count, out, &why);
    if (status == ZENITH_OK) return status;
    // A shard that is missing is no reason to look elsewhere.
    return zn_fail(err, status == ZENITH_NOT_FOUND ? ZENITH_BAD_FILE : status, "%s", why.text);
}

// The same for the family of a name, or, where it is not known, for the one that knows what it
// finds.
static zenith_status open_any_parts(const char *name, const char *folder, const char *stem,
                                    zn_weights **out, zn_error *err)
{
    const zn_variant *variant = name ? zn_variant_find(name) : NULL;
    if (variant) return open_parts(zn_family_of(variant), folder, stem, out, err);
    zn_weights *first = NULL;
    for (int i = 0; zn_families[i]; i++) {
        unsigned parts;
        zn_weights *weights = NULL;
        zenith_status status = open_parts(zn_families[i], folder, stem, &weights, err);
        if (status == ZENITH_NOT_FOUND) continue;
        bool known = status == ZENITH_OK && zn_families[i]->probe(weights, &parts);
        if (known || status != ZENITH_OK) {
            zn_weights_free(first);
            *out = weights;
            return status;
        }
        if (!first)
            first = weights;
        else
            zn_weights_free(weights);
    }
    *out = first; // that no family knows it is said above
    return first ? ZENITH_OK : ZENITH_NOT_FOUND;
}

// What the names of parts begin with, over all families, each once.
static size_t list_prefixes(const char *dst[MOST_PREFIXES])
{
    size_t count = 0;
    for (int f = 0; zn_families[f]; f++) {
        for (int i = 0; i < zn_families[f]->parts_count && count < MOST_PREFIXES; i++) {
            size_t at = 0;
            dst[count] = zn_families[f]->parts[i].prefix;
            while (strcmp(dst[at], dst[count]) != 0) at++;
            count += at == count && *dst[count];
        }
    }
    return count;
}

// A lone file: as it is, or as one of the parts, whichever a family knows.
static zenith_status open_file(const char *path, zn_weights **out, zn_error *err)
{
    unsigned fits, parts;
    zn_weights *weights = NULL;
    const char *prefixes[MOST_PREFIXES];
    ZN_TRY(zn_weights_open(path, &weights, err));
    const bool known = zn_model_probe(weights, &fits, &parts) != NULL;
    const size_t count = known ? 0 : list_prefixes(prefixes);
    for (size_t i = 0; i < count; i++) {
        zn_weights *prefixed = NULL;
        if (zn_weights_open_parts(&path, &prefixes[i], 1, &prefixed, NULL) != ZENITH_OK) continue;
        if (zn_model_probe(prefixed, &fits, &parts)) {
            zn_weights_free(weights);
            *out = prefixed;
            return ZENITH_OK;
        }
        zn_weights_free(prefixed);
    }
    *out = weights;
    return ZENITH_OK;
}

// A way to open files in memory: by their names as parts of a family, or all with one prefix.
typedef struct naming {
    const zn_family *family; // NULL: the prefix
    const char *prefix;
} naming;

static const char *prefix_of(const naming *by, const char *file)
{
    char tail[ZN_PATH_SIZE];
    if (!by->family) return by->prefix;
    for (int i = 0; i < by->family->parts_count; i++) {
        zn_text_format(tail, sizeof tail, "%s.safetensors", by->family->parts[i].name);
        const size_t length = strlen(tail), all = strlen(file);
        if (!zn_text_ends_with(file, tail)) continue;
        if (all == length || file[all - length - 1] == '_') return by->family->parts[i].prefix;
    }
    return "";
}

static zenith_status open_files(const naming *by, const zn_memory_file *files, size_t count,
                                zn_weights **out, zn_error *err)
{
    const char **prefixes = zn_alloc(count * sizeof *prefixes);
    if (!prefixes) return zn_fail_memory(err, count * sizeof *prefixes);
    for (size_t i = 0; i < count; i++) prefixes[i] = prefix_of(by, files[i].name);
    const zenith_status status = zn_weights_open_files(files, prefixes, count, out, err);
    zn_free(prefixes);
    return status;
}

// As they are named, then by the parts of each family, then all with each prefix.
static size_t list_namings(naming dst[MOST_NAMINGS])
{
    const char *prefixes[MOST_PREFIXES];
    size_t count = 0;
    dst[count++] = (naming){.prefix = ""};
    for (int f = 0; zn_families[f] && count < MOST_NAMINGS; f++)
        dst[count++] = (naming){.family = zn_families[f]};
    const size_t prefix_count = list_prefixes(prefixes);
    for (size_t i = 0; i < prefix_count && count < MOST_NAMINGS; i++)
        dst[count++] = (naming){.prefix = prefixes[i]};
    return count;
}

zenith_status zn_locate_files(const char *name, const zn_memory_file *files, size_t count,
                              zn_weights **out, zn_error *err)
{
    unsigned fits, parts;
    naming namings[MOST_NAMINGS];
    const zn_variant *variant = name ? zn_variant_find(name) : NULL;
    const size_t naming_count = list_namings(namings);
    zn_weights *unknown = NULL; // that no family knows it is said above
    for (size_t i = 0; i < naming_count; i++) {
        zn_weights *weights = NULL;
        if (open_files(&namings[i], files, count, &weights, NULL) != ZENITH_OK) continue;
        const zn_family *family = zn_model_probe(weights, &fits, &parts);
        if (family && (!variant || zn_family_of(variant) == family)) {
            zn_weights_free(unknown);
            *out = weights;
            return ZENITH_OK;
        }
        zn_weights_free(unknown);
        unknown = weights;
    }
    *out = unknown;
    return unknown ? ZENITH_OK : open_files(&namings[0], files, count, out, err);
}

// Opens NAME in a folder of models; ZENITH_NOT_FOUND, without a sentence, where it is not there.
static zenith_status open_named(const char *folder, const char *name, zn_weights **out,
                                zn_error *err)
{
    char path[ZN_PATH_SIZE];
    zn_text_format(path, sizeof path, "%s_", name);
    zenith_status status = open_any_parts(name, folder, path, out, err);
    if (status != ZENITH_NOT_FOUND) return status;
    zn_text_format(path, sizeof path, "%s/%s.safetensors", folder, name);
    if (zn_path_is_file(path)) return open_file(path, out, err);
    zn_text_format(path, sizeof path, "%s/%s", folder, name);
    if (!zn_path_is_directory(path)) return ZENITH_NOT_FOUND;
    if (zn_pipeline_is(path))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "'%s' is a whole pipeline, which makes images from text: name one of its "
                       "models, in the folder %s",
                       name, path);
    status = open_any_parts(name, path, "", out, err);
    return status == ZENITH_NOT_FOUND ? zn_weights_open(path, out, err) : status;
}

static zenith_status open_pipeline(const char *folder, const char *name, zn_weights **out,
                                   zn_error *err)
{
    zn_pipeline pipeline;
    ZN_TRY(zn_pipeline_open(folder, &pipeline, err));
    zenith_status status = zn_pipeline_model(&pipeline, name, out, err);
    zn_pipeline_free(&pipeline);
    return status;
}

// Opens the one model whose folder this is; ZENITH_NOT_FOUND likewise.
static zenith_status open_own(const char *folder, const char *name, zn_weights **out, zn_error *err)
{
    char path[ZN_PATH_SIZE];
    zenith_status status = open_any_parts(name, folder, "", out, err);
    if (status != ZENITH_NOT_FOUND) return status;
    zn_text_format(path, sizeof path, "%s/config.json", folder);
    return zn_path_is_file(path) ? zn_weights_open(folder, out, err) : ZENITH_NOT_FOUND;
}

// Models of others that are bundled as parts of ours.
static const struct {
    const char *name, *folder;
} inner[] = {{"taef1", "zenith-words/vae"}, {"taesd3", "zenith-avatars256"}};

static zenith_status search_inner(const char *name, zn_weights **out, zn_error *err)
{
    char folder[ZN_PATH_SIZE], path[ZN_PATH_SIZE];
    for (size_t m = 0; m < sizeof inner / sizeof *inner; m++) {
        for (int i = 0; strcmp(inner[m].name, name) == 0 && search_folder(i, folder); i++) {
            if (!folder[0]) continue;
            zn_text_format(path, sizeof path, "%s/%s", folder, inner[m].folder);
            zenith_status status = open_named(path, name, out, err);
            if (status != ZENITH_NOT_FOUND) return status;
        }
    }
    return ZENITH_NOT_FOUND;
}

static zenith_status search(const char *name, zn_weights **out, zn_error *err)
{
    char folder[ZN_PATH_SIZE];
    if (!name) {
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "say which model (zenith_model_params.name), or where its weights are "
                       "(zenith_model_params.weights)");
    }
    for (int i = 0; search_folder(i, folder); i++) {
        if (!folder[0] || !zn_path_is_directory(folder)) continue;
        zenith_status status = open_named(folder, name, out, err);
        if (status != ZENITH_NOT_FOUND) return status;
    }
    zenith_status status = search_inner(name, out, err);
    if (status != ZENITH_NOT_FOUND) return status;
    if (!zn_variant_find(name)) {
        return zn_fail(err, ZENITH_NOT_FOUND, "there is no model '%s'", name);
    }
    return zn_fail(err, ZENITH_NOT_FOUND,
                   "the weights of '%s' were not found: name their folder in "
                   "zenith_model_params.weights or ZENITH_MODELS",
                   name);
}

zenith_status zn_locate_weights(const char *name, const char *weights, zn_weights **out,
                                zn_error *err)
{
    if (!weights) return search(name, out, err);
    if (!zn_path_is_directory(weights)) return open_file(weights, out, err);
    if (zn_pipeline_is(weights)) return open_pipeline(weights, name, out, err);
    zenith_status status = name ? open_named(weights, name, out, err) : ZENITH_NOT_FOUND;
    if (status == ZENITH_NOT_FOUND) status = open_own(weights, name, out, err);
    if (status != ZENITH_NOT_FOUND) return status;
    if (!name) {
        return zn_fail(err, ZENITH_AMBIGUOUS,
                       "%s: say which of the models in this folder is meant "
                       "(zenith_model_params.name)",
                       weights);
    }
    return zn_fail(err, ZENITH_NOT_FOUND,
                   "%s has no weights of '%s' (%s_encoder.safetensors, %s_decoder.safetensors)",
                   weights, name, name, name);
}

zenith_status zn_locate_companion(const char *name, const char *beside, zn_weights **out,
                                  zn_error *err)
{
    char folder[ZN_PATH_SIZE];
    zn_text_format(folder, sizeof folder, "%s", beside);
    for (int around = 0; around < 2; around++) {
        if (zn_path_is_directory(folder)) {
            zenith_status status = open_named(folder, name, out, err);
            if (status != ZENITH_NOT_FOUND) return status;
        }
        char *slash = strrchr(folder, '/');
        if (slash)
            slash[slash == folder] = 0;
        else
            zn_text_format(folder, sizeof folder, ".");
    }
    return search(name, out, err);
}

bool zn_locate_pipeline(const char *name, char path[ZN_PATH_SIZE])
{
    char folder[ZN_PATH_SIZE];
    for (int i = 0; search_folder(i, folder); i++) {
        if (!folder[0]) continue;
        if (zn_text_format(path, ZN_PATH_SIZE, "%s/%s", folder, name) + 1 >= ZN_PATH_SIZE) continue;
        if (zn_pipeline_is(path)) return true;
    }
    return false;
}

// Beside the weights: in their folder, or in that of their file.
static void beside(const char *weights, const char *file, char path[ZN_PATH_SIZE])
{
    const char *slash = strrchr(weights, '/');
    int folder = slash ? (int)(slash - weights) : 0;
    if (zn_path_is_directory(weights)) {
        zn_text_format(path, ZN_PATH_SIZE, "%s/%s", weights, file);
    } else if (folder > 0) {
        zn_text_format(path, ZN_PATH_SIZE, "%.*s/%s", folder, weights, file);
    } else {
        zn_text_format(path, ZN_PATH_SIZE, "%s%s", slash ? "/" : "", file);
    }
}

// The places where a file that goes with models may be.
static bool locate_file(const char *file, const char *weights, int index, char path[ZN_PATH_SIZE])
{
    char folder[ZN_PATH_SIZE];
    path[0] = 0;
    if (index == 0) {
        if (weights) beside(weights, file, path);
        return true;
    }
    if (!search_folder(index - 1, folder)) return false;
    if (folder[0]) zn_text_format(path, ZN_PATH_SIZE, "%s/%s", folder, file);
    return true;
}

bool zn_locate_calibration(const char *name, const char *weights, int index,
                           char path[ZN_PATH_SIZE])
{
    char file[ZN_PATH_SIZE];
    zn_text_format(file, sizeof file, "%s.calib.json", name);
    return locate_file(file, weights, index, path);
}

bool zn_locate_squeezenet(const char *weights, int index, char path[ZN_PATH_SIZE])
{
    return locate_file("squeezenet1_0_dc.safetensors", weights, index, path);
}
