// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A colour profile of any content on pixels of any kind. The first byte chooses the kind: layout in
// its low three bits, 16-bit samples by the next. The colours themselves are not checked, but each
// must be written, and the same each time.
#include "src/format/image/colour.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 17 };

static void convert(const zn_colour *colour, zn_pixel_layout layout, int bits, uint8_t fill,
                    uint8_t dst[WIDTH * 6])
{
    uint16_t src[WIDTH * 4];
    for (size_t i = 0; i < WIDTH * 4; i++) src[i] = (uint16_t)(i * 40503u);
    memset(dst, fill, WIDTH * 6);
    zn_colour_row(colour, layout, bits, src, dst, WIDTH);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size) return 0;
    zn_pixel_layout layout = (zn_pixel_layout)((data[0] & 7) % 5);
    int bits = data[0] & 8 && layout != ZN_PIXEL_CMYK ? 16 : 8;
    zn_colour_claim claim = {.has_icc = true, .icc = data + 1, .icc_size = size - 1};
    zn_colour *colour = NULL;
    char name[32];
    if (zn_colour_open(&claim, layout, bits, &colour, name, NULL) != ZENITH_OK) return 0;
    if (!memchr(name, 0, sizeof name)) abort();
    uint8_t first[WIDTH * 6], second[WIDTH * 6];
    convert(colour, layout, bits, 0x00, first);
    convert(colour, layout, bits, 0xff, second);
    if (memcmp(first, second, (size_t)WIDTH * 3 * (size_t)bits / 8) != 0) abort();
    zn_colour_free(colour);
    return 0;
}
