// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Files on Windows: reading by mapping, writing beside the target and putting in place, listing
// folders. The counterpart of posix_files.c.
#include "src/base/os.h"

#include "src/base/bytes.h"
#include "src/base/memory.h"
#include "src/base/os/windows.h"
#include "src/base/text.h"

#include <string.h>
#include <windows.h>

enum { BUFFER_SIZE = 64 * 1024, LARGEST_WRITE = 1 << 30, NAMES_TRIED = 1000, SHOWN_PATH = 1024 };
static const DWORD share_all = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

static DWORD attributes_of(const char *path)
{
    wchar_t wide[ZN_WIDE_PATH];
    if (zn_os_wide(path, wide, NULL) != ZENITH_OK) return INVALID_FILE_ATTRIBUTES;
    return GetFileAttributesW(wide);
}

bool zn_path_is_file(const char *path)
{
    DWORD attributes = attributes_of(path);
    return attributes != INVALID_FILE_ATTRIBUTES && !(attributes & FILE_ATTRIBUTE_DIRECTORY);
}

bool zn_path_is_directory(const char *path)
{
    DWORD attributes = attributes_of(path);
    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY);
}

static zenith_status map_opened(HANDLE file, const char *path, zn_mapped *out, zn_error *err)
{
    LARGE_INTEGER size;
    if (GetFileType(file) != FILE_TYPE_DISK) {
        return zn_fail(err, ZENITH_IO, "cannot read '%s': it is a device or a pipe, not a file",
                       path);
    }
    if (!GetFileSizeEx(file, &size)) return zn_os_fail(err, GetLastError(), "read", path);
    zn_mapped mapped = {.size = (size_t)size.QuadPart};
    if (mapped.size > 0) {
        HANDLE mapping = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL);
        if (!mapping) return zn_os_fail(err, GetLastError(), "map", path);
        mapped.data = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
        DWORD code = GetLastError();
        CloseHandle(mapping); // the view stays
        if (!mapped.data) return zn_os_fail(err, code, "map", path);
    }
    *out = mapped;
    return ZENITH_OK;
}

zenith_status zn_mapped_open(const char *path, zn_mapped *out, zn_error *err)
{
    wchar_t wide[ZN_WIDE_PATH];
    ZN_TRY(zn_os_wide(path, wide, err));
    if (zn_path_is_directory(path)) // opening one is refused with a sentence about rights
        return zn_fail(err, ZENITH_IO, "cannot read '%s': it is a directory, not a file", path);
    HANDLE file = CreateFileW(wide, GENERIC_READ, share_all, NULL, OPEN_EXISTING,
                              FILE_ATTRIBUTE_NORMAL, NULL);
    if (file == INVALID_HANDLE_VALUE) return zn_os_fail(err, GetLastError(), "open", path);
    zenith_status status = map_opened(file, path, out, err);
    CloseHandle(file);
    return status;
}

void zn_mapped_close(zn_mapped *mapped)
{
    if (mapped->data) UnmapViewOfFile(mapped->data);
    *mapped = (zn_mapped){0};
}

void zn_mapped_forget(const zn_mapped *mapped, size_t offset, size_t size)
{
    SYSTEM_INFO system;
    GetSystemInfo(&system);
    size_t page = system.dwPageSize;
    if (offset >= mapped->size) return;
    if (size > mapped->size - offset) size = mapped->size - offset;
    size_t begin = zn_round_up(offset, page), end = offset + size;
    if (end < mapped->size) end = end / page * page;
    // Unlocking pages that are not locked takes them out of the working set.
    if (begin < end) VirtualUnlock((void *)(uintptr_t)(mapped->data + begin), end - begin);
}

// `temporary` is "" where the target is written straight: standard output, a pipe, a device.
struct zn_writer {
    zn_bytes *bytes; // NULL: a file
    HANDLE file;
    bool owns_file;
    bool failed;  // a write did not succeed: what is there must not be put in place
    bool existed; // the target is replaced, and what belongs to it besides its bytes is kept
    size_t buffered;
    char shown[SHOWN_PATH]; // the target's name in sentences
    wchar_t target[ZN_WIDE_PATH], temporary[ZN_WIDE_PATH];
    uint8_t buffer[BUFFER_SIZE];
};

static zenith_status fail_write(const zn_writer *writer, zn_error *err)
{
    return zn_os_fail(err, GetLastError(), "write", writer->shown);
}

