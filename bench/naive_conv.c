// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/naive_conv.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct maps {
    float *x, *y, *w; // x [in, h, w], y [out, h', w'], w [out, in, k, k]
} maps;

// y += x * w, the order of loops that everybody writes first.
static void forward(const naive_conv *c, const maps *m, int begin, int end)
{
    for (int o = 0; o < c->out; o++) {
        for (int row = begin; row < end; row++) {
            for (int column = 0; column < c->width; column++) {
                float sum = 0;
                for (int i = 0; i < c->in; i++) {
                    for (int a = 0; a < c->kernel; a++) {
                        for (int b = 0; b < c->kernel; b++) {
                            const int y = row * c->stride + a - c->pad;
                            const int x = column * c->stride + b - c->pad;
                            if (y < 0 || y >= c->src_height || x < 0 || x >= c->src_width) continue;
                            sum += m->x[(i * c->src_height + y) * c->src_width + x] *
                                   m->w[((o * c->in + i) * c->kernel + a) * c->kernel + b];
                        }
                    }
                }
                m->y[(o * c->height + row) * c->width + column] = sum;
            }
        }
    }
}

// Gradients of x (dx += dy * w) or of the weights (dw += dy * x), in the same order.
static void backward(const naive_conv *c, const maps *m, int begin, int end, int of_weights)
{
    for (int o = 0; o < c->out; o++) {
        for (int row = begin; row < end; row++) {
            for (int column = 0; column < c->width; column++) {
                const float dy = m->y[(o * c->height + row) * c->width + column];
                for (int i = 0; i < c->in; i++) {
                    for (int a = 0; a < c->kernel; a++) {
                        for (int b = 0; b < c->kernel; b++) {
                            const int y = row * c->stride + a - c->pad;
                            const int x = column * c->stride + b - c->pad;
                            if (y < 0 || y >= c->src_height || x < 0 || x >= c->src_width) continue;
                            float *from = &m->x[(i * c->src_height + y) * c->src_width + x];
                            float
                                *weight = &m->w[((o * c->in + i) * c->kernel + a) * c->kernel + b];
                            if (of_weights)
                                *weight += dy * *from;
                            else
                                *from += dy * *weight;
                        }
                    }
                }
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
    if (what == NAIVE_FORWARD)
        forward(c, &m, begin_row, begin_row + count);
    else
        backward(c, &m, begin_row, begin_row + count, what == NAIVE_WEIGHTS);
    const double taken = (seconds() - begin) * c->height / count;
    volatile float used = m.x[0] + m.y[0] + m.w[0];
    (void)used;
    free(m.x);
    free(m.y);
    free(m.w);
    return taken;
}
