// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Linear codes that known pictures draw (model/diffae_recall.h), against the same walk in plain loops of doubles; the
// same bits on one thread and two, alone and among others; stopped; weights that do not fit.
#include "tests/model/diffae_golden.h"

#include "src/model/diffae_recall.h"
#include "src/task/diffae_task.h"

enum { MAP = 16, NUMBERS = MAP * MAP * PLANES, KNOWN = 40, CODES = 12, CELLS = ZN_DIFFAE_CELLS };
static const double BOUND = 2e-4;

static struct weights {
    float components[CODES][NUMBERS], factor[CODES], deviation[CODES], offset[CODES], mean[NUMBERS];
    float looks[CELLS][CELLS], codes[KNOWN][CODES], norms[CELLS][KNOWN];
} weights;

// --- a model ------------------------------------------------------------------------------------

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0 * 2 - 1;
}

static int cell_of(int value) // pieces are pixels on a map so small
{
    return value / PLANES / MAP / 2 * ZN_DIFFAE_CELLS_ROW + value / PLANES % MAP / 2;
}

static void fill_norms(void)
{
    for (int k = 0; k < KNOWN; k++) {
        double of_cells[CELLS] = {0};
        for (int v = 0; v < NUMBERS; v++) {
            double x = 0;
            for (int i = 0; i < CODES; i++)
                x += (double)weights.codes[k][i] * (double)weights.deviation[i] *
                     (double)weights.components[i][v];
            of_cells[cell_of(v)] += x * x / 2;
        }
        for (int c = 0; c < CELLS; c++) {
            double sum = 0;
            for (int other = 0; other < CELLS; other++)
                sum += (double)weights.looks[c][other] * of_cells[other];
            weights.norms[c][k] = (float)sum;
        }
    }
}

static void fill(void)
{
    uint64_t state = 5;
    for (int i = 0; i < CODES; i++) {
        weights.deviation[i] = (float)(1 + (uniform(&state) + 1) * 2);
        weights.factor[i] = 1 / weights.deviation[i];
        for (int v = 0; v < NUMBERS; v++)
            weights.components[i][v] = (float)(uniform(&state) * sqrt(3.0 / NUMBERS));
    }
    for (int k = 0; k < KNOWN; k++)
        for (int i = 0; i < CODES; i++) weights.codes[k][i] = (float)(uniform(&state) * 1.7);
    for (int c = 0; c < CELLS; c++)
        for (int other = 0; other < CELLS; other++)
            weights.looks[c][other] = c == other ? 1 : (float)fmax(0, uniform(&state));
    fill_norms();
}

static zn_file_tensor of(const char *name, zn_shape shape, const void *data, size_t bytes)
{
    return (zn_file_tensor){
        .name = name, .type = ZN_F32, .shape = shape, .data = data, .bytes = bytes};
}

// A folder of the weights and a config of these keys; `left` tensors are left out, the last first.
static void write_model(const char *folder, const char *keys, size_t left)
{
    char config[512];
    zn_error err = {0};
    zn_writer *file = NULL;
    zn_file_tensor tensors[] = {
        of("encoder.components.weight", ZN_SHAPE(CODES, NUMBERS), weights.components,
           sizeof weights.components),
        of("encoder.components.factor", ZN_SHAPE(CODES), weights.factor, sizeof weights.factor),
        of("encoder.components.deviation", ZN_SHAPE(CODES), weights.deviation,
           sizeof weights.deviation),
        of("encoder.components.offset", ZN_SHAPE(CODES), weights.offset, sizeof weights.offset),
        of("encoder.components.mean", ZN_SHAPE(NUMBERS), weights.mean, sizeof weights.mean),
        of("recall.looks.weight", ZN_SHAPE(CELLS, CELLS), weights.looks, sizeof weights.looks),
        of("recall.codes.weight", ZN_SHAPE(KNOWN, CODES), weights.codes, sizeof weights.codes),
        of("recall.norms", ZN_SHAPE(CELLS * KNOWN), weights.norms, sizeof weights.norms)};
    (void)mkdir(folder, 0777);
    golden_write(zn_test_path(folder, "model.safetensors"), tensors,
                 sizeof tensors / sizeof *tensors - left);
    snprintf(config, sizeof config,
             "{\"model\": \"diffae\", \"image_size\": %d, \"in_channels\": 3, \"channels\": 32, "
             "\"channel_mult\": [1, 2], \"code\": %d, \"timesteps\": 1000, "
             "\"prior_betas\": \"const 0.008\"%s}",
             MAP, CODES, keys);
    zn_test_ok(zn_writer_open(zn_test_path(folder, "config.json"), &file, &err), &err);
    zn_test_ok(zn_writer_write(file, config, strlen(config), &err), &err);
    zn_test_ok(zn_writer_commit(file, &err), &err);
}

