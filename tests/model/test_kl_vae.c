// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// AutoencoderKL against diffusers: the small models of the larger goldens (SD's and FLUX's kind),
// every activation that they hold, mean, logvar, latent and picture; the same bits in planes and
// bands, on one thread and two, and from weights under every set of names.
#include "tests/model/weight_files.h"
#include "tests/testing.h"

#include "src/base/memory.h"
#include "src/dnn/dnn.h"
#include "src/format/tensor/safetensors.h"
#include "src/graph/packs.h"
#include "src/model/autoencoder.h"
#include "src/op/ops.h"
#include "src/task/engine/compile.h"
#include "src/train/network/network.h"
#include "tests/task/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

ZN_TEST_NEEDS(zn_test_path(zn_test_golden(), "vae_sd/io.safetensors"))

enum { HEIGHT = 64, WIDTH = 48, FACTOR = 8, NAME = 128 };
static const double BOUND = 1e-5, BOUND_BF16 = 2e-2;

static const char *const models[] = {"vae_sd", "vae_flux"};

// Where the value of a module of the reference is in our graph, before anything is fused.
static const struct {
    const char *golden, *node;
} activations[] = {
    {"encoder.conv_in", "encoder.conv_in"},
    {"encoder.down_blocks.0", "encoder.down_blocks.0.downsamplers.0.conv"},
    {"encoder.mid_block", "encoder.mid_block.resnets.1"},
    {"decoder.conv_in", "decoder.conv_in"},
    {"decoder.mid_block.attentions.0", "decoder.mid_block.attentions.0"},
    {"decoder.mid_block", "decoder.mid_block.resnets.1"},
    {"decoder.up_blocks.0", "decoder.up_blocks.0.upsamplers.0.conv"},
    {"decoder.conv_norm_out", "decoder.conv_norm_out"},
};
enum { ACTIVATIONS = sizeof activations / sizeof *activations };

typedef struct world {
    const char *name; // of the folder
    zn_safetensors *golden;
    zn_model *model;
    const zn_part *part;
    float *in, *out; // NHWC
    size_t in_row, out_row;
    int seen; // activations that were compared
} world;

static void *need(void *block)
{
    assert_non_null(block);
    return block;
}

// --- goldens ------------------------------------------------------------------------------------

// [1, C, h, w] as [h, w, C].
static float *golden_map(const world *w, const char *name, zn_shape *shape)
{
    zn_error err = {0};
    const zn_file_tensor *tensor = zn_safetensors_find(w->golden, name);
    if (!tensor) fail_msg("%s has no '%s'", w->name, name);
    const int64_t *dim = tensor->shape.dim, pixels = dim[2] * dim[3];
    float *planes = need(zn_alloc(tensor->bytes)), *map = need(zn_alloc(tensor->bytes));
    zn_test_ok(zn_file_tensor_read(tensor, planes, &err), &err);
    for (int64_t i = 0; i < dim[1] * pixels; i++) map[i % pixels * dim[1] + i / pixels] = planes[i];
    zn_free(planes);
    if (shape) *shape = ZN_SHAPE(1, dim[2], dim[3], dim[1]);
    return map;
}

static double relative_error(const float *got, const float *expected, size_t count)
{
    double error = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        error += pow((double)got[i] - (double)expected[i], 2);
        size += pow((double)expected[i], 2);
    }
    return sqrt(error / size);
}

static void compare(const world *w, const char *name, const float *got, const float *expected,
                    size_t count, double bound)
{
    const double error = relative_error(got, expected, count);
    print_message("%s %s: %.2g\n", w->name, name, error);
    if (!(error <= bound)) fail_msg("%s %s: relative error %g > %g", w->name, name, error, bound);
}

static zn_model *open_weights(const char *path, const char *name)
{
    zn_model *model = model_at(path, name);
    assert_int_equal(model->unexpected, 0);
    return model;
}

static void open_world(world *w, const char *name)
{
    char file[NAME];
    *w = (world){.name = name};
    snprintf(file, sizeof file, "%s/io.safetensors", name);
    w->golden = tensors_at(zn_test_path(zn_test_golden(), file));
    w->model = open_weights(zn_test_path(zn_test_golden(), name), NULL);
}

