// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Stands in for s3_storage.c in a program built without libcurl (ZENITH_PULL=OFF).
#include "apps/cli/s3_storage.h"

#include <string.h>

bool cli_s3_open(const cli_settings *settings, zenith_storage *out, cli_failure *failure)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < settings->input_count; i++)
        if (strncmp(settings->inputs[i], "s3://", 5) == 0)
            return cli_fail_text(
                failure, ZENITH_UNSUPPORTED,
                "this program was built without s3:// (ZENITH_PULL=OFF): copy '%s' "
                "by other means, and name folders",
                settings->inputs[i]);
    return true;
}

void cli_s3_close(zenith_storage *storage)
{
    (void)storage;
}
