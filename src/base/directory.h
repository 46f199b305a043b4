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

// Calls each(path) for every file of a folder and of the folders inside it, in byte order of the
// names of each folder. Names that begin with a dot are passed over. Folders more than 32 deep are
// ZENITH_LIMIT: a link leads back.
zenith_status zn_directory_walk(const char *path,
                                zenith_status (*each)(void *cookie, const char *path), void *cookie,
                                zn_error *err);

#endif
