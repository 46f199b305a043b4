// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Files by which processes agree, on Windows. The counterpart of posix_claims.c.
#include "src/base/os.h"

#include "src/base/memory.h"
#include "src/base/os/windows.h"

#include <windows.h>

zenith_status zn_file_get_facts(const char *path, zn_file_facts *out, zn_error *err)
{
    wchar_t wide[ZN_WIDE_PATH];
    WIN32_FILE_ATTRIBUTE_DATA info;
    ZN_TRY(zn_os_wide(path, wide, err));
    if (!GetFileAttributesExW(wide, GetFileExInfoStandard, &info))
        return zn_os_fail(err, GetLastError(), "look at", path);
    if (info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY)
        return zn_fail(err, ZENITH_IO, "cannot read '%s': it is not a file", path);
    const uint64_t ticks = (uint64_t)info.ftLastWriteTime.dwHighDateTime << 32 |
                           info.ftLastWriteTime.dwLowDateTime; // of 100 ns, since 1601
    *out = (zn_file_facts){(uint64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow,
                           ((int64_t)ticks - 116444736000000000) * 100};
    return ZENITH_OK;
}

zenith_status zn_file_create(const char *path, const void *data, size_t size, bool *made,
                             zn_error *err)
{
    wchar_t wide[ZN_WIDE_PATH];
    DWORD written = 0;
    ZN_TRY(zn_os_wide(path, wide, err));
    HANDLE file = CreateFileW(wide, GENERIC_WRITE, FILE_SHARE_READ, NULL, CREATE_NEW,
                              FILE_ATTRIBUTE_NORMAL, NULL);
    *made = file != INVALID_HANDLE_VALUE;
    if (!*made)
        return GetLastError() == ERROR_FILE_EXISTS ? ZENITH_OK
                                                   : zn_os_fail(err, GetLastError(), "write", path);
    const bool whole = WriteFile(file, data, (DWORD)size, &written, NULL) && written == size;
    const DWORD code = GetLastError();
    CloseHandle(file);
    if (whole) return ZENITH_OK;
    DeleteFileW(wide);
    return zn_os_fail(err, code, "write", path);
}

zenith_status zn_file_touch(const char *path, zn_error *err)
{
    wchar_t wide[ZN_WIDE_PATH];
    FILETIME now;
    ZN_TRY(zn_os_wide(path, wide, err));
    HANDLE file = CreateFileW(wide, FILE_WRITE_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL,
                              OPEN_EXISTING, 0, NULL);
    if (file == INVALID_HANDLE_VALUE) return zn_os_fail(err, GetLastError(), "touch", path);
    GetSystemTimeAsFileTime(&now);
    SetFileTime(file, NULL, NULL, &now);
    CloseHandle(file);
    return ZENITH_OK;
}

void zn_directory_sync(const char *path)
{
    (void)path; // MOVEFILE_WRITE_THROUGH has done it
}

void zn_host_name(char *dst, size_t size)
{
    DWORD length = (DWORD)size;
    if (!GetComputerNameA(dst, &length)) dst[0] = '\0';
}

struct zn_lock {
    HANDLE file;
};

// The system removes the file with its last handle, also where the process dies.
zenith_status zn_lock_take(const char *path, zn_lock **out, zn_error *err)
{
    wchar_t wide[ZN_WIDE_PATH];
    ZN_TRY(zn_os_wide(path, wide, err));
    zn_lock *lock = zn_alloc(sizeof *lock);
    if (!lock) return zn_fail_memory(err, sizeof *lock);
    lock->file = CreateFileW(wide, GENERIC_WRITE | DELETE, 0, NULL, OPEN_ALWAYS,
                             FILE_ATTRIBUTE_NORMAL | FILE_FLAG_DELETE_ON_CLOSE, NULL);
    const DWORD code = GetLastError();
    const bool held = lock->file != INVALID_HANDLE_VALUE;
    if (!held) zn_free(lock);
    if (!held && code != ERROR_SHARING_VIOLATION) return zn_os_fail(err, code, "write", path);
    *out = held ? lock : NULL;
    return ZENITH_OK;
}

void zn_lock_free(zn_lock *lock)
{
    if (!lock) return;
    CloseHandle(lock->file);
    zn_free(lock);
}

bool zn_process_is_running(uint64_t id)
{
    HANDLE process = OpenProcess(SYNCHRONIZE, FALSE, (DWORD)id);
    if (!process) return GetLastError() != ERROR_INVALID_PARAMETER;
    const bool running = WaitForSingleObject(process, 0) == WAIT_TIMEOUT;
    CloseHandle(process);
    return running;
}
