// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Z-Image's transformer against diffusers: an even picture, a padded one and a batch of two, with
// the activations that the golden has; from shards in f32 and from one file in bf16; the same bits
// in planes and bands and on one thread and two; stopped inside a forward.
#include "tests/model/part_runs.h"

#include "src/model/text_to_image/zimage.h"

ZN_TEST_NEEDS(zn_test_path(zn_test_golden(), "zimage_transformer/io.safetensors"))

enum { CHANNELS = 16, WIDTH = 96, PATCH = 2, MOST_NAME = 96 };
static const double BOUND = 1e-5, BOUND_BF16 = 2e-2, BOUND_INT8 = 5e-2;

// One picture of a case, and where its rows begin in the activations of the case.
typedef struct item {
    const char *label;
    int number;
    int64_t height, width, caption;
    int64_t image_before, caption_before; // tokens of the embedders' results, which lie end to end
} item;
static const item items[] = {
    {"even", 0, 16, 16, 32, 0, 0},
    {"padded", 0, 12, 20, 19, 0, 0},
    {"batch", 0, 12, 20, 19, 0, 0},
    {"batch", 1, 8, 16, 45, 64, 32},
};
enum { ITEMS = sizeof items / sizeof *items };

// Where the value of a module is in our graphs. end_to_end: items of a batch are not padded to one
// length.
static const struct {
    const char *golden, *node;
    enum { PADDED, IMAGES, CAPTIONS } rows;
} activations[] = {
    {"t_embedder", "t_embedder.mlp.2", PADDED},
    {"all_x_embedder.2-1", "all_x_embedder.2-1", IMAGES},
    {"cap_embedder", "cap_embedder.1", CAPTIONS},
    {"noise_refiner.0", "noise_refiner.0", PADDED},
    {"context_refiner.0", "context_refiner.0", PADDED},
    {"layers.0.attention", "layers.0.attention.to_out.0", PADDED},
    {"layers.0.feed_forward", "layers.0.feed_forward.w2", PADDED},
    {"layers.0", "layers.0", PADDED},
    {"layers.1", "layers.1", PADDED},
    {"all_final_layer.2-1", "all_final_layer.2-1.linear", PADDED},
};
enum { ACTIVATIONS = sizeof activations / sizeof *activations };

typedef struct world {
    zn_safetensors *golden;
    zn_model *model;
    const item *of;
    part_run how; // type, mode and threads of all runs
    bool plain;   // as the model describes it, with an eye on activations
    unsigned seen;
    float *velocity;
} world;

// A tensor of the case, or of its item.
static float *case_tensor(const world *w, const char *name, bool own, size_t *count)
{
    char full[MOST_NAME];
    if (own)
        snprintf(full, sizeof full, "%s.%s.%d", w->of->label, name, w->of->number);
    else
        snprintf(full, sizeof full, "%s.%s", w->of->label, name);
    return part_tensor(w->golden, full, count);
}

// [C, 1, h, w] as [h, w, C].
static float *case_map(const world *w, const char *name)
{
    size_t count;
    float *planes = case_tensor(w, name, true, &count),
          *map = part_need(zn_alloc(count * sizeof *map));
    const size_t pixels = count / CHANNELS;
    for (size_t i = 0; i < count; i++) map[i % pixels * CHANNELS + i / pixels] = planes[i];
    zn_free(planes);
    return map;
}

static void see(void *cookie, const zn_node *node, const float *values, size_t count)
{
    world *w = cookie;
    char name[MOST_NAME];
    int which = 0;
    while (which < ACTIVATIONS && strcmp(activations[which].node, node->name) != 0) which++;
    if (which == ACTIVATIONS) return;
    snprintf(name, sizeof name, "%s.act.%s", w->of->label, activations[which].golden);
    const zn_file_tensor *tensor = zn_safetensors_find(w->golden, name);
    assert_non_null(tensor);
    const zn_shape *shape = &tensor->shape;
    const size_t width = (size_t)shape->dim[shape->rank - 1];
    size_t before = (size_t)w->of->number * width * (shape->rank == 3 ? (size_t)shape->dim[1] : 1);
    if (activations[which].rows == IMAGES) before = (size_t)w->of->image_before * width;
    if (activations[which].rows == CAPTIONS) before = (size_t)w->of->caption_before * width;
    size_t all;
    float *expected = part_tensor(w->golden, name, &all);
    assert_int_equal(node->desc.shape.dim[3], width);
    assert_true(before + count <= all);
    part_compare(name, values, expected + before, count, BOUND);
    zn_free(expected);
    w->seen |= 1u << which;
}

