// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// One table per JSON object: key, kind, place in the struct, what is allowed. One function walks an
// object by its table.
#include "src/train/config.h"

#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/text.h"
#include "zenith/zenith.h"

#include <math.h>
#include <string.h>

typedef enum kind { TEXT, INTEGER, NUMBER, FLAG, CHOICE, OBJECT, LOSSES, SOURCES, JSON } kind;

typedef struct choice {
    const char *word;
    int value;
} choice;

typedef struct field {
    const char *key;
    kind kind;
    size_t offset;   // into zn_train_config
    double min, max; // of numbers
    bool required;
    const choice *choices;      // end with a NULL word
    const struct field *fields; // of an object; end with a NULL key
    size_t count_offset;        // of a list of texts
} field;

typedef struct reading {
    zn_train_config *config;
    const field *fields;
    const char *where; // "optimizer.", or ""
} reading;

static const char *const loss_names[ZN_LOSS_KINDS] = {
    "l1",     "mse",    "charbonnier", "feature", "gradient", "walsh", "squeezenet",
    "stages", "latent", "adversarial", "lattice", "texture",  "kl",    "logistic"};

const char *zn_loss_name(zn_loss_kind which)
{
    return loss_names[which];
}

bool zn_train_has_teacher(const zn_train_config *config)
{
    for (size_t i = 0; i < config->losses_count; i++)
        if (config->losses[i].teacher) return true;
    return false;
}

const zn_train_loss *zn_train_find_loss(const zn_train_config *config, zn_loss_kind which)
{
    for (size_t i = 0; i < config->losses_count; i++)
        if (config->losses[i].kind == (int)which) return &config->losses[i];
    return NULL;
}

// --- tables -------------------------------------------------------------------------------------

#define AT(member) offsetof(zn_train_config, member)
#define A_TEXT(name, member, need)                                                                 \
    {                                                                                              \
        name, TEXT, AT(member), 0, 0, need, NULL, NULL, 0                                          \
    }
#define AN_INTEGER(name, member, min, max, need)                                                   \
    {                                                                                              \
        name, INTEGER, AT(member), min, max, need, NULL, NULL, 0                                   \
    }
#define A_NUMBER(name, member, min, max)                                                           \
    {                                                                                              \
        name, NUMBER, AT(member), min, max, false, NULL, NULL, 0                                   \
    }
#define A_FLAG(name, member)                                                                       \
    {                                                                                              \
        name, FLAG, AT(member), 0, 0, false, NULL, NULL, 0                                         \
    }
#define A_CHOICE(name, member, words)                                                              \
    {                                                                                              \
        name, CHOICE, AT(member), 0, 0, false, words, NULL, 0                                      \
    }
#define AN_OBJECT(name, table, need)                                                               \
    {                                                                                              \
        name, OBJECT, 0, 0, 0, need, NULL, table, 0                                                \
    }
#define SOURCES_OF(part)                                                                           \
    {                                                                                              \
        "sources", SOURCES, AT(part.sources), 0, 0, false, NULL, NULL, AT(part.sources_count)      \
    }
#define END                                                                                        \
    {                                                                                              \
        NULL, TEXT, 0, 0, 0, false, NULL, NULL, 0                                                  \
    }

static const choice parts[] = {{"decoder", ZENITH_DECODER},
                               {"encoder", ZENITH_ENCODER},
                               {"both", ZENITH_ENCODER | ZENITH_DECODER},
                               {NULL, 0}};
static const choice tasks[] = {{"autoencoder", ZN_TRAIN_AUTOENCODER},
                               {"diffae", ZN_TRAIN_DIFFAE},
                               {"diffae-prior", ZN_TRAIN_DIFFAE_PRIOR},
                               {"diffae-classifier", ZN_TRAIN_DIFFAE_CLASSIFIER},
                               {"words", ZN_TRAIN_WORDS},
                               {NULL, 0}};
static const choice types[] = {{"f32", ZN_F32}, {"bf16", ZN_BF16}, {"f16", ZN_F16}, {NULL, 0}};

static const choice roundings[] = {
    {"int8", ZN_S8}, {"f8_e4m3", ZN_F8_E4M3}, {"f8_e5m2", ZN_F8_E5M2}, {NULL, 0}};

static const choice rules[] = {{"he", ZN_INIT_HE}, {"pytorch", ZN_INIT_PYTORCH}, {NULL, 0}};

static const choice corruptions[] = {{"gaussian", ZN_CORRUPT_GAUSSIAN},
                                     {"shot", ZN_CORRUPT_SHOT},
                                     {"blur", ZN_CORRUPT_BLUR},
                                     {"haar", ZN_CORRUPT_HAAR},
                                     {NULL, 0}};

