// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What 'zenith eval' found of one model: a row for each picture and their mean, as a table or JSON.
#ifndef ZN_CLI_COMMANDS_LAB_QUALITY_REPORT_H
#define ZN_CLI_COMMANDS_LAB_QUALITY_REPORT_H

#include "zenith/train.h"
#include "zenith/zenith.h"

#include <jansson.h>

typedef struct cli_quality_row {
    const char *input;
    zenith_quality quality;
} cli_quality_row;

typedef struct cli_quality_rows {
    cli_quality_row *rows;
    size_t count;
} cli_quality_rows;

// A table on standard output, under a title.
void cli_quality_print(const char *title, const cli_quality_rows *rows);

// {"psnr": ..., "decode_ms": ..., "images": [{"input": ..., "psnr": ...}, ...]}; null where a
// measure is not there.
json_t *cli_quality_json(const cli_quality_rows *rows);

#endif
