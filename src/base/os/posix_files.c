// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Files: reading by mapping, writing beside the target and renaming, listing folders.
#include "src/base/os.h"

#include "src/base/bytes.h"
#include "src/base/memory.h"
#include "src/base/os/posix.h"
#include "src/base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h> // rename
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BUFFER_SIZE = 64 * 1024,
    LARGEST_WRITE = 1 << 30, // Linux writes at most 2 GB at once; this leaves no doubt
    NAMES_TRIED = 1000,
};

const char *zn_os_reason(int code)
{
#ifdef __GLIBC__
    const char *reason = strerrordesc_np(code);
#else
    const char *reason = strerror(code);
#endif
    return reason ? reason : "unknown error";
}

zenith_status zn_os_fail(zn_error *err, int code, const char *verb, const char *path)
{
    zenith_status status = code == ENOENT || code == ENOTDIR ? ZENITH_NOT_FOUND
                           : code == ENOMEM                  ? ZENITH_OUT_OF_MEMORY
                                                             : ZENITH_IO;
    return zn_fail(err, status, "cannot %s '%s': %s", verb, path, zn_os_reason(code));
}

static zenith_status map_opened(int fd, const char *path, zn_mapped *out, zn_error *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0) return zn_os_fail(err, errno, "read", path);
    if (!S_ISREG(info.st_mode)) {
        return zn_fail(err, ZENITH_IO, "cannot read '%s': it is %s, not a file", path,
                       S_ISDIR(info.st_mode) ? "a directory" : "a device or a pipe");
    }
    zn_mapped mapped = {0};
    if (info.st_size > 0) {
        mapped.size = (size_t)info.st_size;
        void *data = mmap(NULL, mapped.size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED) return zn_os_fail(err, errno, "map", path);
        mapped.data = data;
    }
    *out = mapped;
    return ZENITH_OK;
}

zenith_status zn_mapped_open(const char *path, zn_mapped *out, zn_error *err)
{
    // Without O_NONBLOCK, opening a named pipe would wait for its writer.
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return zn_os_fail(err, errno, "open", path);
    zenith_status status = map_opened(fd, path, out, err);
    close(fd); // the mapping stays
    return status;
}

void zn_mapped_close(zn_mapped *mapped)
{
    if (mapped->data) munmap((void *)(uintptr_t)mapped->data, mapped->size);
    *mapped = (zn_mapped){0};
}

void zn_mapped_forget(const zn_mapped *mapped, size_t offset, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (offset >= mapped->size) return;
    if (size > mapped->size - offset) size = mapped->size - offset;
    // Whole pages only: a page at the border belongs to a neighbour too. The file's last page has
    // no neighbour.
    size_t begin = zn_round_up(offset, page), end = offset + size;
    if (end < mapped->size) end = end / page * page;
    if (begin < end) madvise((void *)(uintptr_t)(mapped->data + begin), end - begin, MADV_DONTNEED);
}

// `temporary` is "" where the target is written straight: standard output, a pipe, a device.
struct zn_writer {
    zn_bytes *bytes; // NULL: a file
    int fd;
    bool owns_fd;
    bool failed; // a write did not succeed: what is there must not be put in place
    size_t buffered;
    char target[PATH_MAX];
    char temporary[PATH_MAX];
    uint8_t buffer[BUFFER_SIZE];
};

static zenith_status open_straight(zn_writer *writer, zn_error *err)
{
    writer->fd = open(writer->target, O_WRONLY | O_CLOEXEC);
    if (writer->fd < 0) return zn_os_fail(err, errno, "write", writer->target);
    writer->owns_fd = true;
    return ZENITH_OK;
}

