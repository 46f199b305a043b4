// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The version, in this one place: the build, the packages and the soname read it here.
#ifndef ZENITH_VERSION_H
#define ZENITH_VERSION_H

#define ZENITH_VERSION_MAJOR 0
#define ZENITH_VERSION_MINOR 1
#define ZENITH_VERSION_PATCH 0
#define ZENITH_VERSION_TEXT  "0.1.0"

// For comparisons: #if ZENITH_VERSION >= ZENITH_VERSION_NUMBER(0, 2, 0). zenith_version_number is
// that of the library in use.
#define ZENITH_VERSION_NUMBER(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))
#define ZENITH_VERSION                                                                             \
    ZENITH_VERSION_NUMBER(ZENITH_VERSION_MAJOR, ZENITH_VERSION_MINOR, ZENITH_VERSION_PATCH)

#endif
