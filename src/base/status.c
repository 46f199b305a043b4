// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/base/status.h"

#include "src/base/text.h"

#include <string.h>

const char *zenith_status_text(zenith_status status)
{
    switch (status) {
    case ZENITH_OK:
        return "ok";
    case ZENITH_INVALID_ARGUMENT:
        return "invalid argument";
    case ZENITH_OUT_OF_MEMORY:
        return "out of memory";
    case ZENITH_LIMIT:
        return "limit reached";
    case ZENITH_NOT_FOUND:
        return "not found";
    case ZENITH_IO:
        return "input or output failed";
    case ZENITH_BAD_FILE:
        return "bad file";
    case ZENITH_UNSUPPORTED:
        return "unsupported";
    case ZENITH_AMBIGUOUS:
        return "ambiguous";
    case ZENITH_PARTIAL:
        return "done in part";
    case ZENITH_OVERFLOW:
        return "overflow";
    case ZENITH_CANCELLED:
        return "cancelled";
    case ZENITH_FORKED:
        return "called in a forked child";
    case ZENITH_INTERNAL:
        return "internal error";
    }
    return "unknown status";
}

zenith_status zn_fail(zn_error *err, zenith_status status, const char *format, ...)
{
    if (err && !err->text[0]) {
        va_list list;
        va_start(list, format);
        zn_text_format_list(err->text, sizeof err->text, format, list);
        va_end(list);
    }
    return status;
}

zenith_status zn_fail_memory(zn_error *err, size_t bytes)
{
    return zn_fail(err, ZENITH_OUT_OF_MEMORY, "out of memory: %zu bytes could not be allocated",
                   bytes);
}

void zn_error_prefix(zn_error *err, const char *prefix)
{
    if (!err || !err->text[0]) return;
    char old[sizeof err->text];
    memcpy(old, err->text, sizeof old);
    zn_text_format(err->text, sizeof err->text, "%s: %s", prefix, old);
}