static void close_world(world *w)
{
    zn_free(w->in);
    zn_free(w->out);
    zn_model_unref(w->model);
    zn_safetensors_free(w->golden);
}

// The input of a part, and room for its output.
static void choose_part(world *w, const char *part)
{
    const bool decodes = strcmp(part, "decoder") == 0;
    zn_shape shape;
    zn_ports ports;
    w->part = need((void *)(uintptr_t)zn_model_part(w->model, part));
    zn_free(w->in);
    zn_free(w->out);
    w->in = golden_map(w, decodes ? "latent" : "image", &shape);
    const size_t count = (size_t)(shape.dim[1] * shape.dim[2] * shape.dim[3]);
    for (size_t i = 0; !decodes && i < count; i++) w->in[i] = (w->in[i] + 1) / 2;
    w->in_row = (size_t)(shape.dim[2] * shape.dim[3]);
    w->part->ports(w->model->variant, NULL,
                   &(zn_sizes){.height = HEIGHT / FACTOR, .width = WIDTH / FACTOR}, &ports);
    const int64_t *out = ports.outputs[0].desc.shape.dim;
    w->out_row = (size_t)(out[2] * out[3]);
    w->out = need(zn_alloc((size_t)out[1] * w->out_row * sizeof(float)));
}

// --- runs ---------------------------------------------------------------------------------------

static zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count, void *dst,
                               zn_error *err)
{
    const world *w = cookie;
    (void)input, (void)err;
    memcpy(dst, w->in + (size_t)row * w->in_row, (size_t)count * w->in_row * sizeof(float));
    return ZENITH_OK;
}

static zenith_status write_rows(void *cookie, int output, int64_t row, int64_t count,
                                const void *src, zn_error *err)
{
    world *w = cookie;
    (void)output, (void)err;
    memcpy(w->out + (size_t)row * w->out_row, src, (size_t)count * w->out_row * sizeof(float));
    return ZENITH_OK;
}

// Whole maps come row by row.
static void observe(void *cookie, const zn_node *node, int64_t row, int64_t count, const void *data)
{
    static float *whole;
    world *w = cookie;
    char name[NAME];
    int which = 0;
    while (which < ACTIVATIONS && strcmp(activations[which].node, node->name) != 0) which++;
    if (which == ACTIVATIONS || !zn_node_is_map(node)) return;
    const int64_t *dim = node->desc.shape.dim;
    const size_t width = (size_t)(dim[2] * dim[3]), all = (size_t)dim[1] * width;
    if (row == 0) whole = need(zn_alloc(all * sizeof *whole));
    memcpy(whole + (size_t)row * width, data, (size_t)count * width * sizeof *whole);
    if (row + count < dim[1]) return;
    snprintf(name, sizeof name, "f32.act.%s", activations[which].golden);
    zn_shape shape;
    float *expected = golden_map(w, name, &shape);
    assert_true(zn_shape_equal(&shape, &node->desc.shape));
    compare(w, name, whole, expected, all, BOUND);
    w->seen++;
    zn_free(expected);
    zn_free(whole);
}

static void run_plan(world *w, const zn_plan *plan, int threads, bool observed)
{
    zn_error err = {0};
    zn_team *team = NULL;
    zn_test_ok(zn_team_create(threads, &team, &err), &err);
    void *arena = need(zn_alloc(zn_plan_bytes(plan)));
    memset(arena, 0xff, zn_plan_bytes(plan));
    const zn_run run = {
        .read = read_rows, .write = write_rows, .cookie = w, .observe = observed ? observe : NULL};
    zn_test_ok(zn_plan_run(plan, arena, team, &run, &err), &err);
    zn_free(arena);
    zn_team_free(team);
}

