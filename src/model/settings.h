// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The numbers of a network whose sizes are not fixed: how many layers, heads, channels. They come
// from the config.json beside the weights, and go to `ports` and `build` as a layout (scope.h) that
// has each number by name: "width=3840 layers=30". Numbers that a layout does not name have their
// usual value, so a layout written for an older version stays valid.
#ifndef ZN_MODEL_SETTINGS_H
#define ZN_MODEL_SETTINGS_H

#include "src/base/json.h"
#include "src/nn/scope.h"

enum { ZN_MOST_SETTINGS = 32 }; // of a family that writes config.json

typedef struct zn_setting {
    const char *name; // in layouts: letters
    // In config.json: a key, or keys and places in arrays ("axes_dims/0"); NULL: it is not there.
    // `older` is where older versions had it, or NULL.
    const char *config, *older;
    double usual, least, most; // the published model's, and bounds
    bool fraction;             // it need not be a whole number
} zn_setting;

// The numbers of a layout, in the order of the table. NULL: the usual ones. False where the text is
// no layout of this table: then the numbers are the usual ones.
bool zn_settings_read(const char *layout, const zn_setting *table, int count, double *numbers);
// The same for `build`: fails the graph of the scope with a sentence.
bool zn_settings_of(const zn_scope *scope, const zn_setting *table, int count, double *numbers);

// The layout that config.json says; config NULL: nothing is said. A number that is missing is the
// usual one. What is out of bounds is written as it is, so that `build` refuses it.
void zn_settings_write(const zn_json *config, const zn_setting *table, int count,
                       char dst[ZN_LAYOUT_SIZE]);

// Of layouts of another kind, "g32l2": reads a number of 1 .. most after a letter, and goes past
// it.
bool zn_layout_number(const char **text, char letter, int most, int *out);

#endif
