// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Qwen3 against transformers: every hidden state of the golden, and the state that diffusion models
// take in each type, in planes and bands, on one thread and two, and under other names.
#include "tests/model/part_runs.h"

#include "src/model/text_to_image/qwen3.h"

ZN_TEST_NEEDS(zn_test_path(zn_test_golden(), "qwen3/io.safetensors"))

enum { TOKENS = 24, WIDTH = 64, LAYERS = 4, MOST_TENSORS = 64, NAME = 96 };
static const double BOUND = 1e-5, BOUND_BF16 = 2e-2, BOUND_INT8 = 5e-2;

typedef struct world {
    zn_safetensors *golden;
    part_run run;
    float ids[TOKENS], *angles;
    unsigned seen; // a bit for each hidden state
} world;

static void open_world(world *w, zn_model *model)
{
    int64_t ids[TOKENS];
    *w = (world){.golden = part_golden("qwen3/io.safetensors")};
    const zn_file_tensor *stored = zn_safetensors_find(w->golden, "ids");
    assert_non_null(stored);
    assert_int_equal(stored->bytes, sizeof ids);
    memcpy(ids, stored->data, sizeof ids);
    for (size_t i = 0; i < TOKENS; i++) w->ids[i] = (float)ids[i];
    assert_int_equal(zn_qwen3_width(model), WIDTH);
    w->angles = part_need(zn_alloc((size_t)(TOKENS * zn_qwen3_head(model)) * sizeof(float)));
    zn_qwen3_angles(model, TOKENS, w->angles);
    w->run = (part_run){.model = model,
                        .part = zn_model_part(model, "text"),
                        .sizes = {.tokens = TOKENS},
                        .inputs = {w->ids, w->angles},
                        .output = part_need(zn_alloc(TOKENS * WIDTH * sizeof(float))),
                        .dtype = ZENITH_DTYPE_F32};
}

static void close_world(world *w)
{
    zn_free(w->run.output);
    zn_free(w->angles);
    zn_model_unref(w->run.model);
    zn_safetensors_free(w->golden);
}

static void compare_hidden(const world *w, const char *name, const float *got, double bound)
{
    size_t count;
    float *expected = part_tensor(w->golden, name, &count);
    assert_int_equal(count, TOKENS * WIDTH);
    part_compare(name, got, expected, count, bound);
    zn_free(expected);
}

// hidden.0 are the embeddings, hidden.i what layer i - 1 makes, and the last is normed.
static void see(void *cookie, const zn_node *node, const float *values, size_t count)
{
    world *w = cookie;
    char name[32];
    int layer = -1, length = 0;
    const bool last = strcmp(node->name, "norm") == 0;
    const bool in_layer = sscanf(node->name, "layers.%d%n", &layer, &length) == 1 &&
                          node->name[length] == 0;
    if (!last && !in_layer && strcmp(node->name, "embed_tokens") != 0) return;
    if (in_layer && layer == LAYERS - 1) return; // the golden has it normed only
    const int number = last ? LAYERS : layer + 1;
    assert_int_equal(count, TOKENS * WIDTH);
    snprintf(name, sizeof name, "hidden.%d", number);
    compare_hidden(w, name, values, BOUND);
    w->seen |= 1u << number;
}

ZN_TEST(every_hidden_state)
{
    world w;
    zn_model *model = part_open("qwen3");
    // All layers and the final norm, which diffusion models leave out.
    const size_t length = strlen(model->layouts[0]);
    snprintf(model->layouts[0] + length, sizeof model->layouts[0] - length, " skip=0");
    open_world(&w, model);
    w.run.see = see;
    w.run.cookie = &w;
    part_run_plain(&w.run);
    assert_int_equal(w.seen, (1u << (LAYERS + 1)) - 1);
    compare_hidden(&w, "hidden.4", w.run.output, BOUND);
    close_world(&w);
}

// The last layer is not even there, and padding would not have changed a row.
ZN_TEST(the_state_that_is_used)
{
    world w;
    open_world(&w, part_open("qwen3"));
    assert_int_equal(w.run.model->unexpected, 11 + 1); // of the last layer, and the final norm
    part_run_plain(&w.run);
    compare_hidden(&w, "hidden.3", w.run.output, BOUND);
    compare_hidden(&w, "padded.hidden.-2", w.run.output, BOUND);
    close_world(&w);
}

ZN_TEST(compiled_in_each_type)
{
    static const struct {
        const char *label;
        zenith_dtype dtype;
        double bound;
    } types[] = {{"f32", ZENITH_DTYPE_F32, BOUND},
                 {"bf16", ZENITH_DTYPE_BF16, BOUND_BF16},
                 {"int8", ZENITH_DTYPE_INT8, BOUND_INT8}};
    static const struct {
        zn_plan_mode mode;
        int threads;
    } ways[] = {{ZN_PLAN_PLANES, 2}, {ZN_PLAN_ROLLING, 1}, {ZN_PLAN_AUTO, 2}};
    for (size_t t = 0; t < 3; t++) {
        static float first[TOKENS * WIDTH];
        world w;
        zn_error err = {0};
        open_world(&w, part_open("qwen3"));
        w.run.dtype = types[t].dtype;
        w.run.mode = ZN_PLAN_PLANES;
        zn_test_ok(part_run_compiled(&w.run, &err), &err);
        print_message("%s: ", types[t].label);
        compare_hidden(&w, "hidden.3", w.run.output, types[t].bound);
        memcpy(first, w.run.output, sizeof first);
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            w.run.mode = ways[i].mode;
            w.run.threads = ways[i].threads;
            memset(w.run.output, 0xff, sizeof first);
            zn_test_ok(part_run_compiled(&w.run, &err), &err);
            assert_memory_equal(w.run.output, first, sizeof first);
        }
        close_world(&w);
    }
}

