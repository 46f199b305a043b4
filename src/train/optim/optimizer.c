// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/train/optim/optimizer.h"

#include "src/base/denormals.h"
#include "src/base/memory.h"

#include <math.h>
#include <stdatomic.h>

enum { LANES = 16 };

// What one step needs of the settings, once for all elements. Products of settings are made in
// double and rounded once, as PyTorch does.
typedef struct factors {
    float gradient;              // scale and clipping
    float kept;                  // 1 - lr * weight_decay
    float first, beta2, second;  // 1 - beta1, beta2, 1 - beta2
    float root, eps, step, fade; // of the second moment's correction; step size; 1 - ema
} factors;

typedef struct work {
    zn_optimizer *optimizer;
    factors factors[ZN_OPTIMIZER_PARTS];
    void (*piece)(const struct work *work, size_t index, size_t begin, size_t end);
    atomic_size_t next;
} work;

static float *block(size_t count)
{
    return zn_alloc_zero(count * sizeof(float));
}

static zn_loss_scale first_scale(const zn_train_optimizer *settings)
{
    zn_loss_scale scale = {.used = settings->loss_scale > 0};
    if (scale.used) scale.exponent = ilogb(settings->loss_scale);
    return scale;
}

zenith_status zn_optimizer_create(const zn_train_optimizer *settings, size_t count,
                                  uint64_t all_steps, zn_executor *run, zn_optimizer *out,
                                  zn_error *err)
{
    size_t pieces = (count + ZN_OPTIMIZER_PIECE - 1) / ZN_OPTIMIZER_PIECE;
    zn_optimizer o = {
        .parts = {{.settings = *settings, .end = count}, {.begin = count, .end = count}},
        .count = count,
        .all_steps = all_steps,
        .run = run,
        .scale = first_scale(settings),
        .weights = block(count),
        .gradient = block(count),
        .m = block(count),
        .v = block(count),
        .ema = settings->ema > 0 ? block(count) : NULL,
        .squares = zn_alloc_zero(pieces * sizeof(double))};
    if (!o.weights || !o.gradient || !o.m || !o.v || (settings->ema > 0 && !o.ema) || !o.squares) {
        zn_optimizer_free(&o);
        return zn_fail_memory(err, count * sizeof(float));
    }
    *out = o;
    return ZENITH_OK;
}

void zn_optimizer_divide(zn_optimizer *o, size_t begin, const zn_train_optimizer *settings)
{
    o->parts[0].end = begin;
    o->parts[1] = (zn_optimizer_part){.settings = *settings, .begin = begin, .end = o->count};
}

void zn_optimizer_free(zn_optimizer *o)
{
    zn_free(o->weights);
    zn_free(o->gradient);
    zn_free(o->m);
    zn_free(o->v);
    zn_free(o->ema);
    zn_free(o->squares);
    *o = (zn_optimizer){0};
}

double zn_optimizer_rate(const zn_train_optimizer *s, uint64_t step, uint64_t all_steps)
{
    const double pi = 3.14159265358979323846;
    uint64_t warmup = (uint64_t)s->warmup;
    if (step < warmup) return s->lr * (double)(step + 1) / (double)warmup;
    if (step >= all_steps) return s->min_lr;
    double done = (double)(step - warmup) / (double)(all_steps - warmup);
    return s->min_lr + (s->lr - s->min_lr) * 0.5 * (1 + cos(pi * done));
}

// --- pieces -------------------------------------------------------------------------------------

