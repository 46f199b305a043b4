// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What libFuzzer and replay.c call; fuzzer.cmake includes it in each fuzzer.
#ifndef ZN_TESTS_FUZZ_ENTRY_H
#define ZN_TESTS_FUZZ_ENTRY_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
