// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any text as the layout of a network, and as the config.json that a layout is made of: numbers
// that come out are within their bounds.
#include "src/base/memory.h"
#include "src/model/settings.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { SETTINGS = 4, LONGEST = 4096 };
static const zn_setting settings[SETTINGS] = {
    {"width", "hidden_size", NULL, 64, 1, 65536, false},
    {"layers", "num_hidden_layers", "layers", 4, 1, 512, false},
    {"axis", "axes_dims/1", NULL, 48, 2, 1024, false},
    {"theta", "rope_parameters/rope_theta", "rope_theta", 1e6, 1, 1e12, true},
};

static void check(const char *layout)
{
    double numbers[SETTINGS];
    const bool read = zn_settings_read(layout, settings, SETTINGS, numbers);
    for (int i = 0; i < SETTINGS; i++) {
        const zn_setting *s = &settings[i];
        if (!(numbers[i] >= s->least && numbers[i] <= s->most)) __builtin_trap();
        if (!s->fraction && numbers[i] != floor(numbers[i])) __builtin_trap();
        if (!read && numbers[i] != s->usual) __builtin_trap();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[LONGEST], layout[ZN_LAYOUT_SIZE];
    zn_json *config = NULL;
    if (size >= sizeof text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    check(text);
    if (zn_json_parse(text, size, "fuzz", &config, NULL) != ZENITH_OK) return 0;
    zn_settings_write(config, settings, SETTINGS, layout);
    if (!memchr(layout, 0, sizeof layout)) __builtin_trap();
    check(layout);
    zn_json_free(config);
    return 0;
}