// The graph as the model describes it, with nothing fused, so that every module's value is there.
static void run_plain(world *w)
{
    zn_error err = {0};
    zn_graph plain, typed;
    zn_plan *plan = NULL;
    zn_packs *packs = NULL;
    const zn_sizes sizes = {.height = HEIGHT / FACTOR, .width = WIDTH / FACTOR};
    const zn_type_policy policy = {.type = ZN_F32, .convert = zn_convert_as};
    zn_test_ok(zn_model_graph(w->model, w->part, &sizes, NULL, &plain, &err), &err);
    zn_test_ok(zn_pass_types(&plain, &policy, &typed, &err), &err);
    zn_test_ok(zn_packs_create(&packs, &err), &err);
    const zn_plan_options options = {
        .mode = ZN_PLAN_PLANES, .cpu = zn_cpu_detect(), .threads = 2, .packs = packs};
    zn_test_ok(zn_plan_create(&typed, &options, &plan, &err), &err);
    run_plan(w, plan, 2, true);
    zn_plan_free(plan);
    zn_packs_free(packs);
    zn_graph_free(&typed);
    zn_graph_free(&plain);
}

typedef struct how {
    zenith_dtype dtype;
    zn_plan_mode mode;
    int64_t band;
    int threads;
    size_t limit; // of the arena; 0: none
} how;

// Returns the bytes of the arena.
static size_t run_compiled(world *w, how h)
{
    zn_error err = {0};
    const zn_cpu cpu = zn_cpu_detect();
    zn_dnn *dnn = NULL;
    zn_compiled *compiled = NULL;
    (void)!zn_dnn_create(&cpu, &dnn, NULL);
    const zn_compile_key key = {.model = w->model,
                                .part = w->part,
                                .sizes = {.height = HEIGHT / FACTOR, .width = WIDTH / FACTOR},
                                .dtype = h.dtype,
                                .pixels = ZENITH_F32,
                                .mode = h.mode,
                                .band = h.band};
    const zn_machine machine = {.cpu = cpu, .threads = h.threads, .dnn = dnn};
    zn_test_ok(zn_compile(&key, &(zn_allowance){.max_bytes = h.limit}, &machine, &compiled, &err),
               &err);
    run_plan(w, compiled->plan, h.threads, false);
    const size_t bytes = zn_plan_bytes(compiled->plan);
    zn_compiled_free(compiled);
    zn_dnn_free(dnn);
    return bytes;
}

// --- tests --------------------------------------------------------------------------------------

// The result of the part against the golden.
static void compare_result(world *w, double bound)
{
    zn_shape shape;
    const bool decodes = strcmp(w->part->name, "decoder") == 0;
    const char *name = decodes ? "decoded" : "latent";
    float *expected = golden_map(w, name, &shape);
    const size_t count = (size_t)(shape.dim[1] * shape.dim[2] * shape.dim[3]);
    for (size_t i = 0; decodes && i < count; i++) w->out[i] = 2 * w->out[i] - 1;
    compare(w, name, w->out, expected, count, bound);
    zn_free(expected);
}

ZN_TEST(activations_match)
{
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        world w;
        open_world(&w, models[m]);
        choose_part(&w, "encoder");
        run_plain(&w);
        compare_result(&w, BOUND);
        choose_part(&w, "decoder");
        run_plain(&w);
        compare_result(&w, BOUND);
        assert_int_equal(w.seen, ACTIVATIONS);
        close_world(&w);
    }
}

// Bands and threads change nothing.
static void same_bits(world *w, zenith_dtype dtype, size_t bytes)
{
    static const how hows[] = {
        {.mode = ZN_PLAN_PLANES, .threads = 2},
        {.mode = ZN_PLAN_ROLLING, .band = 1, .threads = 1},
        {.mode = ZN_PLAN_ROLLING, .band = 3, .threads = 2},
        {.mode = ZN_PLAN_AUTO, .threads = 2},
    };
    void *first = need(zn_alloc(bytes));
    run_compiled(w, (how){.dtype = dtype, .mode = ZN_PLAN_PLANES, .threads = 1});
    memcpy(first, w->out, bytes);
    for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
        how h = hows[i];
        h.dtype = dtype;
        memset(w->out, 0xff, bytes);
        run_compiled(w, h);
        assert_memory_equal(w->out, first, bytes);
    }
    // Less memory than the smallest plan that keeps maps between the barriers of norms and
    // attention.
    const size_t kept = run_compiled(
        w, (how){.dtype = dtype, .mode = ZN_PLAN_ROLLING, .band = 1, .threads = 1});
    memset(w->out, 0xff, bytes);
    const size_t least = run_compiled(w, (how){.dtype = dtype, .threads = 1, .limit = kept - 1});
    assert_true(least < kept);
    assert_memory_equal(w->out, first, bytes);
    zn_free(first);
}

