// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The main of test programs that have none of their own.
#include "tests/testing.h"

int main(void)
{
    return zn_test_run();
}