static const double usual_score = 1;
static const double many = 1e15; // integers up to here are exact in a double

static const field init_fields[] = {A_TEXT("weights", weights, false),
                                    A_TEXT("model", donor, false),
                                    A_TEXT("layout", layout, false),
                                    AN_INTEGER("seed", init_seed, 0, 1e15, false),
                                    AN_INTEGER("width", width, 1, 4096, false),
                                    A_CHOICE("rule", rule, rules),
                                    A_NUMBER("score", score, 0, 1000),
                                    END};
static const field frozen_fields[] = {A_TEXT("model", frozen, false),
                                      A_TEXT("weights", frozen_from, false), END};
static const field corrupt_fields[] = {
    {"kind", CHOICE, AT(data.corrupt.kind), 0, 0, true, corruptions, NULL, 0},
    A_NUMBER("amount", data.corrupt.amount, 0, 1000),
    END};
static const field data_fields[] = {SOURCES_OF(data),
                                    AN_INTEGER("crop", data.crop, 8, 8192, false),
                                    A_TEXT("codes", data.codes, false),
                                    A_TEXT("labels", data.labels, false),
                                    A_TEXT("latents", data.latents, false),
                                    A_TEXT("captions", data.captions, false),
                                    A_NUMBER("drop", data.drop, 0, 1),
                                    A_FLAG("flip", data.flip),
                                    A_FLAG("whole", data.whole),
                                    A_NUMBER("min_scale", data.min_scale, 0, 1),
                                    AN_INTEGER("seed", data.seed, 0, 1e15, false),
                                    AN_INTEGER("workers", data.workers, 0, 256, false),
                                    AN_INTEGER("cache_mb", data.cache_mb, 0, 1e7, false),
                                    AN_OBJECT("corrupt", corrupt_fields, false),
                                    END};
static const field validation_fields[] = {SOURCES_OF(validation),
                                          A_TEXT("codes", validation.codes, false),
                                          A_TEXT("labels", validation.labels, false),
                                          A_TEXT("latents", validation.latents, false),
                                          A_TEXT("captions", validation.captions, false),
                                          AN_INTEGER("count", validation.count, 1, 100000, false),
                                          END};
static const field optimizer_fields[] = {
    A_NUMBER("lr", optimizer.lr, 0, 1000),
    A_NUMBER("min_lr", optimizer.min_lr, 0, 1000),
    AN_INTEGER("warmup", optimizer.warmup, 0, 1e12, false),
    A_NUMBER("beta1", optimizer.beta1, 0, 0.999999),
    A_NUMBER("beta2", optimizer.beta2, 0, 0.999999),
    A_NUMBER("eps", optimizer.eps, 1e-30, 1),
    A_NUMBER("weight_decay", optimizer.weight_decay, 0, 1000),
    A_NUMBER("clip", optimizer.clip, 0, 1e30),
    A_NUMBER("ema", optimizer.ema, 0, 0.999999999),
    A_NUMBER("loss_scale", optimizer.loss_scale, 1, 1e30),
    AN_INTEGER("scale_window", optimizer.scale_window, 1, 1e12, false),
    END};
static const field discriminator_fields[] = {
    A_NUMBER("lr", discriminator.lr, 0, 1000),
    AN_INTEGER("start", discriminator.start, 0, 1e12, false),
    AN_INTEGER("width", discriminator.width, 1, 1024, false), END};
static const field prune_fields[] = {A_NUMBER("target", prune.target, 0, 0.99),
                                     AN_INTEGER("begin", prune.begin, 0, 1e12, false),
                                     AN_INTEGER("end", prune.end, 1, 1e12, true), END};
static const field timesteps_fields[] = {A_NUMBER("mean", timesteps.mean, -10, 10),
                                         A_NUMBER("deviation", timesteps.deviation, 0, 10), END};
static const field quantise_fields[] = {
    {"type", CHOICE, AT(quantise), 0, 0, true, roundings, NULL, 0}, END};
