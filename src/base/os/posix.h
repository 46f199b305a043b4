// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the posix_*.c files share among themselves, and what their tests reach into.
#ifndef ZN_BASE_OS_POSIX_H
#define ZN_BASE_OS_POSIX_H

#include "src/base/status.h"

// The status that fits an errno, with "cannot <verb> '<path>': <reason>".
zenith_status zn_os_fail(zn_error *err, int code, const char *verb, const char *path);

// The system's sentence for an errno, the same in every locale; never NULL.
const char *zn_os_reason(int code);

// The smallest quota, in whole CPUs, along the process's own control groups up to the root; 0 when
// there is none. `membership` is /proc/self/cgroup, `mount` is /sys/fs/cgroup, or a test's.
int zn_os_cgroup_quota(const char *membership, const char *mount);

#endif
