// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/train/run/log.h"

#include "src/base/json.h"
#include "src/base/memory.h"
#include "src/base/text.h"

#include <math.h>
#include <string.h>

enum { LINE = 4096 };

static zenith_status remember(zn_history *history, zn_history_point point, zn_error *err)
{
    size_t wanted = history->count + 1;
    if (wanted > history->capacity) wanted *= 2;
    ZN_TRY(zn_array_reserve((void **)&history->points, &history->capacity, wanted,
                            sizeof *history->points, err));
    history->points[history->count++] = point;
    return ZENITH_OK;
}

// --- what is there ------------------------------------------------------------------------------

static bool number(const zn_json *object, const char *key, double *out)
{
    return zn_json_get_number(object, key, out, NULL) == ZENITH_OK;
}

// A line that is to be kept goes into the history. *kept is false for one of a later step, and for
// what is no line of ours: a writer that was killed leaves half a one.
static zenith_status read_line(zn_training_log *log, const char *text, size_t size, uint64_t last,
                               bool *kept, zn_error *err)
{
    zn_json *line = NULL;
    const zn_json *inner = NULL;
    int64_t step = 0;
    zn_history_point point = {.loss = NAN, .psnr = NAN};
    *kept = false;
    if (zn_json_parse(text, size, "log", &line, NULL) != ZENITH_OK) return ZENITH_OK;
    zenith_status status = ZENITH_OK;
    if (zn_json_get_integer(line, "step", 0, INT64_MAX, &step, NULL) == ZENITH_OK &&
        (uint64_t)step <= last) {
        *kept = true;
        point.step = (uint64_t)step;
        bool validation = zn_json_get_object(line, "validation", &inner, NULL) == ZENITH_OK;
        bool has = number(validation ? inner : line, "loss", &point.loss);
        (void)number(validation ? inner : line, "psnr", &point.psnr);
        (void)number(line, "cpu_seconds", &log->cpu_seconds);
        if (has) status = remember(validation ? &log->validation : &log->steps, point, err);
    }
    zn_json_free(line);
    return status;
}

static zenith_status read_lines(zn_training_log *log, const char *text, size_t size, uint64_t last,
                                uint64_t *kept_bytes, zn_error *err)
{
    size_t at = 0;
    bool kept = last > 0;
    while (kept && at < size) {
        const char *end = memchr(text + at, '\n', size - at);
        if (!end) break;
        size_t length = (size_t)(end - (text + at));
        ZN_TRY(read_line(log, text + at, length, last, &kept, err));
        if (kept) at += length + 1;
    }
    *kept_bytes = at;
    return ZENITH_OK;
}

zenith_status zn_training_log_open(const char *path, uint64_t kept, zn_training_log *out,
                                   zn_error *err)
{
    zn_training_log log = {0};
    zn_mapped file = {0};
    uint64_t bytes = 0;
    zenith_status status = ZENITH_OK;
    if (zn_path_is_file(path)) {
        ZN_GO(zn_mapped_open(path, &file, err));
        ZN_GO(read_lines(&log, (const char *)file.data, file.size, kept, &bytes, err));
        zn_mapped_close(&file);
    }
    ZN_GO(zn_journal_open(path, bytes, &log.journal, err));
    *out = log;
    return ZENITH_OK;
fail:
    zn_mapped_close(&file);
    zn_training_log_close(&log);
    return status;
}

void zn_training_log_close(zn_training_log *log)
{
    zn_journal_close(log->journal);
    zn_free(log->steps.points);
    zn_free(log->validation.points);
    *log = (zn_training_log){0};
}

// --- lines --------------------------------------------------------------------------------------

typedef struct line {
    char text[LINE];
    size_t length;
} line;

static void put(line *l, const char *text)
{
    l->length += zn_text_format(l->text + l->length, LINE - l->length, "%s", text);
}

// JSON has no infinities: a picture without an error has no number of decibels.
static void put_number(line *l, const char *before, double value)
{
    char text[400] = "null";
    if (isfinite(value)) zn_text_format(text, sizeof text, "%.9f", value);
    size_t length = strlen(text);
    while (strchr(text, '.') && text[length - 1] == '0') text[--length] = 0;
    if (text[length - 1] == '.') text[--length] = 0;
    put(l, before);
    put(l, text);
}

