// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Products of tokens with a matrix of weights:
//
//     dst[t][o] = sum over k of src[t][k] * weight[o][k]  (+ bias[o])
//
// Legend: t token, o output, k input. Weights are packed once; tokens are laid out for each call
// ("placed"), in the type that the version multiplies, and then multiplied part by part:
//
//     weights   [block][run of k][panel][k / group][panel's outputs][group]
//     placed    [run of k][token][k of the run]
//
// A block is ZN_LINEAR_PANELS panels, a panel the outputs that one call of a version's inner loop
// makes for a few tokens at once. A run of k is as long as a few tokens' and a panel's numbers fit
// the first-level cache, and a block's the second-level one. In this order weights are read from
// memory once, one byte after the other, however many tokens there are, while tokens and unfinished
// sums come from nearer caches. What is beyond the last k or o is zero in both.
//
// Bits. A floating sum runs over k in order, each product fused where the CPU can (AVX2 and AVX-512
// then agree; AMX adds pairs in its own order); a sum of integers is exact. So the bits of a token
// depend on neither tokens per call, nor threads, nor its neighbours.
//
// Panels. Weights that lie as tensor/panels.h has them are not packed: the numbers of a block and a
// run are brought into the order above in scratch, once for all tokens of a part. Rotated ones need
// tokens that are rotated as they are placed.
//
// 8 bits. A token is rounded to 127 levels of its largest value as it is placed, a row of weights
// to 127 of its own when it is packed. A token with a NaN or an infinity makes NaN of its outputs.
#ifndef ZN_KERNEL_LINEAR_H
#define ZN_KERNEL_LINEAR_H

#include "src/kernel/linear/rotation.h"
#include "src/kernel/pointwise/convert.h"
#include "src/kernel/versions.h"
#include "src/tensor/panels.h"
#include "src/tensor/type.h"

enum {
    ZN_LINEAR_PANELS = 8,          // of a block
    ZN_LINEAR_LEVELS = 127,        // of 8 bits
    ZN_LINEAR_MOST_INPUTS = 65536, // in 8 bits: sums then fit 32
    ZN_LINEAR_FILL = 64            // bytes that a version may read past the last token placed
};

// The inner loop: sums of some tokens with some panels over one run of k.
typedef struct zn_linear_tile {
    const void *placed;  // the tokens' numbers of this run
    int64_t stride;      // bytes from a token to the next
    const void *weights; // the panels' numbers of this run
    int64_t k;           // a multiple of the version's step
    void *sums;          // [panel][version's tokens][panel's outputs], f32 or s32
    int tokens;          // at most the version's; as many more are placed, zero or not, as it likes
    int panels;
    bool first;        // sums begin at zero, not at what is there
    const char *ahead; // memory to bring near while this is computed
    size_t ahead_bytes;
} zn_linear_tile;
typedef void zn_linear_tile_fn(const zn_linear_tile *tile);

// What follows the sums of a token with one panel:
//
//     dst[i] = sums[i] * scale + bias[i]                                 floating sums
//     dst[i] = (sums[i] + starts[i]) * (scale * scales[i]) + bias[i]     sums of integers
typedef struct zn_linear_end {
    const void *sums;
    float scale;
    const float *scales; // NULL: sums are floating
    const int32_t *starts;
    const float *bias; // or NULL
    float *dst;
    int64_t n;
} zn_linear_end;
typedef void zn_linear_end_fn(const zn_linear_end *end);

// n numbers as 8 bits with a sign, moved up by `offset`; returns the scale that turns them back:
// the largest magnitude / 127, or 0 where that is no normal number, or NaN.
typedef float zn_linear_round_fn(const float *src, int64_t n, int offset, int8_t *dst);

// Numbers of panels in the order of a version: one of its panels over one run.
typedef struct zn_linear_unpack {
    const zn_panels *panels;
    int64_t padded_inputs; // of the panels
    int64_t output;        // the first: a multiple of `outputs`
    int64_t k, count;      // multiples of the version's run and step
    int outputs, group;    // the version's panel and group
    int8_t *dst;           // [count / group][outputs][group]
} zn_linear_unpack;
typedef void zn_linear_unpack_fn(const zn_linear_unpack *unpack);

// One way to compute. A run's numbers of the tokens that go together and of a panel share the
// first-level cache: 18 + 48 KB stream through it in AVX-512, whose second-level cache carries
// that; tiles read both once for every product, so there both must fit.
typedef struct zn_linear_version {
    const char *name; // of the instruction set
    zn_type weights;  // f32, bf16 or s8: what it is for
    zn_type placed;   // f32, bf16; s8, or s16, or u8, whose numbers are moved up by 128
    int tokens;       // that it takes together
    int panel;        // outputs of a panel
    int group;        // k of one output that lie together
    bool paired;      // output o lies beside o + panel / 2 (bf16 that is widened in registers)
    int step;         // k is filled up to a multiple of this
    int run;          // k of a run: a multiple of step
    zn_linear_tile_fn *tile;
    zn_linear_end_fn *end;
    zn_linear_round_fn *round;
    zn_linear_unpack_fn *unpack; // of s8
} zn_linear_version;

