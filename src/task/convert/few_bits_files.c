// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A pipeline's folder is written as one: components whose family can be written in few bits are
// converted, the others copied, and model_index.json comes last, so that a conversion that was
// stopped is no pipeline.
#include "src/task/convert/few_bits_files.h"

#include "src/base/directory.h"
#include "src/base/os.h"
#include "src/base/text.h"
#include "src/model/model.h"
#include "src/model/pipeline.h"

#include <jansson.h>
#include <string.h>

#define FILE_TAIL  ".safetensors"
#define INDEX_TAIL ".safetensors.index.json"
enum { COPY_BYTES = 8 << 20 };

typedef struct work {
    const zn_few_bits *call;
    zn_team *team;
    zn_few_bits_report report;
    json_t *parts, *copied; // of the answer
    zn_error *err;
} work;

static zenith_status join(const char *folder, const char *name, const char *tail,
                          char dst[ZN_PATH_SIZE], zn_error *err)
{
    if (zn_text_format(dst, ZN_PATH_SIZE, "%s/%s%s", folder, name, tail) + 1 < ZN_PATH_SIZE)
        return ZENITH_OK;
    return zn_fail(err, ZENITH_LIMIT, "the path '%s' is too long", folder);
}

static int stepped(void *cookie, const char *tensor, uint64_t done, uint64_t bytes)
{
    work *w = cookie;
    w->report.tensor = tensor;
    w->report.done = done;
    w->report.bytes = bytes;
    if (w->call->cancel && atomic_load(w->call->cancel)) return 1;
    return w->call->report ? w->call->report(w->call->cookie, &w->report) : 0;
}

// --- config.json --------------------------------------------------------------------------------

static bool is_place(const char *segment)
{
    return segment[0] >= '0' && segment[0] <= '9';
}

// The member, made where it is not there: an array where a place in one follows. NULL: no memory.
static json_t *member(json_t *at, const char *segment, bool array)
{
    json_t *found = is_place(segment) ? json_array_get(at, (size_t)(segment[0] - '0'))
                                      : json_object_get(at, segment);
    if (found) return found;
    json_t *made = array ? json_array() : json_object();
    const int failed = is_place(segment) ? json_array_append_new(at, made)
                                         : json_object_set_new(at, segment, made);
    return failed ? NULL : made;
}

// Sets what a path of keys and places leads to, as settings have it: "axes_dims/0". Places come in
// their order.
static bool set_number(json_t *at, const char *path, double number, bool fraction)
{
    char segment[64];
    for (;;) {
        const size_t length = strcspn(path, "/");
        zn_text_format(segment, sizeof segment, "%.*s", (int)length, path);
        if (!path[length]) break;
        path += length + 1;
        at = member(at, segment, is_place(path));
        if (!at) return false;
    }
    json_t *value = fraction ? json_real(number) : json_integer((json_int_t)number);
    if (is_place(segment)) return json_array_append_new(at, value) == 0;
    return json_object_set_new(at, segment, value) == 0;
}

// What a source without a config.json was opened with.
static zenith_status make_config(const zn_parameter_list *list, json_t **out, zn_error *err)
{
    const zn_writing *how = list->family->writing;
    double numbers[ZN_MOST_SETTINGS];
    const char *layout = zn_parameter_list_layout(list, &list->family->parts[0]);
    ZN_TRY(zn_json_parse(how->config, strlen(how->config), "config.json", out, err));
    if (!zn_settings_read(layout, how->numbers, how->numbers_count, numbers))
        return zn_fail(err, ZENITH_BAD_FILE, "'%s' does not describe this network", layout);
    for (int i = 0; i < how->numbers_count; i++) {
        const zn_setting *is = &how->numbers[i];
        if ((is->config && !set_number(*out, is->config, numbers[i], is->fraction)) ||
            (is->older && !set_number(*out, is->older, numbers[i], is->fraction)))
            return zn_fail_memory(err, sizeof **out);
    }
    return ZENITH_OK;
}

// The source's, without what it says on how the source is quantised.
static zenith_status copy_config(const zn_json *config, json_t **out, zn_error *err)
{
    *out = json_deep_copy(config);
    if (!*out) return zn_fail_memory(err, sizeof **out);
    json_object_del(*out, "quantization");
    json_object_del(*out, "quantization_config");
    return ZENITH_OK;
}