ZN_TEST(compiled_match)
{
    static const char *const parts[] = {"encoder", "decoder"};
    for (size_t i = 0; i < 2 * sizeof models / sizeof *models; i++) {
        world w;
        open_world(&w, models[i / 2]);
        choose_part(&w, parts[i % 2]);
        const size_t rows = i % 2 ? HEIGHT : HEIGHT / FACTOR,
                     bytes = rows * w.out_row * sizeof(float);
        same_bits(&w, ZENITH_DTYPE_F32, bytes);
        compare_result(&w, BOUND);
        same_bits(&w, ZENITH_DTYPE_BF16, bytes);
        compare_result(&w, BOUND_BF16);
        close_world(&w);
    }
}

// --- moments ------------------------------------------------------------------------------------

typedef struct encoding {
    zenith_context *context;
    zenith_model *model;
    float *pixels; // of two pictures
    uint32_t channels;
} encoding;

static void open_encoding(encoding *e, const char *name, int threads)
{
    world w = {.name = name};
    char file[NAME];
    snprintf(file, sizeof file, "%s/io.safetensors", name);
    w.golden = tensors_at(zn_test_path(zn_test_golden(), file));
    e->context = session_context(threads, 1);
    e->model = session_model(e->context, NULL, zn_test_path(zn_test_golden(), name));
    zenith_model_info info = {.size = sizeof info};
    zenith_model_get_info(e->model, &info);
    assert_true(info.has_moments);
    e->channels = info.latent_channels;
    e->pixels = golden_map(&w, "image", NULL);
    for (size_t i = 0; i < HEIGHT * WIDTH * 3; i++) e->pixels[i] = (e->pixels[i] + 1) / 2;
    zn_safetensors_free(w.golden);
}

static void close_encoding(encoding *e)
{
    zn_free(e->pixels);
    zenith_model_free(e->model);
    zenith_context_free(e->context);
}

static zenith_latent latent_of(const encoding *e, zenith_latent_kind kind, uint64_t seed)
{
    zenith_latent latent = {.size = sizeof latent,
                            .width = WIDTH / FACTOR,
                            .height = HEIGHT / FACTOR,
                            .channels = e->channels * (kind == ZENITH_LATENT_MOMENTS ? 2 : 1),
                            .space = ZENITH_SPACE_RAW,
                            .kind = kind,
                            .seed = seed};
    latent.data = need(zn_alloc(session_latent_bytes(&latent)));
    return latent;
}

// The same picture, as often as there are latents.
static zenith_status encode(const encoding *e, zenith_latent *latents, size_t count, uint32_t band)
{
    zenith_image images[2] = {{.size = sizeof images[0],
                               .width = WIDTH,
                               .height = HEIGHT,
                               .number = ZENITH_F32,
                               .data = e->pixels}};
    images[1] = images[0];
    const zenith_run_params params = {.size = sizeof params,
                                      .dtype = ZENITH_DTYPE_F32,
                                      .bands = band ? ZENITH_BANDS_ROWS : ZENITH_BANDS_OFF,
                                      .band_rows = band};
    return zenith_encode(e->context, e->model, images, latents, count, &params);
}

ZN_TEST(moments_match)
{
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        encoding e;
        world w;
        open_world(&w, models[m]);
        open_encoding(&e, models[m], 2);
        zenith_latent moments = latent_of(&e, ZENITH_LATENT_MOMENTS, 0);
        session_ok(e.context, encode(&e, &moments, 1, 0));
        const size_t half = session_latent_bytes(&moments) / sizeof(float) / 2;
        const float *got = moments.data;
        const char *const names[] = {"mean", "logvar"};
        for (size_t i = 0; i < 2; i++) {
            const zn_file_tensor *tensor = zn_safetensors_find(w.golden, names[i]);
            assert_int_equal(tensor->bytes, half * sizeof(float));
            compare(&w, names[i], got + i * half, (const float *)(const void *)tensor->data, half,
                    BOUND);
        }
        zn_free(moments.data);
        close_encoding(&e);
        close_world(&w);
    }
}