ZN_VERSIONS(extern const zn_linear_version, zn_linear_f32);
ZN_VERSIONS(extern const zn_linear_version, zn_linear_bf16);
extern const zn_linear_version zn_linear_s8_baseline, zn_linear_s8_avx2, zn_linear_s8_avx512_vnni;
extern const zn_linear_version zn_linear_s8_amx;
extern const zn_linear_version
    zn_linear_bf16_amx; // bf16 only with bf16: other tokens are multiplied in f32

// The largest magnitude by its bits, which integers compare in vectors: those of infinity and NaN
// lie above all others.
static inline float zn_linear_largest(const float *src, int64_t n)
{
    int32_t most = 0;
    for (int64_t i = 0; i < n; i++) {
        int32_t bits;
        memcpy(&bits, src + i, sizeof bits);
        bits &= 0x7fffffff;
        most = bits > most ? bits : most;
    }
    float largest;
    memcpy(&largest, &most, sizeof largest);
    return largest;
}

// --- weights -------------------------------------------------------------------------------------

// outputs and inputs filled up, and what follows the panels: with s8 weights a scale for each
// output and what the tokens' offset adds to its sum.
typedef struct zn_linear_size {
    int64_t outputs, inputs; // as asked
    int64_t blocks, padded_outputs, padded_k;
    size_t panels_bytes, bytes;
    size_t
        unpacked_bytes; // of scratch, for a run of weights that lie in panels; 0: they are packed
} zn_linear_size;

// False where that does not fit.
bool zn_linear_measure(const zn_linear_version *version, int64_t outputs, int64_t inputs,
                       zn_linear_size *out);
// The same of weights that lie in panels; `version` is for s8. Nothing is packed of them.
bool zn_linear_measure_panels(const zn_linear_version *version, const zn_panels *panels,
                              zn_linear_size *out);

// Packs the outputs [first, first + count), whose weights are `rows` [count][inputs] in f32; all
// are packed when each panel was, whole.
void zn_linear_pack(const zn_linear_version *version, const zn_linear_size *size, int64_t first,
                    int64_t count, const float *rows, void *packed);
// Weights that lie the other way round, [inputs][stride], in a type that `widen` makes f32 of.
typedef struct zn_linear_columns {
    const void *data;
    zn_type type;
    zn_convert_fn *widen;
    int64_t stride;
} zn_linear_columns;
// Those of the inputs [begin, end), by a version for f32: there the outputs of a panel lie beside
// each other, as they do here, so each row is read once, from its first byte to its last.
void zn_linear_pack_columns(const zn_linear_version *version, const zn_linear_size *size,
                            int64_t begin, int64_t end, const zn_linear_columns *columns,
                            void *packed);
// The same in 8 bits from bytes and a scale for each row, which are taken as they are.
void zn_linear_pack_bytes(const zn_linear_version *version, const zn_linear_size *size,
                          int64_t first, int64_t count, const int8_t *rows, const float *scales,
                          void *packed);

// --- a call --------------------------------------------------------------------------------------

typedef struct zn_linear_args {
    const zn_linear_version *version;
    zn_linear_size size;
    const void *packed;
    const zn_panels *panels; // NULL: weights are packed
    zn_rotation_fn *rotate;  // NULL: weights are not rotated
    int64_t rotated_by;
    const float *bias; // [outputs] or NULL
    const void *src;   // [tokens][inputs]
    zn_type src_type;
    float src_scale;      // what a number of src is multiplied by
    zn_convert_fn *widen; // src to f32
    void *dst;            // [tokens][outputs]
    zn_type dst_type;
    float dst_scale;
    zn_convert_fn *narrow; // f32 to dst
    int64_t tokens;
    void *placed; // zn_linear_placed_bytes
} zn_linear_args;

size_t zn_linear_placed_bytes(const zn_linear_version *version, const zn_linear_size *size,
                              int64_t tokens);
size_t zn_linear_scratch_bytes(const zn_linear_version *version, const zn_linear_size *size,
                               int64_t tokens);

// Places the tokens [begin, end); end is a multiple of the version's tokens, or all.
void zn_linear_place(const zn_linear_args *args, int64_t begin, int64_t end, void *scratch);

// Some panels of one block for some tokens (begin is a multiple of the version's tokens).
typedef struct zn_linear_part {
    int64_t block;
    int first_panel, panels;
    int64_t token_begin, token_end;
} zn_linear_part;
void zn_linear_multiply(const zn_linear_args *args, const zn_linear_part *part, void *scratch);

// What versions of one instruction set share.
ZN_VERSIONS(zn_linear_end_fn, zn_linear_end);
ZN_VERSIONS(zn_linear_round_fn, zn_linear_round);
zn_linear_unpack_fn zn_linear_unpack_avx512;

#endif
