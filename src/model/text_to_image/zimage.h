// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What callers of Z-Image's diffusion transformer prepare and need to know. It has these parts, by
// how often they run:
//
//     context      once a prompt:    the caption's features, refined and padded
//     draft        once a prompt:    a mean picture of its words, where the network has one
//     modulation   once a schedule:  scales and gates of all layers, for all timesteps
//     denoiser     once a step       (twice with guidance)
#ifndef ZN_MODEL_TEXT_TO_IMAGE_ZIMAGE_H
#define ZN_MODEL_TEXT_TO_IMAGE_ZIMAGE_H

#include "src/model/model.h"

typedef struct zn_zimage_facts {
    int64_t caption;    // channels of the caption's features
    int64_t width;      // of tokens: channels of the output "context"
    int64_t head;       // numbers for each token of "angles"
    int64_t modulation; // numbers for each timestep
    int64_t channels;   // of latents
    int64_t patch;      // latents' sizes are multiples of it
    int64_t
        // tokens of images that it draws, whose caption has a draft; 0: it has none, and draws any
        draft;
} zn_zimage_facts;
zn_zimage_facts zn_zimage_facts_of(const zn_model *model);

// Tokens of a caption with padding, and of an image of such a latent.
int64_t zn_zimage_caption_tokens(int64_t tokens);
int64_t zn_zimage_image_tokens(const zn_model *model, int64_t height, int64_t width);

// The input "angles" of the context part, for a caption of so many padded tokens; and of the
// denoiser, for its sizes.
void zn_zimage_caption_angles(const zn_model *model, int64_t tokens, float *dst);
void zn_zimage_angles(const zn_model *model, const zn_sizes *sizes, float *dst);

// The same of a network without weights: its layout (zn_scope) by config.json, and by its layout
// the angles of one sample, and the patch.
void zn_zimage_layout(const zn_json *config, char dst[ZN_LAYOUT_SIZE]);
void zn_zimage_layout_caption_angles(const char *layout, int64_t tokens, float *dst);
void zn_zimage_layout_angles(const char *layout, const zn_sizes *sizes, float *dst);
int64_t zn_zimage_layout_patch(const char *layout);
bool zn_zimage_layout_drafts(const char *layout);

#endif
