// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A lock has one owner at a time, in one process or two, and none after its owner's death.
#include "tests/testing.h"

#include "src/base/os.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];

ZN_TEST_SETUP(make_folder)
{
    snprintf(folder, sizeof folder, "%s", "/tmp/zenith-lock-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

ZN_TEST_TEARDOWN(remove_folder)
{
    return rmdir(folder); // which fails where a lock was left behind
}

static zn_lock *take(void)
{
    zn_error err = {0};
    zn_lock *lock = NULL;
    zn_test_ok(zn_lock_take(zn_test_path(folder, "lock"), &lock, &err), &err);
    return lock;
}

ZN_TEST(has_one_owner)
{
    for (int i = 0; i < 3; i++) {
        zn_lock *lock = take();
        assert_non_null(lock);
        assert_null(take());
        assert_null(take());
        zn_lock_free(lock);
        assert_int_equal(access(zn_test_path(folder, "lock"), F_OK), -1);
    }
    zn_lock_free(NULL);
}

// A child that takes it says so and waits to be killed.
static pid_t start_owner(void)
{
    int ends[2];
    char byte = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        zn_lock *lock = NULL;
        const bool took = zn_lock_take(zn_test_path(folder, "lock"), &lock, NULL) == ZENITH_OK;
        byte = took && lock ? 'y' : 'n';
        if (write(ends[1], &byte, 1) == 1) pause();
        _exit(1);
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    close(ends[0]);
    close(ends[1]);
    return child;
}

ZN_TEST(ends_with_its_owner)
{
    pid_t child = start_owner();
    assert_null(take());
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(access(zn_test_path(folder, "lock"), F_OK), 0); // the file stays
    zn_lock *lock = take();
    assert_non_null(lock);
    zn_lock_free(lock);
}

// A child that has no part in it does not keep it.
ZN_TEST(is_not_kept_by_a_fork)
{
    zn_lock *lock = take();
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    zn_lock_free(lock);
    lock = take();
    assert_non_null(lock);
    zn_lock_free(lock);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

ZN_TEST(says_what_it_cannot_write)
{
    zn_error err = {0};
    zn_lock *lock = NULL;
    assert_int_equal(zn_lock_take("/nowhere/lock", &lock, &err), ZENITH_NOT_FOUND);
    assert_string_not_equal(err.text, "");
    assert_null(lock);
}
