// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/task/generator.h"

#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/text.h"
#include "src/format/schedule_config.h"
#include "src/model/autoencoder.h"
#include "src/model/pipeline.h"
#include "src/model/zimage.h"
#include "src/text/chat.h"

#include <string.h>

// --- the folder ---------------------------------------------------------------------------------

static bool is_there(const zn_pipeline *pipeline, const char *name, char path[ZN_PATH_SIZE])
{
    return zn_pipeline_path(pipeline, name, path, NULL) == ZENITH_OK &&
           zn_pipeline_find(pipeline, name) && zn_path_is_directory(path);
}

static zenith_status component(const zn_pipeline *pipeline, const char *name,
                               char path[ZN_PATH_SIZE], zn_error *err)
{
    if (is_there(pipeline, name, path)) return ZENITH_OK;
    return zn_fail(err, ZENITH_NOT_FOUND,
                   "%s has no %s: pictures from text need the folders text_encoder, tokenizer, "
                   "transformer and scheduler, and a model_index.json that names them; fetch the "
                   "whole pipeline",
                   pipeline->folder, name);
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

static zenith_status open_schedule(const zn_pipeline *pipeline, double *shift, zn_error *err)
{
    char folder[ZN_PATH_SIZE], path[ZN_PATH_SIZE];
    zn_mapped file;
    ZN_TRY(component(pipeline, "scheduler", folder, err));
    ZN_TRY(file_in(folder, "scheduler_config.json", path, err));
    ZN_TRY(zn_mapped_open(path, &file, err));
    zenith_status status = zn_schedule_config_parse((const char *)file.data, file.size, path, shift,
                                                    err);
    zn_mapped_close(&file);
    return status;
}

static zenith_status open_tokenizer(const zn_pipeline *pipeline, zn_tokenizer **out, zn_error *err)
{
    char folder[ZN_PATH_SIZE];
    ZN_TRY(component(pipeline, "tokenizer", folder, err));
    return zn_tokenizer_open(folder, out, err);
}

static zenith_status open_network(const zn_pipeline *pipeline, const char *name, const char *family,
                                  const zn_share *share, zn_model **out, zn_error *err)
{
    char folder[ZN_PATH_SIZE], config[ZN_PATH_SIZE];
    ZN_TRY(component(pipeline, name, folder, err));
    ZN_TRY(file_in(folder, "config.json", config, err));
    const zn_model_request request = {.weights = folder, .share = share};
    ZN_TRY(zn_model_open(&request, out, err));
    if (strcmp((*out)->family->name, family) == 0) return ZENITH_OK;
    return zn_fail(err, ZENITH_UNSUPPORTED,
                   "%s holds %s: pictures from text are made by Z-Image's pipelines so far", folder,
                   (*out)->variant->name);
}

static zenith_status open_all(const zn_pipeline *pipeline, zn_generator *generator, zn_error *err)
{
    ZN_TRY(open_schedule(pipeline, &generator->shift, err));
    ZN_TRY(open_tokenizer(pipeline, &generator->tokenizer, err));
    ZN_TRY(zn_together_open(&generator->together, err));
    const zn_share *share = zn_together_share(generator->together);
    ZN_TRY(open_network(pipeline, "text_encoder", "qwen3", share, &generator->text, err));
    ZN_TRY(open_network(pipeline, "transformer", "zimage", share, &generator->transformer, err));
    if (!is_there(pipeline, "vae", generator->autoencoder)) generator->autoencoder[0] = 0;
    return ZENITH_OK;
}

zenith_status zn_generator_open(const char *folder, zn_generator **out, zn_error *err)
{
    zn_pipeline pipeline;
    if (!zn_pipeline_is(folder))
        return zn_fail(err, ZENITH_NOT_FOUND,
                       "%s has no model_index.json: name the folder of a whole pipeline, such as "
                       "that of Z-Image-Turbo",
                       folder);
    zn_generator *generator = zn_alloc_zero(sizeof *generator);
    if (!generator) return zn_fail_memory(err, sizeof *generator);
    zenith_status status = zn_pipeline_open(folder, &pipeline, err);
    if (status == ZENITH_OK) {
        status = open_all(&pipeline, generator, err);
        zn_pipeline_free(&pipeline);
    }
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

uint32_t zn_generator_multiple(const zn_generator *generator)
{
    const zn_variant *latents = zn_generator_latents(generator);
    return (uint32_t)(zn_zimage_facts_of(generator->transformer).patch *
                      latents->autoencoder->factor);
}

// --- runs ---------------------------------------------------------------------------------------

static zenith_status read_prompt(const zn_generator *generator, const char *text, int32_t **ids,
                                 zn_prompt *out, zn_generator_tokens *tokens, zn_error *err)
{
    ZN_TRY(zn_chat_encode(generator->tokenizer, text, strlen(text), ZN_CHAT_TOKENS_MOST, ids,
                          &tokens->read, &tokens->whole, err));
    *out = (zn_prompt){*ids, tokens->read};
    return ZENITH_OK;
}

zenith_status zn_generator_run(zn_engine *engine, const zn_generator *generator,
                               const zn_generator_call *call, float *latent,
                               zn_generator_tokens *tokens, zn_error *err)
{
    zn_generation how = call->how;
    uint64_t seed = call->seed;
    zn_generator_tokens of_negative;
    int32_t *prompt = NULL, *negative = NULL;
    const size_t channels = (size_t)zn_generate_channels(generator->transformer);
    zenith_status status;
    how.text = generator->text;
    how.transformer = generator->transformer;
    how.shift = generator->shift;
    ZN_GO(zn_together_enter(generator->together, engine, &how, &seed, err));
    ZN_GO(read_prompt(generator, call->prompt, &prompt, &how.prompt, tokens, err));
    if (how.guidance > 0)
        ZN_GO(read_prompt(generator, call->negative ? call->negative : "", &negative, &how.negative,
                          &of_negative, err));
    zn_noise_fill(call->noise, seed, 0, latent, channels * how.height * how.width);
    ZN_GO(zn_generate(engine, &how, latent, err));
fail:
    zn_free(prompt);
    zn_free(negative);
    return zn_together_leave(generator->together, status);
}
