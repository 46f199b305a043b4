// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A drawing on white without its ground: white that reaches the border of the picture through white
// becomes transparent; white inside the drawing stays. Pixels between ground and drawing, which are
// a little white, become a little transparent, in the colour that lies over white as they were.
#ifndef ZN_FORMAT_IMAGE_CUT_OUT_H
#define ZN_FORMAT_IMAGE_CUT_OUT_H

#include "src/base/status.h"

#include <stddef.h>
#include <stdint.h>

// rgb: [height][width][3]; rgba: [height][width][4].
zenith_status zn_cut_out(const uint8_t *rgb, uint32_t width, uint32_t height, uint8_t *rgba,
                         zn_error *err);

#endif
