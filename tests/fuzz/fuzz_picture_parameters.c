// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any text as the parameters of a picture: what was read is written as a text that says the same.
#include "apps/cli/commands/generate/picture_parameters.h"

#include <stdlib.h>
#include <string.h>

static void same(const cli_parameters *a, const cli_parameters *b)
{
    if (strcmp(a->prompt, b->prompt) != 0 || strcmp(a->negative, b->negative) != 0) abort();
    if (a->steps != b->steps || a->seed.value != b->seed.value) abort();
    if (a->size.width != b->size.width || a->size.height != b->size.height) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cli_parameters first, second;
    char *text = malloc(size + 1);
    if (!text) abort();
    memcpy(text, data, size);
    text[size] = 0;
    if (cli_parameters_parse(text, &first)) {
        if (first.steps > 1000 || !(first.guidance >= 0 && first.guidance <= 1000)) abort();
        char *again = cli_parameters_text(&first);
        if (!again || !cli_parameters_parse(again, &second)) abort();
        same(&first, &second);
        free(again);
    }
    free(text);
    return 0;
}
