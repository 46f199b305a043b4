// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The specification of token_norm.h, in double, and the version in vectors. There sums are in
// double, lane by lane; the mean is taken away in two parts, so that a mean that is large beside
// the deviation costs nothing. Channels beyond the last full vector go one by one.
#include "src/kernel/norm/token_norm.h"

#include "src/kernel/vector.h"

#include <math.h>

#ifdef ZN_BASELINE // the specification

enum { SUMS = 8 }; // side by side, in a fixed order

static double sum_of(const float *x, size_t n, double mean, bool square)
{
    double sums[SUMS] = {0}, sum = 0;
    for (size_t i = 0; i < n; i++) {
        const double d = (double)x[i] - mean;
        sums[i % SUMS] += square ? d * d : d;
    }
    for (size_t k = 0; k < SUMS; k++) sum += sums[k];
    return sum;
}

zn_token_stats zn_token_norm_stats(const zn_token_norm *norm, const float *x)
{
    const double n = (double)norm->width;
    const double mean = norm->centred ? sum_of(x, norm->width, 0, false) / n : 0;
    const double variance = sum_of(x, norm->width, mean, true) / n;
    return (zn_token_stats){mean, 1 / sqrt(variance + (double)norm->epsilon)};
}

void zn_token_norm_reference(const zn_token_norm *norm, const float *x, size_t rows, float *dst)
{
    for (size_t r = 0; r < rows; r++, x += norm->width, dst += norm->width) {
        const zn_token_stats s = zn_token_norm_stats(norm, x);
        for (size_t i = 0; i < norm->width; i++) {
            const double gain = norm->gain ? (double)norm->gain[i] : 1;
            const double bias = norm->bias ? (double)norm->bias[i] : 0;
            dst[i] = (float)(((double)x[i] - s.mean) * s.rstd * gain + bias);
        }
    }
}

static void gradient_row(const zn_token_norm *norm, const float *dy, const float *x, float *dst)
{
    const zn_token_stats s = zn_token_norm_stats(norm, x);
    const double n = (double)norm->width;
    double sums[SUMS] = {0}, products[SUMS] = {0}, sum = 0, product = 0;
    for (size_t i = 0; i < norm->width; i++) {
        const double g = (double)dy[i] * (norm->gain ? (double)norm->gain[i] : 1);
        sums[i % SUMS] += g;
        products[i % SUMS] += g * ((double)x[i] - s.mean) * s.rstd;
    }
    for (size_t k = 0; k < SUMS; k++) sum += sums[k], product += products[k];
    if (!norm->centred) sum = 0;
    for (size_t i = 0; i < norm->width; i++) {
        const double g = (double)dy[i] * (norm->gain ? (double)norm->gain[i] : 1);
        const double z = ((double)x[i] - s.mean) * s.rstd;
        dst[i] = (float)(s.rstd * (g - sum / n - z * product / n));
    }
}

void zn_token_norm_gradient_reference(const zn_token_norm *norm, const float *dy, const float *x,
                                      size_t rows, float *dst)
{
    for (size_t r = 0; r < rows; r++)
        gradient_row(norm, dy + r * norm->width, x + r * norm->width, dst + r * norm->width);
}

#else // in vectors

// The sum of (x - mean), or of its square, over the full vectors.
static inline double token_norm_vectors(const float *x, size_t whole, double mean, bool square)
{
    vec_f64 low_sum = vec_f64_zero(), high_sum = low_sum;
    const vec_f64 less = vec_f64_set1(-mean), one = vec_f64_set1(1);
    for (size_t i = 0; i < whole; i += LANES) {
        const vec value = vec_load_f32(x + i);
        const vec_f64 low = vec_f64_add(vec_low_f64(value), less);
        const vec_f64 high = vec_f64_add(vec_high_f64(value), less);
        low_sum = vec_f64_fmadd(low, square ? low : one, low_sum);
        high_sum = vec_f64_fmadd(high, square ? high : one, high_sum);
    }
    double lanes[LANES / 2], sum = 0;
    vec_f64_store(lanes, vec_f64_add(low_sum, high_sum));
    for (int i = 0; i < LANES / 2; i++) sum += lanes[i];
    return sum;
}

static inline double token_norm_sum(const float *x, size_t n, double mean, bool square)
{
    const size_t whole = n / LANES * LANES;
    double sum = token_norm_vectors(x, whole, mean, square);
    for (size_t i = whole; i < n; i++) {
        const double d = (double)x[i] - mean;
        sum += square ? d * d : d;
    }
    return sum;
}

static inline zn_token_stats token_norm_stats(const zn_token_norm *norm, const float *x)
{
    const double n = (double)norm->width;
    const double mean = norm->centred ? token_norm_sum(x, norm->width, 0, false) / n : 0;
    const double variance = token_norm_sum(x, norm->width, mean, true) / n;
    return (zn_token_stats){mean, 1 / sqrt(variance + (double)norm->epsilon)};
}