static zenith_status open_temporary(zn_writer *writer, zn_error *err)
{
    const char *slash = strrchr(writer->target, '/');
    size_t folder = slash ? (size_t)(slash + 1 - writer->target) : 0;
    for (int n = 0; n < NAMES_TRIED; n++) {
        size_t length = zn_text_format(writer->temporary, PATH_MAX, "%.*s.%s.tmp-%llu-%d",
                                       (int)folder, writer->target, writer->target + folder,
                                       (unsigned long long)zn_process_id(), n);
        if (length + 1 >= PATH_MAX) {
            writer->temporary[0] = '\0';
            return zn_os_fail(err, ENAMETOOLONG, "write", writer->target);
        }
        writer->fd = open(writer->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (writer->fd >= 0) {
            writer->owns_fd = true;
            return ZENITH_OK;
        }
        if (errno != EEXIST) break;
    }
    int code = errno;
    writer->temporary[0] = '\0'; // it is not ours to remove
    return zn_os_fail(err, code, "write", writer->target);
}

static zenith_status open_target(zn_writer *writer, const char *path, zn_error *err)
{
    size_t length = strlen(path);
    if (length == 0 || path[length - 1] == '/') {
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "cannot write '%s': it does not name a file",
                       path);
    }
    if (length >= PATH_MAX) return zn_os_fail(err, ENAMETOOLONG, "write", path);
    memcpy(writer->target, path, length + 1);
    struct stat info;
    if (stat(path, &info) != 0) return open_temporary(writer, err);
    if (S_ISDIR(info.st_mode)) return zn_os_fail(err, EISDIR, "write", path);
    if (!S_ISREG(info.st_mode)) return open_straight(writer, err); // /dev/null must stay a device
    // A link keeps pointing where it does, and an existing file keeps its permissions.
    if (!realpath(path, writer->target)) return zn_os_fail(err, errno, "write", path);
    ZN_TRY(open_temporary(writer, err));
    if (fchmod(writer->fd, info.st_mode & 0777) != 0) return zn_os_fail(err, errno, "write", path);
    return ZENITH_OK;
}

static void begin_writer(zn_writer *writer, zn_bytes *bytes, int fd)
{
    writer->bytes = bytes;
    writer->fd = fd;
    writer->owns_fd = false;
    writer->failed = false;
    writer->buffered = 0;
    writer->temporary[0] = '\0';
}

zenith_status zn_writer_open_bytes(zn_bytes *bytes, zn_writer **out, zn_error *err)
{
    zn_writer *writer = zn_alloc(sizeof *writer);
    if (!writer) return zn_fail_memory(err, sizeof *writer);
    begin_writer(writer, bytes, -1);
    zn_text_format(writer->target, sizeof writer->target, "memory");
    bytes->size = 0;
    *out = writer;
    return ZENITH_OK;
}

