// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the files of api/ that are about codes of diffusion autoencoders share.
#ifndef ZN_API_CODE_FILE_H
#define ZN_API_CODE_FILE_H

#include "src/model/model.h"
#include "zenith/diffae.h"

// The inside of a model, which must be a diffusion autoencoder.
zenith_status zn_diffae_of(const zenith_model *model, const zn_model **out, zn_error *err);
// Code `index` of the caller's array, checked against the model, with its numbers filled in.
zenith_status zn_code_in(const zn_model *model, const zenith_code *codes, size_t index,
                         zenith_code *out, zn_error *err);

#endif
