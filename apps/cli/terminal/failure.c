// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See failure.h.
#include "apps/cli/terminal/failure.h"

#include <stdarg.h>
#include <stdio.h>

bool cli_fail_text(cli_failure *failure, zenith_status status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(failure->text, sizeof failure->text, format, list);
    va_end(list);
    failure->status = status;
    return false;
}
