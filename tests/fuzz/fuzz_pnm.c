// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a PNM picture.
#include "tests/fuzz/picture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_picture(data, size, ZN_IMAGE_PNM);
}
