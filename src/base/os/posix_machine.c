// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The machine: clocks, environment, how many CPUs are ours, and permission for AMX tiles.
//
// The share of CPUs has three limits, each of which a container or a batch system may set alone:
// the affinity mask, the cores behind it (two logical CPUs of one core compute no faster than one),
// and a quota of CPU time in any control group from ours up to the root.
#include "src/base/os.h"

#include "src/base/memory.h"
#include "src/base/os/posix.h"
#include "src/base/text.h"

#include <dlfcn.h> // dladdr
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/auxv.h> // getauxval
#endif
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CPUS = 4096, SMALL_FILE = 4096 };

const char *zn_environment(const char *name)
{
    return getenv(name);
}

bool zn_os_own_folder(char *path, size_t size)
{
    static const char here = 0;
    Dl_info info;
    char real[PATH_MAX]; // the loader's name may have links and ".." in it
    if (!dladdr(&here, &info) || !info.dli_fname || !realpath(info.dli_fname, real)) return false;
    const char *slash = strrchr(real, '/');
    if (!slash || (size_t)(slash - real) >= size) return false;
    zn_text_format(path, size, "%.*s", (int)(slash - real), real);
    return true;
}

static double seconds(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double zn_clock_seconds(void)
{
    return seconds(CLOCK_MONOTONIC);
}

double zn_process_cpu_seconds(void)
{
    return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

// The start of a file of the kernel's, as text; false when it cannot be read.
static bool read_small(const char *path, char text[SMALL_FILE])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    size_t size = 0;
    ssize_t got;
    while (size < SMALL_FILE - 1 && (got = read(fd, text + size, SMALL_FILE - 1 - size)) > 0) {
        size += (size_t)got;
    }
    close(fd);
    text[size] = '\0';
    return size > 0;
}

static bool read_integer(const char *path, long long *out)
{
    char text[SMALL_FILE], *end;
    if (!read_small(path, text)) return false;
    long long value = strtoll(text, &end, 10);
    if (end == text) return false;
    *out = value;
    return true;
}

#ifdef __linux__

// A number for the core of a logical CPU that no other core has; false if the kernel has none.
static bool core_of(int cpu, long long *out)
{
    char path[128];
    long long package, core;
    zn_text_format(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id",
                   cpu);
    if (!read_integer(path, &package)) return false;
    zn_text_format(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/core_id", cpu);
    if (!read_integer(path, &core)) return false;
    *out = (package << 32) + core;
    return true;
}

static void count_cpus(zn_cpu_share *share)
{
    unsigned long mask[MAX_CPUS / CHAR_BIT / sizeof(unsigned long)] = {0};
    if (sched_getaffinity(0, sizeof mask, (cpu_set_t *)mask) != 0) return;
    share->affinity = CPU_COUNT_S(sizeof mask, (cpu_set_t *)mask);
    long long seen[MAX_CPUS];
    int cores = 0;
    for (int cpu = 0; cpu < MAX_CPUS; cpu++) {
        if (!CPU_ISSET_S((size_t)cpu, sizeof mask, (cpu_set_t *)mask)) continue;
        long long core;
        if (!core_of(cpu, &core)) return;
        int i = 0;
        while (i < cores && seen[i] != core) i++;
        if (i == cores) seen[cores++] = core;
    }
    share->physical_cores = cores;
}

#else

static void count_cpus(zn_cpu_share *share)
{
    (void)share;
}

#endif

static int smaller_quota(int quota, long long time, long long period)
{
    if (time <= 0 || period <= 0) return quota; // v1 writes -1 for none
    long long cpus = time / period;
    if (cpus < 1) cpus = 1;
    return quota == 0 || cpus < quota ? (int)(cpus < INT_MAX ? cpus : INT_MAX) : quota;
}

// Version 2: one file with "<time or max> <period>".
static int quota_v2(const char *group, int quota)
{
    char path[SMALL_FILE], text[SMALL_FILE], *end;
    zn_text_format(path, sizeof path, "%s/cpu.max", group);
    if (!read_small(path, text)) return quota;
    long long time = strtoll(text, &end, 10);
    if (end == text) return quota; // "max"
    return smaller_quota(quota, time, strtoll(end, NULL, 10));
}

static int quota_v1(const char *group, int quota)
{
    char path[SMALL_FILE];
    long long time, period;
    zn_text_format(path, sizeof path, "%s/cpu.cfs_quota_us", group);
    if (!read_integer(path, &time)) return quota;
    zn_text_format(path, sizeof path, "%s/cpu.cfs_period_us", group);
    if (!read_integer(path, &period)) return quota;
    return smaller_quota(quota, time, period);
}

// From mount/path up to the mount itself. In a container the path may name groups that are not
// visible; those files are missing, and the mount's root is then the container's own group.
static int quota_upwards(const char *mount, const char *path, int quota,
                         int (*of_group)(const char *group, int quota))
{
    char group[SMALL_FILE];
    size_t root = strlen(mount);
    size_t length = zn_text_format(group, sizeof group, "%s%s", mount, path);
    while (true) {
        quota = of_group(group, quota);
        while (length > root && group[length - 1] != '/') length--;
        if (length <= root) return quota;
        group[--length] = '\0';
    }
}

static bool lists_cpu(const char *controllers)
{
    while (true) {
        size_t length = strcspn(controllers, ",");
        if (length == 3 && memcmp(controllers, "cpu", 3) == 0) return true;
        if (!controllers[length]) return false;
        controllers += length + 1;
    }
}

// A line is "number:controllers:/path"; version 2's has no controllers.
static int quota_of_line(char *line, const char *mount, int quota)
{
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path) return quota;
    *path++ = '\0';
    controllers++;
    char folder[SMALL_FILE];
    if (!controllers[0]) {
        quota = quota_upwards(mount, path, quota, quota_v2);
        zn_text_format(folder, sizeof folder, "%s/unified", mount);
        return quota_upwards(folder, path, quota, quota_v2);
    }
    if (!lists_cpu(controllers)) return quota;
    zn_text_format(folder, sizeof folder, "%s/%s", mount, controllers);
    quota = quota_upwards(folder, path, quota, quota_v1);
    zn_text_format(folder, sizeof folder, "%s/cpu", mount);
    return quota_upwards(folder, path, quota, quota_v1);
}

int zn_os_cgroup_quota(const char *membership, const char *mount)
{
    char text[SMALL_FILE];
    int quota = 0;
    if (!read_small(membership, text)) return 0;
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        quota = quota_of_line(line, mount, quota);
    }
    return quota;
}

