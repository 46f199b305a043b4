// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The golden text model, diffusion transformer and pipeline in few bits: every parameter is read
// back, the same source gives the same bytes on one thread and two, and what fails leaves nothing
// behind.
#include "tests/testing.h"

#include "src/base/directory.h"
#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/text.h"
#include "src/format/tensor/elements.h"
#include "src/task/convert/few_bits_files.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_TENSORS = 128, NAME = 128 };

static const char *golden(const char *name)
{
    const char *path = zn_test_path(zn_test_golden(), name);
    zn_test_need(path);
    return path;
}

static const char *place(const char *name)
{
    return zn_test_path(zn_test_build(), name);
}

static zenith_status remove_entry(void *cookie, const char *name)
{
    return zn_file_remove(zn_test_path(cookie, name), NULL);
}

// A path in the build folder at which nothing is left of earlier runs.
static const char *fresh(const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s", place(name));
    if (zn_path_is_directory(path)) (void)!zn_directory_each(path, remove_entry, path, NULL);
    (void)!zn_file_remove(path, NULL);
    return path;
}

static zenith_status convert(int threads, const zn_few_bits *call, char **answer, zn_error *err)
{
    zn_executor *executor = NULL;
    zn_test_ok(zn_executor_create(1, threads, &executor, err), err);
    const zenith_status status = zn_write_few_bits(executor, call, answer, err);
    zn_executor_free(executor);
    return status;
}

static void convert_well(int threads, const zn_few_bits *call)
{
    zn_error err = {{0}};
    char *answer = NULL;
    zn_test_ok(convert(threads, call, &answer, &err), &err);
    assert_non_null(strstr(answer, "\"bits_per_weight\""));
    zn_free(answer);
}

// --- reading back -------------------------------------------------------------------------------

typedef struct opened {
    zn_weights *weights;
    zn_parameter_list list;
} opened;

static void open_list(const char *path, opened *out)
{
    zn_error err = {{0}};
    zn_test_ok(zn_weights_open(path, &out->weights, &err), &err);
    zn_test_ok(zn_parameter_list_make(out->weights, &out->list, &err), &err);
}

static void close_list(opened *o)
{
    zn_parameter_list_free(&o->list);
    zn_weights_free(o->weights);
}

static float *read_all(const zn_listed_parameter *p, size_t *count)
{
    *count = p->rows * p->weight.columns;
    float *values = zn_alloc(*count * sizeof *values);
    assert_non_null(values);
    zn_stored_weight_read(&p->weight, p->first, p->first + p->rows, values);
    return values;
}

// Each number of a matrix within half a step of what it was.
static void check_steps(const zn_listed_parameter *p, const float *was, const float *is)
{
    for (size_t i = 0; i < p->rows * p->weight.columns; i++) {
        const float step = p->weight.panels.scales[i / p->weight.columns];
        assert_true(fabsf(was[i] - is[i]) <= 0.50001f * step);
    }
}

static void compare_parameter(const zn_listed_parameter *from, const zn_listed_parameter *to,
                              double bound)
{
    size_t count = 0, again = 0;
    float *was = read_all(from, &count), *is = read_all(to, &again);
    double squared = 0, whole = 0;
    assert_string_equal(from->name, to->name);
    assert_int_equal(count, again);
    const bool panels = to->weight.form == ZN_WEIGHT_PANELS;
    for (size_t i = 0; i < count; i++) {
        squared += pow((double)was[i] - (double)is[i], 2);
        whole += pow((double)was[i], 2);
    }
    if (panels && to->weight.bits == 8 && !to->weight.rotated_by) check_steps(to, was, is);
    if (!panels && from->shape.rank < 2) assert_memory_equal(was, is, count * sizeof *was);
    const double error = sqrt(squared / whole), most = panels ? bound : 0.004;
    if (error > most) fail_msg("%s: error %g > %g", from->name, error, most);
    zn_free(was);
    zn_free(is);
}

static void read_back(const char *name, zn_recipe recipe, bool rotate, double bound, int matrices)
{
    opened from, to;
    int packed = 0, rotated = 0;
    const char *source = golden(name), *output = fresh("few_bits");
    convert_well(
        2, &(zn_few_bits){.source = source, .output = output, .recipe = recipe, .rotate = rotate});
    open_list(source, &from);
    open_list(output, &to);
    assert_int_equal(from.list.count, to.list.count);
    for (size_t i = 0; i < from.list.count; i++) {
        compare_parameter(&from.list.items[i], &to.list.items[i], bound);
        packed += to.list.items[i].weight.form == ZN_WEIGHT_PANELS;
        rotated += to.list.items[i].weight.rotated_by == 256;
    }
    assert_int_equal(packed, matrices);
    assert_int_equal(rotated > 0, rotate && strcmp(name, "qwen3") != 0); // whose inputs are fewer
    close_list(&from);
    close_list(&to);
}

