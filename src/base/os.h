// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Everything we ask of the operating system, in one header; the answers are in os/posix_*.c,
// or in os/windows_*.c. No other file of the library makes system calls. Paths are UTF-8.
#ifndef ZN_BASE_OS_H
#define ZN_BASE_OS_H

#include "src/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// --- files ---------------------------------------------------------------------------------------

// A file mapped for reading. An empty file maps to size 0 with data == NULL.
typedef struct zn_mapped {
    const uint8_t *data;
    size_t size;
} zn_mapped;

zenith_status zn_mapped_open(const char *path, zn_mapped *out, zn_error *err);
void zn_mapped_close(zn_mapped *mapped); // zeroes it; a zeroed one is fine
// Tells the system that these bytes will not be wanted again soon: they stop counting as resident.
void zn_mapped_forget(const zn_mapped *mapped, size_t offset, size_t size);

// A file written beside its final name (as .NAME.tmp-PID-N) and put in place by rename only when
// whole: readers see the old one or the new one. A link is followed, permissions of an existing
// file are kept. The path "-" (standard output), a pipe or a device is written straight.
typedef struct zn_writer zn_writer;
zenith_status zn_writer_open(const char *path, zn_writer **out, zn_error *err);
// Into memory, which is emptied first and must outlive the writer. Discarding leaves what was
// written.
struct zn_bytes;
zenith_status zn_writer_open_bytes(struct zn_bytes *bytes, zn_writer **out, zn_error *err);
zenith_status zn_writer_write(zn_writer *writer, const void *data, size_t size, zn_error *err);
// Flushes to the disk and renames; the writer is freed either way.
zenith_status zn_writer_commit(zn_writer *writer, zn_error *err);
// Removes what was written and frees; NULL is fine.
void zn_writer_discard(zn_writer *writer);

// A file that grows line by line and keeps every line when the process is killed: each write goes
// to the system at once. Opening cuts it to its first `kept` bytes; a file that is not there is
// made.
typedef struct zn_journal zn_journal;
zenith_status zn_journal_open(const char *path, uint64_t kept, zn_journal **out, zn_error *err);
zenith_status zn_journal_write(zn_journal *journal, const void *data, size_t size, zn_error *err);
void zn_journal_close(zn_journal *journal); // NULL is fine

// A file for bytes that have no room in memory. It has no name, or loses it when it is closed, so
// nothing is left behind when the process is killed. Opening takes the disk's room for `bytes` at
// once, where the file system can do that: a disk that is too full fails here, with the bytes that
// are missing.
typedef struct zn_spill zn_spill;
zenith_status zn_spill_open(const char *folder, uint64_t bytes, zn_spill **out, zn_error *err);
zenith_status zn_spill_write(zn_spill *spill, uint64_t offset, const void *data, size_t size,
                             zn_error *err);
zenith_status zn_spill_read(zn_spill *spill, uint64_t offset, void *data, size_t size,
                            zn_error *err);
void zn_spill_close(zn_spill *spill); // NULL is fine

// A file that is read from its beginning to its end. One that is cut short meanwhile ends early; of
// a mapped one the process would die.
typedef struct zn_reader zn_reader;
zenith_status zn_reader_open(const char *path, zn_reader **out, zn_error *err);
// The next bytes; *got is less than `size` only at the end.
zenith_status zn_reader_read(zn_reader *reader, void *buffer, size_t size, size_t *got,
                             zn_error *err);
void zn_reader_close(zn_reader *reader); // NULL is fine

// Files by which processes, of several machines perhaps, agree (os/posix_claims.c).
typedef struct zn_file_facts {
    uint64_t size;
    int64_t changed; // nanoseconds, by the clock of whoever has the file
} zn_file_facts;
zenith_status zn_file_get_facts(const char *path, zn_file_facts *out, zn_error *err);
// Makes a whole file where there is none, at once; *made false: there is one, which is left alone.
zenith_status zn_file_create(const char *path, const void *data, size_t size, bool *made,
                             zn_error *err);
