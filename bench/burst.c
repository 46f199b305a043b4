// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See burst.h. The loops touch registers only.
#include "bench/burst.h"

#include "src/base/cpu.h"

#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_THREADS = BURST_MOST_THREADS, ROUNDS = 2000 };
static const double duration = 0.020; // seconds

// ROUNDS rounds of a loop; returns their operations.
typedef double burst_fn(void);

static volatile float sink; // keeps the results of loops alive

// --- AMX

typedef struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_config;

// Constant, because gcc 12 believes that loading it reads 8 bytes and drops stores to the others.
static const tile_config eight_full_tiles = {
    .palette = 1,
    .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
    .rows = {16, 16, 16, 16, 16, 16, 16, 16},
};

// Numbers around 1 of either sign. Multiplying zeros draws so little power that a core which is
// held back, as it is when it multiplies in earnest, does not show it.
static const void *some_numbers(void)
{
    static uint16_t numbers[4 * 16 * 32];
    uint32_t state = 1;
    for (int i = 0; i < 4 * 16 * 32; i++) {
        state = state * 1664525u + 1013904223u;
        numbers[i] = (uint16_t)(0x3f00u | (state >> 16 & 0x80ffu));
    }
    return numbers;
}

__attribute__((target("amx-tile,amx-bf16"))) static double burst_amx(void)
{
    const uint8_t *numbers = some_numbers();
    _tile_loadconfig(&eight_full_tiles); // all tiles are zero after it
    __asm__ volatile("" ::: "memory");   // gcc does not know that loading a tile reads memory
    _tile_loadd(4, numbers, 64);
    _tile_loadd(5, numbers + 1024, 64);
    _tile_loadd(6, numbers + 2048, 64);
    _tile_loadd(7, numbers + 3072, 64);
    for (int i = 0; i < ROUNDS; i++) {
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    _tile_release();
    return ROUNDS * 4.0 * (16 * 16 * 32 * 2);
}

// --- FMA: twelve chains cover two units with a latency of four

#define TWELVE(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)

__attribute__((target("avx512f"))) static double burst_avx512(void)
{
    const __m512 a = _mm512_set1_ps(sink + 0.999f), b = _mm512_set1_ps(sink + 0.001f);
    __m512 sums[12];
    for (int i = 0; i < 12; i++) sums[i] = _mm512_set1_ps((float)i);
#define STEP(k) sums[k] = _mm512_fmadd_ps(sums[k], a, b);
    for (int i = 0; i < ROUNDS; i++) {
        TWELVE(STEP)
    }
#undef STEP
    __m512 total = sums[0];
    for (int i = 1; i < 12; i++) total = _mm512_add_ps(total, sums[i]);
    sink = _mm512_cvtss_f32(total) * 0;
    return ROUNDS * 12.0 * (16 * 2);
}

__attribute__((target("avx2,fma"))) static double burst_avx2(void)
{
    const __m256 a = _mm256_set1_ps(sink + 0.999f), b = _mm256_set1_ps(sink + 0.001f);
    __m256 sums[12];
    for (int i = 0; i < 12; i++) sums[i] = _mm256_set1_ps((float)i);
#define STEP(k) sums[k] = _mm256_fmadd_ps(sums[k], a, b);
    for (int i = 0; i < ROUNDS; i++) {
        TWELVE(STEP)
    }
#undef STEP
    __m256 total = sums[0];
    for (int i = 1; i < 12; i++) total = _mm256_add_ps(total, sums[i]);
    sink = _mm256_cvtss_f32(total) * 0;
    return ROUNDS * 12.0 * (8 * 2);
}

// --- VNNI

__attribute__((target("avx512f,avx512vnni"))) static double burst_vnni(void)
{
    const __m512i a = _mm512_set1_epi32(0x01020304 + (int)sink), b = _mm512_set1_epi32(0x04030201);
// Variables, not an array: gcc 12 writes an array that such statements change to memory each time.
// And statements, because gcc 12 copies the sums before and after the intrinsic.
#define BEGIN(k) __m512i sum##k = _mm512_set1_epi32(k);
#define STEP(k)  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum##k) : "v"(a), "v"(b));
#define END(k)   total = _mm512_add_epi32(total, sum##k);
    TWELVE(BEGIN)
    for (int i = 0; i < ROUNDS; i++) {
        TWELVE(STEP)
    }
    __m512i total = _mm512_setzero_si512();
    TWELVE(END)
#undef BEGIN
#undef STEP
#undef END
    sink = (float)_mm512_cvtsi512_si32(total) * 0;
    return ROUNDS * 12.0 * (64 * 2);
}

// --- threads

typedef struct worker {
    pthread_t thread;
    pthread_barrier_t *start;
    burst_fn *burst;
    double rate; // operations a second
} worker;

static double thread_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void *measure(void *arg)
{
    worker *w = arg;
    double operations = 0, seconds = 0;
    pthread_barrier_wait(w->start);
    w->burst(); // wakes the unit
    double begin = thread_seconds();
    while (seconds < duration) {
        operations += w->burst();
        seconds = thread_seconds() - begin;
    }
    w->rate = operations / seconds;
    return NULL;
}

static double sum_of_rates(burst_fn *burst, int threads)
{
    worker workers[MOST_THREADS] = {0};
    pthread_barrier_t start;
    double sum = 0;
    pthread_barrier_init(&start, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++) {
        workers[i] = (worker){.start = &start, .burst = burst};
        if (pthread_create(&workers[i].thread, NULL, measure, &workers[i]) != 0) {
            fprintf(stderr, "probe: cannot start thread %d\n", i);
            exit(1);
        }
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
        sum += workers[i].rate;
    }
    pthread_barrier_destroy(&start);
    return sum;
}

// NULL: the machine (or ZENITH_CPU) has no such unit.
static burst_fn *choose_burst(const char *unit)
{
    zn_cpu cpu = zn_cpu_detect(); // asks for permission to use tiles
    if (strncmp(unit, "amx", 3) == 0) return zn_cpu_has(cpu.flags, ZN_CPU_AMX) ? burst_amx : NULL;
    if (strncmp(unit, "vnni", 4) == 0) return cpu.flags & ZN_CPU_AVX512_VNNI ? burst_vnni : NULL;
    if (cpu.flags & ZN_CPU_AVX512) return burst_avx512;
    return cpu.flags & ZN_CPU_AVX2 ? burst_avx2 : NULL;
}

double burst_rate(const char *unit, int threads)
{
    burst_fn *burst = choose_burst(unit);
    return burst ? sum_of_rates(burst, threads) / 1e9 : 0.0;
}
