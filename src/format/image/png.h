// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the PNG decoder and encoder share: a libspng context whose memory is ours, and its errors
// as statuses.
#ifndef ZN_FORMAT_IMAGE_PNG_H
#define ZN_FORMAT_IMAGE_PNG_H

#include "src/base/status.h"

#include <spng.h>

spng_ctx *zn_png_context_create(int flags); // NULL: no memory
// A return value of libspng as a status. Also ZENITH_OUT_OF_MEMORY where libspng swallowed that: it
// leaves out a profile that it had no memory to unpack.
zenith_status zn_png_check(int code, zn_error *err);

#endif