// A sample is mean + deviation * noise; the noise is a function of seed and place. The noise that
// is in the sample, whatever a random number is taken for, is normal.
static void check_sample(const encoding *e, const zenith_latent *sample)
{
    zenith_latent moments = latent_of(e, ZENITH_LATENT_MOMENTS, 0);
    session_ok(e->context, encode(e, &moments, 1, 0));
    const size_t count = session_latent_bytes(sample) / sizeof(float);
    const float *got = sample->data, *mean = moments.data, *logvar = mean + count;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        zn_random random = {.seed = sample->seed, .position = 2 * i};
        const double noise = (double)zn_random_normal(&random);
        const double expected = (double)mean[i] + exp((double)logvar[i] / 2) * noise;
        assert_true(fabs((double)got[i] - expected) <= 1e-5 * (1 + fabs(expected)));
        const double found = ((double)got[i] - (double)mean[i]) / exp((double)logvar[i] / 2);
        sum += found;
        squares += found * found;
    }
    assert_true(fabs(sum / (double)count) < 0.3 && fabs(squares / (double)count - 1) < 0.4);
    zn_free(moments.data);
}

ZN_TEST(samples_are_the_same)
{
    encoding one, two;
    open_encoding(&one, "vae_flux", 1);
    open_encoding(&two, "vae_flux", 2);
    zenith_latent first = latent_of(&one, ZENITH_LATENT_SAMPLE, 7);
    const size_t bytes = session_latent_bytes(&first);
    session_ok(one.context, encode(&one, &first, 1, 0));
    check_sample(&one, &first);
    zenith_latent pair[] = {latent_of(&two, ZENITH_LATENT_SAMPLE, 8),
                            latent_of(&two, ZENITH_LATENT_SAMPLE, 7)};
    session_ok(two.context, encode(&two, pair, 2, 3));
    assert_memory_equal(pair[1].data, first.data, bytes);
    assert_memory_not_equal(pair[0].data, first.data, bytes);
    check_sample(&two, &pair[0]);
    zn_free(pair[0].data);
    zn_free(pair[1].data);
    zn_free(first.data);
    close_encoding(&one);
    close_encoding(&two);
}

ZN_TEST(wrong_kinds_are_refused)
{
    encoding e;
    open_encoding(&e, "vae_sd", 1);
    zenith_latent latent = latent_of(&e, ZENITH_LATENT_SAMPLE, 0);
    latent.kind = (zenith_latent_kind)3;
    assert_int_equal(encode(&e, &latent, 1, 0), ZENITH_INVALID_ARGUMENT);
    latent.kind = ZENITH_LATENT_MOMENTS; // half of its channels
    assert_int_equal(encode(&e, &latent, 1, 0), ZENITH_INVALID_ARGUMENT);
    latent.kind = ZENITH_LATENT_SAMPLE;
    zenith_image image = {.size = sizeof image,
                          .width = WIDTH,
                          .height = HEIGHT,
                          .number = ZENITH_F32,
                          .data = e.pixels};
    assert_int_equal(zenith_decode(e.context, e.model, &latent, &image, 1, NULL),
                     ZENITH_INVALID_ARGUMENT);
    zenith_model *tiny = session_tiny(e.context);
    assert_int_equal(zenith_encode(e.context, tiny, &image, &latent, 1, NULL), ZENITH_UNSUPPORTED);
    zenith_model_free(tiny);
    zn_free(latent.data);
    close_encoding(&e);
}

// --- stopping -----------------------------------------------------------------------------------

typedef struct stop {
    double at;
    bool asked;
} stop;

static int stop_at(void *cookie, double fraction)
{
    stop *s = cookie;
    s->asked |= fraction >= s->at;
    return s->asked;
}

