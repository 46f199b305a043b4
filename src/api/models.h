// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The inside of a zenith_model, for the files of api/.
#ifndef ZN_API_MODELS_H
#define ZN_API_MODELS_H

#include "src/model/model.h"
#include "zenith/zenith.h"

struct zenith_model {
    zn_model *inner;
};

// The type that weights are stored in for a number of the interface.
zenith_status zn_weight_type(zenith_number number, zn_type *out, zn_error *err);

#endif
