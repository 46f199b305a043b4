// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a request asks for, from its parameters and headers: checked, and without a look at the
// body, of which only the size is known here. tests/fuzz/fuzz_serve_request.c gives it anything.
#ifndef ZN_SERVE_PROTOCOLS_ASK_H
#define ZN_SERVE_PROTOCOLS_ASK_H

#include "apps/serve/parse/parameters.h"
#include "zenith/zenith.h"

typedef enum serve_operation {
    SERVE_ENCODE = 0,
    SERVE_DECODE = 1,
    SERVE_RECONSTRUCT = 2,
    SERVE_OPERATIONS = 3
} serve_operation;

// The space of latents on the wire.
typedef enum serve_space {
    SERVE_SPACE_MODEL = 0,
    SERVE_SPACE_RAW = 1,
    SERVE_SPACE_OWN = 2,    // wire = (raw - shift) * scale, by the request's scale and shift
    SERVE_SPACE_OF_FILE = 3 // as the body says, or the model's
} serve_space;

typedef enum serve_output {
    SERVE_OUT_PICTURE = 0, // png, jpeg, webp
    SERVE_OUT_BYTES = 1,   // numbers of a picture: uint8, [n, h, w, 3]
    SERVE_OUT_UNIT = 2,    // numbers of a picture: 0 .. 1, clamped, [n, 3, h, w]
    SERVE_OUT_SIGNED =
        3, // numbers of a picture: -1 .. 1 and what the network gives beyond, [n, 3, h, w]
    SERVE_OUT_NPY = 4,    // a picture's floats, or a latent's, as npy
    SERVE_OUT_LATENT = 5, // numbers of a latent, [n, c, h, w]
    SERVE_OUT_FILE = 6    // a latent as safetensors
} serve_output;

typedef struct serve_ask {
    serve_operation operation;
    bool tensor;                             // the body is the numbers of a tensor; else a file
    zenith_number number;                    // of them
    uint32_t count, channels, height, width; // of the tensor: latents or pictures
    bool packed;                             // latents in tokens of 2 x 2 pixels
    bool clip;                               // shapes have a dimension of time, of one frame
    serve_space space;
    double scale, shift; // of SERVE_SPACE_OWN
    serve_output output;
    const char *format;       // of SERVE_OUT_PICTURE, as zenith_target_params
    uint32_t quality;         // of it; 0: the usual one
    zenith_number out_number; // of numbers in the answer
    zenith_dtype compute;     // DEFAULT: the server's
    zenith_source_params source;
} serve_ask;

// What a request brings besides its body.
typedef struct serve_envelope {
    const serve_parameters *parameters;
    const char *content_type, *accept; // NULL: not said
    uint64_t body;                     // bytes
    const zenith_model_info *model;
    unsigned types;                  // that a request may choose: 1 << zenith_dtype
    uint64_t max_pixels, max_memory; // of a picture
} serve_envelope;

// The protocol of diffusers' remote_decode and remote_encode.
bool serve_ask_remote(const serve_envelope *envelope, serve_operation operation, serve_ask *out,
                      serve_failure *failure);
// The server's own.
bool serve_ask_native(const serve_envelope *envelope, serve_operation operation, serve_ask *out,
                      serve_failure *failure);

#endif
