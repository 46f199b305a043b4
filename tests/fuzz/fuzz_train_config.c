// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A training config of each task, with other numbers, words, paths and nesting: pairs of bytes
// choose a value of the text and what stands there instead. An input that begins with '{' is a
// config as it is. Whatever is accepted keeps what config.h promises, and is the same run as
// itself.
#include "src/base/memory.h"
#include "src/train/config/config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROOM = 16384, MOST_VALUES = 256, BASES = 5 };

// Single quotes stand for double ones.
static const char *const bases[BASES] = {
    "{'model': 'taesd', 'part': 'both', 'init': {'weights': 'w', 'seed': 3, 'width': 8, 'rule': "
    "'he'}, 'frozen': {'model': 'taesd', 'weights': 'w'}, 'data': {'sources': ['photos', "
    "'more.tar'], 'crop': 128, 'flip': true, 'min_scale': 0.5, 'seed': 1, 'workers': 2, "
    "'cache_mb': 16, 'corrupt': {'kind': 'gaussian', 'amount': 0.3}}, 'validation': {'sources': "
    "['held'], 'count': 32}, 'validate_every': 1000, 'batch': 16, 'accumulate': 2, 'steps': "
    "100000, 'optimizer': {'lr': 1e-4, 'min_lr': 1e-6, 'warmup': 500, 'beta1': 0.9, 'beta2': "
    "0.99, 'eps': 1e-8, 'weight_decay': 0.01, 'clip': 1, 'ema': 0.999, 'loss_scale': 65536, "
    "'scale_window': 2000}, 'losses': [{'kind': 'charbonnier', 'weight': 1}, {'kind': "
    "'adversarial', 'weight': 0.1}], 'discriminator': {'lr': 2e-4, 'start': 5, 'width': 32}, "
    "'residual': true, 'recompute': true, 'feature_window': 64, 'dtype': 'f16', 'threads': 2, "
    "'checkpoint_every': 1000, 'sample_every': 500, 'samples': 4, 'log_every': 1, 'output': "
    "'runs/first'}",
    "{'model': 'diffae', 'task': 'diffae', 'network': {'image_size': 64, 'channels': 32}, "
    "'draft': 'd', 'data': {'sources': ['a'], 'crop': 64, 'whole': true}, 'quantise': {'type': "
    "'f8_e4m3'}, 'batch': 16, 'steps': 12000, 'eval_steps': 20, 'results_every': 500, 'output': "
    "'o'}",
    "{'model': 'diffae', 'task': 'diffae-prior', 'autoencoder': 'a', 'data': {'codes': 'c'}, "
    "'validation': {'codes': 'h', 'count': 0}, 'losses': [{'kind': 'l1', 'weight': 1}], 'batch': "
    "256, 'steps': 10, 'output': 'o'}",
    "{'model': 'diffae', 'task': 'diffae-classifier', 'autoencoder': 'a', 'data': {'codes': 'c', "
    "'labels': 'l'}, 'validation': {'codes': 'h', 'labels': 'l'}, 'batch': 32, 'steps': 10, "
    "'output': 'o'}",
    "{'model': 'z-image', 'task': 'words', 'init': {'weights': 'w'}, 'tokenizer': 't', 'data': "
    "{'latents': 'l', 'captions': 'c', 'drop': 0.1}, 'timesteps': {'mean': 0, 'deviation': 1, "
    "'shift': 3}, 'distil': {'steps': 8, 'inner': 4, 'guidance': 3}, 'batch': 32, 'stack': 8, "
    "'steps': 100, 'sample_every': 10, 'autoencoder': 'zenith-f1-fast', 'output': 'o'}"};

// What stands in their place: other numbers, other words, and what is longer.
// clang-format off
static const char *const others[] = {
    "0", "1", "-1", "2", "0.5", "1e-30", "1e308", "1e999", "-0.0", "65536", "65537", "8192", "1e12",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "3", "1024", "2147483648",
    "true", "false", "null", "[]", "{}", "[[[[]]]]", "[\"a\", 1]", "{\"kind\": {\"kind\": \"l1\"}}",
    "\"\"", "\"taesd\"", "\"sd-vae\"", "\"encoder\"", "\"decoder\"", "\"words\"", "\"diffae\"",
    "\"kl\"", "\"latent\"", "\"squeezenet\"", "\"mse\"", "\"teacher\"", "\"int8\"", "\"f8_e5m2\"",
    "\"bf16\"", "\"f32\"", "\"shot\"", "\"blur\"", "\"haar\"", "\"pytorch\"",
    "\"../../x\"", "\"a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p\"", "\"\\u0000\"", "\"\\ud834\\udd1e\"",
    "\"\\u000a = \\u000a\"", "[{\"kind\": \"kl\", \"weight\": 1}]",
    "[{\"kind\": \"l1\", \"weight\": 1, \"target\": \"teacher\"}]",
    "{\"sources\": [\"x\"], \"crop\": 32}",
};
// clang-format on

