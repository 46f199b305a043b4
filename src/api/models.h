// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The inside of a zenith_model, for the files of api/.
#ifndef ZN_API_MODELS_H
#define ZN_API_MODELS_H

#include "src/model/model.h"

struct zenith_model {
    zn_model *inner;
};

#endif
