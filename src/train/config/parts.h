// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the files that read a training config share: config.c walks the JSON by its tables, over the
// defaults of defaults.c; check.c then looks at keys beside each other; identity.c writes what a
// run is.
#ifndef ZN_TRAIN_CONFIG_PARTS_H
#define ZN_TRAIN_CONFIG_PARTS_H

#include "src/train/config/config.h"

static const double ZN_TRAIN_USUAL_SCORE = 1; // how sure scores begin

const char *zn_train_task_name(int task); // as "task" has it

void zn_train_config_defaults(zn_train_config *config);
void zn_train_config_task_defaults(zn_train_config *config, int task); // over those

// What one key asks of another; amounts that nobody said are filled in.
zenith_status zn_train_config_check(zn_train_config *config, zn_error *err);

#endif
