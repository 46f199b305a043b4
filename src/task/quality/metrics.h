// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// How much a picture differs from its original, by arithmetic on pixels alone. docs/EVALUATION.md
// has the definitions to the last constant, and what each measure is fooled by. All sums are in
// double precision and in a fixed order.
#ifndef ZN_TASK_QUALITY_METRICS_H
#define ZN_TASK_QUALITY_METRICS_H

#include "src/base/status.h"

#include <stdint.h>

// A plane of luma, 0 .. 1, dense rows.
typedef struct zn_plane {
    double *data;
    int64_t width, height;
} zn_plane;

// Luma (0.299 R + 0.587 G + 0.114 B) of dense 8-bit RGB. Free with zn_plane_free.
zenith_status zn_plane_luma(const uint8_t *rgb, int64_t width, int64_t height, zn_plane *out,
                            zn_error *err);
zenith_status zn_plane_create(int64_t width, int64_t height, zn_plane *out, zn_error *err);
// The mean of 2 x 2 pixels; an odd last row or column is left out. May come out empty.
zenith_status zn_plane_halve(const zn_plane *src, zn_plane *out, zn_error *err);
void zn_plane_free(zn_plane *plane);

// Over all 8-bit samples, in dB; infinity for equal pictures.
double zn_metric_psnr(const uint8_t *a, const uint8_t *b, int64_t width, int64_t height);

// The others compare planes of one size. NaN where a measure is not defined: the picture is too
// small for it, or (hf) the original has nothing to compare with.
zenith_status zn_metric_ssim(const zn_plane *a, const zn_plane *b, double *out, zn_error *err);
zenith_status zn_metric_ms_ssim(const zn_plane *a, const zn_plane *b, double *out, zn_error *err);
zenith_status zn_metric_gmsd(const zn_plane *a, const zn_plane *b, double *out, zn_error *err);
// Of the finest Laplacian band: the rms of b's over that of a's, and their correlation.
zenith_status zn_metric_hf(const zn_plane *a, const zn_plane *b, double *ratio, double *correlation,
                           zn_error *err);
// Of one picture: power at periods of 4 pixels over that of the frequencies around them.
zenith_status zn_metric_mesh4(const zn_plane *plane, double *out, zn_error *err);

#endif
