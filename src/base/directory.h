// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The entries of a directory, in the same order on every machine.
#ifndef ZN_BASE_DIRECTORY_H
#define ZN_BASE_DIRECTORY_H

#include "src/base/status.h"

// Calls each(name) for every entry of a directory but "." and "..", in byte order of the names;
// stops at the first status that is not OK.
zenith_status zn_directory_each(const char *path,
                                zenith_status (*each)(void *cookie, const char *name), void *cookie,
                                zn_error *err);

#endif