static zenith_status open_straight(zn_writer *writer, zn_error *err)
{
    writer->file = CreateFileW(writer->target, GENERIC_WRITE, share_all, NULL, OPEN_EXISTING, 0,
                               NULL);
    if (writer->file == INVALID_HANDLE_VALUE) return fail_write(writer, err);
    writer->owns_file = true;
    return ZENITH_OK;
}

// Where the file's own name begins: behind the last slash of either kind, or a drive's colon.
static size_t name_start(const wchar_t *path)
{
    size_t start = 0;
    for (size_t i = 0; path[i]; i++)
        if (path[i] == L'/' || path[i] == L'\\' || path[i] == L':') start = i + 1;
    return start;
}

// target with ".NAME.tmp-PID-N" for its name; false where that is too long.
static bool temporary_name(zn_writer *writer, int n)
{
    char ending[64];
    size_t folder = name_start(writer->target), length = wcslen(writer->target);
    size_t tail = zn_text_format(ending, sizeof ending, ".tmp-%llu-%d",
                                 (unsigned long long)zn_process_id(), n);
    if (length + 1 + tail + 1 > ZN_WIDE_PATH) return false;
    wmemcpy(writer->temporary, writer->target, folder);
    writer->temporary[folder] = L'.';
    wmemcpy(writer->temporary + folder + 1, writer->target + folder, length - folder);
    for (size_t i = 0; i <= tail; i++)
        writer->temporary[length + 1 + i] = (wchar_t)ending[i]; // ASCII, with the closing zero
    return true;
}

static zenith_status open_temporary(zn_writer *writer, zn_error *err)
{
    DWORD code = ERROR_FILENAME_EXCED_RANGE;
    for (int n = 0; n < NAMES_TRIED && temporary_name(writer, n); n++) {
        writer->file = CreateFileW(writer->temporary, GENERIC_WRITE, share_all, NULL, CREATE_NEW,
                                   FILE_ATTRIBUTE_NORMAL, NULL);
        if (writer->file != INVALID_HANDLE_VALUE) {
            writer->owns_file = true;
            return ZENITH_OK;
        }
        code = GetLastError();
        if (code != ERROR_FILE_EXISTS && code != ERROR_ALREADY_EXISTS) break;
    }
    writer->temporary[0] = L'\0'; // it is not ours to remove
    return zn_os_fail(err, code, "write", writer->shown);
}

// What is there under the target's name decides how it is written.
static zenith_status open_existing(zn_writer *writer, HANDLE there, zn_error *err)
{
    bool file = GetFileType(there) == FILE_TYPE_DISK;
    wchar_t whole[ZN_WIDE_PATH];
    // A link keeps pointing where it does.
    DWORD length = file ? GetFinalPathNameByHandleW(there, whole, ZN_WIDE_PATH, 0) : 0;
    CloseHandle(there);
    if (!file) return open_straight(writer, err); // NUL must stay a device
    if (length > 0 && length < ZN_WIDE_PATH) wmemcpy(writer->target, whole, length + 1);
    writer->existed = true;
    return open_temporary(writer, err);
}

static zenith_status open_target(zn_writer *writer, const char *path, zn_error *err)
{
    ZN_TRY(zn_os_wide(path, writer->target, err));
    if (writer->target[name_start(writer->target)] == L'\0') {
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "cannot write '%s': it does not name a file",
                       path);
    }
    if (zn_path_is_directory(path))
        return zn_fail(err, ZENITH_IO, "cannot write '%s': Is a directory", path);
    HANDLE there = CreateFileW(writer->target, 0, share_all, NULL, OPEN_EXISTING, 0, NULL);
    if (there == INVALID_HANDLE_VALUE) return open_temporary(writer, err);
    return open_existing(writer, there, err);
}

zenith_status zn_writer_open_bytes(zn_bytes *bytes, zn_writer **out, zn_error *err)
{
    zn_writer *writer = zn_alloc_zero(sizeof *writer);
    if (!writer) return zn_fail_memory(err, sizeof *writer);
    writer->bytes = bytes;
    zn_text_format(writer->shown, sizeof writer->shown, "memory");
    bytes->size = 0;
    *out = writer;
    return ZENITH_OK;
}

zenith_status zn_writer_open(const char *path, zn_writer **out, zn_error *err)
{
    zn_writer *writer = zn_alloc_zero(sizeof *writer);
    if (!writer) return zn_fail_memory(err, sizeof *writer);
    bool standard = strcmp(path, "-") == 0;
    zn_text_format(writer->shown, sizeof writer->shown, "%s", standard ? "standard output" : path);
    if (standard) {
        writer->file = GetStdHandle(STD_OUTPUT_HANDLE);
    } else {
        zenith_status status = open_target(writer, path, err);
        if (status != ZENITH_OK) {
            zn_writer_discard(writer);
            return status;
        }
    }
    *out = writer;
    return ZENITH_OK;
}

