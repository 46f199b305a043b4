// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Choices by chance that every machine makes alike: numbers out of the SHA-256 of "SEED:KEY", in
// hexadecimal digits.
//
//   digits 0 .. 7     how far to the right a random crop lies, in 2^32ths of what hangs over
//   digits 8 .. 15    how far down
//   digit 16          odd: the picture is mirrored
#include "src/base/sha256.h"
#include "src/base/text.h"
#include "src/task/dataset/dataset.h"

#include <string.h>

static uint32_t digits_of(const char *hex, size_t count)
{
    uint32_t value = 0;
    for (size_t i = 0; i < count; i++)
        value = value << 4 | (uint32_t)(hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10);
    return value;
}

static void hash_key(uint64_t seed, const char *key, char hex[65])
{
    char text[32];
    zn_sha256 hash;
    zn_sha256_begin(&hash);
    zn_sha256_add(&hash, text,
                  zn_text_format(text, sizeof text, "%llu:", (unsigned long long)seed));
    zn_sha256_add(&hash, key, strlen(key));
    zn_sha256_end(&hash, hex);
}

zn_fit_options zn_dataset_choose(const zn_dataset *set, const char *key)
{
    const zenith_source_params *p = &set->source;
    char hex[65];
    hash_key(set->params.seed, key, hex);
    return (zn_fit_options){.fit = p->fit,
                            .multiple = p->multiple,
                            .width = p->width,
                            .height = p->height,
                            .max_pixels = p->max_pixels,
                            .buckets = set->buckets,
                            .bucket_count = set->params.bucket_count,
                            .placed = set->params.random_crop,
                            .at_x = digits_of(hex, 8),
                            .at_y = digits_of(hex + 8, 8),
                            .mirror = set->params.mirror && digits_of(hex + 16, 1) % 2 == 1};
}
