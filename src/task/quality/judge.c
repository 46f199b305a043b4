// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The SqueezeNet distance runs one plan twice: the original's features are held, and the picture's
// are compared with them as their rows come. It runs in f32 and in planes whatever the model's type
// is: the judge is the same for all.
#include "src/task/quality/judge.h"

#include "src/base/os.h"
#include "src/model/locate.h"
#include "src/model/stored_parameter.h"
#include "src/nn/squeezenet.h"
#include "src/op/ops.h"
#include "src/task/quality/metrics.h"

#include <math.h>
#include <string.h>

struct zn_judge {
    zn_weights *squeezenet; // NULL: none
    zn_packs *packs;
};

// --- open ---------------------------------------------------------------------------------------

static zn_node *parameter(void *cookie, zn_graph *graph, const char *name, const zn_shape *shape)
{
    return zn_stored_parameter(cookie, name, graph, name, shape);
}

// From 8-bit pixels to normalised features. The graph holds nothing on failure.
static zenith_status build(const zn_judge *judge, int64_t width, int64_t height, zn_graph *graph,
                           zn_error *err)
{
    zn_desc picture = zn_desc_make(ZN_U8, ZN_SHAPE(1, height, width, 3));
    picture.scale = 1.0f / 255.0f;
    zn_graph_begin(graph, err);
    const zn_scope scope = {
        .graph = graph, .parameter = parameter, .cookie = judge->squeezenet, .prefix = ""};
    zn_node *features[ZN_SQUEEZENET_FEATURES];
    zn_nn_squeezenet(&scope, zn_graph_input(graph, "image", picture), features);
    for (int i = 0; i < ZN_SQUEEZENET_FEATURES; i++) {
        zn_node *unit = zn_unit_norm(graph, "", features[i], ZN_FEATURE_EPSILON);
        if (unit) zn_graph_output(graph, unit);
    }
    zenith_status status = zn_graph_finish(graph);
    if (status != ZENITH_OK) zn_graph_free(graph);
    return status;
}

// The weights are right if the network can be built of them.
static zenith_status open_squeezenet(zn_judge *judge, const char *path, zn_error *err)
{
    zn_graph graph;
    ZN_TRY(zn_weights_open(path, &judge->squeezenet, err));
    ZN_TRY(build(judge, ZN_SQUEEZENET_SIDE, ZN_SQUEEZENET_SIDE, &graph, err));
    zn_graph_free(&graph);
    return ZENITH_OK;
}

zenith_status zn_judge_open(const char *squeezenet, const char *weights, zn_judge **out,
                            zn_error *err)
{
    char path[ZN_PATH_SIZE] = "";
    zn_judge *judge = zn_alloc_zero(sizeof *judge);
    if (!judge) return zn_fail_memory(err, sizeof *judge);
    zenith_status status;
    ZN_GO(zn_packs_create(&judge->packs, err));
    bool found = squeezenet != NULL;
    for (int i = 0; !found && zn_locate_squeezenet(weights, i, path); i++) {
        found = zn_path_is_file(path);
    }
    if (found) ZN_GO(open_squeezenet(judge, squeezenet ? squeezenet : path, err));
    *out = judge;
    return ZENITH_OK;
fail:
    zn_judge_free(judge);
    return status;
}

void zn_judge_free(zn_judge *judge)
{
    if (!judge) return;
    zn_packs_free(judge->packs);
    zn_weights_free(judge->squeezenet);
    zn_free(judge);
}

const char *zn_judge_squeezenet(const zn_judge *judge)
{
    if (!judge->squeezenet) return NULL;
    return zn_weights_file(judge->squeezenet, zn_weights_get(judge->squeezenet, 0));
}

// --- the network's distance ---------------------------------------------------------------------

typedef struct looking {
    const uint8_t *picture;
    size_t row_bytes; // of the picture
    size_t row_elements[ZN_SQUEEZENET_FEATURES];
    float *features[ZN_SQUEEZENET_FEATURES]; // the original's
    bool compare;                            // false: features are being stored
    double squares[ZN_SQUEEZENET_FEATURES];
} looking;

static zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count, void *dst,
                               zn_error *err)
{
    const looking *l = cookie;
    (void)input, (void)err;
    memcpy(dst, l->picture + (size_t)row * l->row_bytes, (size_t)count * l->row_bytes);
    return ZENITH_OK;
}

static zenith_status write_rows(void *cookie, int output, int64_t row, int64_t count,
                                const void *src, zn_error *err)
{
    looking *l = cookie;
    (void)err;
    const size_t n = (size_t)count * l->row_elements[output];
    float *held = l->features[output] + (size_t)row * l->row_elements[output];
    const float *rows = src;
    if (!l->compare) {
        memcpy(held, rows, n * sizeof *held);
        return ZENITH_OK;
    }
    for (size_t i = 0; i < n; i++) {
        const double difference = (double)rows[i] - (double)held[i];
        l->squares[output] += difference * difference;
    }
    return ZENITH_OK;
}