static zenith_status write_all(zn_writer *writer, const uint8_t *data, size_t size, zn_error *err)
{
    if (writer->bytes) {
        zenith_status status = zn_bytes_append(writer->bytes, data, size, err);
        if (status != ZENITH_OK) writer->failed = true;
        return status;
    }
    while (size > 0) {
        DWORD written = 0;
        if (!WriteFile(writer->file, data, (DWORD)(size < LARGEST_WRITE ? size : LARGEST_WRITE),
                       &written, NULL)) {
            writer->failed = true;
            return fail_write(writer, err);
        }
        data += written;
        size -= written;
    }
    return ZENITH_OK;
}

static zenith_status flush(zn_writer *writer, zn_error *err)
{
    size_t size = writer->buffered;
    writer->buffered = 0;
    return write_all(writer, writer->buffer, size, err);
}

zenith_status zn_writer_write(zn_writer *writer, const void *data, size_t size, zn_error *err)
{
    if (size == 0) return ZENITH_OK;
    if (size > BUFFER_SIZE - writer->buffered) ZN_TRY(flush(writer, err));
    if (size >= BUFFER_SIZE) return write_all(writer, data, size, err);
    memcpy(writer->buffer + writer->buffered, data, size);
    writer->buffered += size;
    return ZENITH_OK;
}

// ReplaceFile keeps the rights and attributes of the file that was there; somebody may have removed
// it since.
static bool rename_to_target(const zn_writer *writer)
{
    if (writer->existed && ReplaceFileW(writer->target, writer->temporary, NULL,
                                        REPLACEFILE_IGNORE_MERGE_ERRORS, NULL, NULL))
        return true;
    return MoveFileExW(writer->temporary, writer->target,
                       MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH);
}

static zenith_status put_in_place(zn_writer *writer, zn_error *err)
{
    if (writer->failed) {
        return zn_fail(err, ZENITH_IO, "cannot write '%s': an earlier write failed", writer->shown);
    }
    ZN_TRY(flush(writer, err));
    if (!writer->temporary[0]) return ZENITH_OK;
    if (!FlushFileBuffers(writer->file)) return fail_write(writer, err);
    writer->owns_file = false;
    if (!CloseHandle(writer->file)) return fail_write(writer, err);
    if (!rename_to_target(writer))
        return zn_os_fail(err, GetLastError(), "put in place", writer->shown);
    writer->temporary[0] = L'\0';
    return ZENITH_OK;
}

zenith_status zn_writer_commit(zn_writer *writer, zn_error *err)
{
    zenith_status status = put_in_place(writer, err);
    zn_writer_discard(writer);
    return status;
}

void zn_writer_discard(zn_writer *writer)
{
    if (!writer) return;
    if (writer->owns_file) CloseHandle(writer->file);
    if (writer->temporary[0]) DeleteFileW(writer->temporary);
    zn_free(writer);
}

struct zn_reader {
    HANDLE file;
    char shown[SHOWN_PATH];
};

zenith_status zn_reader_open(const char *path, zn_reader **out, zn_error *err)
{
    wchar_t wide[ZN_WIDE_PATH];
    ZN_TRY(zn_os_wide(path, wide, err));
    if (zn_path_is_directory(path))
        return zn_fail(err, ZENITH_IO, "cannot read '%s': it is not a file", path);
    zn_reader *reader = zn_alloc(sizeof *reader);
    if (!reader) return zn_fail_memory(err, sizeof *reader);
    zn_text_format(reader->shown, sizeof reader->shown, "%s", path);
    reader->file = CreateFileW(wide, GENERIC_READ, share_all, NULL, OPEN_EXISTING,
                               FILE_ATTRIBUTE_NORMAL, NULL);
    if (reader->file == INVALID_HANDLE_VALUE) {
        DWORD code = GetLastError();
        zn_free(reader);
        return zn_os_fail(err, code, "open", path);
    }
    *out = reader;
    return ZENITH_OK;
}

zenith_status zn_reader_read(zn_reader *reader, void *buffer, size_t size, size_t *got,
                             zn_error *err)
{
    uint8_t *to = buffer;
    size_t read_so_far = 0;
    while (read_so_far < size) {
        const size_t rest = size - read_so_far;
        DWORD now = 0;
        if (!ReadFile(reader->file, to + read_so_far,
                      (DWORD)(rest < LARGEST_WRITE ? rest : LARGEST_WRITE), &now, NULL))
            return zn_os_fail(err, GetLastError(), "read", reader->shown);
        if (now == 0) break;
        read_so_far += now;
    }
    *got = read_so_far;
    return ZENITH_OK;
}