// A longer prompt has the same bits where it begins.
ZN_TEST(what_follows_changes_nothing)
{
    enum { SHORT = 7 };
    static float all[TOKENS * WIDTH];
    world w;
    zn_error err = {0};
    open_world(&w, part_open("qwen3"));
    zn_test_ok(part_run_compiled(&w.run, &err), &err);
    memcpy(all, w.run.output, sizeof all);
    w.run.sizes.tokens = SHORT;
    memset(w.run.output, 0xff, sizeof all);
    zn_test_ok(part_run_compiled(&w.run, &err), &err);
    assert_memory_equal(w.run.output, all, SHORT * WIDTH * sizeof(float));
    close_world(&w);
}

// --- names --------------------------------------------------------------------------------------

static const char *const gguf[][2] = {
    {"embed_tokens", "token_embd"},      {"layers", "blk"},
    {"self_attn.q_proj", "attn_q"},      {"self_attn.k_proj", "attn_k"},
    {"self_attn.v_proj", "attn_v"},      {"self_attn.o_proj", "attn_output"},
    {"self_attn.q_norm", "attn_q_norm"}, {"self_attn.k_norm", "attn_k_norm"},
    {"input_layernorm", "attn_norm"},    {"post_attention_layernorm", "ffn_norm"},
    {"mlp.gate_proj", "ffn_gate"},       {"mlp.up_proj", "ffn_up"},
    {"mlp.down_proj", "ffn_down"},
};

static void rename_as_gguf(char name[NAME])
{
    for (size_t i = 0; i < sizeof gguf / sizeof *gguf; i++) {
        char changed[2 * NAME];
        const char *at = strstr(name, gguf[i][0]);
        if (!at) continue;
        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - name), name, gguf[i][1],
                 at + strlen(gguf[i][0]));
        snprintf(name, NAME, "%.90s", changed);
    }
    if (strcmp(name, "norm.weight") == 0) snprintf(name, NAME, "output_norm.weight");
}

// The golden's weights in one file under other names, with the layout as metadata.
static zn_model *open_renamed(const char *outer, bool as_gguf, const char *layout)
{
    static char names[MOST_TENSORS][NAME];
    static zn_file_tensor tensors[MOST_TENSORS];
    zn_metadata facts[] = {{"zenith.text", layout}};
    const char *path = zn_test_path(zn_test_build(), "qwen3_renamed.safetensors");
    zn_safetensors *weights = part_golden("qwen3/model.safetensors");
    const size_t count = zn_safetensors_count(weights);
    assert_true(count <= MOST_TENSORS);
    for (size_t i = 0; i < count; i++) {
        tensors[i] = *zn_safetensors_get(weights, i);
        snprintf(names[i], NAME, "%s%s", outer, tensors[i].name);
        if (as_gguf) rename_as_gguf(names[i]);
        tensors[i].name = names[i];
    }
    write_tensors(path, tensors, count, facts, 1);
    zn_safetensors_free(weights);
    return model_at(path, NULL);
}

ZN_TEST(every_name_set)
{
    static const char *const outer[] = {"model.", "text_encoders.qwen3_4b.transformer.model.", ""};
    zn_model *usual = part_open("qwen3");
    char layout[ZN_LAYOUT_SIZE];
    snprintf(layout, sizeof layout, "%s", usual->layouts[0]);
    print_message("layout: %s\n", layout);
    zn_model_unref(usual);
    for (size_t i = 0; i < 3; i++) {
        world w;
        zn_error err = {0};
        open_world(&w, open_renamed(outer[i], i == 2, layout));
        assert_string_equal(w.run.model->variant->name, "qwen3");
        zn_test_ok(part_run_compiled(&w.run, &err), &err);
        compare_hidden(&w, "hidden.3", w.run.output, BOUND);
        close_world(&w);
    }
}

// Numbers that make no network are refused with a sentence.
ZN_TEST(bad_layouts_are_refused)
{
    static const char *const bad[] = {"width=64 bad=3",  "width=6.5",   "bad",
                                      "width=64 heads=", "layers=1e99", "width=-1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        zn_error err = {0};
        zn_graph graph;
        zn_model *model = part_open("qwen3");
        const zn_part *part = zn_model_part(model, "text");
        snprintf(model->layouts[0], sizeof model->layouts[0], "%s", bad[i]);
        assert_int_equal(zn_model_graph(model, part, &(zn_sizes){.tokens = 1}, NULL, &graph, &err),
                         ZENITH_BAD_FILE);
        assert_non_null(strstr(err.text, "config.json"));
        zn_model_unref(model);
    }
}

// The text encoder does without the last layer (100,930,816) and the final norm.
ZN_TEST(full_size_has_as_many_parameters)
{
    assert_int_equal(part_parameters("qwen3", "text", "skip=0"), 4022468096u);
    assert_int_equal(part_parameters("qwen3", "text", NULL), 4022468096u - 100930816u - 2560u);
}
