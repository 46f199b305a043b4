// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Leases: only one takes one; that of a dead process, or one that nobody touched for long, is taken
// over.
#include "src/base/os.h"
#include "src/data/lease.h"
#include "tests/testing.h"

#include <stdio.h>
#include <string.h>

static const char *lease_path(void)
{
    return zn_test_path(zn_test_build(), "test_lease.lease");
}

static void put(const char *text)
{
    bool put_there = false;
    zn_error err = {0};
    zn_test_ok(zn_file_remove(lease_path(), &err), &err);
    zn_test_ok(zn_file_create(lease_path(), text, strlen(text), &put_there, &err), &err);
    assert_true(put_there);
}

static zn_lease_state take(double seconds)
{
    zn_lease_state state = ZN_LEASE_HELD;
    zn_error err = {0};
    zn_test_ok(zn_lease_take(NULL, lease_path(), seconds, &state, &err), &err);
    return state;
}

ZN_TEST(one_takes_it)
{
    bool held = false;
    zn_error err = {0};
    zn_test_ok(zn_file_remove(lease_path(), &err), &err);
    assert_int_equal(take(60), ZN_LEASE_TAKEN);
    assert_int_equal(take(60), ZN_LEASE_HELD);
    zn_test_ok(zn_file_touch(lease_path(), &err), &err);
    zn_test_ok(zn_lease_is_held(NULL, lease_path(), 60, &held, &err), &err);
    assert_true(held);
    zn_test_ok(zn_file_remove(lease_path(), &err), &err);
    zn_test_ok(zn_lease_is_held(NULL, lease_path(), 60, &held, &err), &err);
    assert_false(held);
}

ZN_TEST(silence_ends_it)
{
    put("another-machine 1\n");
    assert_int_equal(take(60), ZN_LEASE_HELD);
    assert_int_equal(take(-1), ZN_LEASE_TAKEN_OVER); // every lease is older than that
    put("");                                         // whose text was never written
    assert_int_equal(take(60), ZN_LEASE_HELD);
    assert_int_equal(take(-1), ZN_LEASE_TAKEN_OVER);
}

ZN_TEST(death_ends_it)
{
    char host[128], text[200];
    zn_host_name(host, sizeof host);
    snprintf(text, sizeof text, "%s %llu\n", host, (unsigned long long)zn_process_id());
    put(text);
    assert_int_equal(take(60), ZN_LEASE_HELD);
    snprintf(text, sizeof text, "%s 2147483646\n", host); // beyond the highest number of a process
    put(text);
    assert_int_equal(take(60), ZN_LEASE_TAKEN_OVER);
    assert_int_equal(take(60), ZN_LEASE_HELD);
    assert_int_equal(zn_file_remove(lease_path(), NULL), ZENITH_OK);
}
