// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The noise that a picture is made of, by its seed: the numbers that other programs begin with, so
// that the same seed gives the same picture.
#ifndef ZN_DIFFUSION_NOISE_H
#define ZN_DIFFUSION_NOISE_H

#include <stddef.h>
#include <stdint.h>

typedef enum zn_noise {
    ZN_NOISE_TORCH = 0, // torch.randn on the CPU: MT19937
    ZN_NOISE_CUDA       // torch.randn on a GPU by CUDA: Philox
} zn_noise;

// `count` normal numbers of a fresh generator with this seed, in the order of the tensor's elements
// ([channels, height, width] for a latent).
//
// CUDA's numbers depend on how many threads the GPU runs at once where there are more numbers than
// that: multiprocessors times threads of each, in multiples of 256 (RTX 4090: 128 * 1536). 0: as
// many as it takes.
void zn_noise_fill(zn_noise kind, uint64_t seed, uint64_t threads, float *dst, size_t count);

#endif
