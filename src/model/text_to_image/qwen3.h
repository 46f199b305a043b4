// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What callers of the text model Qwen3 prepare: its input "angles".
#ifndef ZN_MODEL_TEXT_TO_IMAGE_QWEN3_H
#define ZN_MODEL_TEXT_TO_IMAGE_QWEN3_H

#include "src/model/model.h"

// Numbers for each token of the input "angles", and of the output "hidden".
int64_t zn_qwen3_head(const zn_model *model);
int64_t zn_qwen3_width(const zn_model *model);
int64_t zn_qwen3_vocabulary(const zn_model *model);

// The angles of the first `tokens` tokens, into dst.
void zn_qwen3_angles(const zn_model *model, int64_t tokens, float *dst);

// The same of a network without weights: its layout (zn_scope) by config.json, and the angles by
// its layout.
void zn_qwen3_layout(const zn_json *config, char dst[ZN_LAYOUT_SIZE]);
void zn_qwen3_layout_angles(const char *layout, int64_t tokens, float *dst);

#endif
