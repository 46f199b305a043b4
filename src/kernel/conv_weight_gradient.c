// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The specification, the version for every CPU, and the choice of a version. See
// conv_weight_gradient.h.
#include "src/kernel/conv_weight_gradient.h"

#include "src/kernel/vector_baseline.h"

#include "src/kernel/conv_weight_gradient_body.h"

// --- the specification --------------------------------------------------------------------------

// Weight number `weight` of output channel `out`, in the order of dw.
static double sum_at(const zn_conv_weight_gradient_args *a, int64_t out, int64_t weight)
{
    const int64_t kx = weight % a->kernel_w, ky = weight / a->kernel_w % a->kernel_h;
    const int64_t in = weight / a->kernel_w / a->kernel_h;
    double sum = 0;
    for (int64_t i = 0; i < a->rows * a->width_out; i++) {
        const int64_t row = i / a->width_out, x = i % a->width_out;
        const int64_t column = x * a->stride + kx - a->pad_left;
        if (column < 0 || column >= a->width_in) continue;
        const int64_t from = (row * a->stride + ky) * a->width_in + column;
        sum += (double)zn_type_load(a->type, a->dy, (size_t)(i * a->channels_out + out)) *
               (double)zn_type_load(a->type, a->src, (size_t)(from * a->channels_in + in));
    }
    return sum;
}

void zn_conv_weight_gradient_scalar(const zn_conv_weight_gradient_args *a, void *scratch)
{
    const int64_t weights = a->channels_in * a->kernel_h * a->kernel_w;
    const unit_range own = units_of_part(a, a->channels_out * weights);
    (void)scratch;
    for (int64_t i = own.begin; i < own.end; i++) {
        const float sum = (float)sum_at(a, i / weights, i % weights);
        a->dw[i] = a->add ? a->dw[i] + sum : sum;
    }
    for (int64_t out = 0; has_bias(a) && out < a->channels_out; out++) {
        double sum = 0;
        for (int64_t i = 0; i < a->rows * a->width_out; i++)
            sum += (double)zn_type_load(a->type, a->dy, (size_t)(i * a->channels_out + out));
        a->db[out] = a->add ? a->db[out] + (float)sum : (float)sum;
    }
}

// --- choice -------------------------------------------------------------------------------------

static void weight_gradient_baseline(const zn_conv_weight_gradient_args *args, void *scratch)
{
    weight_gradient(args, scratch);
}

size_t zn_conv_weight_gradient_scratch(const zn_conv_weight_gradient_args *args)
{
    const size_t vectors = vector_layout_make(args).floats * sizeof(float);
    const size_t tiles = args->type == ZN_BF16 ? tile_layout_make(args).bytes : 0;
    return vectors > tiles ? vectors : tiles; // of the version that needs most
}

zn_conv_weight_gradient_fn *zn_conv_weight_gradient_pick(const zn_cpu *cpu, zn_type type)
{
#if defined(__x86_64__) && !defined(_WIN32) // os_windows_machine.c does not ask for tiles
    if (cpu->isa >= ZN_ISA_AMX && type == ZN_BF16) return zn_conv_weight_gradient_amx;
#endif
#ifdef __x86_64__
    if (cpu->isa >= ZN_ISA_AVX512) return zn_conv_weight_gradient_avx512;
    if (cpu->isa >= ZN_ISA_AVX2) return zn_conv_weight_gradient_avx2;
#endif
    (void)cpu, (void)type;
    return weight_gradient_baseline;
}