typedef struct world {
    zn_executor *executor;
    zn_engine *engine;
    zn_model *model;
} world;

static zenith_status open_model(const char *keys, size_t left, zn_model **out, zn_error *err)
{
    char folder[256];
    snprintf(folder, sizeof folder, "%s", zn_test_path(zn_test_build(), "diffae_recall"));
    write_model(folder, keys, left);
    const zn_model_request request = {.weights = folder};
    return zn_model_open(&request, out, err);
}

static void open_world(world *w, int threads)
{
    zn_error err = {0};
    const zn_cpu cpu = zn_cpu_detect();
    zn_test_ok(zn_executor_create(1, threads, &w->executor, &err), &err);
    zn_test_ok(zn_engine_create(w->executor, &cpu, 0, NULL, &w->engine, &err), &err);
    zn_test_ok(open_model(", \"linear_code\": 1, \"recall\": 40", 0, &w->model, &err), &err);
}

static void close_world(world *w)
{
    zn_engine_free(w->engine);
    zn_executor_free(w->executor);
    zn_model_unref(w->model);
}

static void noise_of(uint64_t seed, float code[CODES])
{
    for (int i = 0; i < CODES; i++) code[i] = (float)(uniform(&seed) * 1.7);
}

// --- plain loops --------------------------------------------------------------------------------

static void map_of(const double spread[CODES], double map[NUMBERS])
{
    for (int v = 0; v < NUMBERS; v++) {
        map[v] = 0;
        for (int i = 0; i < CODES; i++) map[v] += spread[i] * (double)weights.components[i][v];
    }
}

static double known_map[KNOWN][NUMBERS];

// Weights of the known pictures in a cell that sees the map, of sqrt(a) picture + sqrt(1 - a) noise, over sqrt(a).
static void weights_of(const double map[NUMBERS], double a, int cell, double out[KNOWN])
{
    double least = INFINITY, total = 0;
    for (int k = 0; k < KNOWN; k++) {
        out[k] = 0; // half the square of how far it is, and what all have
        for (int v = 0; v < NUMBERS; v++) {
            const double x = known_map[k][v];
            out[k] += (double)weights.looks[cell][cell_of(v)] * (x * x / 2 - x * map[v]);
        }
        least = fmin(least, out[k]);
    }
    for (int k = 0; k < KNOWN; k++) total += out[k] = exp((least - out[k]) * a / (1 - a));
    for (int k = 0; k < KNOWN; k++) out[k] /= total;
}

static void guess(const double x[CODES], double a, double out[CODES])
{
    static double map[NUMBERS], expected[NUMBERS];
    double scaled[CODES], of_cell[KNOWN];
    for (int i = 0; i < CODES; i++) scaled[i] = x[i] / sqrt(a);
    map_of(scaled, map);
    memset(expected, 0, sizeof expected);
    for (int c = 0; c < CELLS; c++) {
        weights_of(map, a, c, of_cell);
        for (int v = 0; v < NUMBERS; v++)
            for (int k = 0; k < KNOWN && cell_of(v) == c; k++)
                expected[v] += of_cell[k] * known_map[k][v];
    }
    for (int i = 0; i < CODES; i++) {
        out[i] = 0;
        for (int v = 0; v < NUMBERS; v++) out[i] += (double)weights.components[i][v] * expected[v];
    }
}