static const field fields[] = {A_TEXT("model", model, true),
                               A_CHOICE("part", part, parts),
                               A_CHOICE("task", task, tasks),
                               {"network", JSON, AT(network), 0, 0, false, NULL, NULL, 0},
                               {"text", JSON, AT(text_network), 0, 0, false, NULL, NULL, 0},
                               A_TEXT("autoencoder", autoencoder, false),
                               A_TEXT("tokenizer", tokenizer, false),
                               AN_OBJECT("init", init_fields, false),
                               AN_OBJECT("frozen", frozen_fields, false),
                               A_TEXT("squeezenet", squeezenet, false),
                               AN_OBJECT("data", data_fields, true),
                               AN_OBJECT("validation", validation_fields, false),
                               AN_INTEGER("batch", batch, 1, 65536, false),
                               AN_INTEGER("stack", stack, 1, 1024, false),
                               AN_INTEGER("accumulate", accumulate, 1, 65536, false),
                               AN_INTEGER("steps", steps, 1, 1e12, true),
                               AN_OBJECT("optimizer", optimizer_fields, false),
                               AN_OBJECT("discriminator", discriminator_fields, false),
                               AN_OBJECT("prune", prune_fields, false),
                               AN_OBJECT("quantise", quantise_fields, false),
                               AN_OBJECT("timesteps", timesteps_fields, false),
                               {"losses", LOSSES, 0, 0, 0, false, NULL, NULL, 0},
                               A_CHOICE("dtype", dtype, types),
                               AN_INTEGER("threads", threads, 0, 1024, false),
                               A_FLAG("residual", residual),
                               A_FLAG("recompute", recompute),
                               AN_INTEGER("feature_window", feature_window, 0, 8192, false),
                               AN_INTEGER("log_every", log_every, 1, 1e12, false),
                               AN_INTEGER("checkpoint_every", checkpoint_every, 1, 1e12, false),
                               AN_INTEGER("sample_every", sample_every, 0, 1e12, false),
                               AN_INTEGER("samples", samples, 1, 256, false),
                               AN_INTEGER("validate_every", validate_every, 0, 1e12, false),
                               AN_INTEGER("results_every", results_every, 0, 1e12, false),
                               AN_INTEGER("eval_steps", eval_steps, 1, 10000, false),
                               A_NUMBER("guidance", guidance, 0, 1000),
                               A_TEXT("output", output, true),
                               END};

// --- values -------------------------------------------------------------------------------------

static zenith_status wrong(const reading *r, const char *key, const char *wanted, zn_error *err)
{
    return zn_fail(err, ZENITH_BAD_FILE, "\"%s%s\" must be %s", r->where, key, wanted);
}

static zenith_status read_number(const reading *r, const field *f, const zn_json *value, void *dst,
                                 zn_error *err)
{
    char wanted[96];
    bool whole = f->kind == INTEGER;
    double number = 0;
    int64_t integer = 0;
    bool right = whole ? zn_json_as_integer(value, &integer) : zn_json_as_number(value, &number);
    if (whole) number = integer > -1 && (double)integer <= many ? (double)integer : INFINITY;
    if (!right || !(number >= f->min && number <= f->max)) {
        zn_text_format(wanted, sizeof wanted,
                       whole ? "an integer from %g to %g" : "a number from %g to %g", f->min,
                       f->max);
        return wrong(r, f->key, wanted, err);
    }
    if (whole)
        memcpy(dst, &integer, sizeof integer);
    else
        memcpy(dst, &number, sizeof number);
    return ZENITH_OK;
}

static zenith_status read_choice(const reading *r, const field *f, const zn_json *value, int *dst,
                                 zn_error *err)
{
    const char *word = "";
    char wanted[160] = "one of ";
    size_t length = strlen(wanted);
    bool text = zn_json_as_text(value, &word);
    for (const choice *c = f->choices; c->word; c++) {
        if (text && strcmp(word, c->word) == 0) {
            *dst = c->value;
            return ZENITH_OK;
        }
        length += zn_text_format(wanted + length, sizeof wanted - length, "%s%s",
                                 c == f->choices ? "" : ", ", c->word);
    }
    return wrong(r, f->key, wanted, err);
}

static zenith_status read_flag(const reading *r, const zn_json *object, const field *f, bool *dst,
                               zn_error *err)
{
    if (zn_json_get_flag(object, f->key, dst, NULL) == ZENITH_OK) return ZENITH_OK;
    return wrong(r, f->key, "true or false", err);
}

static zenith_status read_sources(const reading *r, const field *f, const zn_json *value,
                                  zn_error *err)
{
    const char **dst = (const char **)((char *)r->config + f->offset);
    size_t count = zn_json_size(value);
    if (!zn_json_is_array(value) || count == 0 || count > ZN_TRAIN_SOURCES)
        return wrong(r, f->key, "a list of 1 to 256 paths", err);
    for (size_t i = 0; i < count; i++)
        if (!zn_json_as_text(zn_json_at(value, i), &dst[i]))
            return wrong(r, f->key, "a list of paths: folders, tar archives, pictures", err);
    memcpy((char *)r->config + f->count_offset, &count, sizeof count);
    return ZENITH_OK;
}

