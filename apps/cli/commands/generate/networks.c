// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See networks.h.
#include "apps/cli/commands/generate/networks.h"
#include "apps/cli/session/machine_facts.h"
#include "apps/cli/session/source_options.h"
#include "apps/cli/terminal/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

zenith_latent cli_generate_latent(const cli_generate_models *models, float *data)
{
    return (zenith_latent){.size = sizeof(zenith_latent),
                           .width = models->size.width / models->info.factor,
                           .height = models->size.height / models->info.factor,
                           .channels = models->info.latent_channels,
                           .data = data};
}

size_t cli_generate_values(const cli_generate_models *models)
{
    const zenith_latent latent = cli_generate_latent(models, NULL);
    return (size_t)latent.width * latent.height * latent.channels;
}

// --- networks -----------------------------------------------------------------------------------

static bool fail_decoder(const cli_generate_models *models, const char *name, cli_failure *failure)
{
    failure->model = true;
    return cli_fail_text(failure, ZENITH_INVALID_ARGUMENT,
                         "%s does not decode the latents of %s: take --decoder flux-vae, taef1 or "
                         "zenith-f1-fast",
                         name, models->info.name);
}

// The pipeline's own autoencoder. A lone file can be alike for several models: the one is meant
// whose latents these are.
static bool open_own(cli_session *session, const cli_generate_models *models, unsigned parts,
                     const cli_open_model **out, cli_failure *failure)
{
    const char *const names[] = {NULL, models->info.latents, "taef1"};
    cli_failure said = {.status = ZENITH_OK}; // what the second name's failure says is the most
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        cli_failure why = {.status = ZENITH_OK};
        if (cli_session_model_at(session, names[i], models->info.autoencoder, parts, out, &why))
            return true;
        if (i < 2) said = why;
        if (i == 0 && why.status != ZENITH_AMBIGUOUS) break;
    }
    *failure = said; // only here: who opened one has not failed
    return false;
}

static bool open_decoder(cli_session *session, cli_generate_models *models, cli_failure *failure)
{
    const char *name = cli_generate_of(session->settings)->decoder;
    // A name that is not known shares no latents with itself: opening it says what was meant.
    if (name != NULL && zenith_models_share_latents(name, name) &&
        !zenith_models_share_latents(name, models->info.latents))
        return fail_decoder(models, name, failure);
    const bool own = name == NULL && models->info.autoencoder != NULL;
    if (name == NULL) name = "zenith-f1-fast";
    const bool there = own ? open_own(session, models, ZENITH_DECODER, &models->decoder, failure)
                           : cli_session_model_at(session, name, NULL, ZENITH_DECODER,
                                                  &models->decoder, failure);
    if (!there) return false;
    return zenith_models_share_latents(models->decoder->info.name, models->info.latents) ||
           fail_decoder(models, models->decoder->info.name, failure);
}

// Without --size: what the transformer was made for; if it does not say, the size of the picture to
// begin with.
static void choose_size(const cli_session *session, cli_generate_models *models)
{
    enum { USUAL_SIDE = 1024 }; // Z-Image's, which does not say
    const uint32_t made_for = models->info.side;
    if (models->size.width > 0 ||
        (cli_generate_of(session->settings)->image != NULL && made_for == 0))
        return;
    const uint32_t side = made_for > 0 ? made_for : USUAL_SIDE;
    models->size = (cli_dimensions){side, side};
}

// As asked, else as the pipeline has it. A picture that is made again (--from) says both.
static void choose_steps(const cli_generate_request *asked, cli_generate_models *models)
{
    const double guidance = asked->own.guidance;
    models->steps = asked->steps > 0 ? asked->steps : models->info.steps;
    models->guidance = guidance == CLI_UNSET ? models->info.guidance : guidance;
}

static bool open_generator(cli_session *session, cli_generate_models *models, cli_failure *failure)
{
    const cli_settings *settings = session->settings;
    const cli_generate_settings *own = cli_generate_of(settings);
    const zenith_generator_params where = {.size = sizeof where,
                                           .folder = settings->weights,
                                           .transformer = own->transformer,
                                           .text_encoder = own->text_encoder,
                                           .tokenizer = own->tokenizer,
                                           .autoencoder = own->vae,
                                           .shift = own->schedule_shift};
    zenith_status status = zenith_generator_open(session->context, &where, &models->generator);
    if (status == ZENITH_OK) {
        models->info = (zenith_generator_info){.size = sizeof models->info};
        zenith_generator_get_info(models->generator, &models->info);
        choose_size(session, models);
        return true;
    }
    failure->model = true;
    cli_fail(session, failure, status, NULL);
    // A folder that is not there, or no folder named.
    if (status == ZENITH_NOT_FOUND &&
        (settings->weights == NULL || access(settings->weights, F_OK) != 0)) {
        const size_t length = strlen(failure->text);
        snprintf(failure->text + length, sizeof failure->text - length,
                 ". 'zenith pull z-image-turbo' says where its files are published");
    }
    return false;
}

// --- the picture of --image ---------------------------------------------------------------------

static uint32_t rounded(uint32_t side)
{
    const uint32_t multiple = CLI_PICTURE_MULTIPLE;
    const uint32_t near = (side + multiple / 2) / multiple * multiple;
    return near > 0 ? near : multiple;
}

// By the pipeline's own autoencoder, the nearest to what the transformer has learned; without one,
// by the model of --decoder.
static bool open_encoder(cli_session *session, const cli_generate_models *models,
                         const cli_open_model **out, cli_failure *failure)
{
    if (models->info.autoencoder != NULL)
        return open_own(session, models, ZENITH_ENCODER, out, failure);
    return cli_session_model_at(session, models->decoder->info.name, NULL, ZENITH_ENCODER, out,
                                failure);
}

