// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See parts.h: what a run is beside its config, who may write its output folder, and whether
// several processes begin with the same.
#include "src/base/memory.h"
#include "src/base/sha256.h"
#include "src/base/text.h"
#include "src/model/locate.h"
#include "src/train/run/parts.h"

#include <string.h>

void zn_trainer_record(zn_trainer *t, const char *key, const char sha256[65])
{
    zn_train_read *read = &t->read;
    struct zn_train_content *content = &read->contents[read->count++];
    content->key = key;
    memcpy(content->sha256, sha256, sizeof content->sha256);
}

static void digest(const char *text, char hex[65])
{
    zn_sha256 hash;
    zn_sha256_begin(&hash);
    zn_sha256_add(&hash, text, strlen(text));
    zn_sha256_end(&hash, hex);
}

void zn_trainer_record_text(zn_trainer *t, const char *key, const char *text)
{
    char hex[65];
    digest(text, hex);
    zn_trainer_record(t, key, hex);
}

zenith_status zn_trainer_claim(zn_trainer *t, zn_error *err)
{
    const char *folder = t->config.output;
    char path[ZN_PATH_SIZE];
    if (t->ranks.rank != 0 || t->lock) return ZENITH_OK;
    if (zn_text_format(path, sizeof path, "%s/.lock", folder) + 1 >= sizeof path)
        return zn_fail(err, ZENITH_LIMIT, "\"output\" is too long a path: '%s'", folder);
    ZN_TRY(zn_directory_make(folder, err));
    ZN_TRY(zn_lock_take(path, &t->lock, err));
    if (t->lock) return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "another run is writing to the folder '%s': wait until it ends, or choose "
                   "another \"output\"",
                   folder);
}

// --- several processes ---------------------------------------------------------------------------

enum { CONFIG, DATA, STEP, STATE, SUBJECTS };
static const char *const subjects[SUBJECTS] = {"config", "training data", "step", "weights"};

static void digest_state(const zn_optimizer *o, char hex[65])
{
    const size_t bytes = o->count * sizeof *o->weights;
    zn_sha256 hash;
    zn_sha256_begin(&hash);
    zn_sha256_add(&hash, o->weights, bytes);
    zn_sha256_add(&hash, o->m, bytes);
    zn_sha256_add(&hash, o->v, bytes);
    if (o->ema) zn_sha256_add(&hash, o->ema, bytes);
    zn_sha256_end(&hash, hex);
}

static void digest_step(const zn_optimizer *o, char hex[65])
{
    char text[128];
    zn_text_format(text, sizeof text, "%llu %d %llu", (unsigned long long)o->step,
                   o->scale.exponent, (unsigned long long)o->scale.steps);
    digest(text, hex);
}

// The first subject of which some rank has another; differs[rank * SUBJECTS + subject].
static zenith_status tell(const zn_trainer *t, const float *differs, zn_error *err)
{
    char ranks[128] = "";
    size_t length = 0;
    for (size_t s = 0; s < SUBJECTS; s++) {
        for (size_t r = 0; r < (size_t)t->ranks.count; r++)
            if (differs[r * SUBJECTS + s] > 0 && length < sizeof ranks)
                length += zn_text_format(ranks + length, sizeof ranks - length, "%s%zu",
                                         length ? ", " : "", r);
        if (length > 0)
            return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                           "the processes do not begin with the same %s: rank 0 differs from rank "
                           "%s. All of them need the same config, data and \"output\" folder",
                           subjects[s], ranks);
    }
    return ZENITH_OK;
}

zenith_status zn_trainer_agree(zn_trainer *t, const zn_run_identity *identity, zn_error *err)
{
    char own[SUBJECTS][65], first[SUBJECTS][65];
    const size_t all = (size_t)t->ranks.count * SUBJECTS;
    if (t->ranks.count == 1) return ZENITH_OK;
    digest(identity->config, own[CONFIG]);
    digest(identity->data, own[DATA]);
    digest_step(&t->optimizer, own[STEP]);
    digest_state(&t->optimizer, own[STATE]);
    memcpy(first, own, sizeof first);
    ZN_TRY(zn_ranks_spread(&t->ranks, first, sizeof first, err));
    float *differs = zn_alloc_zero(all * sizeof *differs);
    if (!differs) return zn_fail_memory(err, all * sizeof *differs);
    for (size_t s = 0; s < SUBJECTS; s++)
        differs[(size_t)t->ranks.rank * SUBJECTS + s] = strcmp(own[s], first[s]) != 0;
    zenith_status status = zn_ranks_sum(&t->ranks, differs, all, err);
    if (status == ZENITH_OK) status = tell(t, differs, err);
    zn_free(differs);
    return status;
}
