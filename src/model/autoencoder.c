// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/model/autoencoder.h"

#include <math.h>
#include <string.h>

// Scale and shift: the published configurations of the full autoencoders. FLUX.2 normalises its latents
// by statistics per channel of 2 x 2 patches, which is neither of the two forms.
const zn_autoencoder_facts zn_latents_sd = {4, 8, .has_raw = true, .scale = 0.18215f};
const zn_autoencoder_facts zn_latents_sdxl = {4, 8, .has_raw = true, .scale = 0.13025f};
const zn_autoencoder_facts zn_latents_sd3 = {16, 8, .has_raw = true, .scale = 1.5305f,
                                             .shift = 0.0609f};
const zn_autoencoder_facts zn_latents_f1 = {16, 8, .has_raw = true, .scale = 0.3611f,
                                            .shift = 0.1159f};
const zn_autoencoder_facts zn_latents_f2 = {32, 8, .scale = 1};

static bool same_numbers(const float *a, const float *b, int64_t count)
{
    if (!a || !b) return a == b;
    return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

bool zn_latents_equal(const zn_autoencoder_facts *a, const zn_autoencoder_facts *b)
{
    return a->latent_channels == b->latent_channels && a->factor == b->factor && a->has_raw &&
           b->has_raw && a->scale == b->scale && a->shift == b->shift &&
           same_numbers(a->mean, b->mean, a->latent_channels) &&
           same_numbers(a->deviation, b->deviation, a->latent_channels);
}

float zn_latent_from_raw(const zn_autoencoder_facts *facts, size_t c, float raw)
{
    if (facts->mean) return (raw - facts->mean[c]) / facts->deviation[c];
    return (raw - facts->shift) * facts->scale;
}

float zn_latent_to_raw(const zn_autoencoder_facts *facts, size_t c, float value)
{
    if (facts->mean) return value * facts->deviation[c] + facts->mean[c];
    return value / facts->scale + facts->shift;
}

float zn_latent_logvar_step(const zn_autoencoder_facts *facts, size_t c)
{
    const float scale = facts->mean ? 1 / facts->deviation[c] : facts->scale;
    return 2 * logf(scale);
}

// --- ports --------------------------------------------------------------------------------------

static zn_port image(const zn_variant *variant, const zn_sizes *sizes)
{
    const int64_t factor = variant->autoencoder->factor;
    return zn_port_picture("image", sizes->height * factor, sizes->width * factor);
}

static zn_port latent(const zn_variant *variant, const zn_sizes *sizes)
{
    return zn_port_map("latent", sizes->height, sizes->width,
                       variant->autoencoder->latent_channels);
}

void zn_encoder_ports(const zn_variant *variant, const zn_sizes *sizes, zn_ports *out)
{
    *out = (zn_ports){.inputs = {image(variant, sizes)},
                      .outputs = {latent(variant, sizes)},
                      .inputs_count = 1,
                      .outputs_count = 1};
}

void zn_moments_ports(const zn_variant *variant, const zn_sizes *sizes, zn_ports *out)
{
    const int64_t channels = variant->autoencoder->latent_channels;
    zn_encoder_ports(variant, sizes, out);
    out->outputs[0] = zn_port_map("moments", sizes->height, sizes->width, 2 * channels);
}

void zn_decoder_ports(const zn_variant *variant, const zn_sizes *sizes, zn_ports *out)
{
    *out = (zn_ports){.inputs = {latent(variant, sizes)},
                      .outputs = {image(variant, sizes)},
                      .inputs_count = 1,
                      .outputs_count = 1};
}

// --- flags --------------------------------------------------------------------------------------

const char *zn_autoencoder_name(unsigned flag)
{
    return flag & ZENITH_ENCODER ? "encoder" : "decoder";
}

const char *const *zn_autoencoder_names(unsigned flags)
{
    static const char *const encoder[] = {"encoder", NULL}, *const decoder[] = {"decoder", NULL};
    static const char *const both[] = {"encoder", "decoder", NULL};
    flags &= ZENITH_ENCODER | ZENITH_DECODER;
    if (!flags) return NULL;
    if (flags == ZENITH_ENCODER) return encoder;
    return flags == ZENITH_DECODER ? decoder : both;
}

const zn_part *zn_autoencoder_part(const zn_family *family, unsigned flag)
{
    return zn_family_part(family, zn_autoencoder_name(flag));
}

unsigned zn_autoencoder_flags(const zn_model *model)
{
    unsigned flags = 0;
    if (zn_model_part(model, "encoder")) flags |= ZENITH_ENCODER;
    if (zn_model_part(model, "decoder")) flags |= ZENITH_DECODER;
    return flags;
}

zenith_status zn_autoencoder_check(const zn_variant *variant, zn_error *err)
{
    if (variant->autoencoder) return ZENITH_OK;
    return zn_fail(err, ZENITH_UNSUPPORTED,
                   "%s is not an autoencoder: it has no encoder and no decoder", variant->name);
}

bool zn_model_space(const char *name, float *scale, float *shift)
{
    const zn_variant *variant = zn_variant_find(name);
    const zn_autoencoder_facts *facts = variant ? variant->autoencoder : NULL;
    if (!facts || !facts->has_raw || facts->mean) return false;
    *scale = facts->scale;
    *shift = facts->shift;
    return true;
}