// As cli_source_params has it, scaled and cropped to the size that pictures get; 0x0: to its own,
// rounded.
static bool open_source(cli_session *session, cli_generate_models *models, zenith_source **out,
                        cli_failure *failure)
{
    const char *path = cli_generate_of(session->settings)->image;
    zenith_source_params params = cli_source_params(session->settings, CLI_PICTURE_MULTIPLE);
    zenith_source_info info = {.size = sizeof info};
    if (models->size.width == 0) {
        params.fit = ZENITH_FIT_PAD; // takes any size
        if (cli_source_open(session, path, &params, out, failure) != ZENITH_OK) return false;
        zenith_source_get_info(*out, &info);
        models->size = (cli_dimensions){rounded(info.turned_width), rounded(info.turned_height)};
        zenith_source_free(*out);
        *out = NULL;
    }
    params.fit = ZENITH_FIT_RESIZE;
    params.width = models->size.width;
    params.height = models->size.height;
    return cli_source_open(session, path, &params, out, failure) == ZENITH_OK;
}

static bool encode(cli_session *session, const cli_open_model *encoder, cli_generate_models *models,
                   zenith_source *source, cli_failure *failure)
{
    zenith_run_facts facts;
    zenith_source_info info = {.size = sizeof info};
    zenith_source_get_info(source, &info);
    zenith_run_params params = cli_session_run_params(session, &facts, cli_source_held(&info));
    const zenith_image image = {.size = sizeof image,
                                .width = models->size.width,
                                .height = models->size.height,
                                .rows = zenith_source_rows,
                                .cookie = source};
    models->picture = calloc(cli_generate_values(models), sizeof *models->picture);
    if (models->picture == NULL)
        return cli_fail_text(failure, ZENITH_OUT_OF_MEMORY, "no memory for its latent");
    const zenith_latent latent = cli_generate_latent(models, models->picture);
    params.progress = NULL;
    if (session->progress.bar) cli_status_show("encoding the picture");
    zenith_status status = zenith_encode(session->context, encoder->model, &image, &latent, 1,
                                         &params);
    cli_status_clear();
    return status == ZENITH_OK || cli_fail(session, failure, status, zenith_source_error(source));
}

static bool read_picture(cli_session *session, cli_generate_models *models, cli_failure *failure)
{
    const cli_open_model *encoder = NULL;
    zenith_source *source = NULL;
    if (cli_generate_of(session->settings)->image == NULL) return true;
    const bool done = open_encoder(session, models, &encoder, failure) &&
                      open_source(session, models, &source, failure) &&
                      encode(session, encoder, models, source, failure);
    zenith_source_free(source);
    return done;
}

// --- memory -------------------------------------------------------------------------------------

uint64_t cli_generate_room(const cli_settings *settings)
{
    cli_machine_facts facts;
    if (settings->run.max_memory != 0) return settings->run.max_memory;
    cli_machine_facts_read(&facts);
    uint64_t room = facts.available;
    if (facts.limit != 0 && (room == 0 || facts.limit < room)) room = facts.limit;
    return room - room / 8; // others want some too
}

static bool look_at_memory(cli_session *session, cli_generate_models *models, cli_failure *failure)
{
    const cli_settings *settings = session->settings;
    const zenith_latent latent = cli_generate_latent(models, NULL);
    const zenith_generate_params params = {.size = sizeof params,
                                           .steps = models->steps,
                                           .guidance = (float)models->guidance,
                                           .dtype = (zenith_dtype)settings->run.dtype};
    models->needs = (zenith_generate_needs){.size = sizeof models->needs};
    models->room = cli_generate_room(settings);
    zenith_status status = zenith_generate_get_needs(session->context, models->generator, &params,
                                                     &latent, &models->needs);
    if (status != ZENITH_OK) return cli_fail(session, failure, status, NULL);
    const zenith_generate_needs *needs = &models->needs;
    if (settings->log)
        cli_say("weights in memory: text model %.2f GB, transformer %.2f GB, at the least; room "
                "for %.2f GB",
                (double)needs->text_bytes * 1e-9, (double)needs->transformer_bytes * 1e-9,
                (double)models->room * 1e-9);
    return true;
}

uint64_t cli_generate_make_room(cli_session *session, const cli_generate_models *models,
                                uint64_t weights)
{
    zenith_estimate_info info = {.size = sizeof info};
    zenith_run_facts facts;
    const zenith_run_params params = cli_session_run_params(session, &facts, 0);
    if (models->room == 0 || weights == 0) return weights;
    if (zenith_estimate(session->context, models->decoder->model, ZENITH_DECODER,
                        models->size.width, models->size.height, true, &params,
                        &info) == ZENITH_OK &&
        weights + info.total_bytes <= models->room)
        return weights;
    zenith_generator_trim(session->context, models->generator);
    return 0;
}

bool cli_generate_models_open(cli_session *session, const cli_generate_request *asked,
                              cli_generate_models *out, cli_failure *failure)
{
    *out = (cli_generate_models){.size = asked->size};
    if (!open_generator(session, out, failure)) return false;
    choose_steps(asked, out);
    // Of several processes the first one decodes, and all need the picture to begin with.
    const bool decodes = out->info.process == 0 ||
                         cli_generate_of(session->settings)->image != NULL;
    return (!decodes || open_decoder(session, out, failure)) &&
           read_picture(session, out, failure) && look_at_memory(session, out, failure);
}

void cli_generate_models_free(cli_generate_models *models)
{
    free(models->picture);
    zenith_generator_free(models->generator);
}
