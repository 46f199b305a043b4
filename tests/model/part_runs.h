// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs of one part of a model from plain arrays, for tests against goldens: as the model describes
// it, with an eye on every value, or compiled.
#ifndef ZN_TESTS_PART_RUNS_H
#define ZN_TESTS_PART_RUNS_H

#include "tests/model/weight_files.h"

#include "src/base/memory.h"
#include "src/dnn/dnn.h"
#include "src/format/tensor/safetensors.h"
#include "src/graph/packs.h"
#include "src/op/ops.h"
#include "src/task/engine/compile.h"
#include "src/train/network/network.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct part_run {
    zn_model *model;
    const zn_part *part;
    zn_sizes sizes;
    const float *inputs[ZN_MOST_PORTS]; // in the order of the ports
    float *output;                      // of the first port, room for it
    // Sees whole values as they are made; NULL: none.
    void (*see)(void *cookie, const zn_node *node, const float *values, size_t count);
    void *cookie;
    zenith_dtype dtype;
    zn_plan_mode mode;
    int threads; // 0: 1
    const atomic_int *cancel;
    // The run's own.
    zn_ports ports;
    const zn_graph *graph;
    float *seen;
} part_run;

static inline void *part_need(void *block)
{
    assert_non_null(block);
    return block;
}

static inline double part_error(const float *got, const float *expected, size_t count)
{
    double error = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        error += pow((double)got[i] - (double)expected[i], 2);
        size += pow((double)expected[i], 2);
    }
    return sqrt(error / size);
}

static inline void part_compare(const char *what, const float *got, const float *expected,
                                size_t count, double bound)
{
    const double error = part_error(got, expected, count);
    print_message("%s: %.2g\n", what, error);
    if (!(error <= bound)) fail_msg("%s: relative error %g > %g", what, error, bound);
}

static inline size_t part_row(const zn_desc *desc)
{
    size_t count = 0;
    assert_true(zn_shape_elements(&desc->shape, &count));
    return desc->shape.rank == 4 ? count / (size_t)desc->shape.dim[1] : count;
}

static inline zenith_status part_read(void *cookie, int input, int64_t row, int64_t count,
                                      void *dst, zn_error *err)
{
    const part_run *r = cookie;
    const size_t width = part_row(&r->ports.inputs[input].desc);
    (void)err;
    memcpy(dst, r->inputs[input] + (size_t)row * width, (size_t)count * width * sizeof(float));
    return ZENITH_OK;
}

static inline zenith_status part_write(void *cookie, int output, int64_t row, int64_t count,
                                       const void *src, zn_error *err)
{
    const part_run *r = cookie;
    const size_t width = part_row(&r->ports.outputs[output].desc);
    (void)err;
    assert_int_equal(output, 0);
    memcpy(r->output + (size_t)row * width, src, (size_t)count * width * sizeof(float));
    return ZENITH_OK;
}

static inline void part_observe(void *cookie, const zn_node *node, int64_t row, int64_t count,
                                const void *data)
{
    part_run *r = cookie;
    const int64_t *dim = node->desc.shape.dim;
    if (!zn_node_is_map(node) || node->desc.type != ZN_F32) return;
    const size_t width = (size_t)(dim[2] * dim[3]), all = (size_t)dim[1] * width;
    if (row == 0) r->seen = part_need(zn_alloc(all * sizeof(float)));
    memcpy(r->seen + (size_t)row * width, data, (size_t)count * width * sizeof(float));
    if (row + count < dim[1]) return;
    r->see(r->cookie, node, r->seen, all);
    zn_free(r->seen);
    r->seen = NULL;
}

static inline zenith_status part_run_plan(part_run *r, const zn_plan *plan, zn_error *err)
{
    zn_team *team = NULL;
    zn_test_ok(zn_team_create(r->threads ? r->threads : 1, &team, err), err);
    void *arena = part_need(zn_alloc(zn_plan_bytes(plan)));
    memset(arena, 0xff, zn_plan_bytes(plan)); // NaN: what was not written must not be read
    r->part->ports(r->model->variant, zn_model_layout(r->model, r->part), &r->sizes, &r->ports);
    const zn_run run = {.read = part_read,
                        .write = part_write,
                        .cookie = r,
                        .cancel = r->cancel,
                        .observe = r->see ? part_observe : NULL};
    zenith_status status = zn_plan_run(plan, arena, team, &run, err);
    zn_free(arena);
    zn_team_free(team);
    return status;
}

