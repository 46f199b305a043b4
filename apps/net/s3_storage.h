// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// s3://BUCKET/PREFIX as a storage of datasets. docs/DATASET.md says what is read from the
// environment.
#ifndef ZN_NET_S3_STORAGE_H
#define ZN_NET_S3_STORAGE_H

#include "apps/cli/terminal/failure.h"
#include "zenith/dataset.h"

#include <stddef.h>

// out->size stays 0 where no input is of s3://, and nothing is opened. quiet: requests that are
// tried again are not reported. False with *failure filled.
bool cli_s3_open(const char *const *inputs, size_t count, bool quiet, zenith_storage *out,
                 cli_failure *failure);
void cli_s3_close(zenith_storage *storage); // one that was not opened is fine

static inline const zenith_storage *cli_s3_get(const zenith_storage *storage)
{
    return storage->size != 0 ? storage : NULL;
}

#endif