static zenith_status wrong_loss(const reading *r, zn_error *err)
{
    char kinds[200] = "", wanted[400];
    size_t length = 0;
    for (int i = 0; i < ZN_LOSS_KINDS; i++)
        length += zn_text_format(kinds + length, sizeof kinds - length, "%s%s", i ? ", " : "",
                                 loss_names[i]);
    zn_text_format(wanted, sizeof wanted,
                   "a list of {\"kind\": KIND, \"weight\": NUMBER above 0}, KIND one of %s, and if "
                   "it is to compare with the frozen model's picture \"target\": \"teacher\"",
                   kinds);
    return wrong(r, "losses", wanted, err);
}

static zenith_status read_loss(const reading *r, const zn_json *value, zn_train_loss *dst,
                               zn_error *err)
{
    const char *name, *target = "image";
    bool has_target = zn_json_is_object(value) && zn_json_has(value, "target");
    if (!zn_json_is_object(value) || zn_json_size(value) != (has_target ? 3 : 2) ||
        (has_target && zn_json_get_text(value, "target", &target, NULL) != ZENITH_OK) ||
        (strcmp(target, "image") != 0 && strcmp(target, "teacher") != 0) ||
        zn_json_get_text(value, "kind", &name, NULL) != ZENITH_OK ||
        zn_json_get_number(value, "weight", &dst->weight, NULL) != ZENITH_OK ||
        !(dst->weight > 0 && dst->weight < 1e30))
        return wrong_loss(r, err);
    dst->teacher = strcmp(target, "teacher") == 0;
    for (dst->kind = 0; dst->kind < ZN_LOSS_KINDS; dst->kind++)
        if (strcmp(name, loss_names[dst->kind]) == 0) return ZENITH_OK;
    return wrong_loss(r, err);
}

static zenith_status read_losses(const reading *r, const zn_json *value, zn_error *err)
{
    size_t count = zn_json_size(value);
    if (!zn_json_is_array(value) || count == 0 || count > ZN_TRAIN_LOSSES)
        return wrong(r, "losses", "a list of 1 to 16 losses", err);
    for (size_t i = 0; i < count; i++)
        ZN_TRY(read_loss(r, zn_json_at(value, i), &r->config->losses[i], err));
    r->config->losses_count = count;
    return ZENITH_OK;
}

// --- objects ------------------------------------------------------------------------------------

static zenith_status read_object(zn_train_config *config, const zn_json *object, const field *table,
                                 const char *where, zn_error *err);

static zenith_status read_field(const reading *r, const zn_json *object, const field *f,
                                const zn_json *value, zn_error *err)
{
    void *dst = (char *)r->config + f->offset;
    char inner[32];
    switch (f->kind) {
    case TEXT:
        if (zn_json_as_text(value, (const char **)dst) && **(const char **)dst) return ZENITH_OK;
        return wrong(r, f->key, "a text that is not empty", err);
    case INTEGER:
    case NUMBER:
        return read_number(r, f, value, dst, err);
    case FLAG:
        return read_flag(r, object, f, dst, err);
    case CHOICE:
        return read_choice(r, f, value, dst, err);
    case SOURCES:
        return read_sources(r, f, value, err);
    case LOSSES:
        return read_losses(r, value, err);
    case JSON:
    case OBJECT:
        break;
    }
    if (!zn_json_is_object(value)) return wrong(r, f->key, "an object", err);
    if (f->kind == JSON) {
        memcpy(dst, &value, sizeof value);
        return ZENITH_OK;
    }
    zn_text_format(inner, sizeof inner, "%s%s.", r->where, f->key);
    return read_object(r->config, value, f->fields, inner, err);
}

typedef struct member {
    reading reading;
    const zn_json *object;
} member;

static zenith_status each_member(void *cookie, const char *key, const zn_json *value, zn_error *err)
{
    const member *m = cookie;
    char known[600] = "";
    size_t length = 0;
    for (const field *f = m->reading.fields; f->key; f++) {
        if (strcmp(f->key, key) == 0) return read_field(&m->reading, m->object, f, value, err);
        length += zn_text_format(known + length, sizeof known - length, "%s%s", length ? ", " : "",
                                 f->key);
    }
    return zn_fail(err, ZENITH_BAD_FILE, "there is no key \"%s%.*s\"; allowed are %s",
                   m->reading.where, 60, key, known);
}

static zenith_status read_object(zn_train_config *config, const zn_json *object, const field *table,
                                 const char *where, zn_error *err)
{
    member m = {{config, table, where}, object};
    ZN_TRY(zn_json_each(object, each_member, &m, err));
    for (const field *f = table; f->key; f++)
        if (f->required && !zn_json_has(object, f->key))
            return zn_fail(err, ZENITH_BAD_FILE, "the key \"%s%s\" is missing", where, f->key);
    return ZENITH_OK;
}

