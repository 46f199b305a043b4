// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a model family is: one file in src/model and one line in models.list. The file has a table
// of variants, says which of them a set of weights can be, and builds the networks out of nn
// blocks. It maps the names of each checkpoint layout once, here; everything above knows only this
// descriptor.
#ifndef ZN_MODEL_FAMILY_H
#define ZN_MODEL_FAMILY_H

#include "src/format/weights.h"
#include "src/graph/passes.h"
#include "src/nn/scope.h"

// Parts of an autoencoder, as in zenith.h.
enum { ZN_ENCODER = 1, ZN_DECODER = 2 };

typedef struct zn_variant {
    const char *name;        // "taesd"
    const char *description; // one line
    int64_t latent_channels;
    int factor; // picture pixels per latent pixel along each side
    // From the full VAE's latents to the diffusion model's: model = (raw - shift) * scale.
    bool has_raw;
    float scale, shift;
    bool can_int8;
    const void *numbers; // the family's own
} zn_variant;

// What is left out of tiles.
enum { ZN_STILL_PARTS = 1000 };
typedef struct zn_tile_layout {
    int frequencies; // along each side, that are kept
    int still;       // thousandths: where a map changes by less it is left out; 0: nowhere
} zn_tile_layout;

typedef struct zn_family {
    const char *name;
    const zn_variant *variants;
    int variants_count;

    // Which variants these weights can be (bit per variant; 0: not of this family) and which parts
    // are there. Looks at names and shapes only.
    unsigned (*probe)(const zn_weights *weights, unsigned *parts);

    // The name in these weights of the parameter that `build` calls `name`, into dst; false where
    // it is the same.
    bool (*rename)(const zn_weights *weights, const char *name, char dst[ZN_NAME_SIZE]);

    // How precisely the value of a node of `build` must be kept in bf16, so that the whole stays
    // inside the published bound. NULL: no more than bf16.
    zn_precision (*precision)(const zn_variant *variant, const char *name);

    // Of families whose parameters are for one size of picture: its side, from the weights. NULL: the
    // networks take pictures of any size.
    int64_t (*side)(const zn_weights *weights);

    // The encoder from pixels in 0 .. 1 to a latent, or the decoder back.
    zn_node *(*build)(const zn_scope *scope, const zn_variant *variant, unsigned part, zn_node *x);

    // Of a family whose layouts say how many blocks there are: the layout without one block of the
    // part, into dst. Blocks after it, up to number *last, then have the number before. layout: NULL:
    // the usual one. False where there is no such block. The function is NULL where networks have one
    // form.
    bool (*without_block)(const zn_variant *variant, unsigned part, const char *layout, int block,
                          char dst[ZN_LAYOUT_SIZE], int *last);

    // Of a family whose blocks work on tiles: what the layout says of them, and where something else is
    // wanted, the layout that says so, into dst. False where the variant has no tiles, or cannot do that.
    // The function is NULL where no variant has tiles.
    bool (*tiles)(const zn_variant *variant, const char *layout, const zn_tile_layout *wanted,
                  zn_tile_layout *now, char dst[ZN_LAYOUT_SIZE]);
} zn_family;

#endif
