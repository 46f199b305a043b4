// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/task/generate/generator.h"

#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/text.h"
#include "src/diffusion/flow_match.h"
#include "src/format/pipeline/schedule_config.h"
#include "src/model/autoencoder.h"
#include "src/model/pipeline.h"
#include "src/model/text_to_image/zimage.h"

#include <string.h>

static const char shipped_pipeline[] = "zenith-words"; // where nothing at all is named
static const char usual_pipeline[] = "z-image-turbo";  // for what is not named
static const double usual_shift = 3;                   // Z-Image-Turbo's

// --- where things are ---------------------------------------------------------------------------

typedef struct opening {
    const zn_generator_files *files;
    zn_pipeline pipeline;
    bool has_pipeline;
} opening;

static bool is_there(const zn_pipeline *pipeline, const char *name, char path[ZN_PATH_SIZE])
{
    return zn_pipeline_path(pipeline, name, path, NULL) == ZENITH_OK &&
           zn_pipeline_find(pipeline, name) && zn_path_is_directory(path);
}

static zenith_status fail_missing(const opening *o, const char *name, zn_error *err)
{
    if (o->has_pipeline)
        return zn_fail(err, ZENITH_NOT_FOUND,
                       "%s has no %s: pictures from text need the folders text_encoder, "
                       "tokenizer, transformer and scheduler, and a model_index.json that names "
                       "them; fetch the whole pipeline",
                       o->pipeline.folder, name);
    return zn_fail(err, ZENITH_NOT_FOUND,
                   "there is no %s: name it in zenith_generator_params.%s, or a whole pipeline in "
                   "zenith_generator_params.folder; '%s' is in none of the folders that are "
                   "searched for models",
                   name, name, usual_pipeline);
}

// The place of a part: where it was said to be, else in the pipeline.
static zenith_status find_part(const opening *o, const char *name, const char *given,
                               char path[ZN_PATH_SIZE], zn_error *err)
{
    if (!given)
        return o->has_pipeline && is_there(&o->pipeline, name, path) ? ZENITH_OK
                                                                     : fail_missing(o, name, err);
    if (zn_text_format(path, ZN_PATH_SIZE, "%s", given) + 1 >= ZN_PATH_SIZE)
        return zn_fail(err, ZENITH_LIMIT, "the path '%s' is too long", given);
    if (zn_path_is_file(path) || zn_path_is_directory(path)) return ZENITH_OK;
    return zn_fail(err, ZENITH_NOT_FOUND, "there is no %s in %s: no such file or folder", name,
                   given);
}

// FOLDER/FILE, which must be there.
static zenith_status file_in(const char *folder, const char *file, char path[ZN_PATH_SIZE],
                             zn_error *err)
{
    if (zn_text_format(path, ZN_PATH_SIZE, "%s/%s", folder, file) + 1 >= ZN_PATH_SIZE)
        return zn_fail(err, ZENITH_LIMIT, "the path '%s' is too long", folder);
    if (zn_path_is_file(path)) return ZENITH_OK;
    return zn_fail(err, ZENITH_NOT_FOUND, "%s is missing: fetch it with the rest of the folder",
                   path);
}

// A folder that is named must be one; without a name it is looked for, where a part is not given.
static zenith_status open_pipeline(opening *o, zn_error *err)
{
    char found[ZN_PATH_SIZE];
    const zn_generator_files *files = o->files;
    const char *folder = files->folder;
    if (folder && !zn_pipeline_is(folder) && !strchr(folder, '/') &&
        zn_locate_pipeline(folder, found))
        folder = found;
    if (folder && !zn_path_is_directory(folder))
        return zn_fail(err, ZENITH_NOT_FOUND, "there is no folder '%s'", folder);
    if (folder && !zn_pipeline_is(folder))
        return zn_fail(err, ZENITH_NOT_FOUND,
                       "%s has no model_index.json: name the folder of a whole pipeline, such as "
                       "that of Z-Image-Turbo",
                       folder);
    if (!folder && files->transformer && files->text_encoder && files->tokenizer) return ZENITH_OK;
    const bool bare = !files->transformer && !files->text_encoder;
    if (!folder && ((bare && zn_locate_pipeline(shipped_pipeline, found)) ||
                    zn_locate_pipeline(usual_pipeline, found)))
        folder = found;
    if (!folder && bare)
        return zn_fail(err, ZENITH_NOT_FOUND,
                       "there is no pipeline: name its folder in zenith_generator_params.folder; "
                       "'%s', which comes with the program, and '%s' are in none of the folders "
                       "that are searched for models",
                       shipped_pipeline, usual_pipeline);
    if (!folder) return ZENITH_OK;
    ZN_TRY(zn_pipeline_open(folder, &o->pipeline, err));
    o->has_pipeline = true;
    return ZENITH_OK;
}

// --- parts --------------------------------------------------------------------------------------

static zenith_status open_schedule(const opening *o, zn_schedule_config *out, zn_error *err)
{
    char folder[ZN_PATH_SIZE], path[ZN_PATH_SIZE];
    zn_mapped file;
    const double given = o->files->shift;
    out->shift = given > 0 ? given : usual_shift;
    if (!o->has_pipeline) return ZENITH_OK;
    ZN_TRY(find_part(o, "scheduler", NULL, folder, err));
    ZN_TRY(file_in(folder, "scheduler_config.json", path, err));
    ZN_TRY(zn_mapped_open(path, &file, err));
    zenith_status status = zn_schedule_config_parse((const char *)file.data, file.size, path, out,
                                                    err);
    zn_mapped_close(&file);
    if (given > 0) out->shift = given; // steps and guidance stay the pipeline's
    return status;
}

