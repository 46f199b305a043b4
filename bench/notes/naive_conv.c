// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/notes/naive_conv.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct maps {
    float *x, *y, *w; // x [h, w, in], y [h', w', out], w [k, k, in, out], as the documents lay them
} maps;

// One tap of one pixel: the innermost loops of all three.
static void tap(const naive_conv *c, float *x, float *y, float *w, naive_what what)
{
    for (int i = 0; i < c->in; i++) {
        float *weights = w + i * c->out, sum = 0;
        if (what == NAIVE_FORWARD)
            for (int o = 0; o < c->out; o++) y[o] += x[i] * weights[o];
        else if (what == NAIVE_WEIGHTS)
            for (int o = 0; o < c->out; o++) weights[o] += x[i] * y[o];
        else
            for (int o = 0; o < c->out; o++) sum += y[o] * weights[o];
        if (what == NAIVE_DATA) x[i] += sum;
    }
}

static void run(const naive_conv *c, const maps *m, int begin, int end, naive_what what)
{
    for (int row = begin; row < end; row++) {
        for (int column = 0; column < c->width; column++) {
            for (int t = 0; t < c->kernel * c->kernel; t++) {
                const int y = row * c->stride + t / c->kernel - c->pad;
                const int x = column * c->stride + t % c->kernel - c->pad;
                if (y < 0 || y >= c->src_height || x < 0 || x >= c->src_width) continue;
                tap(c, m->x + (y * c->src_width + x) * c->in,
                    m->y + (row * c->width + column) * c->out, m->w + t * c->in * c->out, what);
            }
        }
    }
}

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static float *make(size_t count)
{
    float *values = malloc(count * sizeof *values);
    if (!values) {
        fprintf(stderr, "bench_seeds: no memory\n");
        exit(1);
    }
    for (size_t i = 0; i < count; i++) values[i] = (float)(i % 7) * 1e-3f;
    return values;
}

double naive_conv_seconds(const naive_conv *c, int rows, naive_what what)
{
    const size_t kernel = (size_t)c->kernel * (size_t)c->kernel;
    maps m = {make((size_t)c->in * (size_t)c->src_height * (size_t)c->src_width),
              make((size_t)c->out * (size_t)c->height * (size_t)c->width),
              make((size_t)c->out * (size_t)c->in * kernel)};
    const int count = c->height / rows > 0 ? c->height / rows : 1;
    const int begin_row = (c->height - count) / 2;
    const double begin = seconds();
    run(c, &m, begin_row, begin_row + count, what);
    const double taken = (seconds() - begin) * c->height / count;
    volatile float used = m.x[0] + m.y[0] + m.w[0];
    (void)used;
    free(m.x);
    free(m.y);
    free(m.w);
    return taken;
}