zenith_status zn_file_touch(const char *path, zn_error *err); // `changed` is now
// What was renamed in a folder stays so when the machine loses its power. A wish where a system
// cannot.
void zn_directory_sync(const char *path);
// A file that one opener has at a time, of this process or another, until it frees it or its
// process dies.
typedef struct zn_lock zn_lock;
// *out NULL: another has it. A file system that has no locks gives one to everybody.
zenith_status zn_lock_take(const char *path, zn_lock **out, zn_error *err);
void zn_lock_free(zn_lock *lock);          // and removes the file; NULL is fine
void zn_host_name(char *dst, size_t size); // "" where it has none
// Whether a process of this machine is there. True also where that cannot be told.
bool zn_process_is_running(uint64_t id);

zenith_status zn_file_remove(const char *path, zn_error *err); // OK where it is not there
// Makes a folder where there is none; the one above it must be there.
zenith_status zn_directory_make(const char *path, zn_error *err);
zenith_status zn_directory_remove(const char *path,
                                  zn_error *err); // an empty one; OK where there is none

// The next bytes of standard input; *got is 0 at its end.
zenith_status zn_standard_input_read(void *buffer, size_t size, size_t *got, zn_error *err);

bool zn_path_is_file(const char *path);
bool zn_path_is_directory(const char *path);
// Calls each(name) for every entry of a directory but "." and ".."; stops at the first status that
// is not OK. zn_directory_each (base/directory.h) gives them in order.
typedef zenith_status zn_name_fn(void *cookie, const char *name, zn_error *err);
zenith_status zn_directory_read(const char *path, zn_name_fn *each, void *cookie, zn_error *err);

// --- threads -------------------------------------------------------------------------------------

// Freeing and joining accept NULL. In a forked child, where the threads are not, they only free.
typedef struct zn_mutex zn_mutex;
typedef struct zn_condition zn_condition;
typedef struct zn_thread zn_thread;

zenith_status zn_mutex_create(zn_mutex **out, zn_error *err);
void zn_mutex_free(zn_mutex *mutex);
void zn_mutex_lock(zn_mutex *mutex);
void zn_mutex_unlock(zn_mutex *mutex);

zenith_status zn_condition_create(zn_condition **out, zn_error *err);
void zn_condition_free(zn_condition *condition);
void zn_condition_wait(zn_condition *condition, zn_mutex *mutex);
void zn_condition_wake_all(zn_condition *condition);

// All signals are blocked in the new thread: they belong to the host's own threads.
zenith_status zn_thread_start(void (*run)(void *arg), void *arg, zn_thread **out, zn_error *err);
void zn_thread_join(zn_thread *thread); // and frees it

uint64_t zn_process_id(void); // differs in a forked child
uint64_t
zn_thread_id(void); // of the calling thread; a later thread may get it when this one has ended

// --- machine -------------------------------------------------------------------------------------

const char *zn_environment(const char *name); // NULL when unset
// The folder of the file that this code was loaded from: libzenith, or a program that contains it.
bool zn_os_own_folder(char *path, size_t size); // false: not known, or too long
double zn_clock_seconds(void);                  // monotonic
double zn_process_cpu_seconds(void);            // user + system time of the whole process

// What decides the default number of threads: the smallest of the three.
typedef struct zn_cpu_share {
    int affinity;       // logical CPUs we may run on
    int physical_cores; // distinct cores among them
    int quota;          // floor of the cgroup quota in CPUs, at least 1; 0 = no quota
} zn_cpu_share;
zn_cpu_share zn_os_cpu_share(void);

// Asks for large pages under a block of memory that is about to be used: rows of a wide map are
// megabytes apart, and with small pages each step would look up new addresses. A wish, no more.
void zn_os_prefer_large_pages(void *block, size_t bytes);

// Asks the kernel for permission to use AMX tiles in this process. True when they can be used.
bool zn_os_enable_amx(void);

// What Linux says of a 64-bit Arm CPU's instructions (AT_HWCAP, AT_HWCAP2); false elsewhere.
bool zn_os_arm_hwcaps(uint64_t *hwcap, uint64_t *hwcap2);

#endif