// A run that was stopped says so, and the next one has the same bits as if it had never been.
ZN_TEST(stopped_runs_leave_nothing)
{
    encoding e;
    open_encoding(&e, "vae_flux", 2);
    zenith_latent latent = latent_of(&e, ZENITH_LATENT_MEAN, 0);
    session_ok(e.context, encode(&e, &latent, 1, 0));
    const size_t bytes = HEIGHT * WIDTH * 3 * sizeof(float);
    float *first = need(zn_alloc(bytes)), *again = need(zn_alloc(bytes));
    zenith_image image = {.size = sizeof image,
                          .width = WIDTH,
                          .height = HEIGHT,
                          .number = ZENITH_F32,
                          .data = first};
    zenith_run_params params = {.size = sizeof params, .dtype = ZENITH_DTYPE_F32};
    session_ok(e.context, zenith_decode(e.context, e.model, &latent, &image, 1, &params));
    image.data = again;
    for (int i = 0; i < 12; i++) {
        stop s = {.at = 0.08 * i};
        params.bands = i % 2 ? ZENITH_BANDS_ROWS : ZENITH_BANDS_OFF;
        params.band_rows = i % 2 ? 1 : 0;
        params.progress = stop_at;
        params.progress_cookie = &s;
        assert_int_equal(zenith_decode(e.context, e.model, &latent, &image, 1, &params),
                         ZENITH_CANCELLED);
        params.progress = NULL;
        session_ok(e.context, zenith_decode(e.context, e.model, &latent, &image, 1, &params));
        assert_memory_equal(again, first, bytes);
    }
    zn_free(first);
    zn_free(again);
    zn_free(latent.data);
    close_encoding(&e);
}

// --- names --------------------------------------------------------------------------------------

typedef struct naming {
    const char *label, *prefix;
    bool points;             // matrices of the attention as 1x1 convolutions
    const char *changes[40]; // what is replaced and by what, in this order, until NULL
} naming;

static const naming namings[] = {
    {.label = "first stage", .prefix = "first_stage_model."},
    {.label = "vae", .prefix = "vae."},
    {.label = "old",
     .prefix = "",
     .changes = {"to_q", "query", "to_k", "key", "to_v", "value", "to_out.0", "proj_attn"}},
    {.label = "original",
     .prefix = "first_stage_model.",
     .points = true,
     .changes = {".up_blocks.0.",
                 ".up.3.",
                 ".up_blocks.1.",
                 ".up.2.",
                 ".up_blocks.2.",
                 ".up.1.",
                 ".up_blocks.3.",
                 ".up.0.",
                 "down_blocks",
                 "down",
                 "upsamplers.0",
                 "upsample",
                 "downsamplers.0",
                 "downsample",
                 "mid_block.resnets.0",
                 "mid.block_1",
                 "mid_block.resnets.1",
                 "mid.block_2",
                 "mid_block.attentions.0",
                 "mid.attn_1",
                 "resnets",
                 "block",
                 "conv_shortcut",
                 "nin_shortcut",
                 "conv_norm_out",
                 "norm_out",
                 "attn_1.group_norm",
                 "attn_1.norm",
                 "to_q",
                 "q",
                 "to_k",
                 "k",
                 "to_v",
                 "v",
                 "to_out.0",
                 "proj_out"}},
};

static void replace(char name[NAME], const char *what, const char *by)
{
    char changed[2 * NAME];
    const char *at = strstr(name, what);
    if (!at) return;
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - name), name, by, at + strlen(what));
    assert_true(strlen(changed) < NAME);
    memcpy(name, changed, strlen(changed) + 1);
}

static zn_file_tensor renamed(const zn_file_tensor *tensor, const naming *n, char name[NAME])
{
    zn_file_tensor other = *tensor;
    const bool attention = strstr(tensor->name, ".to_") && tensor->shape.rank == 2;
    snprintf(name, NAME, "%s%s", n->prefix, tensor->name);
    for (size_t i = 0; n->changes[i]; i += 2) replace(name, n->changes[i], n->changes[i + 1]);
    other.name = name;
    if (n->points && attention)
        other.shape = ZN_SHAPE(tensor->shape.dim[0], tensor->shape.dim[1], 1, 1);
    return other;
}

