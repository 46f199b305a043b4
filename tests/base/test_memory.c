// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks, checked arithmetic, arrays that grow, arenas.
#include "tests/testing.h"

#include "src/base/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static bool all_zero(const void *data, size_t size)
{
    const uint8_t *byte = data;
    for (size_t i = 0; i < size; i++) {
        if (byte[i]) return false;
    }
    return true;
}

ZN_TEST(blocks)
{
    static const size_t sizes[] = {0, 1, 63, 64, 65, 4096, 1000003};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint8_t *block = zn_alloc_zero(sizes[i]);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % ZN_ALIGN, 0);
        assert_true(all_zero(block, sizes[i]));
        memset(block, 0xff, sizes[i]);
        zn_free(block);
    }
    volatile size_t most = SIZE_MAX;
    assert_null(zn_alloc(most));
    assert_null(zn_alloc_zero(most - 63));
    assert_null(zn_alloc(most / 2));
    zn_free(NULL);
}

ZN_TEST(arithmetic)
{
    size_t out = 7;
    assert_false(zn_mul_size(SIZE_MAX / 2 + 1, 2, &out));
    assert_false(zn_add_size(SIZE_MAX, 1, &out));
    assert_int_equal(out, 7);
    assert_true(zn_mul_size(SIZE_MAX / 2, 2, &out));
    assert_true(out == SIZE_MAX - 1);
    assert_true(zn_add_size(SIZE_MAX - 1, 1, &out));
    assert_true(out == SIZE_MAX);
    assert_true(zn_mul_size(0, SIZE_MAX, &out));
    assert_int_equal(out, 0);
    assert_int_equal(zn_round_up(0, 64), 0);
    assert_int_equal(zn_round_up(1, 64), 64);
    assert_int_equal(zn_round_up(128, 64), 128);
}

ZN_TEST(array)
{
    zn_error err = {0};
    int *numbers = NULL;
    size_t capacity = 0, copies = 0;
    for (int i = 0; i < 10000; i++) {
        const int *before = numbers;
        zn_test_ok(
            zn_array_reserve((void **)&numbers, &capacity, (size_t)i + 1, sizeof *numbers, &err),
            &err);
        copies += numbers != before;
        assert_true(capacity > (size_t)i);
        assert_int_equal(numbers[i], 0);
        numbers[i] = i + 1;
    }
    for (int i = 0; i < 10000; i++) assert_int_equal(numbers[i], i + 1);
    assert_true(copies < 20);
    const int *kept = numbers;
    size_t had = capacity;
    assert_int_equal(
        zn_array_reserve((void **)&numbers, &capacity, SIZE_MAX / 2, sizeof *numbers, &err),
        ZENITH_OUT_OF_MEMORY);
    assert_ptr_equal(numbers, kept);
    assert_int_equal(capacity, had);
    assert_int_equal(numbers[9999], 10000);
    zn_free(numbers);
}

ZN_TEST(arena_hands_out_zeroed_memory)
{
    zn_arena arena = {0};
    uint8_t *part[500];
    for (int again = 0; again < 2; again++) {
        for (size_t i = 0; i < 500; i++) {
            size_t size = i * 37 % 5000;
            part[i] = zn_arena_alloc(&arena, size);
            assert_non_null(part[i]);
            assert_int_equal((uintptr_t)part[i] % 16, 0);
            assert_true(all_zero(part[i], size));
            memset(part[i], (int)i, size);
        }
        for (size_t i = 0; i < 500; i++) { // nobody wrote over a neighbour
            for (size_t j = 0; j < i * 37 % 5000; j++) assert_int_equal(part[i][j], (uint8_t)i);
        }
        uint8_t *large = zn_arena_alloc(&arena, 3 << 20);
        assert_true(all_zero(large, 3 << 20));
        assert_true(arena.used >= 3 << 20);
        assert_string_equal(zn_arena_text(&arena, "a name"), "a name");
        zn_arena_free(&arena);
        assert_null(arena.blocks);
        assert_int_equal(arena.used, 0);
    }
    assert_null(zn_arena_alloc(&arena, SIZE_MAX));
    assert_null(zn_arena_alloc(&arena, SIZE_MAX - 15));
    assert_null(zn_arena_alloc(&arena, PTRDIFF_MAX));
    zn_arena_free(&arena);
}
