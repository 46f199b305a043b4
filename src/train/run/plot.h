// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A picture of a training run for a person: an SVG with the loss (logarithmic) above and the PSNR
// below, over the steps. The faint line is what was measured, the strong one its running mean, dots
// are validations. The file is replaced as a whole: it can be open while the run goes on.
#ifndef ZN_TRAIN_RUN_PLOT_H
#define ZN_TRAIN_RUN_PLOT_H

#include "src/train/run/log.h"

zenith_status zn_plot_write(const char *path, const char *title, const zn_training_log *log,
                            zn_error *err);

#endif
