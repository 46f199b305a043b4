// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Stands in for s3_storage.c in a program built without libcurl (ZENITH_PULL=OFF).
#include "apps/net/s3_storage.h"

#include <string.h>

bool cli_s3_open(const char *const *inputs, size_t count, bool quiet, zenith_storage *out,
                 cli_failure *failure)
{
    (void)quiet;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < count; i++)
        if (strncmp(inputs[i], "s3://", 5) == 0)
            return cli_fail_text(
                failure, ZENITH_UNSUPPORTED,
                "this program was built without s3:// (ZENITH_PULL=OFF): copy '%s' "
                "by other means, and name folders",
                inputs[i]);
    return true;
}

void cli_s3_close(zenith_storage *storage)
{
    (void)storage;
}