static inline void token_norm_apply(const zn_token_norm *norm, zn_token_stats stats, const float *x,
                                    float *dst)
{
    const size_t n = norm->width, whole = n / LANES * LANES;
    const float most = (float)stats.mean, rest = (float)(stats.mean - (double)most);
    const vec less = vec_set1(most), little = vec_set1(rest), rstd = vec_set1((float)stats.rstd);
    for (size_t i = 0; i < whole; i += LANES) {
        const vec centred = vec_sub(vec_sub(vec_load_f32(x + i), less), little);
        const vec gain = norm->gain ? vec_load_f32(norm->gain + i) : vec_set1(1.0f);
        const vec bias = norm->bias ? vec_load_f32(norm->bias + i) : vec_zero();
        vec_store_f32(dst + i, vec_fmadd(vec_mul(centred, rstd), gain, bias));
    }
    for (size_t i = whole; i < n; i++) {
        const double gain = norm->gain ? (double)norm->gain[i] : 1;
        const double bias = norm->bias ? (double)norm->bias[i] : 0;
        dst[i] = (float)(((double)x[i] - stats.mean) * stats.rstd * gain + bias);
    }
}

void VERSION(zn_token_norm)(const zn_token_norm *norm, const float *x, size_t rows, float *dst)
{
    for (size_t r = 0; r < rows; r++, x += norm->width, dst += norm->width)
        token_norm_apply(norm, token_norm_stats(norm, x), x, dst);
}

// --- the gradient -------------------------------------------------------------------------------

// What the channels of a row share: r (g - shift - (x - mean) slope).
typedef struct token_norm_line {
    double shift, slope;
} token_norm_line;

static inline vec token_norm_g(const zn_token_norm *norm, const float *dy, size_t i)
{
    const vec value = vec_load_f32(dy + i);
    return norm->gain ? vec_mul(value, vec_load_f32(norm->gain + i)) : value;
}

// The sums of g and of g (x - mean) over all channels.
static inline token_norm_line token_norm_sums(const zn_token_norm *norm, double mean,
                                              const float *dy, const float *x)
{
    const size_t whole = norm->width / LANES * LANES;
    const vec_f64 less = vec_f64_set1(-mean);
    vec_f64 sums = vec_f64_zero(), low_products = sums, high_products = sums;
    for (size_t i = 0; i < whole; i += LANES) {
        const vec g = token_norm_g(norm, dy, i), value = vec_load_f32(x + i);
        const vec_f64 low = vec_low_f64(g), high = vec_high_f64(g);
        sums = vec_f64_add(sums, vec_f64_add(low, high));
        low_products = vec_f64_fmadd(low, vec_f64_add(vec_low_f64(value), less), low_products);
        high_products = vec_f64_fmadd(high, vec_f64_add(vec_high_f64(value), less), high_products);
    }
    double lanes[LANES / 2], products[LANES / 2];
    vec_f64_store(lanes, sums);
    vec_f64_store(products, vec_f64_add(low_products, high_products));
    token_norm_line all = {0};
    for (int i = 0; i < LANES / 2; i++) all.shift += lanes[i], all.slope += products[i];
    for (size_t i = whole; i < norm->width; i++) {
        const double g = (double)dy[i] * (norm->gain ? (double)norm->gain[i] : 1);
        all.shift += g;
        all.slope += g * ((double)x[i] - mean);
    }
    return all;
}

static inline void token_norm_gradient_row(const zn_token_norm *norm, const float *dy,
                                           const float *x, float *dst)
{
    const zn_token_stats s = token_norm_stats(norm, x);
    const size_t whole = norm->width / LANES * LANES;
    token_norm_line line = token_norm_sums(norm, s.mean, dy, x);
    line.shift = norm->centred ? line.shift / (double)norm->width : 0;
    line.slope *= s.rstd * s.rstd / (double)norm->width;
    const float most = (float)s.mean, rest = (float)(s.mean - (double)most);
    const vec less = vec_set1(most), little = vec_set1(rest), rstd = vec_set1((float)s.rstd);
    const vec shift = vec_set1((float)line.shift), slope = vec_set1(-(float)line.slope);
    for (size_t i = 0; i < whole; i += LANES) {
        const vec centred = vec_sub(vec_sub(vec_load_f32(x + i), less), little);
        const vec g = vec_sub(token_norm_g(norm, dy, i), shift);
        vec_store_f32(dst + i, vec_mul(rstd, vec_fmadd(centred, slope, g)));
    }
    for (size_t i = whole; i < norm->width; i++) {
        const double g = (double)dy[i] * (norm->gain ? (double)norm->gain[i] : 1);
        dst[i] = (float)(s.rstd * (g - line.shift - ((double)x[i] - s.mean) * line.slope));
    }
}

void VERSION(zn_token_norm_gradient)(const zn_token_norm *norm, const float *dy, const float *x,
                                     size_t rows, float *dst)
{
    for (size_t r = 0; r < rows; r++)
        token_norm_gradient_row(norm, dy + r * norm->width, x + r * norm->width,
                                dst + r * norm->width);
}

#endif