void zn_reader_close(zn_reader *reader)
{
    if (!reader) return;
    CloseHandle(reader->file);
    zn_free(reader);
}

struct zn_journal {
    HANDLE file;
    char shown[SHOWN_PATH];
};

static zenith_status open_journal(zn_journal *journal, const char *path, uint64_t kept,
                                  zn_error *err)
{
    wchar_t wide[ZN_WIDE_PATH];
    LARGE_INTEGER end = {.QuadPart = (LONGLONG)kept};
    ZN_TRY(zn_os_wide(path, wide, err));
    journal->file = CreateFileW(wide, GENERIC_WRITE, share_all, NULL, OPEN_ALWAYS,
                                FILE_ATTRIBUTE_NORMAL, NULL);
    if (journal->file == INVALID_HANDLE_VALUE)
        return zn_os_fail(err, GetLastError(), "write", path);
    if (!SetFilePointerEx(journal->file, end, NULL, FILE_BEGIN) || !SetEndOfFile(journal->file))
        return zn_os_fail(err, GetLastError(), "shorten", path);
    return ZENITH_OK;
}

zenith_status zn_journal_open(const char *path, uint64_t kept, zn_journal **out, zn_error *err)
{
    zn_journal *journal = zn_alloc(sizeof *journal);
    if (!journal) return zn_fail_memory(err, sizeof *journal);
    journal->file = INVALID_HANDLE_VALUE;
    zn_text_format(journal->shown, sizeof journal->shown, "%s", path);
    zenith_status status = open_journal(journal, path, kept, err);
    if (status != ZENITH_OK) {
        zn_journal_close(journal);
        return status;
    }
    *out = journal;
    return ZENITH_OK;
}

zenith_status zn_journal_write(zn_journal *journal, const void *data, size_t size, zn_error *err)
{
    DWORD written = 0;
    if (size > LARGEST_WRITE || !WriteFile(journal->file, data, (DWORD)size, &written, NULL) ||
        written != size)
        return zn_os_fail(err, GetLastError(), "write", journal->shown);
    return ZENITH_OK;
}

void zn_journal_close(zn_journal *journal)
{
    if (!journal) return;
    if (journal->file != INVALID_HANDLE_VALUE) CloseHandle(journal->file);
    zn_free(journal);
}

struct zn_spill {
    HANDLE file;
    char shown[SHOWN_PATH];
};

static zenith_status open_spill(zn_spill *spill, const char *folder, uint64_t bytes, zn_error *err)
{
    enum { NAMES = 1000 };
    LARGE_INTEGER end = {.QuadPart = (LONGLONG)bytes};
    for (int n = 0; n < NAMES && spill->file == INVALID_HANDLE_VALUE; n++) {
        wchar_t wide[ZN_WIDE_PATH];
        char path[SHOWN_PATH];
        zn_text_format(path, sizeof path, "%s/.zenith-spill-%llu-%d", folder,
                       (unsigned long long)zn_process_id(), n);
        ZN_TRY(zn_os_wide(path, wide, err));
        spill->file = CreateFileW(wide, GENERIC_READ | GENERIC_WRITE, 0, NULL, CREATE_NEW,
                                  FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, NULL);
        if (spill->file == INVALID_HANDLE_VALUE && GetLastError() != ERROR_FILE_EXISTS) break;
    }
    if (spill->file == INVALID_HANDLE_VALUE)
        return zn_os_fail(err, GetLastError(), "make a spill file in", folder);
    if (!SetFilePointerEx(spill->file, end, NULL, FILE_BEGIN) || !SetEndOfFile(spill->file))
        return zn_os_fail(err, GetLastError(), "make room for a spill file in", folder);
    return ZENITH_OK;
}

zenith_status zn_spill_open(const char *folder, uint64_t bytes, zn_spill **out, zn_error *err)
{
    zn_spill *spill = zn_alloc(sizeof *spill);
    if (!spill) return zn_fail_memory(err, sizeof *spill);
    spill->file = INVALID_HANDLE_VALUE;
    zn_text_format(spill->shown, sizeof spill->shown, "%s", folder);
    zenith_status status = open_spill(spill, folder, bytes, err);
    if (status != ZENITH_OK) {
        zn_spill_close(spill);
        return status;
    }
    *out = spill;
    return ZENITH_OK;
}

