// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The names that tensors of Wan's autoencoders have in files: diffusers', which wan_vae.c builds
// with, and those of the original checkpoints (Wan2.1_VAE, Wan2.2_VAE).
#ifndef ZN_MODEL_VIDEO_WAN_NAMES_H
#define ZN_MODEL_VIDEO_WAN_NAMES_H

#include "src/format/tensor/weights.h"
#include "src/nn/scope.h"

enum { ZN_WAN_MOST_LAYERS = 16 };

// The tensor that diffusers calls `name` ("decoder.conv_in.weight"; the convolutions beside the
// latent begin with their part's name, too), and its name in the file, into dst; NULL: there is
// none.
const zn_file_tensor *zn_wan_find(const zn_weights *weights, const char *name,
                                  char dst[ZN_NAME_SIZE]);

// Blocks in a level of the encoder, by the names of a part; 0: not known. The decoder has one more.
int zn_wan_layers(const zn_weights *weights, bool encoder);

#endif