// The weights of a golden model in one file, under other names, with its layout as metadata.
static const char *write_renamed(const char *model, const naming *n)
{
    static char names[256][NAME];
    static zn_file_tensor tensors[256];
    char folder[NAME];
    zn_safetensors *weights = NULL;
    const char *layout = strcmp(model, "vae_sd") == 0 ? "g8l1q" : "g8l1";
    zn_metadata facts[] = {{"zenith.encoder", layout}, {"zenith.decoder", layout}};
    const char *path = zn_test_path(zn_test_build(), "kl_renamed.safetensors");
    snprintf(folder, sizeof folder, "%s/diffusion_pytorch_model.safetensors", model);
    weights = tensors_at(zn_test_path(zn_test_golden(), folder));
    const size_t count = zn_safetensors_count(weights);
    assert_true(count <= 256);
    for (size_t i = 0; i < count; i++)
        tensors[i] = renamed(zn_safetensors_get(weights, i), n, names[i]);
    write_tensors(path, tensors, count, facts, 2);
    zn_safetensors_free(weights);
    return path;
}

ZN_TEST(every_name_set)
{
    static const char *const variants[] = {"sd-vae", "flux-vae"}, *const parts[] = {"encoder",
                                                                                    "decoder"};
    for (size_t i = 0; i < 2 * sizeof namings / sizeof *namings; i++) {
        const naming *n = &namings[i / 2];
        world w;
        open_world(&w, models[i % 2]);
        zn_model *usual = w.model;
        zn_model *other = open_weights(write_renamed(models[i % 2], n), variants[i % 2]);
        for (size_t p = 0; p < 2; p++) {
            w.model = usual;
            choose_part(&w, parts[p]);
            const size_t rows = p ? HEIGHT : HEIGHT / FACTOR,
                         bytes = rows * w.out_row * sizeof(float);
            void *expected = need(zn_alloc(bytes));
            run_compiled(&w,
                         (how){.dtype = ZENITH_DTYPE_F32, .mode = ZN_PLAN_PLANES, .threads = 1});
            memcpy(expected, w.out, bytes);
            memset(w.out, 0xff, bytes);
            w.model = other;
            run_compiled(&w,
                         (how){.dtype = ZENITH_DTYPE_F32, .mode = ZN_PLAN_PLANES, .threads = 1});
            assert_memory_equal(w.out, expected, bytes);
            zn_free(expected);
        }
        zn_model_unref(usual);
        close_world(&w);
    }
}

// Networks without weights have the published sizes.
ZN_TEST(full_size_has_as_many_parameters)
{
    static const struct {
        const char *variant, *part;
        size_t parameters;
    } published[] = {
        {"flux-vae", "encoder", 34274208},      {"flux-vae", "decoder", 49545475},
        {"sd3-vae", "encoder", 34274208},       {"sd3-vae", "decoder", 49545475},
        {"sd-vae", "encoder", 34163592 + 72},   {"sd-vae", "decoder", 49490179 + 20},
        {"sdxl-vae", "encoder", 34163592 + 72}, {"sdxl-vae", "decoder", 49490179 + 20},
    };
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        zn_error err = {0};
        zn_network network;
        const zn_network_shape shape = {.width = 64};
        const zn_variant *variant = zn_variant_find(published[i].variant);
        const zn_part *part = zn_family_part(zn_family_of(variant), published[i].part);
        zn_test_ok(zn_network_of_variant(variant, part, &shape, &network, &err), &err);
        size_t parameters = 0;
        for (size_t k = 0; k < network.count; k++) parameters += network.parameters[k].elements;
        assert_int_equal(parameters, published[i].parameters);
        zn_network_free(&network);
    }
}

// Without metadata and without config.json nothing says how many groups there are.
ZN_TEST(groups_are_asked_for)
{
    zn_error err = {0};
    zn_model *model = NULL;
    const zn_model_request request = {
        .name = "sd-vae",
        .weights = zn_test_path(zn_test_golden(), "vae_sd/diffusion_pytorch_model.safetensors")};
    assert_int_equal(zn_model_open(&request, &model, &err), ZENITH_BAD_FILE);
    assert_non_null(strstr(err.text, "config.json"));
}