static void set_defaults(zn_train_config *c)
{
    c->part = ZENITH_DECODER;
    c->width = 64;
    c->score = usual_score;
    c->data.min_scale = 1;
    c->data.workers = 1;
    c->data.cache_mb = 256;
    c->data.corrupt.amount = -1; // that of its kind
    c->validation.count = 16;
    c->batch = 16;
    c->accumulate = 1;
    c->stack = 1;
    c->optimizer = (zn_train_optimizer){.lr = 1e-4,
                                        .beta1 = 0.9,
                                        .beta2 = 0.999,
                                        .eps = 1e-8,
                                        .weight_decay = 0.01,
                                        .clip = 1,
                                        .ema = 0.999};
    c->discriminator = (zn_train_discriminator){.lr = 2e-4, .width = 32};
    c->dtype = ZN_F32;
    c->quantise = ZN_F32;
    c->log_every = 1;
    c->checkpoint_every = 1000;
    c->samples = 4;
    c->eval_steps = 20;
}

// As diffusion autoencoders were published: Adam without decay, and the mean square error of the noise.
static void set_diffae_defaults(zn_train_config *c)
{
    c->rule = ZN_INIT_PYTORCH;
    c->optimizer.weight_decay = 0;
    c->optimizer.ema = 0.9999;
    c->losses[0] = (zn_train_loss){.kind = ZN_LOSS_MSE, .weight = 1};
    c->losses_count = 1;
}

// As its prior and its classifier were. The prior's layers begin as He has it.
static void set_code_defaults(zn_train_config *c, bool prior)
{
    set_diffae_defaults(c);
    c->losses[0].kind = prior ? ZN_LOSS_L1 : ZN_LOSS_LOGISTIC;
    c->validation.count = 0;
    c->batch = prior ? 256 : 32;
    if (prior) {
        c->rule = ZN_INIT_HE;
        c->optimizer.weight_decay = 0.01;
    } else {
        c->optimizer.lr = 1e-3;
        c->optimizer.ema = 0.999;
    }
}

// As diffusion transformers are trained, with the average that short runs are fit for.
static void set_words_defaults(zn_train_config *c)
{
    set_diffae_defaults(c);
    c->optimizer.weight_decay = 0.01;
    c->optimizer.ema = 0.999;
    c->data.drop = 0.1;
    c->timesteps.deviation = 1;
    c->guidance = 3;
}

static void set_task_defaults(zn_train_config *c)
{
    const char *task = "";
    (void)zn_json_get_text(c->document, "task", &task, NULL);
    if (strcmp(task, tasks[ZN_TRAIN_DIFFAE].word) == 0) set_diffae_defaults(c);
    if (strcmp(task, tasks[ZN_TRAIN_DIFFAE_PRIOR].word) == 0) set_code_defaults(c, true);
    if (strcmp(task, tasks[ZN_TRAIN_DIFFAE_CLASSIFIER].word) == 0) set_code_defaults(c, false);
    if (strcmp(task, tasks[ZN_TRAIN_WORDS].word) == 0) set_words_defaults(c);
}

// The scale of the loss, which only f16 has.
static zenith_status check_scale(zn_train_config *c, zn_error *err)
{
    zn_train_optimizer *o = &c->optimizer;
    int exponent;
    if (c->dtype != ZN_F16 && (o->loss_scale > 0 || o->scale_window > 0))
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"optimizer.loss_scale\" and \"optimizer.scale_window\" are for "
                       "\"dtype\": \"f16\"");
    if (c->dtype != ZN_F16) return ZENITH_OK;
    if (o->loss_scale == 0) o->loss_scale = 65536;
    if (o->scale_window == 0) o->scale_window = 2000;
    if (frexp(o->loss_scale, &exponent) == 0.5) return ZENITH_OK;
    return zn_fail(err, ZENITH_BAD_FILE, "\"optimizer.loss_scale\" must be a power of two");
}

static zenith_status check_discriminator(const zn_train_config *c, zn_error *err)
{
    size_t losses = 0;
    for (size_t i = 0; i < c->losses_count; i++) losses += c->losses[i].kind == ZN_LOSS_ADVERSARIAL;
    if (losses > 1)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "there is one discriminator: \"losses\" must not have two of the kind "
                       "adversarial");
    if (losses == 0 && zn_json_has(c->document, "discriminator"))
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"discriminator\" is for a loss of the kind adversarial");
    if (c->discriminator.start >= c->steps)
        return zn_fail(err, ZENITH_BAD_FILE, "\"discriminator.start\" must be below \"steps\"");
    return ZENITH_OK;
}

// The amount that the kind has where none is said.
static double usual_amount(int corruption)
{
    return corruption == ZN_CORRUPT_SHOT ? 0.05 : corruption == ZN_CORRUPT_BLUR ? 0 : 0.3;
}

