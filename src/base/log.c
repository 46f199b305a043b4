// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/base/log.h"

#include "src/base/text.h"

enum { LINE_SIZE = 1024 };

void zn_log_write(const zn_log *log, zn_log_level level, const char *format, ...)
{
    if (!log || !log->write || (int)level < log->level) return;
    char message[LINE_SIZE];
    va_list list;
    va_start(list, format);
    zn_text_format_list(message, sizeof message, format, list);
    va_end(list);
    log->write(log->cookie, (int)level, message);
}
