// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a set of weights is, for zenith_inspect: the kind of file, what it says of itself, the forms
// that its weights are stored in with counts and bytes, and bits for each weight.
#ifndef ZN_TASK_INSPECT_WEIGHT_FACTS_H
#define ZN_TASK_INSPECT_WEIGHT_FACTS_H

#include "src/format/tensor/weights.h"

// Adds the keys "format", "architecture" and "metadata" (of GGUF files), "bytes", "bits_per_weight"
// and "stored_as" to an object.
void zn_weight_facts(const zn_weights *weights, zn_json *json);

#endif