static zenith_status check_corruption(zn_train_config *c, zn_error *err)
{
    zn_corruption *how = &c->data.corrupt;
    const bool said = how->amount >= 0;
    if (c->residual && how->kind == ZN_CORRUPT_NOTHING)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"residual\" is for \"data.corrupt\": a picture that is not spoiled is the "
                       "result already");
    if (how->kind == ZN_CORRUPT_BLUR && said)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"data.corrupt.amount\" is not for blur, which is always of 3x3 pixels");
    if (how->kind == ZN_CORRUPT_SHOT && how->amount > 1)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"data.corrupt.amount\" of shot is a share of the pixels, from 0 to 1");
    if (how->kind == ZN_CORRUPT_HAAR && c->data.crop % 2 != 0)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"data.crop\" must be even for \"data.corrupt\" of the kind haar");
    if (!said) how->amount = usual_amount(how->kind);
    how->seed = (uint64_t)c->data.seed;
    return ZENITH_OK;
}

static zenith_status check_prune(const zn_train_config *c, zn_error *err)
{
    if (!zn_json_has(c->document, "prune")) return ZENITH_OK;
    if (c->prune.target == 0)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"prune.target\" must say which share is left out, such as 0.5");
    if (c->prune.begin < c->prune.end && c->prune.end <= c->steps) return ZENITH_OK;
    return zn_fail(err, ZENITH_BAD_FILE,
                   "\"prune.begin\" must be below \"prune.end\", and that not above \"steps\"");
}

static zenith_status check_kl(const zn_train_config *c, zn_error *err)
{
    if (!zn_train_find_loss(c, ZN_LOSS_KL) || c->part & ZENITH_ENCODER) return ZENITH_OK;
    return zn_fail(err, ZENITH_BAD_FILE,
                   "a loss of the kind kl is about the encoder: \"part\" must be encoder or both");
}

static bool of_codes(const zn_train_config *c)
{
    return c->task == ZN_TRAIN_DIFFAE_PRIOR || c->task == ZN_TRAIN_DIFFAE_CLASSIFIER;
}

static zenith_status missing(const char *key, zn_error *err)
{
    return zn_fail(err, ZENITH_BAD_FILE, "the key \"%s\" is missing", key);
}

static zenith_status not_for(const zn_train_config *c, const char *key, zn_error *err)
{
    return zn_fail(err, ZENITH_BAD_FILE, "\"%s\" is not for \"task\": \"%s\"", key,
                   tasks[c->task].word);
}

static zenith_status check_codes(const zn_train_config *c, zn_error *err)
{
    const bool labelled = c->task == ZN_TRAIN_DIFFAE_CLASSIFIER;
    if (!c->data.codes) return missing("data.codes", err);
    if (labelled && !c->data.labels) return missing("data.labels", err);
    if (!labelled && (c->data.labels || c->validation.labels)) return not_for(c, "labels", err);
    if (c->data.sources_count || c->validation.sources_count) return not_for(c, "sources", err);
    if (c->data.crop || c->data.flip) return not_for(c, c->data.crop ? "crop" : "flip", err);
    if (c->sample_every) return not_for(c, "sample_every", err);
    return ZENITH_OK;
}

static zenith_status check_pictures(const zn_train_config *c, zn_error *err)
{
    const zn_train_validation *v = &c->validation;
    if (c->data.sources_count == 0) return missing("data.sources", err);
    if (c->data.crop == 0) return missing("data.crop", err);
    if (c->data.codes || v->codes) return not_for(c, "codes", err);
    if (c->data.labels || v->labels) return not_for(c, "labels", err);
    if (c->autoencoder) return not_for(c, "autoencoder", err);
    if (v->sources_count == 0 && zn_json_has(c->document, "validation"))
        return missing("validation.sources", err);
    return ZENITH_OK;
}

static zenith_status check_words(const zn_train_config *c, zn_error *err)
{
    const zn_train_validation *v = &c->validation;
    if (!c->data.latents) return missing("data.latents", err);
    if (!c->data.captions) return missing("data.captions", err);
    if (v->latents && !v->captions) return missing("validation.captions", err);
    if (v->captions && !v->latents) return missing("validation.latents", err);
    if (c->data.sources_count || v->sources_count) return not_for(c, "sources", err);
    if (c->data.codes || v->codes) return not_for(c, "codes", err);
    if (c->data.labels || v->labels) return not_for(c, "labels", err);
    if (c->data.crop || c->data.flip) return not_for(c, c->data.crop ? "crop" : "flip", err);
    if (c->donor) return not_for(c, "init.model", err);
    if (c->sample_every > 0 && !c->autoencoder) return missing("autoencoder", err);
    if (c->sample_every > 0 && !v->latents) return missing("validation.latents", err);
    if (c->network && !c->text_network && !c->weights) return missing("text", err);
    if (c->validate_every > 0 && !v->latents) return missing("validation.latents", err);
    if (c->batch % c->stack != 0)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"batch\" is %lld, which is no multiple of \"stack\", %lld",
                       (long long)c->batch, (long long)c->stack);
    return ZENITH_OK;
}

