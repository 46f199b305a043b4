// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// One table per JSON object: key, kind, place in the struct, what is allowed. One function walks an
// object by its table.
#include "src/train/config/parts.h"

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
#define FIELD(KEY, KIND, ...)                                                                      \
    {                                                                                              \
        .key = KEY, .kind = KIND, __VA_ARGS__                                                      \
    }
#define A_TEXT(name, member, need) FIELD(name, TEXT, .offset = AT(member), .required = need)
#define AN_INTEGER(name, member, least, most, need)                                                \
    FIELD(name, INTEGER, .offset = AT(member), .min = least, .max = most, .required = need)
#define A_NUMBER(name, member, least, most)                                                        \
    FIELD(name, NUMBER, .offset = AT(member), .min = least, .max = most)
#define A_FLAG(name, member)          FIELD(name, FLAG, .offset = AT(member))
#define A_CHOICE(name, member, words) FIELD(name, CHOICE, .offset = AT(member), .choices = words)
#define AN_OBJECT(name, table, need)  FIELD(name, OBJECT, .fields = table, .required = need)
#define SOURCES_OF(part)                                                                           \
    FIELD("sources", SOURCES, .offset = AT(part.sources), .count_offset = AT(part.sources_count))
#define END FIELD(NULL, TEXT, .offset = 0)

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
static const field corrupt_fields[] = {FIELD("kind", CHOICE, .offset = AT(data.corrupt.kind),
                                             .required = true, .choices = corruptions),
                                       A_NUMBER("amount", data.corrupt.amount, 0, 1000), END};
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
                                         A_NUMBER("deviation", timesteps.deviation, 0, 10),
                                         A_NUMBER("shift", timesteps.shift, 0.01, 100), END};
static const field distil_fields[] = {AN_INTEGER("steps", distil.steps, 1, 1000, true),
                                      AN_INTEGER("inner", distil.inner, 1, 1000, false),
                                      A_NUMBER("guidance", distil.guidance, 0, 100), END};
static const field quantise_fields[] = {
    FIELD("type", CHOICE, .offset = AT(quantise), .required = true, .choices = roundings), END};
static const field fields[] = {A_TEXT("model", model, true),
                               A_CHOICE("part", part, parts),
                               A_CHOICE("task", task, tasks),
                               FIELD("network", JSON, .offset = AT(network)),
                               FIELD("text", JSON, .offset = AT(text_network)),
                               A_TEXT("autoencoder", autoencoder, false),
                               A_TEXT("tokenizer", tokenizer, false),
                               A_TEXT("draft", draft, false),
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
                               AN_OBJECT("distil", distil_fields, false),
                               FIELD("losses", LOSSES, .offset = 0),
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

const char *zn_train_task_name(int task)
{
    return tasks[task].word;
}

// The task, whose defaults the other keys are read over; an autoencoder where none is said, or none
// that is known.
static int task_said(const zn_json *document)
{
    const char *said = "";
    (void)zn_json_get_text(document, "task", &said, NULL);
    for (const choice *task = tasks; task->word; task++)
        if (strcmp(task->word, said) == 0) return task->value;
    return ZN_TRAIN_AUTOENCODER;
}

static zenith_status parse(zn_train_config *c, const char *text, size_t size, const char *where,
                           zn_error *err)
{
    zn_train_config_defaults(c);
    c->text = zn_alloc(size + 1);
    if (!c->text) return zn_fail_memory(err, size + 1);
    if (size) memcpy(c->text, text, size);
    c->text_size = size;
    ZN_TRY(zn_json_parse(text, size, where, &c->document, err));
    zn_train_config_task_defaults(c, task_said(c->document));
    zenith_status status = zn_json_is_object(c->document)
                               ? read_object(c, c->document, fields, "", err)
                               : zn_fail(err, ZENITH_BAD_FILE, "a JSON object is expected");
    if (status == ZENITH_OK) status = zn_train_config_check(c, err);
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
