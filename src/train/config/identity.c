// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See config.h: what a run is, as text, by which a checkpoint knows its own.
#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/train/config/parts.h"

#include <string.h>

static const char content_tail[] = ".sha256";

typedef struct writing {
    char *text;
    size_t capacity, length;
    zenith_status status;
    zn_error *err;
} writing;

static void put(writing *w, const char *key, const char *value)
{
    size_t needed = w->length + strlen(key) + strlen(value) + sizeof " = \n";
    if (w->status == ZENITH_OK)
        w->status = zn_array_reserve((void **)&w->text, &w->capacity, needed, 1, w->err);
    if (w->status != ZENITH_OK) return;
    w->length += zn_text_format(w->text + w->length, w->capacity - w->length, "%s = %s\n", key,
                                value);
}

static void put_integer(writing *w, const char *key, int64_t value)
{
    char text[32];
    zn_text_format(text, sizeof text, "%lld", (long long)value);
    put(w, key, text);
}

static void put_number(writing *w, const char *key, double value)
{
    char text[400];
    zn_text_format(text, sizeof text, "%.18f", value);
    put(w, key, text);
}

static void put_data(writing *w, const zn_train_config *c)
{
    const zn_corruption *how = &c->data.corrupt;
    put_integer(w, "data.crop", c->data.crop);
    put_integer(w, "data.flip", c->data.flip);
    put_number(w, "data.min_scale", c->data.min_scale);
    if (c->data.whole) put_integer(w, "data.whole", 1);
    put_integer(w, "data.seed", c->data.seed);
    if (how->kind == ZN_CORRUPT_NOTHING) return;
    put_integer(w, "data.corrupt.kind", how->kind);
    put_number(w, "data.corrupt.amount", how->amount);
    put_integer(w, "residual", c->residual);
}

static void put_optimizer(writing *w, const zn_train_optimizer *o)
{
    put_number(w, "optimizer.lr", o->lr);
    put_number(w, "optimizer.min_lr", o->min_lr);
    put_integer(w, "optimizer.warmup", o->warmup);
    put_number(w, "optimizer.beta1", o->beta1);
    put_number(w, "optimizer.beta2", o->beta2);
    put_number(w, "optimizer.eps", o->eps);
    put_number(w, "optimizer.weight_decay", o->weight_decay);
    put_number(w, "optimizer.clip", o->clip);
    put_number(w, "optimizer.ema", o->ema);
    if (o->loss_scale == 0) return;
    put_number(w, "optimizer.loss_scale", o->loss_scale);
    put_integer(w, "optimizer.scale_window", o->scale_window);
}

static void put_losses(writing *w, const zn_train_config *c)
{
    for (size_t i = 0; i < c->losses_count; i++) {
        char key[48];
        zn_text_format(key, sizeof key, "losses.%zu.%s%s", i,
                       zn_loss_name((zn_loss_kind)c->losses[i].kind),
                       c->losses[i].teacher ? ".teacher" : "");
        put_number(w, key, c->losses[i].weight);
    }
    if (!zn_train_find_loss(c, ZN_LOSS_ADVERSARIAL)) return;
    put_number(w, "discriminator.lr", c->discriminator.lr);
    put_integer(w, "discriminator.start", c->discriminator.start);
    put_integer(w, "discriminator.width", c->discriminator.width);
}

static void put_prune(writing *w, const zn_train_prune *p)
{
    if (p->target == 0) return;
    put_number(w, "prune.target", p->target);
    put_integer(w, "prune.begin", p->begin);
    put_integer(w, "prune.end", p->end);
}

static void put_json(writing *w, const char *key, const zn_json *value)
{
    char *text = NULL;
    if (!value || w->status != ZENITH_OK) return;
    w->status = zn_json_dump(value, &text, NULL, w->err);
    if (w->status == ZENITH_OK) put(w, key, text);
    zn_free(text);
}

