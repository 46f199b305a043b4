// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Values that are stored in floating point: in files that say so, and in those that were written
// before.
#include "src/base/os.h"
#include "src/format/pipeline/calibration.h"
#include "tests/testing.h"

#include <string.h>

#define FILE_WITH(more)                                                                            \
    "{\"format\": 1, \"model\": \"m\", \"weights\": \"w\", \"pictures\": 8, \"values\": {\"a\": "  \
    "{\"largest\": 2, \"positive\": true" more "}, \"b\": {\"largest\": 1, \"positive\": "         \
    "false}}, \"int8\": [\"a\"]}"

static zenith_status parse(const char *text, zn_calibration **out, zn_error *err)
{
    *err = (zn_error){0};
    return zn_calibration_parse(text, strlen(text), "c.json", out, err);
}

ZN_TEST(keeps_what_is_stored_in_floating_point)
{
    zn_calibration *first = NULL, *second = NULL;
    zn_error err;
    const char *path = "test_calibration.json";
    zn_test_ok(parse(FILE_WITH(", \"floating\": true"), &first, &err), &err);
    zn_test_ok(zn_calibration_write(first, path, &err), &err);
    zn_test_ok(zn_calibration_read(path, &second, &err), &err);
    zn_calibration *both[] = {first, second};
    for (int i = 0; i < 2; i++) {
        const zn_calibrated *a = zn_calibration_find(both[i], "a", false);
        const zn_calibrated *b = zn_calibration_find(both[i], "b", false);
        assert_true(a && a->floating && a->int8 && a->positive && a->largest == 2);
        assert_true(b && !b->floating && !b->int8 && !b->positive);
        zn_calibration_free(both[i]);
    }
    zn_test_ok(zn_file_remove(path, &err), &err);
}

ZN_TEST(reads_files_that_do_not_say)
{
    zn_calibration *calibration = NULL;
    zn_error err;
    zn_test_ok(parse(FILE_WITH(""), &calibration, &err), &err);
    assert_false(zn_calibration_find(calibration, "a", false)->floating);
    zn_calibration_free(calibration);
    assert_int_equal(parse(FILE_WITH(", \"floating\": 1"), &calibration, &err), ZENITH_BAD_FILE);
}