static zenith_status write_text(const char *path, const char *text, size_t size, zn_error *err)
{
    zn_writer *file = NULL;
    ZN_TRY(zn_writer_open(path, &file, err));
    const zenith_status status = zn_writer_write(file, text, size, err);
    if (status == ZENITH_OK) return zn_writer_commit(file, err);
    zn_writer_discard(file);
    return status;
}

static zenith_status write_config(const zn_parameter_list *list, const char *folder, zn_error *err)
{
    const zn_json *said = zn_weights_config(list->weights);
    char path[ZN_PATH_SIZE], *text = NULL;
    json_t *config = NULL;
    size_t size = 0;
    zenith_status status;
    ZN_GO(said ? copy_config(said, &config, err) : make_config(list, &config, err));
    ZN_GO(zn_json_dump(config, &text, &size, err));
    ZN_GO(join(folder, "config", ".json", path, err));
    ZN_GO(write_text(path, text, size, err));
fail:
    zn_free(text);
    json_decref(config);
    return status;
}

// --- the answer ---------------------------------------------------------------------------------

static json_t *class_json(const zn_panel_class *class)
{
    const double weights = class->weights ? (double)class->weights : 1;
    json_t *json = json_pack(
        "{s:s, s:i, s:I, s:I, s:I, s:I, s:f}", "class", class->name, "bits", class->bits, "tensors",
        (json_int_t) class->tensors, "weights", (json_int_t) class->weights, "bytes_before",
        (json_int_t) class->bytes_before, "bytes_after", (json_int_t) class->bytes_after,
        "bits_per_weight", 8.0 * (double)class->bytes_after / weights);
    if (!json || !class->bits) return json;
    if (json_object_set_new(json, "error", json_real(class->errors / (double)class->tensors)) == 0)
        return json;
    json_decref(json);
    return NULL;
}

static zenith_status add_part(work *w, const zn_parameter_list *list, const zn_panel_facts *facts)
{
    json_t *classes = json_array();
    uint64_t weights = 0, before = 0, after = 0;
    bool whole = classes;
    for (int i = 0; whole && i < facts->count; i++) {
        const zn_panel_class *class = &facts->classes[i];
        weights += class->weights;
        before += class->bytes_before;
        after += class->bytes_after;
        whole = json_array_append_new(classes, class_json(class)) == 0;
    }
    json_t *part = json_pack("{s:s, s:s, s:I, s:I, s:I, s:f, s:o}", "part", w->report.part, "model",
                             list->variant->name, "weights", (json_int_t)weights, "bytes_before",
                             (json_int_t)before, "bytes_after", (json_int_t)after,
                             "bits_per_weight", weights ? 8.0 * (double)after / (double)weights : 0,
                             "classes", classes);
    if (json_array_append_new(w->parts, part) == 0 && whole) return ZENITH_OK;
    return zn_fail_memory(w->err, sizeof *part);
}

// --- one model ----------------------------------------------------------------------------------

static bool is_file_name(const char *path)
{
    return zn_text_ends_with(path, FILE_TAIL);
}

// Opening a folder prefers an index, so one that is there would hide what is written.
static zenith_status prepare_folder(const zn_parameter_list *list, const char *folder,
                                    char path[ZN_PATH_SIZE], zn_error *err)
{
    const char *file = list->family->writing->file;
    ZN_TRY(zn_directory_make(folder, err));
    ZN_TRY(join(folder, file, INDEX_TAIL, path, err));
    if (zn_path_is_file(path))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "%s holds other weights, whose index %s%s would be read instead: choose "
                       "another folder",
                       folder, file, INDEX_TAIL);
    return join(folder, file, FILE_TAIL, path, err);
}

static zenith_status convert_listed(work *w, const zn_parameter_list *list, const char *output)
{
    const zn_panel_file_call call = {.recipe = w->call->recipe,
                                     .rotate = w->call->rotate,
                                     .team = w->team,
                                     .stepped = stepped,
                                     .cookie = w};
    char path[ZN_PATH_SIZE];
    zn_panel_facts facts;
    if (is_file_name(output)) {
        ZN_TRY(zn_panel_file_write(list, output, &call, &facts, w->err));
        return add_part(w, list, &facts);
    }
    ZN_TRY(prepare_folder(list, output, path, w->err));
    ZN_TRY(zn_panel_file_write(list, path, &call, &facts, w->err));
    ZN_TRY(write_config(list, output, w->err));
    return add_part(w, list, &facts);
}