static zenith_status run_part(world *w, const char *part, zn_sizes sizes,
                              const float *const *inputs, int count, float *output, zn_error *err)
{
    part_run r = w->how;
    r.model = w->model;
    r.part = part_need((void *)(uintptr_t)zn_model_part(w->model, part));
    r.sizes = sizes;
    for (int i = 0; i < count; i++) r.inputs[i] = inputs[i];
    r.output = output;
    r.see = w->plain ? see : NULL;
    r.cookie = w;
    if (!w->plain) return part_run_compiled(&r, err);
    part_run_plain(&r);
    return ZENITH_OK;
}

static float *floats(int64_t count)
{
    return part_need(zn_alloc((size_t)count * sizeof(float)));
}

// All three parts, one after the other. The velocity is the world's.
static zenith_status run_item(world *w, zn_error *err)
{
    const item *of = w->of;
    const zn_zimage_facts facts = zn_zimage_facts_of(w->model);
    const int64_t context_tokens = zn_zimage_caption_tokens(of->caption);
    const zn_sizes sizes = {.height = of->height, .width = of->width, .tokens = context_tokens};
    const int64_t tokens = zn_zimage_image_tokens(w->model, of->height, of->width) + context_tokens;
    float *angles = floats(tokens * facts.head), *context = floats(context_tokens * facts.width);
    float *modulation = floats(facts.modulation), *caption = case_tensor(w, "cap", true, NULL);
    float *times = case_tensor(w, "t", false, NULL), *latent = case_map(w, "x");
    zn_zimage_caption_angles(w->model, context_tokens, angles);
    zenith_status status = run_part(w, "context", (zn_sizes){.tokens = of->caption},
                                    (const float *[]){caption, angles}, 2, context, err);
    if (status == ZENITH_OK)
        status = run_part(w, "modulation", (zn_sizes){.tokens = 1}, (const float *[]){times}, 1,
                          modulation, err);
    zn_zimage_angles(w->model, &sizes, angles);
    const float *inputs[] = {latent, context, modulation, angles};
    if (status == ZENITH_OK) status = run_part(w, "denoiser", sizes, inputs, 4, w->velocity, err);
    float *const all[] = {angles, context, modulation, caption, times, latent};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) zn_free(all[i]);
    return status;
}

static void compare_velocity(const world *w, double bound)
{
    char name[MOST_NAME];
    float *expected = case_map(w, "out");
    snprintf(name, sizeof name, "%s.out.%d", w->of->label, w->of->number);
    part_compare(name, w->velocity, expected, (size_t)(w->of->height * w->of->width * CHANNELS),
                 bound);
    zn_free(expected);
}

static void open_world(world *w, const char *folder)
{
    *w = (world){.golden = part_golden("zimage_transformer/io.safetensors"),
                 .model = part_open(folder),
                 .velocity = floats(16 * 20 * CHANNELS)};
    assert_int_equal(w->model->unexpected, 0);
    assert_int_equal(w->model->parts, 7);
}

static void close_world(world *w)
{
    zn_free(w->velocity);
    zn_model_unref(w->model);
    zn_safetensors_free(w->golden);
}

// --- tests --------------------------------------------------------------------------------------

ZN_TEST(activations_match)
{
    world w;
    zn_error err = {0};
    open_world(&w, "zimage_transformer");
    print_message("layout: %s\n", w.model->layouts[2]);
    w.plain = true;
    for (int i = 0; i < ITEMS; i++) {
        w.of = &items[i];
        w.seen = 0;
        zn_test_ok(run_item(&w, &err), &err);
        assert_int_equal(w.seen, (1u << ACTIVATIONS) - 1);
        compare_velocity(&w, BOUND);
    }
    close_world(&w);
}