ZN_TEST(every_parameter)
{
    const int transformer = 4 * 7 + 3, text = 3 * 7; // matrices of layers, and modulations
    read_back("zimage_transformer", ZN_RECIPE_Q8, false, 0.01, transformer);
    read_back("zimage_transformer", ZN_RECIPE_Q8, true, 0.01, transformer);
    read_back("zimage_transformer", ZN_RECIPE_MIXED, true, 0.11, transformer);
    read_back("qwen3", ZN_RECIPE_Q8, true, 0.01, text);
    read_back("qwen3", ZN_RECIPE_Q4, true, 0.11, text);
}

// Bits by the mixed recipe.
ZN_TEST(mixed_classes)
{
    static const struct {
        const char *name;
        size_t bits;
    } expected[] = {
        {"layers.0.attention.to_q.weight", 4},
        {"layers.0.attention.to_out.0.weight", 4},
        {"layers.0.feed_forward.w1.weight", 4},
        {"layers.0.feed_forward.w3.weight", 4},
        {"layers.0.feed_forward.w2.weight", 8},
        {"layers.0.adaLN_modulation.0.weight", 8},
        {"context_refiner.0.attention.to_k.weight", 8},
        {"noise_refiner.0.feed_forward.w1.weight", 8},
        {"all_x_embedder.2-1.weight", 0},
        {"cap_embedder.1.weight", 0},
        {"all_final_layer.2-1.linear.weight", 0},
        {"t_embedder.mlp.0.weight", 0},
    };
    zn_error err = {{0}};
    zn_weights *weights = NULL;
    const char *output = fresh("few_bits");
    convert_well(2, &(zn_few_bits){
                        .source = golden("zimage_transformer"), .output = output, .rotate = true});
    zn_test_ok(zn_weights_open(output, &weights, &err), &err);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        zn_stored_weight weight;
        const zn_file_tensor *tensor = zn_weights_find(weights, expected[i].name);
        assert_non_null(tensor);
        zn_test_ok(zn_stored_weight_of(weights, tensor, NULL, &weight, &err), &err);
        assert_int_equal(weight.bits, expected[i].bits);
        if (!expected[i].bits) assert_string_equal(tensor->dtype, "BF16");
    }
    zn_weights_free(weights);
}

// --- same bytes ---------------------------------------------------------------------------------

static void assert_same_files(const char *a, const char *b)
{
    zn_error err = {{0}};
    zn_mapped one, two;
    zn_test_ok(zn_mapped_open(a, &one, &err), &err);
    zn_test_ok(zn_mapped_open(b, &two, &err), &err);
    assert_int_equal(one.size, two.size);
    assert_memory_equal(one.data, two.data, one.size);
    zn_mapped_close(&one);
    zn_mapped_close(&two);
}

ZN_TEST(same_bytes)
{
    const char *source = golden("zimage_transformer"),
               *files[] = {"few_1.safetensors", "few_2.safetensors"};
    for (int threads = 1; threads <= 2; threads++)
        convert_well(threads, &(zn_few_bits){.source = source,
                                             .output = place(files[threads - 1]),
                                             .recipe = ZN_RECIPE_Q4,
                                             .rotate = true});
    assert_same_files(place(files[0]), place(files[1]));
}

// --- a single file, as ComfyUI has it -----------------------------------------------------------

typedef struct fused {
    zn_file_tensor tensors[MOST_TENSORS];
    char names[MOST_TENSORS][NAME];
    size_t count;
    zn_arena arena;
} fused;

static void replace(char name[NAME], const char *ours, const char *theirs)
{
    char changed[2 * NAME];
    char *at = strstr(name, ours);
    if (!at) return;
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - name), name, theirs,
             at + strlen(ours));
    snprintf(name, NAME, "%.120s", changed);
}

