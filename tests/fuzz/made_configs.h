// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Configs of tiny networks, whose sizes come from config.json, and the layouts that they make.
#ifndef ZN_TESTS_FUZZ_MADE_CONFIGS_H
#define ZN_TESTS_FUZZ_MADE_CONFIGS_H

#include "src/model/diffae/config.h"
#include "src/model/family.h"
#include "src/model/text_to_image/qwen3.h"
#include "src/model/text_to_image/zimage.h"

#include <string.h>

#define MADE_DIFFAE                                                                                \
    "\"model\":\"diffae\",\"image_size\":16,\"in_channels\":3,\"channels\":4,"                     \
    "\"channel_mult\":[1,2],\"encoder_mult\":[1,2],\"res_blocks\":1,"                              \
    "\"attention_resolutions\":[8],\"code\":6,\"prior_width\":4,\"prior_layers\":3"
#define MADE_QWEN3                                                                                 \
    "{\"vocab_size\":16,\"hidden_size\":8,\"intermediate_size\":12,\"num_hidden_layers\":3,"       \
    "\"num_attention_heads\":4,\"num_key_value_heads\":2,\"head_dim\":4}"
#define MADE_ZIMAGE                                                                                \
    "\"dim\":24,\"n_layers\":2,\"n_refiner_layers\":1,\"n_heads\":2,\"cap_feat_dim\":8,"           \
    "\"in_channels\":4,\"axes_dims\":[4,4,4]"
#define MADE_DRAFT                                                                                 \
    "\"cap_pool\":1,\"draft_dim\":6,\"draft_width\":12,\"draft_places\":64,\"draft_words\":16"

// As the family of the variant makes it; dst is "" where it makes none, or the config is no JSON.
static inline void made_layout(const zn_variant *variant, const char *config,
                               char dst[ZN_LAYOUT_SIZE])
{
    const char *family = zn_family_of(variant)->name;
    zn_json *parsed = NULL;
    dst[0] = 0;
    if (zn_json_parse(config, strlen(config), "config", &parsed, NULL) != ZENITH_OK) return;
    if (strcmp(family, "qwen3") == 0) zn_qwen3_layout(parsed, dst);
    if (strcmp(family, "zimage") == 0) zn_zimage_layout(parsed, dst);
    if (strcmp(family, "diffae") == 0) zn_diffae_layout(parsed, 40, dst);
    zn_json_free(parsed);
}

#endif
