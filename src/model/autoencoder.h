// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What only autoencoders have: an encoder from pictures to latents, a decoder back, and the space
// of those latents. zenith.h's flags ZENITH_ENCODER and ZENITH_DECODER are mapped to parts here.
#ifndef ZN_MODEL_AUTOENCODER_H
#define ZN_MODEL_AUTOENCODER_H

#include "src/model/model.h"
#include "zenith/zenith.h"

typedef struct zn_autoencoder_facts {
    int64_t latent_channels;
    int factor; // picture pixels per latent pixel along each side
    // From the full VAE's latents to the diffusion model's: (raw - shift) * scale, or, where there
    // are means, (raw - mean[c]) / deviation[c] for each channel.
    bool has_raw;
    float scale, shift;
    const float *mean, *deviation; // [latent_channels]; both or none
    // Of video: pictures of a clip for each latent after the first, which is of one picture. 0: the
    // model knows pictures only. first_frames: those that the encoder takes for the first latent.
    int frames, first_frames;
} zn_autoencoder_facts;

// The spaces that several families share.
extern const zn_autoencoder_facts zn_latents_sd; // Stable Diffusion 1.x and 2.x
extern const zn_autoencoder_facts zn_latents_sdxl;
extern const zn_autoencoder_facts zn_latents_sd3;
extern const zn_autoencoder_facts zn_latents_f1; // FLUX.1 and Z-Image
extern const zn_autoencoder_facts zn_latents_f2; // FLUX.2
extern const zn_autoencoder_facts zn_latents_wan21;
extern const zn_autoencoder_facts zn_latents_wan22;
extern const zn_autoencoder_facts
    zn_latents_taew21; // the same, for encoders that begin with four frames
extern const zn_autoencoder_facts zn_latents_taew22;

bool zn_latents_equal(const zn_autoencoder_facts *a, const zn_autoencoder_facts *b);

// One number of channel c, from raw to the model's space and back.
float zn_latent_from_raw(const zn_autoencoder_facts *facts, size_t c, float raw);
float zn_latent_to_raw(const zn_autoencoder_facts *facts, size_t c, float value);
// What the logarithm of a variance grows by from raw to the model's space.
float zn_latent_logvar_step(const zn_autoencoder_facts *facts, size_t c);

// Pictures that a part takes (encoder) or gives (decoder) in a step, for one latent.
int zn_step_frames(const zn_autoencoder_facts *facts, unsigned part, zn_step step);

// The ports of both parts: "image" and "latent"; of the steps of a clip one "image" for each
// picture, in their order. Sizes are the latent's.
void zn_encoder_ports(const zn_variant *variant, const char *layout, const zn_sizes *sizes,
                      zn_ports *out);
void zn_decoder_ports(const zn_variant *variant, const char *layout, const zn_sizes *sizes,
                      zn_ports *out);
// Of video, the step that reads every parameter is the next one.
#define ZN_VIDEO_ENCODER_PART(function)                                                            \
    {                                                                                              \
        .name = "encoder", .prefix = "encoder.",                                                   \
        .smallest = {.height = 1, .width = 1, .step = ZN_STEP_NEXT}, .ports = zn_encoder_ports,    \
        .build = function                                                                          \
    }
#define ZN_VIDEO_DECODER_PART(function)                                                            \
    {                                                                                              \
        .name = "decoder", .prefix = "decoder.",                                                   \
        .smallest = {.height = 1, .width = 1, .step = ZN_STEP_NEXT}, .ports = zn_decoder_ports,    \
        .build = function                                                                          \
    }
#define ZN_ENCODER_PART(function)                                                                  \
    {                                                                                              \
        .name = "encoder", .prefix = "encoder.", .smallest = {.height = 1, .width = 1},            \
        .ports = zn_encoder_ports, .build = function                                               \
    }
#define ZN_DECODER_PART(function)                                                                  \
    {                                                                                              \
        .name = "decoder", .prefix = "decoder.", .smallest = {.height = 1, .width = 1},            \
        .ports = zn_decoder_ports, .build = function                                               \
    }

// Of the encoder that gives moments (zn_family.moments), both in the space of the diffusion model.
void zn_moments_ports(const zn_variant *variant, const char *layout, const zn_sizes *sizes,
                      zn_ports *out);
#define ZN_MOMENTS_PART(function)                                                                  \
    {                                                                                              \
        .name = "encoder", .prefix = "encoder.", .smallest = {.height = 1, .width = 1},            \
        .ports = zn_moments_ports, .build = function                                               \
    }

// Flags of zenith.h. The name of one ("encoder"); of a set, the list that zn_model_request takes.
const char *zn_autoencoder_name(unsigned flag);
const char *const *zn_autoencoder_names(unsigned flags);
const zn_part *zn_autoencoder_part(const zn_family *family, unsigned flag); // NULL: it has none
unsigned zn_autoencoder_flags(const zn_model *model);                       // what the weights have

// Fails where a model is no autoencoder.
zenith_status zn_autoencoder_check(const zn_variant *variant, zn_error *err);

// Scale and shift of a variant; false where it has none, or is not known.
bool zn_model_space(const char *name, float *scale, float *shift);

#endif
