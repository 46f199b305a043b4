// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What is in a file or folder, as JSON text: see zenith_inspect.
#ifndef ZN_TASK_INSPECT_INSPECTION_H
#define ZN_TASK_INSPECT_INSPECTION_H

#include "src/base/status.h"

zenith_status zn_inspect(const char *path, const char *model, bool graph, char **out,
                         zn_error *err);

#endif
