// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A model NAME lies in a folder as
//     NAME_encoder.safetensors, NAME_decoder.safetensors   as published; either may be missing
//     NAME/encoder.safetensors, NAME/decoder.safetensors   as we ship ours
//     NAME/                                                in diffusers' layout
// or the folder is itself in diffusers' layout. One file alone is an encoder or a decoder; which,
// the families tell from its tensors.
#include "src/model/locate.h"

#include "src/base/os.h"
#include "src/base/text.h"
#include "src/model/model.h"

#include <string.h>

static const char *const prefixes[] = {"encoder.", "decoder."};
enum { SEARCH_PATH = 4 };

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
        zn_text_format(path, ZN_PATH_SIZE, "%s/" ZENITH_SHARE_FROM_LIBRARY "/models", own);
    return index < SEARCH_PATH;
}

// Opens folder/stem + encoder.safetensors and decoder.safetensors, those that are there.
static zenith_status open_pair(const char *folder, const char *stem, zn_weights **out,
                               zn_error *err)
{
    char paths[2][ZN_PATH_SIZE];
    const char *found[2], *found_prefixes[2];
    size_t count = 0;
    for (int i = 0; i < 2; i++) {
        zn_text_format(paths[i], ZN_PATH_SIZE, "%s/%s%.7s.safetensors", folder, stem, prefixes[i]);
        if (!zn_path_is_file(paths[i])) continue;
        found[count] = paths[i];
        found_prefixes[count++] = prefixes[i];
    }
    if (count == 0) return ZENITH_NOT_FOUND;
    return zn_weights_open_files(found, found_prefixes, count, out, err);
}

// A lone file: as it is, or as an encoder, or as a decoder, whichever a family knows.
static zenith_status open_file(const char *path, zn_weights **out, zn_error *err)
{
    unsigned fits, parts;
    zn_weights *weights = NULL;
    ZN_TRY(zn_weights_open(path, &weights, err));
    if (zn_model_probe(weights, &fits, &parts)) {
        *out = weights;
        return ZENITH_OK;
    }
    for (int i = 0; i < 2; i++) {
        zn_weights *prefixed = NULL;
        const char *paths[] = {path};
        if (zn_weights_open_files(paths, &prefixes[i], 1, &prefixed, NULL) != ZENITH_OK) continue;
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

// Opens NAME in a folder of models; ZENITH_NOT_FOUND, without a sentence, where it is not there.
static zenith_status open_named(const char *folder, const char *name, zn_weights **out,
                                zn_error *err)
{
    char path[ZN_PATH_SIZE];
    zn_text_format(path, sizeof path, "%s_", name);
    zenith_status status = open_pair(folder, path, out, err);
    if (status != ZENITH_NOT_FOUND) return status;
    zn_text_format(path, sizeof path, "%s/%s", folder, name);
    if (!zn_path_is_directory(path)) return ZENITH_NOT_FOUND;
    status = open_pair(path, "", out, err);
    return status == ZENITH_NOT_FOUND ? zn_weights_open(path, out, err) : status;
}

// Opens the one model whose folder this is; ZENITH_NOT_FOUND likewise.
static zenith_status open_own(const char *folder, zn_weights **out, zn_error *err)
{
    char path[ZN_PATH_SIZE];
    zenith_status status = open_pair(folder, "", out, err);
    if (status != ZENITH_NOT_FOUND) return status;
    zn_text_format(path, sizeof path, "%s/config.json", folder);
    return zn_path_is_file(path) ? zn_weights_open(folder, out, err) : ZENITH_NOT_FOUND;
}

static zenith_status search(const char *name, zn_weights **out, zn_error *err)
{
    char folder[ZN_PATH_SIZE];
    if (!name) {
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "say which model (--model NAME), or where its weights are (--weights PATH)");
    }
    for (int i = 0; search_folder(i, folder); i++) {
        if (!folder[0] || !zn_path_is_directory(folder)) continue;
        zenith_status status = open_named(folder, name, out, err);
        if (status != ZENITH_NOT_FOUND) return status;
    }
    if (!zn_variant_find(name)) {
        return zn_fail(err, ZENITH_NOT_FOUND, "there is no model '%s'", name);
    }
    return zn_fail(err, ZENITH_NOT_FOUND,
                   "the weights of '%s' were not found: say where they are with --weights DIR or "
                   "ZENITH_MODELS",
                   name);
}

zenith_status zn_locate_weights(const char *name, const char *weights, zn_weights **out,
                                zn_error *err)
{
    if (!weights) return search(name, out, err);
    if (!zn_path_is_directory(weights)) return open_file(weights, out, err);
    zenith_status status = name ? open_named(weights, name, out, err) : ZENITH_NOT_FOUND;
    if (status == ZENITH_NOT_FOUND) status = open_own(weights, out, err);
    if (status != ZENITH_NOT_FOUND) return status;
    if (!name) {
        return zn_fail(err, ZENITH_AMBIGUOUS,
                       "%s: say which of the models in this folder is meant (--model NAME)",
                       weights);
    }
    return zn_fail(err, ZENITH_NOT_FOUND,
                   "%s has no weights of '%s' (%s_encoder.safetensors, %s_decoder.safetensors)",
                   weights, name, name, name);
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
