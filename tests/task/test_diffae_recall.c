// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Linear codes that known pictures draw (model/diffae/recall.h), against the same walk in plain
// loops of doubles; the same bits on one thread and two, alone and among others; stopped; weights
// that do not fit.
#include "tests/model/diffae_golden.h"

#include "src/base/random.h"
#include "src/model/diffae/recall.h"
#include "src/task/diffae/task.h"

enum { MAP = 16, NUMBERS = MAP * MAP * PLANES, KNOWN = 40, CODES = 12, LABELS = 2 };
enum { CELLS = ZN_DIFFAE_CELLS, VIEWS = ZN_DIFFAE_VIEWS, ONE = VIEWS / CELLS };
static const double BOUND = 2e-4;

static struct weights {
    float components[CODES][NUMBERS], factor[CODES], deviation[CODES], offset[CODES], mean[NUMBERS];
    float views[VIEWS][CODES], tells[VIEWS][VIEWS], codes[KNOWN][CODES], norms[CELLS][KNOWN];
    float conds_mean[CODES], conds_std[CODES], classifier[LABELS][CODES], bias[LABELS];
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

static void views_of(const double spread[CODES], double views[VIEWS])
{
    for (int v = 0; v < VIEWS; v++) {
        views[v] = 0;
        for (int i = 0; i < CODES; i++) views[v] += spread[i] * (double)weights.views[v][i];
    }
}

// What tells of a cell in a picture's views.
static void tell(int cell, const double views[VIEWS], double told[VIEWS])
{
    for (int i = 0; i < VIEWS; i++) {
        told[i] = 0;
        for (int k = 0; k < ONE; k++)
            told[i] += (double)weights.tells[cell * ONE + i % ONE][i / ONE * ONE + k] *
                       views[i / ONE * ONE + k];
    }
}

static double product_of(const double a[VIEWS], const double b[VIEWS])
{
    double sum = 0;
    for (int i = 0; i < VIEWS; i++) sum += a[i] * b[i];
    return sum;
}

static double known_views[KNOWN][VIEWS], norms[CELLS][KNOWN];

static void fill_known(void)
{
    for (int k = 0; k < KNOWN; k++) {
        double spread[CODES];
        for (int i = 0; i < CODES; i++)
            spread[i] = (double)weights.codes[k][i] * (double)weights.deviation[i];
        views_of(spread, known_views[k]);
        for (int c = 0; c < CELLS; c++) {
            double told[VIEWS];
            tell(c, known_views[k], told);
            norms[c][k] = product_of(told, known_views[k]) / 2;
            weights.norms[c][k] = (float)norms[c][k];
        }
    }
}

// Symmetric matrices without negative eigenvalues: of a cell's own views the unit matrix, of some
// others one of rank one.
static void fill_tells(uint64_t *state)
{
    for (int c = 0; c < CELLS; c++)
        for (int other = 0; other < CELLS; other++) {
            double along[ONE], much = fmax(0, uniform(state));
            for (int i = 0; i < ONE; i++) along[i] = uniform(state);
            for (int i = 0; i < ONE; i++)
                for (int k = 0; k < ONE; k++)
                    weights.tells[c * ONE + i][other * ONE + k] = (float)(c == other
                                                                              ? i == k
                                                                              : much * along[i] *
                                                                                    along[k]);
        }
}

static void fill(void)
{
    uint64_t state = 5;
    for (int i = 0; i < CODES; i++) {
        weights.deviation[i] = (float)(1 + (uniform(&state) + 1) * 2);
        weights.factor[i] = 1 / weights.deviation[i];
        weights.conds_std[i] = 1;
        for (int v = 0; v < NUMBERS; v++)
            weights.components[i][v] = (float)(uniform(&state) * sqrt(3.0 / NUMBERS));
        for (int v = 0; v < VIEWS; v++) weights.views[v][i] = (float)(uniform(&state) / 16);
        for (int k = 0; k < LABELS; k++) weights.classifier[k][i] = (float)uniform(&state);
    }
    weights.bias[1] = 100; // all known pictures have it
    for (int k = 0; k < KNOWN; k++)
        for (int i = 0; i < CODES; i++) weights.codes[k][i] = (float)(uniform(&state) * 1.7);
    fill_tells(&state);
    fill_known();
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
        of("conds_mean", ZN_SHAPE(CODES), weights.conds_mean, sizeof weights.conds_mean),
        of("conds_std", ZN_SHAPE(CODES), weights.conds_std, sizeof weights.conds_std),
        of("classifier.weight", ZN_SHAPE(LABELS, CODES), weights.classifier,
           sizeof weights.classifier),
        of("classifier.bias", ZN_SHAPE(LABELS), weights.bias, sizeof weights.bias),
        of("recall.views.weight", ZN_SHAPE(VIEWS, CODES), weights.views, sizeof weights.views),
        of("recall.tells.weight", ZN_SHAPE(VIEWS, VIEWS), weights.tells, sizeof weights.tells),
        of("recall.codes.weight", ZN_SHAPE(KNOWN, CODES), weights.codes, sizeof weights.codes),
        of("recall.norms", ZN_SHAPE(CELLS * KNOWN), weights.norms, sizeof weights.norms)};
    (void)mkdir(folder, 0777);
    write_tensors(zn_test_path(folder, "model.safetensors"), tensors,
                  sizeof tensors / sizeof *tensors - left, NULL, 0);
    snprintf(config, sizeof config,
             "{\"model\": \"diffae\", \"image_size\": %d, \"in_channels\": 3, \"channels\": 32, "
             "\"channel_mult\": [1, 2], \"code\": %d, \"timesteps\": 1000, "
             "\"prior_betas\": \"const 0.008\", \"attributes\": [\"a\", \"b\"]%s}",
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

// Weights of the known pictures that count in a cell; counts NULL: of all.
static void weights_of(const double views[VIEWS], double sharpness, int cell, const bool *counts,
                       double out[KNOWN])
{
    double least = INFINITY, total = 0, told[VIEWS];
    tell(cell, views, told);
    for (int k = 0; k < KNOWN; k++) { // half the square of how far it is, less what all have
        out[k] = norms[cell][k] - product_of(told, known_views[k]);
        if (counts && !counts[k]) out[k] = INFINITY;
        least = fmin(least, out[k]);
    }
    for (int k = 0; k < KNOWN; k++) total += out[k] = exp((least - out[k]) * sharpness);
    for (int k = 0; k < KNOWN; k++) out[k] /= total;
}

// The map that has in each cell what is expected there of a spread code with noise over it.
static void expect(const double x[CODES], double sharpness, const bool *counts, double map[NUMBERS])
{
    double views[VIEWS], of_cell[KNOWN];
    views_of(x, views);
    memset(map, 0, NUMBERS * sizeof *map);
    for (int c = 0; c < CELLS; c++) {
        weights_of(views, sharpness, c, counts, of_cell);
        for (int v = 0; v < NUMBERS; v++)
            for (int k = 0; k < KNOWN && cell_of(v) == c; k++)
                map[v] += of_cell[k] * known_map[k][v];
    }
}

static void code_of(const double map[NUMBERS], double spread[CODES])
{
    for (int i = 0; i < CODES; i++) {
        spread[i] = 0;
        for (int v = 0; v < NUMBERS; v++) spread[i] += (double)weights.components[i][v] * map[v];
    }
}

static void guess(const double x[CODES], double a, double out[CODES])
{
    static double map[NUMBERS];
    double scaled[CODES];
    for (int i = 0; i < CODES; i++) scaled[i] = x[i] / sqrt(a);
    expect(scaled, a / (1 - a), NULL, map);
    code_of(map, out);
}

static void fill_known_maps(void)
{
    for (int k = 0; k < KNOWN; k++) {
        double spread[CODES];
        for (int i = 0; i < CODES; i++)
            spread[i] = (double)weights.codes[k][i] * (double)weights.deviation[i];
        map_of(spread, known_map[k]);
    }
}

// Fresh noise of a step, as diffusion/ddim.c numbers it.
static void add_noise(uint64_t seed, int number, double deviation, double x[CODES])
{
    uint32_t words[4];
    float noise[CODES];
    zn_philox(seed, (uint64_t)number, words);
    zn_noise_fill(ZN_NOISE_TORCH, words[0] | (uint64_t)words[1] << 32, 0, noise, CODES);
    for (int i = 0; i < CODES; i++) x[i] += deviation * (double)noise[i];
}

static void walk(const float *noise, int steps, uint64_t seed, float *code)
{
    double x[CODES], start[CODES];
    for (int i = 0; i < CODES; i++) x[i] = (double)noise[i];
    for (int step = steps - 1; step >= 0; step--) {
        const int stride = 1000 / steps, t = step * stride;
        const double a = pow(1 - 0.008, t + 1), before = step ? pow(1 - 0.008, t - stride + 1) : 1;
        const double fresh = (1 - before) / (1 - a) * (1 - a / before); // eta is 1
        guess(x, a, start);
        for (int i = 0; i < CODES; i++)
            x[i] = sqrt(before) * start[i] +
                   sqrt(1 - before - fresh) * (x[i] - sqrt(a) * start[i]) / sqrt(1 - a);
        if (step) add_noise(seed, steps - 1 - step, sqrt(fresh), x);
    }
    for (int i = 0; i < CODES; i++) code[i] = (float)(x[i] / (double)weights.deviation[i]);
}

// Who has attribute 0.
static void part_known(bool has[KNOWN], double counts[2])
{
    counts[0] = counts[1] = 0;
    for (int k = 0; k < KNOWN; k++) {
        double score = 0;
        for (int i = 0; i < CODES; i++)
            score += (double)weights.classifier[0][i] * (double)weights.codes[k][i];
        has[k] = score > 0;
        counts[has[k]]++;
    }
}

// How much of each cell attribute 0 draws anew, by the step from those without it to those with it.
static void find_cells(const double step[CODES], const double counts[2], double much[CELLS])
{
    static double map[NUMBERS];
    double squares[CELLS] = {0}, variance[CELLS] = {0}, most = 0;
    map_of(step, map);
    for (int v = 0; v < NUMBERS; v++) {
        squares[cell_of(v)] += map[v] * map[v];
        for (int i = 0; i < CODES; i++)
            variance[cell_of(v)] += pow(
                (double)weights.components[i][v] * (double)weights.deviation[i], 2);
    }
    for (int c = 0; c < CELLS; c++) {
        const double chance = variance[c] * (1 / counts[0] + 1 / counts[1]);
        much[c] = fmax(0, squares[c] - chance) / variance[c] * counts[0] * counts[1] / KNOWN /
                  KNOWN;
        most = fmax(most, much[c]);
    }
    for (int c = 0; c < CELLS; c++)
        much[c] = fmin(1, fmax(0, (much[c] - 0.0003) / 0.0007)) *
                  fmin(1, fmax(0, (much[c] / most - 0.01) / 0.02));
}

// Adds to a code so much of each cell as one map has more than another.
static void add_cells(const double more[NUMBERS], const double less[NUMBERS],
                      const double much[CELLS], double code[CODES])
{
    static double map[NUMBERS];
    double change[CODES];
    for (int v = 0; v < NUMBERS; v++) map[v] = (more[v] - less[v]) * much[cell_of(v)];
    code_of(map, change);
    for (int i = 0; i < CODES; i++) code[i] += change[i];
}

// Towards attribute 0, as far as `amount` says; see zn_recall_edit.
static void edit(double amount, float code[CODES])
{
    static double own[NUMBERS], with[NUMBERS], without[NUMBERS];
    double counts[2], much[CELLS], step[CODES] = {0}, before[CODES], moved[CODES];
    double after[CODES], drawn[CODES];
    bool has[KNOWN], lacks[KNOWN];
    part_known(has, counts);
    for (int k = 0; k < KNOWN; k++) {
        const double weight = (has[k] == (amount > 0) ? 1 : -1) / counts[has[k]];
        for (int i = 0; i < CODES; i++)
            step[i] += weight * (double)weights.codes[k][i] * (double)weights.deviation[i];
        has[k] = has[k] == (amount > 0);
        lacks[k] = !has[k];
    }
    find_cells(step, counts, much);
    for (int i = 0; i < CODES; i++) {
        before[i] = (double)code[i] * (double)weights.deviation[i];
        moved[i] = before[i] + step[i];
    }
    expect(before, 30, lacks, without);
    expect(moved, 30, has, with);
    memcpy(after, before, sizeof after);
    memcpy(drawn, before, sizeof drawn);
    add_cells(with, without, much, after);
    expect(after, 30, has, with);
    map_of(before, own);
    add_cells(with, own, much, drawn);
    for (int i = 0; i < CODES; i++)
        code[i] += (float)(fmin(1, fabs(amount) / 0.3) * ((after[i] + drawn[i]) / 2 - before[i]) /
                           (double)weights.deviation[i]);
}

// --- tests --------------------------------------------------------------------------------------

static int count_steps(void *cookie, int step, const float *x)
{
    int *left = cookie;
    (void)step, (void)x;
    return --*left == 0;
}

ZN_TEST(plain_loops_walk_the_same_way)
{
    float codes[3][CODES], expected[CODES];
    zn_error err = {0};
    world w;
    open_world(&w, 2);
    const zn_diffae_call call = {.model = w.model, .steps = STEPS, .seed = 7};
    for (int i = 0; i < 3; i++) noise_of((uint64_t)i, codes[i]);
    zn_test_ok(zn_diffae_sample(w.engine, &call, 3, codes[0], &err), &err);
    for (int i = 0; i < 3; i++) {
        float noise[CODES];
        noise_of((uint64_t)i, noise);
        walk(noise, STEPS, 7 + (uint64_t)i, expected);
        part_compare("drawn code", codes[i], expected, CODES, BOUND);
    }
    close_world(&w);
}

ZN_TEST(plain_loops_edit_the_same_way)
{
    static const double amounts[] = {1, -0.3, 0.15, 0};
    zn_error err = {0};
    world w;
    open_world(&w, 2);
    const zn_diffae_call call = {.model = w.model, .steps = 1};
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
        float code[CODES], expected[CODES], before[CODES];
        noise_of(3, code);
        memcpy(expected, code, sizeof code);
        memcpy(before, code, sizeof code);
        zn_test_ok(zn_diffae_edit(w.engine, &call, 0, amounts[i], code, &err), &err);
        edit(amounts[i], expected);
        part_compare("edited code", code, expected, CODES, BOUND);
        assert_int_equal(amounts[i] == 0, memcmp(code, before, sizeof code) == 0);
    }
    float code[CODES] = {0};
    assert_int_equal(zn_diffae_edit(w.engine, &call, 1, 1, code, &err), ZENITH_UNSUPPORTED);
    assert_int_equal(zn_diffae_edit(w.engine, &call, LABELS, 1, code, &err),
                     ZENITH_INVALID_ARGUMENT);
    close_world(&w);
}

ZN_TEST(threads_and_neighbours_change_nothing)
{
    float alone[CODES], among[3][CODES];
    zn_error err = {0};
    world w;
    open_world(&w, 1);
    zn_diffae_call call = {.model = w.model, .steps = STEPS, .seed = 2};
    noise_of(2, alone);
    zn_test_ok(zn_diffae_sample(w.engine, &call, 1, alone, &err), &err);
    close_world(&w);
    open_world(&w, 2);
    call.model = w.model;
    call.seed = 0;
    for (int i = 0; i < 3; i++) noise_of((uint64_t)i, among[i]);
    zn_test_ok(zn_diffae_sample(w.engine, &call, 3, among[0], &err), &err);
    assert_memory_equal(alone, among[2], sizeof alone);
    assert_memory_not_equal(alone, among[1], sizeof alone);
    close_world(&w);
}

ZN_TEST(stopped)
{
    float code[CODES];
    int left = 4;
    zn_error err = {0};
    world w;
    open_world(&w, 1);
    const zn_diffae_call call = {
        .model = w.model, .steps = STEPS, .stepped = count_steps, .cookie = &left};
    noise_of(1, code);
    assert_int_equal(zn_diffae_sample(w.engine, &call, 1, code, &err), ZENITH_CANCELLED);
    assert_int_equal(left, 0);
    close_world(&w);
}

ZN_TEST(what_does_not_fit_is_refused)
{
    static const struct {
        const char *keys, *word;
        size_t left;
    } cases[] = {
        {", \"linear_code\": 1", "\"recall\", how many", 0},
        {", \"linear_code\": 1, \"recall\": 41", "2624", 0},
        {", \"linear_code\": 1, \"recall\": 40", "recall.norms", 1},
    };
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
    fill();
    fill_known_maps();
    return zn_test_run();
}
