// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The list of plans, from the one that is chosen without measurements:
//
//     bands of b rows      that, whole maps, bands of 2 b, bands of b / 2
//     whole maps           that, bands as chosen, bands of 4, bands of 16
//
// A plan of the list may take twice the memory of the first and 256 MB. Another program may be
// running while one of them is measured: the first stays unless the longest time of another is
// shorter than its own least by 3 %.
#include "src/task/engine/tuner.h"

#include "src/base/os.h"
#include "src/base/text.h"
#include "src/format/pipeline/tunings.h"

#include <string.h>

enum { PLANS = ZN_TUNING_PLANS, USES = PLANS * ZN_TUNING_ROUNDS };
static const double WORTH = 0.97;
static const uint64_t SPARE = 256u << 20;

struct zn_tuner {
    zn_mutex *lock;
    char *path;
    char machine[128]; // the CPU's name, its class and flags, threads, and our version
    zn_tunings known;
};

zenith_status zn_tuner_create(const char *path, const zn_cpu *cpu, int threads, zn_tuner **out,
                              zn_error *err)
{
    char name[ZN_CPU_NAME];
    zn_tuner *tuner = zn_alloc_zero(sizeof *tuner);
    if (!tuner) return zn_fail_memory(err, sizeof *tuner);
    zenith_status status;
    const size_t size = strlen(path) + 1;
    tuner->path = zn_alloc(size);
    if (!tuner->path) ZN_GO(zn_fail_memory(err, size));
    memcpy(tuner->path, path, size);
    ZN_GO(zn_mutex_create(&tuner->lock, err));
    zn_cpu_name(name);
    zn_text_format(tuner->machine, sizeof tuner->machine, "%s, %s %x, %d threads, %s", name,
                   zn_cpu_class(cpu->flags), cpu->flags, threads, ZENITH_VERSION_TEXT);
    if (zn_tunings_read(path, &tuner->known, NULL) == ZENITH_OUT_OF_MEMORY)
        ZN_GO(zn_fail_memory(err, sizeof(zn_tuning)));
    *out = tuner;
    return ZENITH_OK;
fail:
    zn_tuner_free(tuner);
    return status;
}

void zn_tuner_free(zn_tuner *tuner)
{
    if (!tuner) return;
    zn_tunings_free(&tuner->known);
    zn_mutex_free(tuner->lock);
    zn_free(tuner->path);
    zn_free(tuner);
}

static void write_key(const zn_tuner *tuner, const zn_compile_key *key, char dst[ZN_TUNING_KEY])
{
    const zn_sizes *sizes = &key->sizes;
    zn_text_format(dst, ZN_TUNING_KEY, "%s, %s %llu, %s, %lld x %lld, step %d, type %d, pixels %d",
                   tuner->machine, key->model->variant->name,
                   (unsigned long long)key->model->parameters, key->part->name,
                   (long long)sizes->height, (long long)sizes->width, (int)sizes->step,
                   (int)key->dtype, (int)key->pixels);
}

static void set_plan(zn_compile_key *key, const zn_tuning *known, int plan)
{
    const int64_t half = known->band > 1 ? known->band / 2 : 1;
    const struct {
        zn_plan_mode mode;
        int64_t band;
    } rolling[PLANS] = {{ZN_PLAN_AUTO, 0},
                        {ZN_PLAN_PLANES, 0},
                        {ZN_PLAN_ROLLING, 2 * known->band},
                        {ZN_PLAN_ROLLING, half}},
      planes[PLANS] = {
          {ZN_PLAN_AUTO, 0}, {ZN_PLAN_ROLLING, 0}, {ZN_PLAN_ROLLING, 4}, {ZN_PLAN_ROLLING, 16}};
    key->mode = (known->planes ? planes : rolling)[plan].mode;
    key->band = (known->planes ? planes : rolling)[plan].band;
}

static int fastest(const zn_tuning *known)
{
    int best = 0;
    double least = WORTH * known->seconds[0];
    for (int i = 1; i < PLANS; i++) {
        if (known->seconds[i] <= 0 || known->seconds[i] >= least) continue;
        best = i;
        least = known->seconds[i];
    }
    return best;
}

// The plan that the next use measures; those that cannot be had are passed over. -1: all are
// measured.
static int next_plan(const zn_tuning *known)
{
    for (int use = known->uses; use < USES; use++)
        if (known->seconds[use % PLANS] >= 0) return use % PLANS;
    return -1;
}

zn_trial zn_tuner_choose(zn_tuner *tuner, zn_compile_key *key)
{
    zn_trial trial = {.plan = -1};
    char name[ZN_TUNING_KEY];
    if (!tuner || key->mode != ZN_PLAN_AUTO) return trial;
    write_key(tuner, key, name);
    zn_mutex_lock(tuner->lock);
    const zn_tuning *known = zn_tunings_find(&tuner->known, name, false);
    trial.plan = known ? next_plan(known) : 0;
    if (known) set_plan(key, known, trial.plan >= 0 ? trial.plan : fastest(known));
    if (key->mode != ZN_PLAN_AUTO) trial.max_bytes = 2 * known->bytes + SPARE;
    zn_mutex_unlock(tuner->lock);
    return trial;
}

// What other processes have found is taken over: the file is read again before it is written. Where
// it cannot be written, this process still knows.
static void save(zn_tuner *tuner)
{
    (void)!zn_tunings_read(tuner->path, &tuner->known, NULL);
    (void)!zn_tunings_write(&tuner->known, tuner->path, NULL);
}

void zn_tuner_note(zn_tuner *tuner, const zn_compile_key *key, const zn_trial *trial,
                   const zn_plan *plan, double seconds)
{
    char name[ZN_TUNING_KEY];
    if (!tuner || trial->plan < 0) return;
    write_key(tuner, key, name);
    zn_mutex_lock(tuner->lock);
    zn_tuning *known = zn_tunings_find(&tuner->known, name, trial->plan == 0);
    // Streams may have measured the same plan at once: the first that is done counts.
    if (known && (known->uses == 0 || next_plan(known) == trial->plan)) {
        double *kept = &known->seconds[trial->plan];
        if (known->uses == 0) {
            known->planes = zn_plan_chosen_mode(plan) == ZN_PLAN_PLANES;
            known->band = zn_plan_band(plan);
            known->bytes = zn_plan_bytes(plan);
        }
        if (seconds < 1e-9) seconds = 1e-9;
        if (!plan)
            *kept = -1;
        else if (*kept == 0 || (trial->plan == 0 ? seconds < *kept : seconds > *kept))
            *kept = seconds;
        while (known->uses < USES && known->uses % PLANS != trial->plan) known->uses++;
        known->uses++;
        save(tuner);
    }
    zn_mutex_unlock(tuner->lock);
}
