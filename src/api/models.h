// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#ifndef ZN_API_MODELS_H
#define ZN_API_MODELS_H

#include "src/model/model.h"

struct zenith_model {
    zn_model *inner;
};

#endif