static zenith_status compile(const zn_judge *judge, const zn_comparison *c,
                             const zn_machine *machine, zn_graph *graph, zn_plan **plan,
                             zn_error *err)
{
    zn_graph plain = {0}, fused = {0};
    const zn_type_policy policy = {.type = ZN_F32, .convert = zn_convert_as};
    const zn_plan_options options = {.mode = ZN_PLAN_PLANES,
                                     .cpu = machine->cpu,
                                     .threads = machine->threads,
                                     .dnn = machine->dnn,
                                     .packs = judge->packs,
                                     .cancel = c->cancel};
    zenith_status status;
    ZN_GO(build(judge, c->width, c->height, &plain, err));
    ZN_GO(zn_pass_fuse(&plain, zn_ops, zn_ops_count, NULL, &fused, err));
    ZN_GO(zn_pass_types(&fused, &policy, graph, err));
    ZN_GO(zn_plan_create(graph, &options, plan, err));
fail:
    zn_graph_free(&plain);
    zn_graph_free(&fused);
    return status;
}

static zenith_status hold_features(looking *l, const zn_graph *graph, zn_error *err)
{
    for (int i = 0; i < ZN_SQUEEZENET_FEATURES; i++) {
        size_t elements = 0;
        const zn_shape *shape = &graph->outputs[i]->desc.shape;
        if (!zn_shape_elements(shape, &elements) || elements > SIZE_MAX / sizeof(float)) {
            return zn_fail(err, ZENITH_LIMIT, "the picture is too large to be compared");
        }
        l->row_elements[i] = elements / (size_t)shape->dim[1];
        l->features[i] = zn_alloc(elements * sizeof(float));
        if (!l->features[i]) return zn_fail_memory(err, elements * sizeof(float));
    }
    return ZENITH_OK;
}

// In a job: sums over the features of the mean, over pixels, of the squared distance.
static zenith_status squeezenet_distance(const zn_judge *judge, const zn_comparison *c,
                                         const zn_machine *machine, zn_team *team, double *out,
                                         zn_error *err)
{
    *out = (double)NAN;
    if (!judge->squeezenet || c->width < ZN_SQUEEZENET_SIDE || c->height < ZN_SQUEEZENET_SIDE) {
        return ZENITH_OK;
    }
    zn_graph graph = {0};
    zn_plan *plan = NULL;
    void *arena = NULL;
    looking l = {.row_bytes = (size_t)c->width * 3};
    const zn_run run = {.read = read_rows, .write = write_rows, .cookie = &l, .cancel = c->cancel};
    zenith_status status;
    ZN_GO(compile(judge, c, machine, &graph, &plan, err));
    ZN_GO(hold_features(&l, &graph, err));
    arena = zn_alloc(zn_plan_bytes(plan));
    if (!arena) ZN_GO(zn_fail_memory(err, zn_plan_bytes(plan)));
    l.picture = c->original;
    ZN_GO(zn_plan_run(plan, arena, team, &run, err));
    l.picture = c->picture;
    l.compare = true;
    ZN_GO(zn_plan_run(plan, arena, team, &run, err));
    double sum = 0;
    for (int i = 0; i < ZN_SQUEEZENET_FEATURES; i++) {
        const int64_t *dim = graph.outputs[i]->desc.shape.dim;
        sum += l.squares[i] / ((double)dim[1] * (double)dim[2]);
    }
    *out = sum;
fail:
    for (int i = 0; i < ZN_SQUEEZENET_FEATURES; i++) zn_free(l.features[i]);
    zn_free(arena);
    zn_plan_free(plan);
    zn_graph_free(&graph);
    return status;
}

// --- all measures -------------------------------------------------------------------------------

static zenith_status compare_pixels(const zn_comparison *c, zenith_quality *q, zn_error *err)
{
    zn_plane a = {0}, b = {0};
    zenith_status status;
    q->psnr = zn_metric_psnr(c->original, c->picture, c->width, c->height);
    ZN_GO(zn_plane_luma(c->original, c->width, c->height, &a, err));
    ZN_GO(zn_plane_luma(c->picture, c->width, c->height, &b, err));
    ZN_GO(zn_metric_ssim(&a, &b, &q->ssim, err));
    ZN_GO(zn_metric_ms_ssim(&a, &b, &q->ms_ssim, err));
    ZN_GO(zn_metric_gmsd(&a, &b, &q->gmsd, err));
    ZN_GO(zn_metric_hf(&a, &b, &q->hf, &q->hf_correlation, err));
    ZN_GO(zn_metric_mesh4(&b, &q->mesh4, err));
    ZN_GO(zn_metric_mesh4(&a, &q->original_mesh4, err));
fail:
    zn_plane_free(&a);
    zn_plane_free(&b);
    return status;
}

typedef struct comparing {
    zn_judge *judge;
    zn_engine *engine;
    const zn_comparison *comparison;
    zenith_quality *out;
    zn_error *err;
} comparing;

static zenith_status compare(void *arg, zn_team *team, int stream)
{
    comparing *j = arg;
    zn_machine machine;
    ZN_TRY(zn_engine_machine(j->engine, stream, &machine, j->err));
    ZN_TRY(
        squeezenet_distance(j->judge, j->comparison, &machine, team, &j->out->squeezenet, j->err));
    return compare_pixels(j->comparison, j->out, j->err);
}

zenith_status zn_judge_compare(zn_judge *judge, zn_engine *engine, const zn_comparison *comparison,
                               zenith_quality *out, zn_error *err)
{
    comparing j = {judge, engine, comparison, out, err};
    return zn_executor_run(zn_engine_executor(engine), compare, &j, 1, err);
}
