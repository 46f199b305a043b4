// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The sizes that --buckets and --aspects of 'zenith dataset encode' name.
#ifndef ZN_CLI_COMMANDS_DATASET_BUCKETS_H
#define ZN_CLI_COMMANDS_DATASET_BUCKETS_H

#include <stdbool.h>
#include <stdint.h>

enum { CLI_MOST_BUCKETS = 1024 };

typedef struct cli_buckets {
    uint32_t sizes[2 * CLI_MOST_BUCKETS]; // width and height of each
    uint32_t count;
} cli_buckets;

// buckets: "WxH" is a size; a number N is, for each shape of `aspects` ("3:2"; NULL: 1:1), the size
// of about N*N pixels with sides that are multiples. A size that is there already is not added
// again. False after a message.
bool cli_buckets_read(const char *buckets, const char *aspects, uint32_t multiple,
                      cli_buckets *out);

#endif