static zenith_status open_network(const opening *o, const char *name, const char *given,
                                  const char *family, const zn_share *share, zn_model **out,
                                  zn_error *err)
{
    char place[ZN_PATH_SIZE], config[ZN_PATH_SIZE];
    ZN_TRY(find_part(o, name, given, place, err));
    if (!given) ZN_TRY(file_in(place, "config.json", config, err));
    const zn_model_request request = {.weights = place, .share = share};
    ZN_TRY(zn_model_open(&request, out, err));
    if (strcmp((*out)->family->name, family) == 0) return ZENITH_OK;
    return zn_fail(err, ZENITH_UNSUPPORTED,
                   "%s holds %s: pictures from text are made by Z-Image's pipelines so far", place,
                   (*out)->variant->name);
}

// The tokenizer that lies with a text model which was named: in its GGUF file or its folder.
// ZENITH_NOT_FOUND: none.
static zenith_status open_own_tokenizer(const opening *o, const zn_generator *generator,
                                        zn_tokenizer **out, zn_error *err)
{
    const char *place = o->files->text_encoder;
    const zn_gguf *gguf = zn_weights_gguf(generator->text->weights);
    if (!place) return ZENITH_NOT_FOUND;
    if (gguf) return zn_tokenizer_from_gguf(gguf, place, out, err);
    return zn_path_is_directory(place) ? zn_tokenizer_open(place, out, err) : ZENITH_NOT_FOUND;
}

static zenith_status open_tokenizer(const opening *o, zn_generator *generator, zn_error *err)
{
    char place[ZN_PATH_SIZE];
    zn_error why = {0};
    zenith_status status = ZENITH_NOT_FOUND;
    if (!o->files->tokenizer)
        status = open_own_tokenizer(o, generator, &generator->tokenizer, &why);
    if (status == ZENITH_OK) return status;
    if (status != ZENITH_NOT_FOUND) return zn_fail(err, status, "%s", why.text);
    ZN_TRY(find_part(o, "tokenizer", o->files->tokenizer, place, err));
    return zn_tokenizer_open(place, &generator->tokenizer, err);
}

static zenith_status open_all(const opening *o, zn_generator *generator, zn_error *err)
{
    const zn_generator_files *files = o->files;
    ZN_TRY(open_schedule(o, &generator->schedule, err));
    ZN_TRY(zn_together_open(&generator->together, err));
    const zn_share *share = zn_together_share(generator->together);
    ZN_TRY(open_network(o, "text_encoder", files->text_encoder, "qwen3", share, &generator->text,
                        err));
    ZN_TRY(open_tokenizer(o, generator, err));
    ZN_TRY(open_network(o, "transformer", files->transformer, "zimage", share,
                        &generator->transformer, err));
    if (files->autoencoder)
        return find_part(o, "vae", files->autoencoder, generator->autoencoder, err);
    if (!o->has_pipeline || !is_there(&o->pipeline, "vae", generator->autoencoder))
        generator->autoencoder[0] = 0;
    return ZENITH_OK;
}

// The last word of the folder, where it is that of a pipeline that goes by a name.
static void set_name(zn_generator *generator, const char *folder)
{
    const char *const names[] = {shipped_pipeline, usual_pipeline};
    size_t end = strlen(folder);
    while (end > 1 && folder[end - 1] == '/') end--;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t length = strlen(names[i]);
        if (end < length || strncmp(folder + end - length, names[i], length) != 0) continue;
        if (end == length || folder[end - length - 1] == '/') generator->name = names[i];
    }
}

zenith_status zn_generator_open(const zn_generator_files *files, zn_generator **out, zn_error *err)
{
    opening o = {.files = files};
    zn_generator *generator = zn_alloc_zero(sizeof *generator);
    if (!generator) return zn_fail_memory(err, sizeof *generator);
    zenith_status status = zn_mutex_create(&generator->memory.lock, err);
    if (status == ZENITH_OK) status = open_pipeline(&o, err);
    if (status == ZENITH_OK) status = open_all(&o, generator, err);
    if (o.has_pipeline) set_name(generator, o.pipeline.folder);
    if (o.has_pipeline) zn_pipeline_free(&o.pipeline);
    if (status == ZENITH_OK) {
        *out = generator;
    } else {
        zn_together_fail(generator->together);
        zn_generator_free(generator);
    }
    return status;
}

void zn_generator_free(zn_generator *generator)
{
    if (!generator) return;
    zn_generator_memory_free(&generator->memory);
    zn_model_unref(generator->text);
    zn_model_unref(generator->transformer);
    zn_tokenizer_free(generator->tokenizer);
    zn_together_free(generator->together);
    zn_free(generator);
}

// --- facts --------------------------------------------------------------------------------------

// All pipelines of Z-Image have the latents of FLUX.1.
const zn_variant *zn_generator_latents(const zn_generator *generator)
{
    (void)generator;
    return zn_variant_find("flux-vae");
}

uint32_t zn_generator_side(const zn_generator *generator)
{
    const zn_json *config = zn_weights_config(generator->transformer->weights);
    const int64_t factor = zn_generator_latents(generator)->autoencoder->factor;
    int64_t side = 0;
    const zn_json *said = config ? zn_json_find(config, "sample_size") : NULL;
    if (!said || !zn_json_as_integer(said, &side) || side < 1 || side > ZN_GENERATOR_MOST_SIDE)
        return 0;
    return (uint32_t)(side * factor);
}

uint32_t zn_generator_multiple(const zn_generator *generator)
{
    const zn_variant *latents = zn_generator_latents(generator);
    return (uint32_t)(zn_zimage_facts_of(generator->transformer).patch *
                      latents->autoencoder->factor);
}

int zn_generator_left_out(int steps, double strength)
{
    return zn_flow_begin(steps, strength);
}