static zenith_status convert_weights(work *w, const zn_weights *weights, const char *output)
{
    zn_parameter_list list;
    ZN_TRY(zn_parameter_list_make(weights, &list, w->err));
    const zenith_status status = convert_listed(w, &list, output);
    zn_parameter_list_free(&list);
    return status;
}

static zenith_status convert_one(work *w)
{
    zn_weights *weights = NULL;
    w->report.count = 1;
    ZN_TRY(zn_weights_open(w->call->source, &weights, w->err));
    const zenith_status status = convert_weights(w, weights, w->call->output);
    zn_weights_free(weights);
    return status;
}

// --- what is copied -----------------------------------------------------------------------------

typedef struct copying {
    work *w;
    const char *from, *to;
} copying;

static zenith_status copy_bytes(work *w, const zn_mapped *from, zn_writer *to)
{
    for (size_t at = 0; at < from->size; at += COPY_BYTES) {
        const size_t left = from->size - at, size = left < COPY_BYTES ? left : COPY_BYTES;
        ZN_TRY(zn_writer_write(to, from->data + at, size, w->err));
        zn_mapped_forget(from, at, size);
        if (w->call->cancel && atomic_load(w->call->cancel))
            return zn_fail(w->err, ZENITH_CANCELLED, "the conversion was cancelled");
    }
    return ZENITH_OK;
}

static zenith_status copy_file(work *w, const char *from, const char *to)
{
    zn_mapped file = {0};
    zn_writer *writer = NULL;
    zenith_status status;
    ZN_GO(zn_mapped_open(from, &file, w->err));
    ZN_GO(zn_writer_open(to, &writer, w->err));
    ZN_GO(copy_bytes(w, &file, writer));
    status = zn_writer_commit(writer, w->err);
    writer = NULL;
fail:
    zn_writer_discard(writer);
    zn_mapped_close(&file);
    return status;
}

static zenith_status copy_entry(void *cookie, const char *name)
{
    const copying *c = cookie;
    char from[ZN_PATH_SIZE], to[ZN_PATH_SIZE];
    ZN_TRY(join(c->from, name, "", from, c->w->err));
    ZN_TRY(join(c->to, name, "", to, c->w->err));
    return zn_path_is_file(from) ? copy_file(c->w, from, to) : ZENITH_OK;
}

static zenith_status copy_folder(work *w, const char *name, const char *from, const char *to)
{
    copying c = {w, from, to};
    ZN_TRY(zn_directory_make(to, w->err));
    ZN_TRY(zn_directory_each(from, copy_entry, &c, w->err));
    if (json_array_append_new(w->copied, json_string(name)) == 0) return ZENITH_OK;
    return zn_fail_memory(w->err, sizeof *w->copied);
}

// --- a pipeline ---------------------------------------------------------------------------------

// Its weights, where they are of a family that is written; else *out stays NULL.
static zenith_status open_component(const zn_pipeline *pipeline, const char *name, zn_weights **out,
                                    zn_error *err)
{
    zn_weights *weights = NULL;
    unsigned fits = 0, parts = 0;
    zn_error why = {{0}};
    const zenith_status status = zn_pipeline_weights(pipeline, name, &weights, &why);
    if (status == ZENITH_NOT_FOUND) return ZENITH_OK; // a tokenizer, a schedule
    if (status != ZENITH_OK) return zn_fail(err, status, "%s", why.text);
    const zn_family *family = zn_model_probe(weights, &fits, &parts);
    if (family && family->writing)
        *out = weights;
    else
        zn_weights_free(weights);
    return ZENITH_OK;
}

static zenith_status count_models(work *w, const zn_pipeline *pipeline)
{
    for (size_t i = 0; i < pipeline->index.count; i++) {
        zn_weights *weights = NULL;
        ZN_TRY(open_component(pipeline, pipeline->index.components[i].name, &weights, w->err));
        w->report.count += weights != NULL;
        zn_weights_free(weights);
    }
    if (w->report.count > 0) return ZENITH_OK;
    return zn_fail(w->err, ZENITH_UNSUPPORTED,
                   "%s has no component that is written in few bits: text models (qwen3) and "
                   "diffusion transformers (z-image) are",
                   pipeline->folder);
}

