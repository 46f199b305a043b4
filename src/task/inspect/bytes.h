// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a file is that needs nothing but its bytes: a picture, a latent, codes, a checkpoint of a
// training run.
#ifndef ZN_TASK_INSPECT_BYTES_H
#define ZN_TASK_INSPECT_BYTES_H

#include "src/base/status.h"
#include "src/tensor/tensor.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

// ZENITH_UNSUPPORTED, and no sentence, for anything else. *out is NULL where there was no memory
// for it. `name` is used in messages.
zenith_status zn_inspect_bytes(const uint8_t *data, size_t size, const char *name, json_t **out,
                               zn_error *err);

json_t *zn_shape_json(const zn_shape *shape);

#endif
