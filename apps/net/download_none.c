// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Stands in for download.c in a program built without libcurl (ZENITH_PULL=OFF).
#include "apps/net/download.h"

const bool cli_can_download = false;

bool cli_download_file(const cli_download *download, cli_failure *failure)
{
    return cli_fail_text(failure, ZENITH_UNSUPPORTED,
                         "this program was built without downloading (ZENITH_PULL=OFF): fetch %s "
                         "by other means, to %s",
                         download->url, download->path);
}

bool cli_file_is(const char *path, uint64_t size, const char *sha256)
{
    (void)path, (void)size, (void)sha256;
    return false;
}
