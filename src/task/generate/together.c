// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/task/generate/together.h"

#include "src/base/memory.h"
#include "src/ranks/ranks.h"

struct zn_together {
    zn_ranks ranks;
    zn_share share;
    zn_generation asked; // of the picture that is made
    bool over;           // another process has ended
    bool failed;
};

// Every sum asks all whether to stop: so they stop at the same one.
static zenith_status sum(void *cookie, float *values, size_t count, zn_error *err)
{
    zn_together *t = cookie;
    const atomic_int *cancel = t->asked.cancel;
    int stop = cancel && atomic_load_explicit(cancel, memory_order_relaxed) != 0;
    ZN_TRY(zn_ranks_agree(&t->ranks, &stop, err));
    if (stop) return zn_fail(err, ZENITH_CANCELLED, "cancelled");
    return zn_ranks_sum(&t->ranks, values, count, err);
}

static int stepped(void *cookie, int step, const float *latent, const float *predicted)
{
    zn_together *t = cookie;
    const zn_generation *asked = &t->asked;
    int stop = asked->stepped ? asked->stepped(asked->cookie, step, latent, predicted) != 0 : 0;
    if (zn_ranks_agree(&t->ranks, &stop, NULL) == ZENITH_OK) return stop;
    t->failed = true;
    return 1;
}

zenith_status zn_together_open(zn_together **out, zn_error *err)
{
    zn_together *t = zn_alloc_zero(sizeof *t);
    if (!t) return zn_fail_memory(err, sizeof *t);
    zenith_status status = zn_ranks_open(&t->ranks, err);
    if (status == ZENITH_OK && t->ranks.count > 1) {
        t->share = (zn_share){t->ranks.rank, t->ranks.count, sum, t};
        *out = t;
        return ZENITH_OK;
    }
    zn_ranks_close(&t->ranks, status == ZENITH_OK);
    zn_free(t);
    if (status == ZENITH_OK) *out = NULL;
    return status;
}

void zn_together_free(zn_together *together)
{
    if (!together) return;
    int ends = 1;
    if (!together->failed && !together->over)
        together->failed = zn_ranks_agree(&together->ranks, &ends, NULL) != ZENITH_OK;
    zn_ranks_close(&together->ranks, !together->failed);
    zn_free(together);
}

void zn_together_fail(zn_together *together)
{
    if (together) together->failed = true;
}

const zn_share *zn_together_share(const zn_together *together)
{
    return together ? &together->share : NULL;
}

zenith_status zn_together_enter(zn_together *together, zn_together_same *same, zn_generation *how,
                                zn_error *err)
{
    if (!together) return ZENITH_OK;
    int ends = together->over;
    if (!ends) ZN_TRY(zn_ranks_agree(&together->ranks, &ends, err));
    together->over = ends;
    if (ends)
        return zn_fail(err, ZENITH_CANCELLED,
                       "another process has ended, and the others make no picture without it");
    uint64_t spread[] = {same->seed, same->text, same->transformer};
    ZN_TRY(zn_ranks_spread(&together->ranks, spread, sizeof spread, err));
    *same = (zn_together_same){spread[0], (zenith_dtype)spread[1], (zenith_dtype)spread[2]};
    together->asked = *how;
    how->cancel = NULL; // one process that saw it alone would leave the others waiting
    how->stepped = stepped;
    how->cookie = together;
    return ZENITH_OK;
}

zenith_status zn_together_leave(zn_together *together, zenith_status status)
{
    if (together && status != ZENITH_OK && status != ZENITH_CANCELLED) together->failed = true;
    return status;
}