zn_cpu_share zn_os_cpu_share(void)
{
    zn_cpu_share share = {0};
    count_cpus(&share);
    if (share.affinity < 1) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        share.affinity = online >= 1 && online <= MAX_CPUS ? (int)online : 1;
    }
    if (share.physical_cores < 1) share.physical_cores = share.affinity;
    share.quota = zn_os_cgroup_quota("/proc/self/cgroup", "/sys/fs/cgroup");
    return share;
}

void zn_os_prefer_large_pages(void *block, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    // Whole small pages only: those at the borders belong to neighbours too.
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)block;
    const size_t first = zn_round_up(begin, page), end = (begin + bytes) / page * page;
    if (first < end) madvise((void *)first, end - first, MADV_HUGEPAGE);
#else
    (void)block;
    (void)bytes;
#endif
}

bool zn_os_enable_amx(void)
{
#if defined(__x86_64__) && defined(__linux__)
    // Tile data is component 18 of the extended state, which the kernel saves only on request.
    enum { GET_PERMISSION = 0x1022, ASK_PERMISSION = 0x1023, TILE_DATA = 18 };
    unsigned long allowed = 0;
    if (syscall(SYS_arch_prctl, ASK_PERMISSION, TILE_DATA) != 0) return false;
    if (syscall(SYS_arch_prctl, GET_PERMISSION, &allowed) != 0) return false;
    return allowed >> TILE_DATA & 1;
#else
    return false;
#endif
}

bool zn_os_arm_hwcaps(uint64_t *hwcap, uint64_t *hwcap2)
{
#if defined(__aarch64__) && defined(__linux__)
    *hwcap = getauxval(AT_HWCAP);
    *hwcap2 = getauxval(AT_HWCAP2);
    return true;
#else
    (void)hwcap, (void)hwcap2;
    return false;
#endif
}
