// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What callers of a diffusion autoencoder need to know. Its parts, by how often they run:
//
//     encoder           once a picture:   the semantic code
//     draft             once a picture:   where codes are linear, what a code draws back, which the
//                                         denoiser sees
//     modulation        once a picture:   gains and offsets of all blocks for all timesteps and
//                                         this code
//     denoiser          once a step
//     prior_modulation  once a schedule:  scales of all layers of the prior, for all timesteps
//     prior             once a step:      any number of codes at once
//     statistics        at the end:       codes of the prior's space as the others have them
//     views, tells, norms, recall, recollect  what draws linear codes instead of a prior
//                                             (model/diffae/recall.h)
//     classifier        attributes of codes in the prior's space
#ifndef ZN_MODEL_DIFFAE_DIFFAE_H
#define ZN_MODEL_DIFFAE_DIFFAE_H

#include "src/model/diffae/config.h"
#include "src/model/model.h"

typedef struct zn_diffae_facts {
    zn_diffae_shape shape;
    int64_t modulation, prior_modulation; // numbers for each timestep
    int64_t multiple;                     // that heights and widths of what networks see are
    int64_t factor; // pixels of a picture along each side of one of those; 1: networks see pictures
} zn_diffae_facts;
zn_diffae_facts zn_diffae_facts_of(const zn_model *model);

// Channels of what the encoder sees: a sparse one is told of each pixel whether it is seen.
static inline int64_t zn_diffae_seen_channels(const zn_diffae_shape *is)
{
    return is->inputs + is->sparse;
}
// Makes [pixels, channels] what a sparse encoder sees, [pixels, channels + 1], for which there is
// room: each pixel is seen with the probability `share`, and has a last channel of 1; the others
// are zeros.
void zn_diffae_see_some(float *map, size_t pixels, size_t channels, float share, uint64_t seed);

// Mean and deviation of the codes that the prior and the classifier were trained with, [code] each.
zenith_status zn_diffae_statistics(const zn_model *model, float *mean, float *deviation,
                                   zn_error *err);
// The deviation [code] of each number of a linear code, in what networks see of pictures.
zenith_status zn_diffae_spread(const zn_model *model, float *dst, zn_error *err);
// Whether known pictures draw its codes (model/diffae/recall.h).
bool zn_diffae_recalls(const zn_model *model);
// Its tells [views, views] and norms [cells, known].
zenith_status zn_diffae_tells(const zn_model *model, float *dst, zn_error *err);
zenith_status zn_diffae_norms(const zn_model *model, float *dst, zn_error *err);
// The code [code] of a known picture, and row `number` of the components [code, numbers of a map]
// of a linear code.
zenith_status zn_diffae_known(const zn_model *model, size_t number, float *dst, zn_error *err);
zenith_status zn_diffae_component(const zn_model *model, size_t number, float *dst, zn_error *err);
// The weights [code] of an attribute of the classifier, and what is added to their sum; `offset`
// may be NULL.
zenith_status zn_diffae_direction(const zn_model *model, int attribute, float *dst, double *offset,
                                  zn_error *err);
// What it is called, by the list "attributes" of config.json; NULL: it has no name there.
const char *zn_diffae_attribute(const zn_model *model, size_t attribute);

#endif