static OVERLAPPED place_in_file(uint64_t offset)
{
    OVERLAPPED at = {0};
    at.Offset = (DWORD)offset;
    at.OffsetHigh = (DWORD)(offset >> 32);
    return at;
}

zenith_status zn_spill_write(zn_spill *spill, uint64_t offset, const void *data, size_t size,
                             zn_error *err)
{
    DWORD done = 0;
    OVERLAPPED at = place_in_file(offset);
    if (size > LARGEST_WRITE || !WriteFile(spill->file, data, (DWORD)size, &done, &at) ||
        done != size)
        return zn_os_fail(err, GetLastError(), "write the spill file in", spill->shown);
    return ZENITH_OK;
}

zenith_status zn_spill_read(zn_spill *spill, uint64_t offset, void *data, size_t size,
                            zn_error *err)
{
    DWORD done = 0;
    OVERLAPPED at = place_in_file(offset);
    if (size > LARGEST_WRITE || !ReadFile(spill->file, data, (DWORD)size, &done, &at) ||
        done != size)
        return zn_os_fail(err, GetLastError(), "read the spill file in", spill->shown);
    return ZENITH_OK;
}

void zn_spill_close(zn_spill *spill)
{
    if (!spill) return;
    if (spill->file != INVALID_HANDLE_VALUE) CloseHandle(spill->file);
    zn_free(spill);
}

zenith_status zn_file_remove(const char *path, zn_error *err)
{
    wchar_t wide[ZN_WIDE_PATH];
    ZN_TRY(zn_os_wide(path, wide, err));
    if (DeleteFileW(wide) || GetLastError() == ERROR_FILE_NOT_FOUND) return ZENITH_OK;
    return zn_os_fail(err, GetLastError(), "remove", path);
}

zenith_status zn_directory_remove(const char *path, zn_error *err)
{
    wchar_t wide[ZN_WIDE_PATH];
    ZN_TRY(zn_os_wide(path, wide, err));
    if (RemoveDirectoryW(wide) || GetLastError() == ERROR_FILE_NOT_FOUND) return ZENITH_OK;
    return zn_os_fail(err, GetLastError(), "remove the folder", path);
}

zenith_status zn_directory_make(const char *path, zn_error *err)
{
    wchar_t wide[ZN_WIDE_PATH];
    ZN_TRY(zn_os_wide(path, wide, err));
    if (CreateDirectoryW(wide, NULL)) return ZENITH_OK;
    DWORD code = GetLastError();
    if (code == ERROR_ALREADY_EXISTS && zn_path_is_directory(path)) return ZENITH_OK;
    return zn_os_fail(err, code, "make the folder", path);
}

zenith_status zn_standard_input_read(void *buffer, size_t size, size_t *got, zn_error *err)
{
    DWORD read = 0, wanted = (DWORD)(size < LARGEST_WRITE ? size : LARGEST_WRITE);
    if (!ReadFile(GetStdHandle(STD_INPUT_HANDLE), buffer, wanted, &read, NULL)) {
        DWORD code = GetLastError(); // a pipe whose writer is gone is at its end
        if (code != ERROR_BROKEN_PIPE) return zn_os_fail(err, code, "read", "standard input");
        read = 0;
    }
    *got = read;
    return ZENITH_OK;
}

static zenith_status each_found(HANDLE search, WIN32_FIND_DATAW *found, const char *path,
                                zn_name_fn *each, void *cookie, zn_error *err)
{
    char name[4 * MAX_PATH];
    do {
        if (!zn_os_narrow(found->cFileName, name, sizeof name)) continue;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        ZN_TRY(each(cookie, name, err));
    } while (FindNextFileW(search, found));
    DWORD code = GetLastError();
    return code == ERROR_NO_MORE_FILES ? ZENITH_OK : zn_os_fail(err, code, "list", path);
}

zenith_status zn_directory_read(const char *path, zn_name_fn *each, void *cookie, zn_error *err)
{
    wchar_t pattern[ZN_WIDE_PATH];
    ZN_TRY(zn_os_wide(path, pattern, err));
    size_t length = wcslen(pattern);
    if (length + 3 > ZN_WIDE_PATH) return zn_os_fail(err, ERROR_FILENAME_EXCED_RANGE, "list", path);
    wmemcpy(pattern + length, L"/*", 3);
    WIN32_FIND_DATAW found;
    HANDLE search = FindFirstFileW(pattern, &found);
    if (search == INVALID_HANDLE_VALUE) return zn_os_fail(err, GetLastError(), "list", path);
    zenith_status status = each_found(search, &found, path, each, cookie, err);
    FindClose(search);
    return status;
}
