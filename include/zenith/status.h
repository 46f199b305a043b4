// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What every call of the library that can fail returns. Values are part of the ABI: they are
// pinned, with gaps for more.
#ifndef ZENITH_STATUS_H
#define ZENITH_STATUS_H

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ZENITH_MUST_CHECK __attribute__((warn_unused_result))
#else
#define ZENITH_MUST_CHECK
#endif

#if defined(_WIN32) && defined(ZENITH_BUILDING)
#define ZENITH_API __declspec(dllexport)
#elif defined(__GNUC__) && !defined(_WIN32)
#define ZENITH_API __attribute__((visibility("default")))
#else
#define ZENITH_API
#endif

typedef enum zenith_status {
    ZENITH_OK = 0,
    ZENITH_INVALID_ARGUMENT = 10, // the caller's mistake: NULL, a size of zero, an unknown name
    ZENITH_OUT_OF_MEMORY = 20,    // the system had no memory left
    ZENITH_LIMIT = 21,            // a limit set by the caller (memory, pixels) would be exceeded
    ZENITH_NOT_FOUND = 30,        // no such file, model or tensor
    ZENITH_IO = 31,               // the operating system refused a read or a write
    ZENITH_BAD_FILE = 32,         // the file's content is broken or hostile
    ZENITH_UNSUPPORTED = 40,      // well-formed, but not something this version does
    ZENITH_AMBIGUOUS = 41,        // several models fit; the caller must name one
    ZENITH_PARTIAL = 42,          // some images of a batch failed; the results say which
    ZENITH_OVERFLOW = 43,         // a value overflowed the type it was computed in: NaN or infinity
    ZENITH_CANCELLED = 50,        // stopped on request
    ZENITH_FORKED = 60,           // called in a forked child: executor threads do not survive fork
    ZENITH_INTERNAL = 90          // a bug of ours
} zenith_status;

// Defines TYPE_init: sets all fields to their defaults, for code without designated initializers
// (C++ before 20).
#define ZENITH_DEFINE_INIT(type)                                                                   \
    static inline void type##_init(type *params)                                                   \
    {                                                                                              \
        memset(params, 0, sizeof *params);                                                         \
        params->size = sizeof *params;                                                             \
    }

// A short English name of a status ("out of memory"); never NULL.
ZENITH_API const char *zenith_status_text(zenith_status status);

#ifdef __cplusplus
}
#endif
#endif
