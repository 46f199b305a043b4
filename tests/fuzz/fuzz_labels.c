// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as labels of pictures: every picture is found by its name and by a path that ends with
// it, and has a value of each column.
#include "src/base/text.h"
#include "src/format/archive/labels.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    zn_labels labels;
    char path[256];
    if (zn_labels_read(data, size, "fuzz", &labels, NULL) != ZENITH_OK) return 0;
    for (size_t i = 0; i < labels.rows_count; i++) {
        const struct zn_labelled *row = &labels.rows[i];
        if (zn_labels_find(&labels, row->picture) != row->values) __builtin_trap();
        (void)zn_text_format(path, sizeof path, "folder/%s", row->picture);
        (void)zn_labels_find(&labels, path);
        for (size_t k = 0; k < labels.columns_count; k++)
            if (row->values[k] > 1 || !labels.columns[k][0]) __builtin_trap();
    }
    zn_labels_free(&labels);
    return 0;
}
