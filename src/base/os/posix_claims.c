// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Files by which processes agree who does what, also on a network's file system: made whole or not
// at all, with a time that says when their owner was last there.
#include "src/base/os.h"

#include "src/base/memory.h"
#include "src/base/os/posix.h"
#include "src/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAMES_TRIED = 1000 };

zenith_status zn_file_get_facts(const char *path, zn_file_facts *out, zn_error *err)
{
    struct stat info;
    if (stat(path, &info) != 0) return zn_os_fail(err, errno, "look at", path);
    if (!S_ISREG(info.st_mode))
        return zn_fail(err, ZENITH_IO, "cannot read '%s': it is not a file", path);
#ifdef __APPLE__
    const struct timespec when = info.st_mtimespec;
#else
    const struct timespec when = info.st_mtim;
#endif
    *out = (zn_file_facts){(uint64_t)info.st_size,
                           (int64_t)when.tv_sec * 1000000000 + when.tv_nsec};
    return ZENITH_OK;
}

// A file of its own, with all its bytes: `name` is its path.
static zenith_status write_beside(const char *path, const void *data, size_t size,
                                  char name[PATH_MAX], zn_error *err)
{
    const char *slash = strrchr(path, '/');
    const size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
    int fd = -1;
    for (int n = 0; n < NAMES_TRIED && fd < 0; n++) {
        if (zn_text_format(name, PATH_MAX, "%.*s.%s.tmp-%llu-%d", (int)folder, path, path + folder,
                           (unsigned long long)zn_process_id(), n) +
                1 >=
            PATH_MAX)
            return zn_os_fail(err, ENAMETOOLONG, "write", path);
        fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST) break;
    }
    if (fd < 0) return zn_os_fail(err, errno, "write", path);
    ssize_t written = write(
        fd, data, size); // a few hundred bytes: a disk that is not full takes them at once
    int code = written == (ssize_t)size ? 0 : written < 0 ? errno : ENOSPC;
    if (code == 0 && fsync(fd) != 0) code = errno;
    if (close(fd) != 0 && code == 0) code = errno;
    if (code == 0) return ZENITH_OK;
    unlink(name);
    return zn_os_fail(err, code, "write", path);
}

// Where the file system has no links, the name is claimed first and the bytes follow.
static zenith_status create_straight(const char *path, const void *data, size_t size, bool *made,
                                     zn_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    *made = fd >= 0;
    if (fd < 0) return errno == EEXIST ? ZENITH_OK : zn_os_fail(err, errno, "write", path);
    ssize_t written = write(fd, data, size);
    int code = written == (ssize_t)size ? 0 : written < 0 ? errno : ENOSPC;
    if (close(fd) != 0 && code == 0) code = errno;
    if (code == 0) return ZENITH_OK;
    unlink(path);
    return zn_os_fail(err, code, "write", path);
}

zenith_status zn_file_create(const char *path, const void *data, size_t size, bool *made,
                             zn_error *err)
{
    char name[PATH_MAX];
    ZN_TRY(write_beside(path, data, size, name, err));
    int code = link(name, path) == 0 ? 0 : errno; // the only step that two cannot both do
#ifdef RENAME_NOREPLACE
    const bool no_links = code == EPERM || code == EOPNOTSUPP || code == ENOSYS;
    if (no_links && renameat2(AT_FDCWD, name, AT_FDCWD, path, RENAME_NOREPLACE) == 0) {
        *made = true;
        return ZENITH_OK;
    }
#endif
    unlink(name);
    *made = code == 0;
    if (code == 0 || code == EEXIST) return ZENITH_OK;
    if (code == EPERM || code == EOPNOTSUPP || code == ENOSYS)
        return create_straight(path, data, size, made, err);
    return zn_os_fail(err, code, "write", path);
}

zenith_status zn_file_touch(const char *path, zn_error *err)
{
    // Without a time the file's own machine says what now is.
    return utimensat(AT_FDCWD, path, NULL, 0) == 0 ? ZENITH_OK
                                                   : zn_os_fail(err, errno, "touch", path);
}

void zn_directory_sync(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    (void)fsync(fd);
    close(fd);
}

void zn_host_name(char *dst, size_t size)
{
    if (gethostname(dst, size) != 0) dst[0] = '\0';
    dst[size - 1] = '\0';
}

struct zn_lock {
    int fd;
    char path[PATH_MAX];
};

// Opens the file and locks it; *busy: another has it, *gone: its owner has removed it meanwhile.
static zenith_status open_lock(zn_lock *lock, bool *busy, bool *gone, zn_error *err)
{
    struct stat opened, named;
    lock->fd = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock->fd < 0) return zn_os_fail(err, errno, "write", lock->path);
    *busy = flock(lock->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    *gone = fstat(lock->fd, &opened) != 0 || stat(lock->path, &named) != 0 ||
            opened.st_ino != named.st_ino || opened.st_dev != named.st_dev;
    if (*busy || *gone) close(lock->fd);
    return ZENITH_OK;
}

zenith_status zn_lock_take(const char *path, zn_lock **out, zn_error *err)
{
    bool busy = false, gone = true;
    zn_lock *lock = zn_alloc(sizeof *lock);
    if (!lock) return zn_fail_memory(err, sizeof *lock);
    zenith_status status = ZENITH_OK;
    if (zn_text_format(lock->path, sizeof lock->path, "%s", path) + 1 >= sizeof lock->path)
        status = zn_os_fail(err, ENAMETOOLONG, "write", path);
    for (int n = 0; n < NAMES_TRIED && status == ZENITH_OK && !busy && gone; n++)
        status = open_lock(lock, &busy, &gone, err);
    const bool held = status == ZENITH_OK && !busy && !gone;
    if (!held) zn_free(lock);
    if (status == ZENITH_OK) *out = held ? lock : NULL;
    return status;
}

void zn_lock_free(zn_lock *lock)
{
    if (!lock) return;
    unlink(lock->path); // before it is released: a process that opens it now finds it nameless
    flock(lock->fd, LOCK_UN); // a forked child may have the file open too
    close(lock->fd);
    zn_free(lock);
}

bool zn_process_is_running(uint64_t id)
{
    if (id == 0 || id > INT_MAX) return true;
    return kill((pid_t)id, 0) == 0 || errno != ESRCH;
}
