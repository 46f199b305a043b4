// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a network of diffusion answers, of x = kept * start + added * noise where kept^2 + added^2 =
// 1.
#ifndef ZN_BASE_PREDICTION_H
#define ZN_BASE_PREDICTION_H

typedef enum zn_prediction {
    ZN_PREDICT_NOISE = 0,
    ZN_PREDICT_START,
    // kept * noise - added * start: the start where there is only noise, and the reverse
    ZN_PREDICT_VELOCITY
} zn_prediction;

// The answer of a network that knows both.
static inline float zn_prediction_answer(zn_prediction kind, float kept, float added, float start,
                                         float noise)
{
    if (kind == ZN_PREDICT_NOISE) return noise;
    return kind == ZN_PREDICT_START ? start : kept * noise - added * start;
}

#endif
