// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The machine under Windows: clocks, environment, how many CPUs are ours. CPU rates of job objects
// are not looked at, and of more than 64 CPUs only the process's own group is used.
#include "src/base/os.h"

#include "src/base/memory.h"
#include "src/base/os/windows.h"

#include <stdlib.h>
#include <string.h>
#include <windows.h>

const char *zn_environment(const char *name)
{
    return getenv(name);
}

bool zn_os_own_folder(char *path, size_t size)
{
    static const char here = 0;
    wchar_t wide[ZN_WIDE_PATH];
    HMODULE module;
    if (!GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                                GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                            (const wchar_t *)&here, &module))
        return false;
    DWORD length = GetModuleFileNameW(module, wide, ZN_WIDE_PATH);
    if (length == 0 || length >= ZN_WIDE_PATH) return false;
    while (length > 0 && wide[length] != L'\\') length--;
    wide[length] = L'\0';
    return zn_os_narrow(wide, path, size);
}

double zn_clock_seconds(void)
{
    LARGE_INTEGER count, frequency; // neither can fail since Windows XP
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&frequency);
    return (double)count.QuadPart / (double)frequency.QuadPart;
}

static double seconds(FILETIME time)
{
    return (double)((uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime) * 1e-7;
}

double zn_process_cpu_seconds(void)
{
    FILETIME created, ended, kernel, user;
    if (!GetProcessTimes(GetCurrentProcess(), &created, &ended, &kernel, &user)) return 0;
    return seconds(kernel) + seconds(user);
}

// Cores with at least one CPU in `mask`; 0 where the system does not tell.
static int cores_in(DWORD_PTR mask)
{
    DWORD bytes = 0;
    GetLogicalProcessorInformation(NULL, &bytes);
    SYSTEM_LOGICAL_PROCESSOR_INFORMATION *all = zn_alloc(bytes);
    int cores = 0;
    if (all && GetLogicalProcessorInformation(all, &bytes)) {
        for (size_t i = 0; i < bytes / sizeof *all; i++)
            cores += all[i].Relationship == RelationProcessorCore && (all[i].ProcessorMask & mask);
    }
    zn_free(all);
    return cores;
}

zn_cpu_share zn_os_cpu_share(void)
{
    DWORD_PTR ours = 0, all = 0;
    zn_cpu_share share = {.affinity = 1, .physical_cores = 1};
    if (!GetProcessAffinityMask(GetCurrentProcess(), &ours, &all) || ours == 0) return share;
    share.affinity = __builtin_popcountll(ours);
    int cores = cores_in(ours);
    share.physical_cores = cores > 0 && cores <= share.affinity ? cores : share.affinity;
    return share;
}

// Windows gives large pages only to those who may lock memory.
void zn_os_prefer_large_pages(void *block, size_t bytes)
{
    (void)block;
    (void)bytes;
}

// Windows gives tiles to processes that ask for them in its own way, from version 11 on.
bool zn_os_enable_amx(void)
{
    return false;
}

bool zn_os_arm_hwcaps(uint64_t *hwcap, uint64_t *hwcap2)
{
    (void)hwcap, (void)hwcap2;
    return false;
}
