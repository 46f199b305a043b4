// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the windows_*.c files share among themselves. Windows' own names are UTF-16; ours are
// UTF-8 everywhere else.
#ifndef ZN_BASE_OS_WINDOWS_H
#define ZN_BASE_OS_WINDOWS_H

#include "src/base/status.h"

#include <wchar.h>

enum { ZN_WIDE_PATH = 4096 }; // characters of a path, with the closing zero

// The status that fits an error of Windows, with "cannot <verb> '<path>': <reason>".
zenith_status zn_os_fail(zn_error *err, unsigned long code, const char *verb, const char *path);

// A path in UTF-16; fails where it is not UTF-8 or too long.
zenith_status zn_os_wide(const char *path, wchar_t wide[ZN_WIDE_PATH], zn_error *err);

// And back: false where `text` is too small.
bool zn_os_narrow(const wchar_t *wide, char *text, size_t size);

#endif
