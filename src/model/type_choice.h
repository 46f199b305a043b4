// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// In which types a network's values are stored and multiplied: as its calibration says (8 bits),
// and as its family says (what bf16 needs beyond it). Inference asks for it, and so does training
// that rounds as inference will.
#ifndef ZN_MODEL_TYPE_CHOICE_H
#define ZN_MODEL_TYPE_CHOICE_H

#include "src/format/pipeline/calibration.h"
#include "src/graph/passes.h"
#include "src/model/family.h"

typedef struct zn_type_choice {
    const zn_calibration *calibration; // NULL: nothing is in 8 bits
    const zn_family *family;           // NULL: bf16 is enough
    const zn_variant *variant;
} zn_type_choice;

// The rest is in `type`. `choice` must outlive the policy.
zn_type_policy zn_type_choice_policy(const zn_type_choice *choice, zn_type type);

#endif
