// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a diffusion autoencoder (model/diffae/diffae.h) does: from a picture to a semantic code and
// the noise that holds the rest, back again, and with codes in between. Pictures and noise are
// planes [channels, height, width]; pictures are in -1 .. 1. Noise is like what the networks see:
// pictures, or latents of another model (the companion of this one), which are `factor` times
// smaller.
#ifndef ZN_TASK_DIFFAE_TASK_H
#define ZN_TASK_DIFFAE_TASK_H

#include "src/diffusion/ddim.h"
#include "src/task/engine/engine.h"

typedef struct zn_diffae_call {
    zn_model *model;
    zenith_dtype dtype; // the default: the machine's
    uint32_t height,
        width; // of pictures, multiples of zn_diffae_multiple; both 0: as it was trained
    // As many answers of the network. The authors take 250 to the noise, 20 back (100 for a code
    // that was moved), and 200 of the prior.
    int steps;
    // How noise becomes a picture or a code; see diffusion/ddim.h. The way to noise is always
    // DDIM's, without any.
    zn_ddim_kind kind;
    double eta;
    uint64_t seed;
    zn_noise noise;
    float
        // of zn_diffae_encode: the share of pixels that a sparse encoder sees, by `seed`; 0: all
        seen;
    uint64_t max_memory;      // of each part by itself; 0: no bound
    const atomic_int *cancel; // not zero: stop soon, ZENITH_CANCELLED; NULL: never
    // After each step, with its number from 0 and what there is then (planes like noise, or codes
    // of the prior's space); not zero stops. May be NULL. Called on a thread of the engine.
    int (*stepped)(void *cookie, int step, const float *x);
    bool
        // of zn_diffae_decode: it gets the picture that the step leads to instead, which with
        // latents takes
        predicts;
    // a run of their decoder
    void *cookie;
} zn_diffae_call;

typedef struct zn_diffae_sizes {
    uint32_t channels;      // of noise
    uint32_t height, width; // of pictures: as it was trained
    uint32_t multiple;      // that other heights and widths are
    uint32_t factor;        // pixels of pictures along each side of one of the noise
    bool pictures;          // it knows pictures, not only latents of a model that it does not name
    bool sparse;            // the encoder can see some of the pixels
    size_t code;            // numbers of a code
    size_t attributes;      // of the classifier; 0: there is none
} zn_diffae_sizes;
zn_diffae_sizes zn_diffae_sizes_of(const zn_model *model);

// code: [code]. noise: [channels, height / factor, width / factor], or NULL, which makes it quick.
zenith_status zn_diffae_encode(zn_engine *engine, const zn_diffae_call *call, const float *picture,
                               float *code, float *noise, zn_error *err);
// noise and picture may be one array, where they are of one size.
zenith_status zn_diffae_decode(zn_engine *engine, const zn_diffae_call *call, const float *code,
                               const float *noise, float *picture, zn_error *err);
// codes [count, code] by the prior: normal numbers before, codes after. Known pictures add noise in
// each step, to code i that of seed + i.
zenith_status zn_diffae_sample(zn_engine *engine, const zn_diffae_call *call, size_t count,
                               float *codes, zn_error *err);
// The classifier's numbers [count, attributes] for codes [count, code]: above 0, the picture has
// the attribute.
zenith_status zn_diffae_classify(zn_engine *engine, const zn_diffae_call *call, size_t count,
                                 const float *codes, float *scores, zn_error *err);

// Moves a code towards an attribute (or away from it), in place: by zn_recall_edit where known
// pictures draw codes, else by zn_diffae_manipulate.
zenith_status zn_diffae_edit(zn_engine *engine, const zn_diffae_call *call, int attribute,
                             double amount, float *code, zn_error *err);
// Moves a code towards an attribute (or away from it), by `amount` of the usual length of codes;
// 0.3 shows.
zenith_status zn_diffae_manipulate(const zn_model *model, int attribute, double amount, float *code,
                                   zn_error *err);
// Between two pictures, weight 0 .. 1: codes on the straight line, noise on the arc
// (zn_ddim_slerp).
void zn_diffae_between_codes(const float *a, const float *b, double weight, float *dst,
                             size_t count);

#endif
