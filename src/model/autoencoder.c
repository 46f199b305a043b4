// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/model/autoencoder.h"

#include <math.h>
#include <string.h>

// Scale and shift: the published configurations of the full autoencoders. FLUX.2 normalises its
// latents by statistics per channel of 2 x 2 patches, which is neither of the two forms.
const zn_autoencoder_facts zn_latents_sd = {4, 8, .has_raw = true, .scale = 0.18215f};
const zn_autoencoder_facts zn_latents_sdxl = {4, 8, .has_raw = true, .scale = 0.13025f};
const zn_autoencoder_facts zn_latents_sd3 = {16, 8, .has_raw = true, .scale = 1.5305f,
                                             .shift = 0.0609f};
const zn_autoencoder_facts zn_latents_f1 = {16, 8, .has_raw = true, .scale = 0.3611f,
                                            .shift = 0.1159f};
const zn_autoencoder_facts zn_latents_f2 = {32, 8, .scale = 1};

// Wan 2.1 and 2.2: the published configurations (latents_mean and latents_std).
static const float wan21_mean[16] = {-0.7571f, -0.7089f, -0.9113f, 0.1075f,  -0.1745f, 0.9653f,
                                     -0.1517f, 1.5508f,  0.4134f,  -0.0715f, 0.5517f,  -0.3632f,
                                     -0.1922f, -0.9497f, 0.2503f,  -0.2921f};
static const float wan21_deviation[16] = {2.8184f, 1.4541f, 2.3275f, 2.6558f, 1.2196f, 1.7708f,
                                          2.6052f, 2.0743f, 3.2687f, 2.1526f, 2.8652f, 1.5579f,
                                          1.6382f, 1.1253f, 2.8251f, 1.9160f};
static const float wan22_mean[48] = {
    -0.2289f, -0.0052f, -0.1323f, -0.2339f, -0.2799f, 0.0174f,  0.1838f,  0.1557f,
    -0.1382f, 0.0542f,  0.2813f,  0.0891f,  0.1570f,  -0.0098f, 0.0375f,  -0.1825f,
    -0.2246f, -0.1207f, -0.0698f, 0.5109f,  0.2665f,  -0.2108f, -0.2158f, 0.2502f,
    -0.2055f, -0.0322f, 0.1109f,  0.1567f,  -0.0729f, 0.0899f,  -0.2799f, -0.1230f,
    -0.0313f, -0.1649f, 0.0117f,  0.0723f,  -0.2839f, -0.2083f, -0.0520f, 0.3748f,
    0.0152f,  0.1957f,  0.1433f,  -0.2944f, 0.3573f,  -0.0548f, -0.1681f, -0.0667f};
static const float wan22_deviation[48] = {
    0.4765f, 1.0364f, 0.4514f, 1.1677f, 0.5313f, 0.4990f, 0.4818f, 0.5013f, 0.8158f, 1.0344f,
    0.5894f, 1.0901f, 0.6885f, 0.6165f, 0.8454f, 0.4978f, 0.5759f, 0.3523f, 0.7135f, 0.6804f,
    0.5833f, 1.4146f, 0.8986f, 0.5659f, 0.7069f, 0.5338f, 0.4889f, 0.4917f, 0.4069f, 0.4999f,
    0.6866f, 0.4093f, 0.5709f, 0.6065f, 0.6415f, 0.4944f, 0.5726f, 1.2042f, 0.5458f, 1.6887f,
    0.3971f, 1.0600f, 0.3943f, 0.5537f, 0.5444f, 0.4089f, 0.7468f, 0.7744f};
#define WAN(count, pixels, number, first)                                                          \
    {                                                                                              \
        .latent_channels = (count), .factor = (pixels), .has_raw = true, .scale = 1,               \
        .mean = number##_mean, .deviation = number##_deviation, .frames = 4,                       \
        .first_frames = (first)                                                                    \
    }
const zn_autoencoder_facts zn_latents_wan21 = WAN(16, 8, wan21, 1);
const zn_autoencoder_facts zn_latents_wan22 = WAN(48, 16, wan22, 1);
const zn_autoencoder_facts zn_latents_taew21 = WAN(16, 8, wan21, 4);
const zn_autoencoder_facts zn_latents_taew22 = WAN(48, 16, wan22, 4);

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

int zn_step_frames(const zn_autoencoder_facts *facts, unsigned part, zn_step step)
{
    if (step == ZN_STEP_ALONE) return 1;
    if (step == ZN_STEP_NEXT) return facts->frames;
    return part == ZENITH_ENCODER ? facts->first_frames : 1;
}

void zn_encoder_ports(const zn_variant *variant, const char *layout, const zn_sizes *sizes,
                      zn_ports *out)
{
    (void)layout;
    *out = (zn_ports){.outputs = {latent(variant, sizes)}, .outputs_count = 1};
    out->inputs_count = zn_step_frames(variant->autoencoder, ZENITH_ENCODER, sizes->step);
    for (int i = 0; i < out->inputs_count; i++) out->inputs[i] = image(variant, sizes);
}

void zn_moments_ports(const zn_variant *variant, const char *layout, const zn_sizes *sizes,
                      zn_ports *out)
{
    const int64_t channels = variant->autoencoder->latent_channels;
    zn_encoder_ports(variant, layout, sizes, out);
    out->outputs[0] = zn_port_map("moments", sizes->height, sizes->width, 2 * channels);
}

void zn_decoder_ports(const zn_variant *variant, const char *layout, const zn_sizes *sizes,
                      zn_ports *out)
{
    (void)layout;
    *out = (zn_ports){.inputs = {latent(variant, sizes)}, .inputs_count = 1};
    out->outputs_count = zn_step_frames(variant->autoencoder, ZENITH_DECODER, sizes->step);
    for (int i = 0; i < out->outputs_count; i++) out->outputs[i] = image(variant, sizes);
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