// What only they know.
static zenith_status check_not_words(const zn_train_config *c, zn_error *err)
{
    const zn_train_validation *v = &c->validation;
    if (c->task == ZN_TRAIN_WORDS) return ZENITH_OK;
    if (c->text_network) return not_for(c, "text", err);
    if (c->tokenizer) return not_for(c, "tokenizer", err);
    if (zn_json_has(c->document, "timesteps")) return not_for(c, "timesteps", err);
    if (zn_json_has(c->document, "stack")) return not_for(c, "stack", err);
    if (zn_json_has(c->document, "guidance")) return not_for(c, "guidance", err);
    if (c->data.latents || v->latents) return not_for(c, "latents", err);
    if (c->data.captions || v->captions) return not_for(c, "captions", err);
    return c->data.drop > 0 ? not_for(c, "drop", err) : ZENITH_OK;
}

static zenith_status check_losses(const zn_train_config *c, zn_error *err)
{
    const char *task = tasks[c->task].word;
    if (c->losses_count == 1 && !c->losses[0].teacher &&
        (c->task == ZN_TRAIN_DIFFAE_CLASSIFIER ? c->losses[0].kind == ZN_LOSS_LOGISTIC
                                               : c->losses[0].kind <= ZN_LOSS_MSE))
        return ZENITH_OK;
    if (c->task == ZN_TRAIN_DIFFAE_CLASSIFIER)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"losses\" of \"task\": \"%s\" is one of the kind logistic, or is left out",
                       task);
    return zn_fail(err, ZENITH_BAD_FILE,
                   "\"losses\" of \"task\": \"%s\" is one of the kinds l1 and mse, or is left out",
                   task);
}

static zenith_status check_autoencoder(const zn_train_config *c, zn_error *err)
{
    ZN_TRY(check_pictures(c, err));
    if (c->network) return zn_fail(err, ZENITH_BAD_FILE, "\"network\" is for \"task\": \"diffae\"");
    if (c->losses_count == 0) return missing("losses", err);
    return zn_train_find_loss(c, ZN_LOSS_LOGISTIC) ? not_for(c, "logistic", err) : ZENITH_OK;
}

// What the task needs, and what it knows nothing of.
static zenith_status check_task(const zn_train_config *c, zn_error *err)
{
    static const char *const others[] = {"part",  "frozen",   "squeezenet", "discriminator",
                                         "prune", "quantise", "residual",   "feature_window"};
    ZN_TRY(check_not_words(c, err));
    if (c->task == ZN_TRAIN_AUTOENCODER) return check_autoencoder(c, err);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (zn_json_has(c->document, others[i])) return not_for(c, others[i], err);
    if (c->data.corrupt.kind != ZN_CORRUPT_NOTHING)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"data.corrupt\" is not for \"task\": \"%s\", which adds noise by itself",
                       tasks[c->task].word);
    ZN_TRY(c->task == ZN_TRAIN_WORDS ? check_words(c, err)
           : of_codes(c)             ? check_codes(c, err)
                                     : check_pictures(c, err));
    ZN_TRY(check_losses(c, err));
    if (c->network || c->weights || (of_codes(c) && c->autoencoder)) return ZENITH_OK;
    return zn_fail(err, ZENITH_BAD_FILE,
                   "\"network\" must say what is trained, as config.json of the model does, or "
                   "\"init.weights\" where it is%s",
                   of_codes(c) ? ", or \"autoencoder\" in which folder the model's is" : "");
}

// What no single key can say.
static zenith_status check(const zn_train_config *c, zn_error *err)
{
    if (c->optimizer.min_lr > c->optimizer.lr)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"optimizer.min_lr\" must not be above \"optimizer.lr\"");
    if (c->optimizer.warmup > c->steps)
        return zn_fail(err, ZENITH_BAD_FILE, "\"optimizer.warmup\" must not be above \"steps\"");
    if (c->quantise == ZN_S8 && (!c->weights || c->donor))
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"quantise\" to int8 needs \"init.weights\" of the same model, with their "
                       "calibration beside them (zenith calibrate)");
    if (c->donor && !c->weights)
        return zn_fail(err, ZENITH_BAD_FILE, "\"init.model\" needs \"init.weights\"");
    if (c->layout && c->weights && !c->donor)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "\"init.layout\" is for new networks: weights have theirs already");
    if (c->feature_window > c->data.crop)
        return zn_fail(err, ZENITH_BAD_FILE, "\"feature_window\" must not be above \"data.crop\"");
    if (c->validate_every > 0 && c->validation.sources_count == 0 && !c->validation.codes &&
        !c->validation.latents)
        return zn_fail(err, ZENITH_BAD_FILE, "\"validate_every\" needs \"validation\" with its %s",
                       of_codes(c) ? "codes" : "sources");
    return ZENITH_OK;
}