zenith_status zn_writer_open(const char *path, zn_writer **out, zn_error *err)
{
    zn_writer *writer = zn_alloc(sizeof *writer);
    if (!writer) return zn_fail_memory(err, sizeof *writer);
    begin_writer(writer, NULL, STDOUT_FILENO);
    if (strcmp(path, "-") == 0) {
        zn_text_format(writer->target, sizeof writer->target, "standard output");
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

static zenith_status write_bytes(int fd, const uint8_t *data, size_t size, const char *path,
                                 zn_error *err)
{
    while (size > 0) {
        ssize_t written = write(fd, data, size < LARGEST_WRITE ? size : LARGEST_WRITE);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return zn_os_fail(err, errno, "write", path);
        data += written;
        size -= (size_t)written;
    }
    return ZENITH_OK;
}

static zenith_status write_all(zn_writer *writer, const uint8_t *data, size_t size, zn_error *err)
{
    zenith_status status = writer->bytes ? zn_bytes_append(writer->bytes, data, size, err)
                                         : write_bytes(writer->fd, data, size, writer->target, err);
    if (status != ZENITH_OK) writer->failed = true;
    return status;
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

static zenith_status put_in_place(zn_writer *writer, zn_error *err)
{
    if (writer->failed) {
        return zn_fail(err, ZENITH_IO, "cannot write '%s': an earlier write failed",
                       writer->target);
    }
    ZN_TRY(flush(writer, err));
    // Some file systems report a full disk only here. A pipe or a device cannot be synchronised.
    if (writer->temporary[0] && fsync(writer->fd) != 0)
        return zn_os_fail(err, errno, "write", writer->target);
    if (writer->owns_fd) {
        writer->owns_fd = false;
        if (close(writer->fd) != 0) return zn_os_fail(err, errno, "write", writer->target);
    }
    if (!writer->temporary[0]) return ZENITH_OK;
    if (rename(writer->temporary, writer->target) != 0)
        return zn_os_fail(err, errno, "put in place", writer->target);
    writer->temporary[0] = '\0';
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
    if (writer->owns_fd) close(writer->fd);
    if (writer->temporary[0]) unlink(writer->temporary);
    zn_free(writer);
}

struct zn_reader {
    int fd;
    char path[PATH_MAX];
};

zenith_status zn_reader_open(const char *path, zn_reader **out, zn_error *err)
{
    struct stat info;
    if (strlen(path) >= PATH_MAX) return zn_os_fail(err, ENAMETOOLONG, "read", path);
    // Without O_NONBLOCK, opening a named pipe would wait for its writer.
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return zn_os_fail(err, errno, "open", path);
    zenith_status status = ZENITH_OK;
    if (fstat(fd, &info) != 0)
        status = zn_os_fail(err, errno, "read", path);
    else if (!S_ISREG(info.st_mode))
        status = zn_fail(err, ZENITH_IO, "cannot read '%s': it is not a file", path);
    zn_reader *reader = status == ZENITH_OK ? zn_alloc(sizeof *reader) : NULL;
    if (!reader) {
        close(fd);
        return status == ZENITH_OK ? zn_fail_memory(err, sizeof *reader) : status;
    }
    reader->fd = fd;
    memcpy(reader->path, path, strlen(path) + 1);
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
        ssize_t now = read(reader->fd, to + read_so_far,
                           rest < LARGEST_WRITE ? rest : LARGEST_WRITE);
        if (now < 0 && errno == EINTR) continue;
        if (now < 0) return zn_os_fail(err, errno, "read", reader->path);
        if (now == 0) break;
        read_so_far += (size_t)now;
    }
    *got = read_so_far;
    return ZENITH_OK;
}

void zn_reader_close(zn_reader *reader)
{
    if (!reader) return;
    close(reader->fd);
    zn_free(reader);
}

struct zn_journal {
    int fd;
    char path[PATH_MAX];
};

static zenith_status open_journal(zn_journal *journal, uint64_t kept, zn_error *err)
{
    const char *path = journal->path;
    journal->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (journal->fd < 0) return zn_os_fail(err, errno, "write", path);
    if (ftruncate(journal->fd, (off_t)kept) != 0) return zn_os_fail(err, errno, "shorten", path);
    return ZENITH_OK;
}

zenith_status zn_journal_open(const char *path, uint64_t kept, zn_journal **out, zn_error *err)
{
    if (strlen(path) >= PATH_MAX) return zn_os_fail(err, ENAMETOOLONG, "write", path);
    zn_journal *journal = zn_alloc(sizeof *journal);
    if (!journal) return zn_fail_memory(err, sizeof *journal);
    memcpy(journal->path, path, strlen(path) + 1);
    zenith_status status = open_journal(journal, kept, err);
    if (status != ZENITH_OK) {
        zn_journal_close(journal);
        return status;
    }
    *out = journal;
    return ZENITH_OK;
}

zenith_status zn_journal_write(zn_journal *journal, const void *data, size_t size, zn_error *err)
{
    return write_bytes(journal->fd, data, size, journal->path, err);
}

void zn_journal_close(zn_journal *journal)
{
    if (!journal) return;
    if (journal->fd >= 0) close(journal->fd);
    zn_free(journal);
}

struct zn_spill {
    int fd;
    char folder[PATH_MAX];
};

static zenith_status open_spill(zn_spill *spill, uint64_t bytes, zn_error *err)
{
    char path[PATH_MAX];
    for (int n = 0; n < NAMES_TRIED && spill->fd < 0; n++) {
        zn_text_format(path, sizeof path, "%s/.zenith-spill-%llu-%d", spill->folder,
                       (unsigned long long)zn_process_id(), n);
        spill->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (spill->fd < 0 && errno != EEXIST) break;
    }
    if (spill->fd < 0) return zn_os_fail(err, errno, "make a spill file in", spill->folder);
    unlink(path);
    int code = EOPNOTSUPP;
#ifdef __linux__
    code = posix_fallocate(spill->fd, 0, (off_t)bytes);
#endif
    if (code == EOPNOTSUPP || code == EINVAL)
        code = ftruncate(spill->fd, (off_t)bytes) == 0 ? 0 : errno;
    if (code == 0) return ZENITH_OK;
    return zn_fail(err, ZENITH_IO, "cannot make a spill file of %llu bytes in '%s': %s",
                   (unsigned long long)bytes, spill->folder, zn_os_reason(code));
}

zenith_status zn_spill_open(const char *folder, uint64_t bytes, zn_spill **out, zn_error *err)
{
    enum { NAME = 64 }; // of the file in the folder, at most
    if (strlen(folder) + NAME >= PATH_MAX)
        return zn_os_fail(err, ENAMETOOLONG, "make a spill file in", folder);
    if (bytes > INT64_MAX) return zn_os_fail(err, EFBIG, "make a spill file in", folder);
    zn_spill *spill = zn_alloc(sizeof *spill);
    if (!spill) return zn_fail_memory(err, sizeof *spill);
    spill->fd = -1;
    memcpy(spill->folder, folder, strlen(folder) + 1);
    zenith_status status = open_spill(spill, bytes, err);
    if (status != ZENITH_OK) {
        zn_spill_close(spill);
        return status;
    }
    *out = spill;
    return ZENITH_OK;
}

zenith_status zn_spill_write(zn_spill *spill, uint64_t offset, const void *data, size_t size,
                             zn_error *err)
{
    const uint8_t *from = data;
    while (size > 0) {
        ssize_t done = pwrite(spill->fd, from, size < LARGEST_WRITE ? size : LARGEST_WRITE,
                              (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return zn_os_fail(err, errno, "write the spill file in", spill->folder);
        from += done, offset += (uint64_t)done, size -= (size_t)done;
    }
    return ZENITH_OK;
}

zenith_status zn_spill_read(zn_spill *spill, uint64_t offset, void *data, size_t size,
                            zn_error *err)
{
    uint8_t *to = data;
    while (size > 0) {
        ssize_t done = pread(spill->fd, to, size < LARGEST_WRITE ? size : LARGEST_WRITE,
                             (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return zn_os_fail(err, errno, "read the spill file in", spill->folder);
        if (done == 0)
            return zn_fail(err, ZENITH_IO, "the spill file in '%s' ends too early", spill->folder);
        to += done, offset += (uint64_t)done, size -= (size_t)done;
    }
    return ZENITH_OK;
}

void zn_spill_close(zn_spill *spill)
{
    if (!spill) return;
    if (spill->fd >= 0) close(spill->fd);
    zn_free(spill);
}

zenith_status zn_file_remove(const char *path, zn_error *err)
{
    if (unlink(path) == 0 || errno == ENOENT) return ZENITH_OK;
    return zn_os_fail(err, errno, "remove", path);
}

zenith_status zn_directory_remove(const char *path, zn_error *err)
{
    if (rmdir(path) == 0 || errno == ENOENT) return ZENITH_OK;
    return zn_os_fail(err, errno, "remove the folder", path);
}

zenith_status zn_directory_make(const char *path, zn_error *err)
{
    if (mkdir(path, 0777) == 0) return ZENITH_OK;
    int code = errno;
    if (code == EEXIST && zn_path_is_directory(path)) return ZENITH_OK;
    return zn_os_fail(err, code, "make the folder", path);
}

zenith_status zn_standard_input_read(void *buffer, size_t size, size_t *got, zn_error *err)
{
    // A terminal or a pipe can keep a reader waiting for ever. Handlers that are installed to
    // restart calls never show as EINTR; one that is not asks whoever waits to stop.
    ssize_t result = read(STDIN_FILENO, buffer, size);
    if (result < 0 && errno == EINTR)
        return zn_fail(err, ZENITH_CANCELLED, "a signal stopped the reading of standard input");
    if (result < 0) return zn_os_fail(err, errno, "read", "standard input");
    *got = (size_t)result;
    return ZENITH_OK;
}

bool zn_path_is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

bool zn_path_is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

zenith_status zn_directory_read(const char *path, zn_name_fn *each, void *cookie, zn_error *err)
{
    DIR *folder = opendir(path);
    if (!folder) return zn_os_fail(err, errno, "list", path);
    zenith_status status = ZENITH_OK;
    while (status == ZENITH_OK) {
        errno = 0;
        struct dirent *entry = readdir(folder);
        if (!entry && errno != 0) status = zn_os_fail(err, errno, "list", path);
        if (!entry) break;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        status = each(cookie, entry->d_name, err);
    }
    closedir(folder);
    return status;
}