// Queries, keys and values one below the other.
static const void *join_three(fused *f, const zn_weights *weights, const char *query)
{
    const char *const parts[] = {".to_q.", ".to_k.", ".to_v."};
    uint8_t *all = NULL;
    for (int i = 0; i < 3; i++) {
        char name[NAME];
        snprintf(name, sizeof name, "%s", query);
        replace(name, ".to_q.", parts[i]);
        const zn_file_tensor *tensor = zn_weights_find(weights, name);
        assert_non_null(tensor);
        if (!all) all = zn_arena_alloc(&f->arena, 3 * tensor->bytes);
        assert_non_null(all);
        memcpy(all + (size_t)i * tensor->bytes, tensor->data, tensor->bytes);
    }
    return all;
}

static void fuse(fused *f, const zn_weights *weights)
{
    for (size_t i = 0; i < zn_weights_count(weights); i++) {
        const zn_file_tensor *tensor = zn_weights_get(weights, i);
        char *name = f->names[f->count];
        if (strstr(tensor->name, ".to_k.") || strstr(tensor->name, ".to_v.")) continue;
        assert_true(f->count < MOST_TENSORS);
        snprintf(name, NAME, "model.diffusion_model.%s", tensor->name);
        f->tensors[f->count] = *tensor;
        if (strstr(name, ".to_q.")) {
            f->tensors[f->count].data = join_three(f, weights, tensor->name);
            f->tensors[f->count].shape.dim[0] *= 3;
        }
        replace(name, "attention.to_q.", "attention.qkv.");
        replace(name, "attention.to_out.0.", "attention.out.");
        replace(name, "attention.norm_q.", "attention.q_norm.");
        replace(name, "attention.norm_k.", "attention.k_norm.");
        replace(name, "all_x_embedder.2-1.", "x_embedder.");
        replace(name, "all_final_layer.2-1.", "final_layer.");
        f->tensors[f->count++].name = name;
    }
}

static void write_fused(const char *path)
{
    static fused f;
    opened from;
    zn_error err = {{0}};
    zn_writer *writer = NULL;
    open_list(golden("zimage_transformer"), &from);
    fuse(&f, from.weights);
    const zn_metadata said[] = {{"zenith.context", from.list.layouts[0]},
                                {"zenith.modulation", from.list.layouts[1]},
                                {"zenith.denoiser", from.list.layouts[2]}};
    zn_test_ok(zn_writer_open(path, &writer, &err), &err);
    zn_test_ok(zn_safetensors_write(writer, f.tensors, f.count, said, 3, &err), &err);
    zn_test_ok(zn_writer_commit(writer, &err), &err);
    zn_arena_free(&f.arena);
    close_list(&from);
}

// The names are those of diffusers again, the matrices apart, and the config.json that is made up
// opens them.
ZN_TEST(a_single_file)
{
    char single[1024], direct[1024];
    opened before, after;
    snprintf(single, sizeof single, "%s", place("few_fused.safetensors"));
    snprintf(direct, sizeof direct, "%s", place("few_direct.safetensors"));
    write_fused(single);
    const char *output = fresh("few_bits");
    convert_well(2, &(zn_few_bits){.source = single, .output = output, .rotate = true});
    convert_well(2, &(zn_few_bits){
                        .source = golden("zimage_transformer"), .output = direct, .rotate = true});
    assert_same_files(zn_test_path(output, "diffusion_pytorch_model.safetensors"), direct);
    open_list(golden("zimage_transformer"), &before);
    open_list(output, &after);
    char layout[ZN_LAYOUT_SIZE];
    after.list.family->layout(after.weights, &after.list.family->parts[0], layout);
    assert_string_equal(layout, before.list.layouts[0]); // by config.json alone
    close_list(&before);
    close_list(&after);
}

// --- pipelines ----------------------------------------------------------------------------------

ZN_TEST(a_pipeline)
{
    static const char *const files[] = {"model_index.json",
                                        "text_encoder/config.json",
                                        "text_encoder/model.safetensors",
                                        "transformer/config.json",
                                        "transformer/diffusion_pytorch_model.safetensors",
                                        "tokenizer/tokenizer.json",
                                        "scheduler/scheduler_config.json",
                                        "vae/diffusion_pytorch_model.safetensors"};
    char output[1024];
    snprintf(output, sizeof output, "%s", place("few_pipeline"));
    (void)!zn_file_remove(zn_test_path(output, files[0]), NULL);
    convert_well(2, &(zn_few_bits){.source = golden("pipeline"), .output = output, .rotate = true});
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (!zn_path_is_file(zn_test_path(output, files[i]))) fail_msg("no %s", files[i]);
    assert_same_files(zn_test_path(output, files[0]), golden("pipeline/model_index.json"));
    assert_same_files(zn_test_path(output, files[7]),
                      golden("pipeline/vae/diffusion_pytorch_model.safetensors"));
}