// Bands and threads change no bit.
ZN_TEST(compiled_in_each_type)
{
    static const struct {
        const char *label, *folder;
        zenith_dtype dtype;
        double bound;
    } types[] = {{"f32", "zimage_transformer", ZENITH_DTYPE_F32, 1e-5},
                 {"f32 of bf16 weights", "zimage_transformer_bf16", ZENITH_DTYPE_F32, 1e-5},
                 {"bf16", "zimage_transformer_bf16", ZENITH_DTYPE_BF16, BOUND_BF16},
                 {"int8", "zimage_transformer", ZENITH_DTYPE_INT8, BOUND_INT8}};
    static float first[16 * 20 * CHANNELS];
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        world w;
        zn_error err = {0};
        open_world(&w, types[t].folder);
        for (int i = 0; i < ITEMS; i++) {
            w.of = &items[i];
            const size_t bytes = (size_t)(w.of->height * w.of->width * CHANNELS) * sizeof(float);
            w.how = (part_run){.dtype = types[t].dtype, .mode = ZN_PLAN_PLANES, .threads = 1};
            zn_test_ok(run_item(&w, &err), &err);
            print_message("%s: ", types[t].label);
            compare_velocity(&w, types[t].bound);
            memcpy(first, w.velocity, bytes);
            for (int way = 0; i == 1 && way < 2; way++) { // the padded picture
                w.how.mode = way ? ZN_PLAN_AUTO : ZN_PLAN_PLANES;
                w.how.threads = way ? 1 : 2;
                memset(w.velocity, 0xff, bytes);
                zn_test_ok(run_item(&w, &err), &err);
                assert_memory_equal(w.velocity, first, bytes);
            }
        }
        close_world(&w);
    }
}

// A request to stop that is there from the start, and one that comes while layers are computed.
static atomic_int stopping;

static void stop_in_a_layer(void *cookie, const zn_node *node, const float *values, size_t count)
{
    int *after = cookie;
    (void)values, (void)count;
    if (strcmp(node->name, "layers.0.attended") == 0) atomic_store(&stopping, 1);
    *after += strcmp(node->name, "layers.1") == 0;
}

ZN_TEST(stopped_inside_a_forward)
{
    world w;
    zn_error err = {0};
    int after = 0;
    open_world(&w, "zimage_transformer");
    w.of = &items[0];
    atomic_store(&stopping, 1);
    w.how = (part_run){.dtype = ZENITH_DTYPE_F32, .cancel = &stopping};
    assert_int_equal(run_item(&w, &err), ZENITH_CANCELLED);

    const zn_zimage_facts facts = zn_zimage_facts_of(w.model);
    const zn_sizes sizes = {.height = 16, .width = 16, .tokens = 32};
    float *context = zn_alloc_zero((size_t)(32 * facts.width) * sizeof(float));
    float *modulation = zn_alloc_zero((size_t)facts.modulation * sizeof(float));
    float *angles = floats(96 * facts.head), *latent = case_map(&w, "x");
    zn_zimage_angles(w.model, &sizes, angles);
    part_run r = {.model = w.model,
                  .part = zn_model_part(w.model, "denoiser"),
                  .sizes = sizes,
                  .inputs = {latent, context, modulation, angles},
                  .output = w.velocity,
                  .dtype = ZENITH_DTYPE_F32,
                  .mode = ZN_PLAN_PLANES,
                  .cancel = &stopping,
                  .see = stop_in_a_layer,
                  .cookie = &after};
    atomic_store(&stopping, 0);
    assert_int_equal(part_run_compiled(&r, &err), ZENITH_CANCELLED);
    assert_int_equal(after, 0);
    zn_free(context);
    zn_free(modulation);
    zn_free(angles);
    zn_free(latent);
    close_world(&w);
}

// --- names --------------------------------------------------------------------------------------

enum { MOST_TENSORS = 128 };

static const char *const changes[][2] = {{"to_out.0", "out"},
                                         {"norm_q", "q_norm"},
                                         {"norm_k", "k_norm"},
                                         {"all_x_embedder.2-1", "x_embedder"},
                                         {"all_final_layer.2-1", "final_layer"},
                                         {"to_q", "qkv"}};

static void rename_fused(char name[MOST_NAME])
{
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char changed[2 * MOST_NAME];
        const char *at = strstr(name, changes[i][0]);
        if (!at) continue;
        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - name), name, changes[i][1],
                 at + strlen(changes[i][0]));
        snprintf(name, MOST_NAME, "%.90s", changed);
    }
}

