// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Post-training calibration for int8.
#ifndef ZN_TASK_CONVERT_CALIBRATE_H
#define ZN_TASK_CONVERT_CALIBRATE_H

#include "src/task/engine/engine.h"

zenith_status zn_calibrate(zn_engine *engine, zn_model *model, const zenith_image *images,
                           size_t count, const char *path, const zenith_run_params *params,
                           zn_error *err);

#endif
