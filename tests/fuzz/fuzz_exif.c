// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as EXIF data give an orientation, 1 to 8.
#include "src/format/image/exif.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int turn = zn_exif_orientation(data, size);
    if (turn < 1 || turn > 8) abort();
    return 0;
}
