// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The library never prints. What is worth telling goes to the context's callback, if it has one.
#ifndef ZN_BASE_LOG_H
#define ZN_BASE_LOG_H

typedef enum zn_log_level { ZN_LOG_DEBUG = 0, ZN_LOG_INFO = 1, ZN_LOG_WARNING = 2 } zn_log_level;

typedef struct zn_log {
    // NULL: silent
    void (*write)(void *cookie, int level, const char *message);
    void *cookie;
    int level; // messages below it are not formatted
} zn_log;

// Formats as in base/text.h. log NULL: silent. Lines longer than 1023 bytes are cut.
void zn_log_write(const zn_log *log, zn_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
