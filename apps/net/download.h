// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// One file over HTTP or HTTPS, by libcurl, into PATH.part, and under its own name only when its
// size and SHA-256 are right. A download resumes from what an earlier one left in PATH.part.
#ifndef ZN_NET_DOWNLOAD_H
#define ZN_NET_DOWNLOAD_H

#include "apps/cli/terminal/failure.h"
#include "apps/cli/terminal/progress.h"

#include <stdint.h>

typedef struct cli_download {
    const char *url;
    const char *path;
    uint64_t size;      // of the whole file
    const char *sha256; // lower-case digits
    cli_progress *progress;
} cli_download;

// False with *failure filled; ZENITH_CANCELLED after a signal. PATH.part stays where going on makes
// sense, and is removed where its bytes are wrong.
bool cli_download_file(const cli_download *download, cli_failure *failure);

// False: this program was built without downloading (ZENITH_PULL=OFF).
extern const bool cli_can_download;

// Whether the file has this size and this SHA-256.
bool cli_file_is(const char *path, uint64_t size, const char *sha256);

#endif