// The graph as the model describes it, with nothing fused, so that every module's value is there.
static inline void part_run_plain(part_run *r)
{
    zn_error err = {0};
    zn_graph plain, typed;
    zn_plan *plan = NULL;
    zn_packs *packs = NULL;
    const zn_type_policy policy = {.type = ZN_F32, .convert = zn_convert_as};
    zn_test_ok(zn_model_graph(r->model, r->part, &r->sizes, NULL, &plain, &err), &err);
    zn_test_ok(zn_pass_types(&plain, &policy, &typed, &err), &err);
    zn_test_ok(zn_packs_create(&packs, &err), &err);
    const zn_plan_options options = {.mode = ZN_PLAN_PLANES,
                                     .cpu = zn_cpu_detect(),
                                     .threads = r->threads ? r->threads : 1,
                                     .packs = packs};
    zn_test_ok(zn_plan_create(&typed, &options, &plan, &err), &err);
    zn_test_ok(part_run_plan(r, plan, &err), &err);
    zn_plan_free(plan);
    zn_packs_free(packs);
    zn_graph_free(&typed);
    zn_graph_free(&plain);
}

// As tasks run it.
static inline zenith_status part_run_compiled(part_run *r, zn_error *err)
{
    const zn_cpu cpu = zn_cpu_detect();
    zn_dnn *dnn = NULL;
    zn_compiled *compiled = NULL;
    (void)!zn_dnn_create(&cpu, &dnn, NULL);
    const zn_compile_key key = {.model = r->model,
                                .part = r->part,
                                .sizes = r->sizes,
                                .dtype = r->dtype,
                                .pixels = ZENITH_F32,
                                .mode = r->mode,
                                .band = r->mode == ZN_PLAN_ROLLING ? 1 : 0};
    const int threads = r->threads ? r->threads : 1;
    zn_team *team = NULL; // packs weights
    zn_test_ok(zn_team_create(threads, &team, err), err);
    const zn_machine machine = {.cpu = cpu, .threads = threads, .dnn = dnn, .team = team};
    zn_test_ok(zn_compile(&key, NULL, &machine, &compiled, err), err);
    zn_team_free(team);
    zenith_status status = part_run_plan(r, compiled->plan, err);
    zn_compiled_free(compiled);
    zn_dnn_free(dnn);
    return status;
}

// Parameters of a part with the published sizes, or those of a layout.
static inline size_t part_parameters(const char *variant_name, const char *part, const char *layout)
{
    zn_error err = {0};
    zn_network network;
    const zn_network_shape shape = {.width = 1, .layout = layout};
    const zn_variant *variant = zn_variant_find(variant_name);
    zn_test_ok(zn_network_of_variant(variant, zn_family_part(zn_family_of(variant), part), &shape,
                                     &network, &err),
               &err);
    size_t sum = 0;
    for (size_t i = 0; i < network.count; i++) sum += network.parameters[i].elements;
    zn_network_free(&network);
    return sum;
}

// --- goldens ------------------------------------------------------------------------------------

static inline zn_model *part_open(const char *folder)
{
    return model_at(zn_test_path(zn_test_golden(), folder), NULL);
}

static inline zn_safetensors *part_golden(const char *file)
{
    return tensors_at(zn_test_path(zn_test_golden(), file));
}

// A tensor in f32, which the caller frees; count may be NULL.
static inline float *part_tensor(const zn_safetensors *golden, const char *name, size_t *count)
{
    zn_error err = {0};
    size_t elements = 0;
    const zn_file_tensor *tensor = zn_safetensors_find(golden, name);
    if (!tensor) fail_msg("the golden has no '%s'", name);
    assert_true(zn_shape_elements(&tensor->shape, &elements));
    float *values = part_need(zn_alloc(elements * sizeof *values));
    zn_test_ok(zn_file_tensor_read(tensor, values, &err), &err);
    if (count) *count = elements;
    return values;
}

#endif
