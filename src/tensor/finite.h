// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether numbers are finite: what a guard asks of maps, and opening a model of its weights.
#ifndef ZN_TENSOR_FINITE_H
#define ZN_TENSOR_FINITE_H

#include "src/tensor/type.h"

// Neither NaN nor infinity among n elements. True for types that have neither.
bool zn_all_finite(zn_type type, const void *src, size_t n);

#endif