// The tensor `which` of "q", "k", "v" beside that of the queries.
static const zn_file_tensor *beside(const zn_safetensors *weights, const char *queries, char which)
{
    char name[MOST_NAME];
    snprintf(name, sizeof name, "%s", queries);
    strstr(name, "to_q")[3] = which;
    const zn_file_tensor *found = zn_safetensors_find(weights, name);
    assert_non_null(found);
    return found;
}

static const zn_file_tensor *with_data(const zn_safetensors *weights, const void *data)
{
    for (size_t i = 0; i < zn_safetensors_count(weights); i++)
        if (zn_safetensors_get(weights, i)->data == data) return zn_safetensors_get(weights, i);
    fail_msg("no tensor has these bytes");
    return NULL;
}

// The golden's weights in one file as ComfyUI has them: queries, keys and values are one matrix.
static void write_fused(const char *path, const char *outer, const char *layout)
{
    static char names[MOST_TENSORS][MOST_NAME];
    static zn_file_tensor tensors[MOST_TENSORS];
    zn_error err = {0};
    zn_writer *file = NULL;
    zn_metadata facts[] = {
        {"zenith.context", layout}, {"zenith.denoiser", layout}, {"zenith.modulation", layout}};
    zn_safetensors *weights = part_golden(
        "zimage_transformer_bf16/diffusion_pytorch_model.safetensors");
    size_t count = 0;
    assert_true(zn_safetensors_count(weights) <= MOST_TENSORS);
    for (size_t i = 0; i < zn_safetensors_count(weights); i++) {
        const zn_file_tensor *tensor = zn_safetensors_get(weights, i);
        if (strstr(tensor->name, "to_k") || strstr(tensor->name, "to_v")) continue;
        tensors[count] = *tensor;
        snprintf(names[count], MOST_NAME, "%s%s", outer, tensor->name);
        rename_fused(names[count]);
        tensors[count].name = names[count];
        if (strstr(tensor->name, "to_q")) tensors[count].shape.dim[0] *= 3;
        if (strstr(tensor->name, "pad_token")) tensors[count].shape = ZN_SHAPE(WIDTH);
        count++;
    }
    zn_test_ok(zn_writer_open(path, &file, &err), &err);
    zn_test_ok(zn_safetensors_write_header(file, tensors, count, facts, 3, &err), &err);
    for (size_t i = 0; i < count; i++) { // the header has put them in another order
        const zn_file_tensor *own = with_data(weights, tensors[i].data);
        zn_test_ok(zn_writer_write(file, own->data, own->bytes, &err), &err);
        for (const char *c = "kv"; strstr(own->name, "to_q") && *c; c++) {
            const zn_file_tensor *next = beside(weights, own->name, *c);
            zn_test_ok(zn_writer_write(file, next->data, next->bytes, &err), &err);
        }
    }
    zn_test_ok(zn_writer_commit(file, &err), &err);
    zn_safetensors_free(weights);
}

ZN_TEST(every_name_set)
{
    static const char *const outer[] = {"", "model.diffusion_model."};
    for (int i = 0; i < 2; i++) {
        world w;
        zn_error err = {0};
        open_world(&w, "zimage_transformer_bf16");
        const char *path = zn_test_path(zn_test_build(), "zimage_fused.safetensors");
        write_fused(path, outer[i], w.model->layouts[0]);
        zn_model_unref(w.model);
        w.model = NULL;
        w.model = model_at(path, NULL);
        assert_string_equal(w.model->variant->name, "z-image");
        assert_int_equal(w.model->unexpected, 0);
        w.of = &items[1];
        w.how = (part_run){.dtype = ZENITH_DTYPE_F32};
        zn_test_ok(run_item(&w, &err), &err);
        compare_velocity(&w, BOUND);
        close_world(&w);
    }
}

ZN_TEST(full_size_has_as_many_parameters)
{
    const size_t context = part_parameters("z-image", "context", NULL);
    const size_t modulation = part_parameters("z-image", "modulation", NULL);
    const size_t denoiser = part_parameters("z-image", "denoiser", NULL);
    assert_int_equal(context + modulation + denoiser, 6154908736u);
}