// --- what fails ---------------------------------------------------------------------------------

static int stop_later(void *cookie, const zn_few_bits_report *report)
{
    int *calls = cookie;
    assert_true(report->done <= report->bytes && report->index < report->count);
    return ++*calls == 7;
}

static zenith_status count_entry(void *cookie, const char *name)
{
    (void)name;
    ++*(int *)cookie;
    return ZENITH_OK;
}

ZN_TEST(stopped)
{
    zn_error err = {{0}};
    char *answer = NULL;
    int calls = 0, left = 0;
    atomic_int cancel = 1;
    const char *output = fresh("few_stopped");
    zn_few_bits call = {.source = golden("zimage_transformer"),
                        .output = output,
                        .rotate = true,
                        .report = stop_later,
                        .cookie = &calls};
    assert_int_equal(convert(2, &call, &answer, &err), ZENITH_CANCELLED);
    assert_int_equal(calls, 7);
    call.report = NULL;
    call.cancel = &cancel;
    assert_int_equal(convert(2, &call, &answer, &err), ZENITH_CANCELLED);
    zn_test_ok(zn_directory_each(output, count_entry, &left, &err), &err);
    assert_int_equal(left, 0);
    assert_null(answer);
}

static void refused(const zn_few_bits *call, zenith_status expected, const char *fragment)
{
    zn_error err = {{0}};
    char *answer = NULL;
    const zenith_status status = convert(1, call, &answer, &err);
    if (status != expected || !strstr(err.text, fragment))
        fail_msg("status %d, \"%s\"; expected %d, \"%s\"", (int)status, err.text, (int)expected,
                 fragment);
}

// One number of the text model's weights is none.
static void write_strange(const char *path, const char *name)
{
    static zn_file_tensor tensors[MOST_TENSORS];
    static float values[1 << 16];
    opened from;
    zn_error err = {{0}};
    zn_writer *writer = NULL;
    open_list(golden("qwen3"), &from);
    const size_t count = zn_weights_count(from.weights);
    assert_true(count <= MOST_TENSORS);
    for (size_t i = 0; i < count; i++) {
        tensors[i] = *zn_weights_get(from.weights, i);
        if (strcmp(tensors[i].name, name) != 0) continue;
        assert_true(tensors[i].bytes <= sizeof values);
        memcpy(values, tensors[i].data, tensors[i].bytes);
        values[3] = NAN;
        tensors[i].data = (const uint8_t *)values;
    }
    const zn_metadata said = {"zenith.text", from.list.layouts[0]};
    zn_test_ok(zn_writer_open(path, &writer, &err), &err);
    zn_test_ok(zn_safetensors_write(writer, tensors, count, &said, 1, &err), &err);
    zn_test_ok(zn_writer_commit(writer, &err), &err);
    close_list(&from);
}

ZN_TEST(what_is_refused)
{
    char source[1024], output[1024], folder[1024];
    snprintf(source, sizeof source, "%s", place("few_strange.safetensors"));
    snprintf(output, sizeof output, "%s", place("few_refused.safetensors"));
    const zn_few_bits call = {.source = source, .output = output};
    write_strange(source, "layers.1.mlp.up_proj.weight");
    refused(&call, ZENITH_BAD_FILE, "'layers.1.mlp.up_proj.weight' has NaN");
    write_strange(source, "layers.1.input_layernorm.weight");
    refused(&call, ZENITH_BAD_FILE, "'layers.1.input_layernorm.weight' has NaN");
    assert_false(zn_path_is_file(output));
    refused(&(zn_few_bits){.source = golden("vae_flux"), .output = output}, ZENITH_UNSUPPORTED,
            "not written in few bits");
    refused(&(zn_few_bits){.source = golden("pipeline"), .output = output}, ZENITH_INVALID_ARGUMENT,
            "give a folder");
    refused(&(zn_few_bits){.source = place("not there"), .output = output}, ZENITH_NOT_FOUND,
            "not there");
    snprintf(folder, sizeof folder, "%s", fresh("few_bits"));
    zn_test_ok(zn_directory_make(folder, NULL), NULL);
    write_strange(zn_test_path(folder, "model.safetensors.index.json"), "");
    refused(&(zn_few_bits){.source = golden("qwen3"), .output = folder}, ZENITH_INVALID_ARGUMENT,
            "choose another folder");
    (void)fresh("few_bits");
}