static zenith_status parse(zn_train_config *c, const char *text, size_t size, const char *where,
                           zn_error *err)
{
    set_defaults(c);
    c->text = zn_alloc(size + 1);
    if (!c->text) return zn_fail_memory(err, size + 1);
    if (size) memcpy(c->text, text, size);
    c->text_size = size;
    ZN_TRY(zn_json_parse(text, size, where, &c->document, err));
    set_task_defaults(c);
    zenith_status status = zn_json_is_object(c->document)
                               ? read_object(c, c->document, fields, "", err)
                               : zn_fail(err, ZENITH_BAD_FILE, "a JSON object is expected");
    if (status == ZENITH_OK) status = check_task(c, err);
    if (status == ZENITH_OK) status = check(c, err);
    if (status == ZENITH_OK) status = check_corruption(c, err);
    if (status == ZENITH_OK) status = check_scale(c, err);
    if (status == ZENITH_OK) status = check_discriminator(c, err);
    if (status == ZENITH_OK) status = check_prune(c, err);
    if (status == ZENITH_OK) status = check_kl(c, err);
    if (status != ZENITH_OK) zn_error_prefix(err, where);
    return status;
}

zenith_status zn_train_config_parse(const char *text, size_t size, const char *where,
                                    zn_train_config *out, zn_error *err)
{
    zn_train_config config = {0};
    zenith_status status = parse(&config, text, size, where, err);
    if (status == ZENITH_OK)
        *out = config;
    else
        zn_train_config_close(&config);
    return status;
}

zenith_status zn_train_config_open(const char *path, zn_train_config *out, zn_error *err)
{
    zn_mapped file = {0};
    ZN_TRY(zn_mapped_open(path, &file, err));
    zenith_status status = zn_train_config_parse((const char *)file.data, file.size, path, out,
                                                 err);
    zn_mapped_close(&file);
    return status;
}

void zn_train_config_close(zn_train_config *config)
{
    zn_json_free(config->document);
    zn_free(config->text);
    *config = (zn_train_config){0};
}

// --- identity -----------------------------------------------------------------------------------

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
        zn_text_format(key, sizeof key, "losses.%zu.%s%s", i, loss_names[c->losses[i].kind],
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
    put(w, "task", tasks[c->task].word);
    if (c->autoencoder && c->task != ZN_TRAIN_WORDS) put(w, "autoencoder", c->autoencoder);
    put_json(w, "network", c->network);
    if (c->task != ZN_TRAIN_WORDS) return;
    put_json(w, "text", c->text_network);
    put_number(w, "data.drop", c->data.drop);
    put_number(w, "timesteps.mean", c->timesteps.mean);
    put_number(w, "timesteps.deviation", c->timesteps.deviation);
    if (c->stack != 1) put_integer(w, "stack", c->stack);
}

zenith_status zn_train_config_identity(const zn_train_config *c, const zn_train_read *read,
                                       char **out, zn_error *err)
{
    writing w = {.err = err};
    put(&w, "model", c->model);
    put_task(&w, c);
    put_integer(&w, "part", c->part);
    put(&w, "init.weights", c->weights ? c->weights : "");
    put_integer(&w, "init.seed", c->init_seed);
    put_integer(&w, "init.width", c->width);
    if (c->rule != ZN_INIT_HE) put_integer(&w, "init.rule", c->rule);
    if (c->score != usual_score) put_number(&w, "init.score", c->score);
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
    if (read->frozen) put(&w, "frozen.sha256", read->frozen);
    if (read->squeezenet) put(&w, "squeezenet.sha256", read->squeezenet);
    if (read->calibration) put(&w, "calibration.sha256", read->calibration);
    if (w.status != ZENITH_OK) {
        zn_free(w.text);
        return w.status;
    }
    *out = w.text;
    return ZENITH_OK;
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
            return zn_fail(
                err, ZENITH_INVALID_ARGUMENT,
                "the checkpoint is of another run: it has '%.*s' where the config has '%.*s'", b,
                stored, a, identity);
        identity += a + (identity[a] == '\n');
        stored += b + (stored[b] == '\n');
    }
    return ZENITH_OK;
}