static void walk(const float *noise, int steps, float *code)
{
    double x[CODES], start[CODES];
    for (int k = 0; k < KNOWN; k++) {
        double spread[CODES];
        for (int i = 0; i < CODES; i++)
            spread[i] = (double)weights.codes[k][i] * (double)weights.deviation[i];
        map_of(spread, known_map[k]);
    }
    for (int i = 0; i < CODES; i++) x[i] = (double)noise[i];
    for (int step = steps - 1; step >= 0; step--) {
        const int stride = 1000 / steps, t = step * stride;
        const double a = pow(1 - 0.008, t + 1), before = step ? pow(1 - 0.008, t - stride + 1) : 1;
        guess(x, a, start);
        for (int i = 0; i < CODES; i++)
            x[i] = sqrt(before) * start[i] +
                   sqrt(1 - before) * (x[i] - sqrt(a) * start[i]) / sqrt(1 - a);
    }
    for (int i = 0; i < CODES; i++) code[i] = (float)(x[i] / (double)weights.deviation[i]);
}

// --- tests --------------------------------------------------------------------------------------

static int count_steps(void *cookie, int step, const float *x)
{
    int *left = cookie;
    (void)step, (void)x;
    return --*left == 0;
}

static void plain_loops_walk_the_same_way(void **state)
{
    float codes[3][CODES], expected[CODES];
    zn_error err = {0};
    world w;
    (void)state;
    open_world(&w, 2);
    const zn_diffae_call call = {.model = w.model, .steps = STEPS};
    for (int i = 0; i < 3; i++) noise_of((uint64_t)i, codes[i]);
    zn_test_ok(zn_diffae_sample(w.engine, &call, 3, codes[0], &err), &err);
    for (int i = 0; i < 3; i++) {
        float noise[CODES];
        noise_of((uint64_t)i, noise);
        walk(noise, STEPS, expected);
        part_compare("drawn code", codes[i], expected, CODES, BOUND);
    }
    close_world(&w);
}

static void threads_and_neighbours_change_nothing(void **state)
{
    float alone[CODES], among[3][CODES];
    zn_error err = {0};
    world w;
    (void)state;
    open_world(&w, 1);
    zn_diffae_call call = {.model = w.model, .steps = STEPS};
    noise_of(2, alone);
    zn_test_ok(zn_diffae_sample(w.engine, &call, 1, alone, &err), &err);
    close_world(&w);
    open_world(&w, 2);
    call.model = w.model;
    for (int i = 0; i < 3; i++) noise_of((uint64_t)i, among[i]);
    zn_test_ok(zn_diffae_sample(w.engine, &call, 3, among[0], &err), &err);
    assert_memory_equal(alone, among[2], sizeof alone);
    assert_memory_not_equal(alone, among[1], sizeof alone);
    close_world(&w);
}

static void stopped(void **state)
{
    float code[CODES];
    int left = 4;
    zn_error err = {0};
    world w;
    (void)state;
    open_world(&w, 1);
    const zn_diffae_call call = {
        .model = w.model, .steps = STEPS, .stepped = count_steps, .cookie = &left};
    noise_of(1, code);
    assert_int_equal(zn_diffae_sample(w.engine, &call, 1, code, &err), ZENITH_CANCELLED);
    assert_int_equal(left, 0);
    close_world(&w);
}

static void what_does_not_fit_is_refused(void **state)
{
    static const struct {
        const char *keys, *word;
        size_t left;
    } cases[] = {
        {", \"linear_code\": 1", "\"recall\", how many", 0},
        {", \"linear_code\": 1, \"recall\": 41", "2624", 0},
        {", \"linear_code\": 1, \"recall\": 40", "recall.norms", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zn_error err = {0};
        zn_model *model = NULL;
        assert_int_not_equal(open_model(cases[i].keys, cases[i].left, &model, &err), ZENITH_OK);
        print_message("%s: %s\n", cases[i].keys, err.text);
        assert_non_null(strstr(err.text, cases[i].word));
        zn_model_unref(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_loops_walk_the_same_way),
        cmocka_unit_test(threads_and_neighbours_change_nothing),
        cmocka_unit_test(stopped),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    fill();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