typedef struct place {
    size_t begin, end;
} place;

static size_t string_end(const char *text, size_t at)
{
    for (at++; text[at] && text[at] != '"'; at++)
        if (text[at] == '\\' && text[at + 1]) at++;
    return text[at] ? at + 1 : at;
}

// Scalars, keys too, and what begins with a bracket up to the one that belongs to it.
static size_t find_values(const char *text, place *places)
{
    size_t count = 0, at = 0, open[64], depth = 0;
    while (text[at] && count < MOST_VALUES) {
        const size_t begin = at;
        if (text[at] == '"') {
            at = string_end(text, at);
        } else if (strchr("{[", text[at])) {
            if (depth < 64) open[depth++] = at;
            at++;
            continue;
        } else if (strchr("}]", text[at])) {
            at++;
            if (depth > 0) places[count++] = (place){open[--depth], at};
            continue;
        } else {
            at += strcspn(text + at, " ,:{}[]\"");
            if (at == begin) {
                at++;
                continue;
            }
        }
        places[count++] = (place){begin, at};
    }
    return count;
}

// The value that is chosen becomes one of the list, or what stands elsewhere in the text.
static void alter(char *text, uint8_t which, uint8_t by)
{
    enum { OTHERS = sizeof others / sizeof *others };
    char before[ROOM];
    place places[MOST_VALUES];
    const size_t count = find_values(text, places);
    if (count == 0) return;
    const place old = places[which % count];
    memcpy(before, text, ROOM);
    const place other = places[by % count];
    const bool listed = by < 4 * OTHERS;
    const char *now = listed ? others[by % OTHERS] : before + other.begin;
    const size_t length = listed ? strlen(now) : other.end - other.begin;
    if (strlen(before) + length >= ROOM) return;
    snprintf(text, ROOM, "%.*s%.*s%s", (int)old.begin, before, (int)length, now, before + old.end);
}

static bool within(double value, double least, double most)
{
    return isfinite(value) && value >= least && value <= most;
}

static void check(const zn_train_config *c)
{
    static const zn_train_read nothing;
    zn_error err = {{0}};
    char *text = NULL;
    const zn_train_optimizer *o = &c->optimizer;
    if (!c->model || !*c->model || !c->output || !*c->output) __builtin_trap();
    if (c->task < 0 || c->task >= ZN_TRAIN_KINDS || c->losses_count > ZN_TRAIN_LOSSES)
        __builtin_trap();
    if (c->batch < 1 || c->accumulate < 1 || c->steps < 1 || c->stack < 1 || c->log_every < 1)
        __builtin_trap();
    if (c->batch % c->stack != 0 || c->data.crop < 0 || c->data.sources_count > ZN_TRAIN_SOURCES)
        __builtin_trap();
    if (!within(o->lr, 0, 1000) || !within(o->ema, 0, 1) || !within(o->beta2, 0, 1))
        __builtin_trap();
    if (c->dtype == ZN_F16 ? o->loss_scale < 1 : o->loss_scale != 0) __builtin_trap();
    for (size_t i = 0; i < c->losses_count; i++)
        if (!within(c->losses[i].weight, 0, 1e30) ||
            !*zn_loss_name((zn_loss_kind)c->losses[i].kind))
            __builtin_trap();
    if (zn_train_config_identity(c, &nothing, &text, &err) != ZENITH_OK) __builtin_trap();
    if (zn_train_config_agree(text, text, &err) != ZENITH_OK) __builtin_trap();
    zn_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[ROOM];
    zn_train_config config = {.steps = -7};
    zn_error err = {{0}};
    const bool whole = size > 0 && data[0] == '{';
    if (size == 0) return 0;
    snprintf(text, sizeof text, "%s", bases[data[0] % BASES]);
    for (char *c = text; *c; c++)
        if (*c == '\'') *c = '"';
    for (size_t i = 1; !whole && i + 2 <= size && i < 64; i += 2) alter(text, data[i], data[i + 1]);
    const char *begin = whole ? (const char *)data : text;
    zenith_status status = zn_train_config_parse(begin, whole ? size : strlen(text), "fuzz",
                                                 &config, &err);
    if (status != ZENITH_OK) {
        if (!*err.text || config.steps != -7) __builtin_trap();
        return 0;
    }
    check(&config);
    zn_train_config_close(&config);
    return 0;
}