static void put_quoted(line *l, const char *before, const char *text)
{
    put(l, before);
    put(l, "\"");
    for (; *text && l->length < LINE / 2; text++) {
        unsigned char c = (unsigned char)*text;
        const char *form = c == '"' || c == '\\' ? "\\%c" : c < 0x20 || c > 0x7e ? "\\u%04x" : "%c";
        l->length += zn_text_format(l->text + l->length, LINE - l->length, form, c);
    }
    put(l, "\"");
}

static void put_step(line *l, uint64_t step)
{
    l->length = zn_text_format(l->text, LINE, "{\"step\":%llu", (unsigned long long)step);
}

static zenith_status write_line(zn_training_log *log, line *l, zn_error *err)
{
    put(l, "}\n");
    return zn_journal_write(log->journal, l->text, l->length, err);
}

static void put_scale(line *l, const zn_step_facts *facts)
{
    put_number(l, ",\"loss_scale\":", facts->loss_scale);
    put_number(l, ",\"overflows\":", (double)facts->overflows);
}

static void put_discriminator(line *l, const zn_step_facts *facts)
{
    put_number(l, ",\"discriminator\":{\"loss\":", facts->discriminator);
    put_number(l, ",\"norm\":", facts->discriminator_norm);
    put(l, "}");
}

zenith_status zn_training_log_step(zn_training_log *log, const zn_train_config *config,
                                   const zn_step_facts *facts, zn_error *err)
{
    line l;
    char key[64];
    put_step(&l, facts->step);
    put_number(&l, ",\"loss\":", facts->loss);
    put(&l, ",\"losses\":{");
    for (size_t i = 0; i < config->losses_count; i++) {
        const zn_train_loss *loss = &config->losses[i];
        zn_text_format(key, sizeof key, "%s\"%s%s\":", i ? "," : "",
                       zn_loss_name((zn_loss_kind)loss->kind), loss->teacher ? ".teacher" : "");
        put_number(&l, key, facts->losses[i]);
    }
    put_number(&l, "},\"psnr\":", facts->psnr);
    put_number(&l, ",\"lr\":", facts->lr);
    put_number(&l, ",\"norm\":", facts->norm);
    put_number(&l, ",\"images_per_second\":", facts->images_per_second);
    put_number(&l, ",\"seconds\":", facts->seconds);
    put_number(&l, ",\"cpu_seconds\":", facts->cpu_seconds);
    if (facts->loss_scale > 0) put_scale(&l, facts);
    if (zn_train_find_loss(config, ZN_LOSS_ADVERSARIAL)) put_discriminator(&l, facts);
    if (config->prune.target > 0) put_number(&l, ",\"pruned\":", facts->pruned);
    ZN_TRY(write_line(log, &l, err));
    return remember(&log->steps, (zn_history_point){facts->step, facts->loss, facts->psnr}, err);
}

zenith_status zn_training_log_overflow(zn_training_log *log, const zn_step_facts *facts,
                                       zn_error *err)
{
    line l;
    put_step(&l, facts->step);
    put(&l, ",\"overflow\":true");
    put_scale(&l, facts);
    return write_line(log, &l, err);
}

zenith_status zn_training_log_validation(zn_training_log *log, const zn_step_facts *facts,
                                         zn_error *err)
{
    line l;
    put_step(&l, facts->step);
    put_number(&l, ",\"validation\":{\"loss\":", facts->loss);
    put_number(&l, ",\"psnr\":", facts->psnr);
    put_number(&l, ",\"mse\":", facts->mse);
    for (int i = 0; i < facts->more_count; i++) {
        char key[64];
        zn_text_format(key, sizeof key, ",\"%s\":", facts->more[i].name);
        put_number(&l, key, facts->more[i].value);
    }
    put(&l, "}");
    ZN_TRY(write_line(log, &l, err));
    return remember(&log->validation, (zn_history_point){facts->step, facts->loss, facts->psnr},
                    err);
}

zenith_status zn_training_log_skip(zn_training_log *log, uint64_t step, const char *name,
                                   const char *reason, zn_error *err)
{
    line l;
    put_step(&l, step);
    put_quoted(&l, ",\"skipped\":", name);
    put_quoted(&l, ",\"reason\":", reason);
    return write_line(log, &l, err);
}

zenith_status zn_training_log_fault(zn_training_log *log, uint64_t step, const char *reason,
                                    zn_error *err)
{
    line l;
    put_step(&l, step);
    put_quoted(&l, ",\"fault\":", reason);
    return write_line(log, &l, err);
}
