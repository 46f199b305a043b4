// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What some families can say of networks with something left out: one descriptor in the family's
// file and one line in pruning.list. Only pruning looks at it; a family needs none.
#ifndef ZN_MODEL_PRUNING_H
#define ZN_MODEL_PRUNING_H

#include "src/model/family.h"

// What is left out of tiles.
enum { ZN_STILL_PARTS = 1000 };
typedef struct zn_tile_layout {
    int frequencies; // along each side, that are kept
    int still;       // thousandths: where a map changes by less it is left out; 0: nowhere
} zn_tile_layout;

typedef struct zn_pruning {
    const zn_family *family;

    // Of a family whose layouts say how many blocks there are: the layout without one block of the
    // part, into dst. Blocks after it, up to number *last, then have the number before. layout:
    // NULL: the usual one. False where there is no such block. NULL: networks have one form.
    bool (*without_block)(const zn_variant *variant, const zn_part *part, const char *layout,
                          int block, char dst[ZN_LAYOUT_SIZE], int *last);

    // Of a family whose blocks work on tiles: what the layout says of them, and where something
    // else is wanted, the layout that says so, into dst. False where the variant has no tiles, or
    // cannot do that. NULL: no variant has tiles.
    bool (*tiles)(const zn_variant *variant, const char *layout, const zn_tile_layout *wanted,
                  zn_tile_layout *now, char dst[ZN_LAYOUT_SIZE]);
} zn_pruning;

const zn_pruning *zn_pruning_of(const zn_family *family); // NULL: it says nothing

#endif