// What is not said of autoencoders, so that their identities stay as they were.
static void put_task(writing *w, const zn_train_config *c)
{
    if (c->task == ZN_TRAIN_AUTOENCODER || w->status != ZENITH_OK) return;
    put(w, "task", zn_train_task_name(c->task));
    if (c->autoencoder && c->task != ZN_TRAIN_WORDS) put(w, "autoencoder", c->autoencoder);
    put_json(w, "network", c->network);
    if (c->task != ZN_TRAIN_WORDS) return;
    put_json(w, "text", c->text_network);
    put_number(w, "data.drop", c->data.drop);
    put_number(w, "timesteps.mean", c->timesteps.mean);
    put_number(w, "timesteps.deviation", c->timesteps.deviation);
    if (c->stack != 1) put_integer(w, "stack", c->stack);
    if (c->distil.steps == 0) return;
    if (c->timesteps.shift != 1) put_number(w, "timesteps.shift", c->timesteps.shift);
    put_integer(w, "distil.steps", c->distil.steps);
    put_integer(w, "distil.inner", c->distil.inner);
    put_number(w, "distil.guidance", c->distil.guidance);
}

zenith_status zn_train_config_identity(const zn_train_config *c, const zn_train_read *read,
                                       char **out, zn_error *err)
{
    writing w = {.err = err};
    put(&w, "model", c->model);
    put_task(&w, c);
    put_integer(&w, "part", c->part);
    put(&w, "init.weights", c->weights ? c->weights : "");
    if (c->draft) put(&w, "draft", c->draft);
    put_integer(&w, "init.seed", c->init_seed);
    put_integer(&w, "init.width", c->width);
    if (c->rule != ZN_INIT_HE) put_integer(&w, "init.rule", c->rule);
    if (c->score != ZN_TRAIN_USUAL_SCORE) put_number(&w, "init.score", c->score);
    if (c->donor) put(&w, "init.model", c->donor);
    if (c->layout) put(&w, "init.layout", c->layout);
    put(&w, "frozen.model", c->frozen ? c->frozen : c->model);
    put_data(&w, c);
    put_integer(&w, "batch", c->batch);
    put_integer(&w, "accumulate", c->accumulate);
    put_integer(&w, "steps", c->steps);
    put_optimizer(&w, &c->optimizer);
    put_losses(&w, c);
    put_prune(&w, &c->prune);
    if (c->feature_window) put_integer(&w, "feature_window", c->feature_window);
    put(&w, "dtype", zn_type_name((zn_type)c->dtype));
    if (c->quantise != ZN_F32) put(&w, "quantise.type", zn_type_name((zn_type)c->quantise));
    for (size_t i = 0; i < read->count; i++) {
        char key[64];
        zn_text_format(key, sizeof key, "%s%s", read->contents[i].key, content_tail);
        put(&w, key, read->contents[i].sha256);
    }
    if (w.status != ZENITH_OK) {
        zn_free(w.text);
        return w.status;
    }
    *out = w.text;
    return ZENITH_OK;
}

// The length of the key where both lines are of the same content; else 0.
static int content_key(const char *a, const char *b)
{
    const size_t key = strcspn(a, " \n"), tail = strlen(content_tail);
    if (key != strcspn(b, " \n") || memcmp(a, b, key) != 0 || key <= tail) return 0;
    return memcmp(a + key - tail, content_tail, tail) == 0 ? (int)(key - tail) : 0;
}

static zenith_status fail_line(const char *now, int a, const char *stored, int b, zn_error *err)
{
    const int content = content_key(now, stored);
    if (content > 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the checkpoint is of another run: what \"%.*s\" names has changed since "
                       "the run began (%.*s%s is another)",
                       content, now, content, now, content_tail);
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "the checkpoint is of another run: it has '%.*s' where the config has '%.*s'", b,
                   stored, a, now);
}

static int line_length(const char *text)
{
    return (int)strcspn(text, "\n");
}

zenith_status zn_train_config_agree(const char *identity, const char *stored, zn_error *err)
{
    while (*identity || *stored) {
        int a = line_length(identity), b = line_length(stored);
        if (a != b || memcmp(identity, stored, (size_t)a) != 0)
            return fail_line(identity, a, stored, b, err);
        identity += a + (identity[a] == '\n');
        stored += b + (stored[b] == '\n');
    }
    return ZENITH_OK;
}
