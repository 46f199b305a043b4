// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Names between UTF-8 and UTF-16, and Windows' errors as sentences.
#include "src/base/os/windows.h"

#include "src/base/text.h"

#include <limits.h>
#include <windows.h>

// The system's sentence in English where it has it, without the end of line it adds.
static void reason(DWORD code, char *text, size_t size)
{
    const DWORD english = MAKELANGID(LANG_ENGLISH, SUBLANG_ENGLISH_US);
    const DWORD how = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS;
    DWORD length = FormatMessageA(how, NULL, code, english, text, (DWORD)size, NULL);
    while (length > 0 && (text[length - 1] <= ' ' || text[length - 1] == '.')) length--;
    text[length] = '\0';
    if (length == 0) zn_text_format(text, size, "Windows error %lu", code);
}

zenith_status zn_os_fail(zn_error *err, unsigned long code, const char *verb, const char *path)
{
    char why[256];
    reason(code, why, sizeof why);
    bool missing = code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND ||
                   code == ERROR_INVALID_NAME || code == ERROR_DIRECTORY;
    bool memory = code == ERROR_NOT_ENOUGH_MEMORY || code == ERROR_OUTOFMEMORY;
    zenith_status status = missing ? ZENITH_NOT_FOUND : memory ? ZENITH_OUT_OF_MEMORY : ZENITH_IO;
    return zn_fail(err, status, "cannot %s '%s': %s", verb, path, why);
}

zenith_status zn_os_wide(const char *path, wchar_t wide[ZN_WIDE_PATH], zn_error *err)
{
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, ZN_WIDE_PATH) > 0)
        return ZENITH_OK;
    return zn_fail(err, ZENITH_NOT_FOUND, "cannot use '%s' as a path: it is %s", path,
                   GetLastError() == ERROR_INSUFFICIENT_BUFFER ? "too long" : "not UTF-8");
}

bool zn_os_narrow(const wchar_t *wide, char *text, size_t size)
{
    int room = size < INT_MAX ? (int)size : INT_MAX;
    return WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, room, NULL, NULL) > 0;
}
