// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Made by tools/goldens/make_metric_goldens.py.
// clang-format off
#ifndef ZN_TESTS_TASK_METRIC_GOLDENS_H
#define ZN_TESTS_TASK_METRIC_GOLDENS_H

#include <math.h>
#include <stdint.h>

// psnr, ssim, ms_ssim, squeezenet, gmsd, hf, hf_correlation, mesh4, original_mesh4
static const struct { uint32_t width, height; double values[9]; } metric_goldens[] = {
    {200, 192, {27.731075173369128, 0.9492994748702868, 0.9861446406450863, 0.14286194648593664,
        0.06767980956389624, 0.932142397981251, 0.7181198955553987, 319.06688852800045,
        0.21921952955233112}},
    {71, 67, {27.707041779695636, 0.9490572025027509, (double)NAN, 0.1265862723812461,
        0.0642269892198073, 0.9451490621450678, 0.7198646283994959, 311.44324509421966,
        0.18214600052238797}},
    {40, 33, {27.79377441983868, 0.963525609235461, (double)NAN, 0.1006092713214457,
        0.08376387951970352, 0.9516784929255795, 0.7769579827079508, (double)NAN, (double)NAN}},
    {10, 9, {27.5655663678881, (double)NAN, (double)NAN, (double)NAN, 0.005025697475564461,
        1.0780937913776711, 0.8178425292065916, (double)NAN, (double)NAN}},
};

// SqueezeNet's features of the original of 71 x 67: height, width, channels, the sum of all,
// and the elements n k / 5 + k of the n in HWC order.
static const struct { int64_t height, width, channels; double sum, samples[5]; }
    feature_goldens[] = {
    {31, 33, 96, 3533273.3001571316, {0.0, 28.86927032470703, 0.0, 33.04928207397461, 0.0}},
    {15, 16, 128, 9917302.961586274, {139.06797790527344, 144.4680633544922, 0.0, 0.0, 0.0}},
    {15, 16, 256, 14249664.427610867, {746.3777465820312, 201.59988403320312, 559.88525390625, 0.0,
        371.8284606933594}},
    {7, 8, 256, 6618932.028752267, {116.4345474243164, 0.0, 619.1005249023438, 906.6439208984375,
        0.0}},
    {7, 8, 384, 3647137.5797991306, {0.0, 737.1917114257812, 164.7970428466797, 0.0, 0.0}},
    {7, 8, 384, 2788708.1666795164, {297.250244140625, 0.0, 0.0, 541.032958984375,
        256.7458190917969}},
    {7, 8, 512, 918248.9023712138, {0.0, 0.0, 305.5800476074219, 0.0, 0.0}},
    {3, 4, 512, 78708.08084377646, {0.0, 0.0, 0.0, 0.0, 0.0}},
};

// The SqueezeNet distance of the pictures of 64 x 64; of its gradient by the changed one the
// length, and the sums of element i, in HWC order, times cos((i + 1) k), k = 1 .. 4.
static const double distance_gradient_golden[6] = {0.12773022998047526, 0.6742762172367588,
    -0.03864017424799719, -1.0907901618944094, -0.024324078909584768, 0.07404524047028614};

#endif