// LANES sums side by side, added up in one order: a compiler may compute them on vectors of any
// width.
static void sum_squares(const work *w, size_t index, size_t begin, size_t end)
{
    const float *gradient = w->optimizer->gradient;
    double sums[LANES] = {0}, all = 0;
    size_t i = begin;
    for (; i + LANES <= end; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            sums[j] += (double)gradient[i + j] * (double)gradient[i + j];
    for (; i < end; i++) all += (double)gradient[i] * (double)gradient[i];
    for (size_t j = 0; j < LANES; j++) all += sums[j];
    w->optimizer->squares[index] = all;
}

static void update(const work *w, size_t index, size_t begin, size_t end)
{
    const bool second = begin >= w->optimizer->parts[1].begin;
    const factors f = w->factors[second];
    float *restrict weights = w->optimizer->weights, *restrict m = w->optimizer->m;
    float *restrict v = w->optimizer->v;
    const float *restrict gradient = w->optimizer->gradient;
    (void)index;
    for (size_t i = begin; i < end; i++) {
        float g = gradient[i] * f.gradient;
        m[i] += f.first * (g - m[i]);
        v[i] = v[i] * f.beta2 + f.second * g * g;
        weights[i] = weights[i] * f.kept - f.step * (m[i] / (sqrtf(v[i]) / f.root + f.eps));
    }
    float *restrict ema = second ? NULL : w->optimizer->ema;
    for (size_t i = begin; ema && i < end; i++) ema[i] += f.fade * (weights[i] - ema[i]);
}

static void take_pieces(void *arg, size_t first, size_t last)
{
    work *w = arg;
    size_t count = w->optimizer->count;
    (void)first;
    (void)last;
    for (;;) {
        size_t index = atomic_fetch_add(&w->next, 1), begin = index * ZN_OPTIMIZER_PIECE;
        if (begin >= count) return;
        size_t end = count - begin < ZN_OPTIMIZER_PIECE ? count : begin + ZN_OPTIMIZER_PIECE;
        w->piece(w, index, begin, end);
    }
}

// Every thread of every stream takes pieces until there are none. Moments of gradients that vanish
// fall below 1.2e-38 and would stay there: 0.999 of the smallest numbers is rounded to themselves.
static zenith_status run_stream(void *arg, zn_team *team, int stream)
{
    const bool before = zn_denormals_flushed();
    (void)stream;
    zn_team_flush_denormals(team, true);
    zn_parallel(team, (size_t)zn_team_threads(team), 1, take_pieces, arg);
    zn_team_flush_denormals(team, before);
    return ZENITH_OK;
}

static zenith_status run(work *w, zn_error *err)
{
    zn_executor *executor = w->optimizer->run;
    atomic_init(&w->next, 0);
    if (!executor) return run_stream(w, NULL, 0);
    return zn_executor_run(executor, run_stream, w, zn_executor_streams(executor), err);
}

// The average forgets quickly at first: what a network begins with is not what it should average.
static factors factors_for(const zn_optimizer_part *part, uint64_t step, float scale)
{
    const zn_train_optimizer *s = &part->settings;
    double t = (double)(step + 1), rate = part->lr;
    double first = 1 - pow(s->beta1, t), second = 1 - pow(s->beta2, t), clip = 1;
    if (s->clip > 0 && part->norm > 0) clip = fmin(1, s->clip / (part->norm + 1e-6));
    return (factors){.gradient = (float)((double)scale * clip),
                     .kept = (float)(1 - rate * s->weight_decay),
                     .first = (float)(1 - s->beta1),
                     .beta2 = (float)s->beta2,
                     .second = (float)(1 - s->beta2),
                     .root = (float)sqrt(second),
                     .eps = (float)s->eps,
                     .step = (float)(rate / first),
                     .fade = (float)fmax(1 - s->ema, 9 / (t + 9))};
}

float zn_optimizer_scale(const zn_optimizer *o)
{
    return ldexpf(1, o->scale.exponent);
}

// A gradient that is not finite: of f16, once more with a smaller scale.
static zenith_status refuse(zn_optimizer *o, zn_error *err)
{
    zn_loss_scale *scale = &o->scale;
    if (!scale->used || scale->exponent == 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the gradient of step %llu is not finite%s: a lower \"optimizer.lr\" or a "
                       "\"optimizer.clip\" may help",
                       (unsigned long long)(o->step + 1),
                       scale->used ? ", with a loss scale of 1 too" : "");
    scale->exponent--;
    scale->steps = 0;
    scale->overflows++;
    o->overflowed = true;
    return ZENITH_OK;
}

static void note_success(zn_optimizer *o)
{
    zn_loss_scale *scale = &o->scale;
    o->overflowed = false;
    o->step++;
    if (!scale->used || ++scale->steps < (uint64_t)o->parts[0].settings.scale_window) return;
    scale->steps = 0;
    if (scale->exponent < ZN_LARGEST_SCALE) scale->exponent++;
}

static double norm_of(const zn_optimizer *o, const zn_optimizer_part *part, float scale)
{
    double squares = 0;
    for (size_t i = part->begin; i < part->end; i += ZN_OPTIMIZER_PIECE)
        squares += o->squares[i / ZN_OPTIMIZER_PIECE];
    return sqrt(squares) * (double)scale;
}

zenith_status zn_optimizer_step(zn_optimizer *o, float share, zn_error *err)
{
    const float scale = share / zn_optimizer_scale(o);
    work w = {.optimizer = o, .piece = sum_squares};
    ZN_TRY(run(&w, err));
    for (int i = 0; i < ZN_OPTIMIZER_PARTS; i++) {
        zn_optimizer_part *part = &o->parts[i];
        part->norm = norm_of(o, part, scale);
        if (!isfinite(part->norm)) return refuse(o, err);
        part->lr = zn_optimizer_rate(&part->settings, o->step, o->all_steps);
        w.factors[i] = factors_for(part, o->step, scale);
    }
    w.piece = update;
    ZN_TRY(run(&w, err));
    note_success(o);
    return ZENITH_OK;
}