static zenith_status convert_component(work *w, const zn_pipeline *pipeline, const char *name)
{
    char from[ZN_PATH_SIZE], to[ZN_PATH_SIZE];
    zn_weights *weights = NULL;
    ZN_TRY(zn_pipeline_path(pipeline, name, from, w->err));
    ZN_TRY(join(w->call->output, name, "", to, w->err));
    if (!zn_path_is_directory(from)) return ZENITH_OK; // one that pipelines can do without
    ZN_TRY(open_component(pipeline, name, &weights, w->err));
    if (!weights) return copy_folder(w, name, from, to);
    w->report.part = name;
    const zenith_status status = convert_weights(w, weights, to);
    zn_weights_free(weights);
    w->report.index++;
    return status;
}

static zenith_status convert_pipeline(work *w)
{
    static const char index[] = "model_index.json";
    zn_pipeline pipeline = {.index = {.count = 0}};
    char from[ZN_PATH_SIZE], to[ZN_PATH_SIZE];
    zenith_status status;
    if (is_file_name(w->call->output))
        return zn_fail(w->err, ZENITH_INVALID_ARGUMENT,
                       "'%s' cannot hold a whole pipeline: give a folder", w->call->output);
    ZN_TRY(zn_pipeline_open(w->call->source, &pipeline, w->err));
    ZN_GO(count_models(w, &pipeline));
    ZN_GO(zn_directory_make(w->call->output, w->err));
    for (size_t i = 0; i < pipeline.index.count; i++)
        ZN_GO(convert_component(w, &pipeline, pipeline.index.components[i].name));
    ZN_GO(join(w->call->source, index, "", from, w->err));
    ZN_GO(join(w->call->output, index, "", to, w->err));
    ZN_GO(copy_file(w, from, to));
fail:
    zn_pipeline_free(&pipeline);
    return status;
}

// --- the call -----------------------------------------------------------------------------------

typedef struct job {
    const zn_few_bits *call;
    char **out;
    zn_error *err;
} job;

static uint64_t total(const json_t *parts, const char *key)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < json_array_size(parts); i++)
        sum += (uint64_t)json_integer_value(json_object_get(json_array_get(parts, i), key));
    return sum;
}

static zenith_status write_answer(const work *w, char **out)
{
    static const char *const recipes[ZN_RECIPE_COUNT] = {"mixed", "q4", "q8"};
    const uint64_t weights = total(w->parts, "weights"), after = total(w->parts, "bytes_after");
    json_t *answer = json_pack(
        "{s:s, s:b, s:I, s:I, s:I, s:f, s:O, s:O}", "recipe", recipes[w->call->recipe], "rotated",
        w->call->rotate, "weights", (json_int_t)weights, "bytes_before",
        (json_int_t)total(w->parts, "bytes_before"), "bytes_after", (json_int_t)after,
        "bits_per_weight", weights ? 8.0 * (double)after / (double)weights : 0.0, "parts", w->parts,
        "copied", w->copied);
    if (!answer) return zn_fail_memory(w->err, sizeof *answer);
    const zenith_status status = zn_json_dump(answer, out, NULL, w->err);
    json_decref(answer);
    return status;
}

static zenith_status run(void *arg, zn_team *team, int stream)
{
    const job *j = arg;
    work w = {.call = j->call,
              .team = team,
              .report = {.part = ""},
              .parts = json_array(),
              .copied = json_array(),
              .err = j->err};
    zenith_status status = ZENITH_OK;
    (void)stream;
    if (!w.parts || !w.copied) ZN_GO(zn_fail_memory(j->err, sizeof *w.parts));
    ZN_GO(zn_pipeline_is(j->call->source) ? convert_pipeline(&w) : convert_one(&w));
    ZN_GO(write_answer(&w, j->out));
fail:
    json_decref(w.parts);
    json_decref(w.copied);
    return status;
}

zenith_status zn_write_few_bits(zn_executor *executor, const zn_few_bits *call, char **out,
                                zn_error *err)
{
    job j = {call, out, err};
    return zn_executor_run(executor, run, &j, 1, err);
}
