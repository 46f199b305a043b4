// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Noise as torch makes it: on the CPU against its own numbers
// (tools/goldens/make_noise_goldens.py), by CUDA against numbers that a GPU printed, and against
// the layout of threads and calls written out.
#include "tests/model/weight_files.h"

#include "src/base/memory.h"
#include "src/base/random.h"
#include "src/diffusion/noise.h"
#include "src/format/tensor/safetensors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const uint64_t seeds[] = {0, 42, ((uint64_t)1 << 40) + 7};
static const size_t counts[] = {1, 2, 15, 16, 17, 100, 1536};

ZN_TEST(as_torch_on_the_cpu)
{
    zn_safetensors *golden = tensors_at(
        zn_test_path(zn_test_source(), "tests/golden/noise.safetensors"));
    size_t equal = 0, all = 0;
    for (size_t s = 0; s < 3; s++) {
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            static float expected[1536], got[1536];
            char name[64];
            snprintf(name, sizeof name, "torch.%llu.%zu", (unsigned long long)seeds[s], counts[c]);
            const zn_file_tensor *tensor = zn_safetensors_find(golden, name);
            assert_non_null(tensor);
            assert_int_equal(tensor->bytes, counts[c] * sizeof(float));
            memcpy(expected, tensor->data, tensor->bytes);
            zn_noise_fill(ZN_NOISE_TORCH, seeds[s], 0, got, counts[c]);
            for (size_t i = 0; i < counts[c]; i++) {
                // Of fewer than 16, another C library may round to the neighbouring number.
                const float allowed = counts[c] < 16 ? 1.2e-7f * fabsf(expected[i]) : 0;
                if (!(fabsf(got[i] - expected[i]) <= allowed))
                    fail_msg("%s: number %zu is %.9g, torch's %.9g", name, i, (double)got[i],
                             (double)expected[i]);
                equal += memcmp(&got[i], &expected[i], sizeof *got) == 0;
                all++;
            }
        }
    }
    print_message("%zu of %zu numbers are torch's to the last bit\n", equal, all);
    assert_true(equal * 100 >= all * 99);
    zn_safetensors_free(golden);
}

// torch.randn on a GPU after torch.manual_seed(0), as printed: the first 20 of 64 numbers.
ZN_TEST(as_torch_by_cuda)
{
    static const float printed[] = {-0.9247f, -0.4253f, -2.6438f, 0.1452f,  -0.1209f,
                                    -0.5797f, -0.6229f, -0.3284f, -1.0745f, -0.3631f,
                                    -1.6711f, 2.2655f,  0.3117f,  -0.1842f, 1.2866f,
                                    1.1820f,  -0.1271f, 1.2169f,  1.4353f,  1.0605f};
    float got[64];
    zn_noise_fill(ZN_NOISE_CUDA, 0, 0, got, 64);
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++)
        if (!(fabsf(got[i] - printed[i]) <= 6e-5f))
            fail_msg("number %zu is %.6f, a GPU's %.4f", i, (double)got[i], (double)printed[i]);
}

// With fewer threads than numbers, each makes four a call, and the next call's lie behind all of
// those.
ZN_TEST(threads_of_a_gpu)
{
    enum { THREADS = 256, COUNT = 4 * THREADS + 300 };
    static float got[COUNT], wide[COUNT];
    const uint64_t seed = 0x123456789abcull;
    const uint32_t key[2] = {0x56789abcu, 0x1234u};
    zn_noise_fill(ZN_NOISE_CUDA, seed, THREADS, got, COUNT);
    zn_noise_fill(ZN_NOISE_CUDA, seed, 0, wide, COUNT);
    assert_memory_equal(got, wide, THREADS * sizeof(float)); // the first number of each thread
    assert_memory_not_equal(got + THREADS, wide + THREADS, THREADS * sizeof(float));
    static const struct {
        int at, thread, call, taken;
    } places[] = {{0, 0, 0, 0},
                  {255, 255, 0, 0},
                  {256, 0, 0, 1},
                  {511 + 7, 6, 0, 2},
                  {3 * 256 + 9, 9, 0, 3},
                  {1024, 0, 1, 0},
                  {1024 + 256 + 40, 40, 1, 1}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const uint32_t counter[4] = {(uint32_t)places[i].call, 0, (uint32_t)places[i].thread, 0};
        uint32_t words[4];
        zn_philox4x32(counter, key, words);
        const int pair = places[i].taken / 2 * 2;
        const double u = ((double)words[pair] + 0.5) * 0x1p-32;
        const double angle = ((double)words[pair + 1] + 0.5) * 0x1p-32 * 2 * 3.14159265358979;
        const double radius = sqrt(-2 * log(u));
        const double expected = radius * (places[i].taken % 2 ? cos(angle) : sin(angle));
        assert_true(fabs((double)got[places[i].at] - expected) < 1e-5);
    }
}

ZN_TEST(distribution)
{
    enum { COUNT = 1 << 16 };
    float *values = zn_alloc(COUNT * sizeof *values);
    assert_non_null(values);
    for (int kind = 0; kind < 2; kind++) {
        double sum = 0, squares = 0;
        zn_noise_fill(kind ? ZN_NOISE_CUDA : ZN_NOISE_TORCH, 99, 0, values, COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            sum += (double)values[i];
            squares += (double)values[i] * (double)values[i];
        }
        assert_true(fabs(sum / COUNT) < 0.02 && fabs(squares / COUNT - 1) < 0.03);
    }
    zn_free(values);
}
