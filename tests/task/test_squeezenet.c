// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// SqueezeNet with its real weights: features against PyTorch's, its distance, the same bits on any
// number of threads, and TAESD's figures on two photographs.
#include "src/format/tensor/weights.h"
#include "src/model/stored_parameter.h"
#include "src/nn/squeezenet.h"
#include "src/op/ops.h"
#include "tests/task/metric_goldens.h"
#include "tests/task/metric_pictures.h"
#include "tests/task/session.h"
#include "zenith/train.h"

#include <math.h>

enum { GOLDENS = sizeof metric_goldens / sizeof metric_goldens[0], SQUEEZENET = 3 };

static const char *weights_path(void)
{
    return zn_test_path(zn_test_data(), "squeezenet/squeezenet1_0_dc.safetensors");
}

ZN_TEST_NEEDS(weights_path())

// --- features -----------------------------------------------------------------------------------

static zn_node *parameter(void *cookie, zn_graph *graph, const char *name, const zn_shape *shape)
{
    return zn_stored_parameter(cookie, name, graph, name, shape);
}

// Each node by its reference, in order: what the network is, before any lowering.
static void evaluate(const zn_graph *graph, zn_tensor *values, const zenith_image *image)
{
    zn_error err = {0};
    for (size_t id = 0; id < graph->count; id++) {
        const zn_node *node = graph->nodes[id];
        size_t count = 0;
        if (node->kind == ZN_NODE_PARAMETER) values[id] = node->constant;
        if (node->kind == ZN_NODE_PARAMETER) continue;
        assert_true(zn_shape_elements(&node->desc.shape, &count));
        values[id] = (zn_tensor){.desc = node->desc, .data = malloc(count * sizeof(float))};
        if (node->kind == ZN_NODE_INPUT) {
            for (size_t i = 0; i < count; i++)
                ((float *)values[id].data)[i] = (float)((const uint8_t *)image->data)[i] / 255;
            continue;
        }
        zn_tensor inputs[4];
        for (int i = 0; i < node->inputs_count; i++) inputs[i] = values[node->inputs[i]->id];
        zn_test_ok(zn_node_reference(node, inputs, &values[id], &err), &err);
    }
}

static void check_feature(const zn_tensor *feature, int index)
{
    const int64_t *dim = feature->desc.shape.dim;
    assert_int_equal(dim[1], feature_goldens[index].height);
    assert_int_equal(dim[2], feature_goldens[index].width);
    assert_int_equal(dim[3], feature_goldens[index].channels);
    const size_t count = (size_t)(dim[1] * dim[2] * dim[3]);
    const float *values = feature->data;
    const double wanted = feature_goldens[index].sum, scale = wanted / (double)count;
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += (double)values[i];
    if (fabs(sum - wanted) > 1e-5 * wanted)
        fail_msg("feature %d: sum %f, not %f", index, sum, wanted);
    for (size_t k = 0; k < 5; k++) {
        const double got = (double)values[count * k / 5 + k];
        const double right = feature_goldens[index].samples[k];
        if (fabs(got - right) > 1e-4 * scale)
            fail_msg("feature %d, sample %zu: %f, not %f", index, k, got, right);
    }
}

ZN_TEST(features_are_those_of_pytorch)
{
    zn_error err = {0};
    zn_weights *weights = NULL;
    zn_graph graph;
    zn_test_ok(zn_weights_open(weights_path(), &weights, &err), &err);
    zenith_image image = make_picture(metric_goldens[1].width, metric_goldens[1].height,
                                      original_pixel);
    zn_graph_begin(&graph, &err);
    const zn_scope scope = {
        .graph = &graph, .parameter = parameter, .cookie = weights, .prefix = ""};
    zn_node *features[ZN_SQUEEZENET_FEATURES];
    const zn_shape shape = ZN_SHAPE(1, image.height, image.width, 3);
    zn_node *last = zn_nn_squeezenet(
        &scope, zn_graph_input(&graph, "image", zn_desc_make(ZN_F32, shape)), features);
    zn_graph_output(&graph, last);
    zn_test_ok(zn_graph_finish(&graph), &err);
    zn_tensor *values = calloc(graph.count, sizeof *values);
    evaluate(&graph, values, &image);
    for (int i = 0; i < ZN_SQUEEZENET_FEATURES; i++) check_feature(&values[features[i]->id], i);
    for (size_t id = 0; id < graph.count; id++)
        if (graph.nodes[id]->kind != ZN_NODE_PARAMETER) free(values[id].data);
    free(values);
    free(image.data);
    zn_graph_free(&graph);
    zn_weights_free(weights);
}

// --- the judge ----------------------------------------------------------------------------------

static zenith_judge *open_judge(zenith_context *context)
{
    zenith_judge *judge = NULL;
    const zenith_judge_params params = {.size = sizeof params, .squeezenet = weights_path()};
    session_ok(context, zenith_judge_open(context, &params, &judge));
    assert_non_null(strstr(zenith_judge_get_squeezenet(judge), "squeezenet1_0_dc.safetensors"));
    return judge;
}

static double distance(int threads, const zenith_image *a, const zenith_image *b)
{
    zenith_context *context = session_context(threads, 1);
    zenith_judge *judge = open_judge(context);
    zenith_quality quality = {.size = sizeof quality};
    session_ok(context, zenith_compare(context, judge, a, b, &quality));
    zenith_judge_free(judge);
    zenith_context_free(context);
    return quality.squeezenet;
}

ZN_TEST(distance_is_that_of_pytorch)
{
    for (int i = 0; i < GOLDENS; i++) {
        const uint32_t width = metric_goldens[i].width, height = metric_goldens[i].height;
        zenith_image a = make_picture(width, height, original_pixel);
        zenith_image b = make_picture(width, height, changed_pixel);
        const double wanted = metric_goldens[i].values[SQUEEZENET];
        const double one = distance(1, &a, &b), two = distance(2, &a, &b);
        assert_true(one == two && isfinite(one) && one > 0);
        assert_true(distance(1, &a, &a) == 0);
        // Of the smallest picture PyTorch's pooling makes nothing, and there is no golden.
        if (!isnan(wanted) && fabs(one - wanted) > 1e-5 * wanted)
            fail_msg("%u x %u: %.9g, not %.9g", width, height, one, wanted);
        free(a.data);
        free(b.data);
    }
}

// --- photographs --------------------------------------------------------------------------------

static zenith_image read_photograph(zenith_context *context, const char *name)
{
    zenith_source *source = NULL;
    session_ok(context,
               zenith_source_open(context, zn_test_path(zn_test_data(), name), NULL, &source));
    zenith_source_info info = {.size = sizeof info};
    zenith_source_get_info(source, &info);
    zenith_image image = {.size = sizeof image, .width = info.width, .height = info.height};
    image.data = malloc(session_image_bytes(&image));
    assert_int_equal(zenith_source_rows(source, 0, info.height, image.data), ZENITH_OK);
    zenith_source_free(source);
    return image;
}

// Measured with PyTorch in f32.
ZN_TEST(taesd_on_photographs)
{
    static const struct {
        const char *name;
        double psnr, ssim, ms_ssim, squeezenet, gmsd, hf, mesh4, latent;
    } goldens[] = {
        {"kodak/01.png", 22.1494, 0.55723, 0.864238, 2.34232, 0.129258, 0.935934, 1.45083, 0.38041},
        {"kodak/03.png", 28.405, 0.82894, 0.949804, 1.28393, 0.0749473, 0.836431, 1.48837,
         0.315539}};
    zn_test_need(zn_test_path(zn_test_weights(), "taesd_decoder.safetensors"));
    zn_test_need(zn_test_path(zn_test_data(), "kodak/03.png"));
    zenith_context *context = session_context(2, 1);
    zenith_model *model = session_model(context, "taesd", zn_test_weights());
    zenith_judge *judge = open_judge(context);
    const zenith_run_params how = {.size = sizeof how, .dtype = ZENITH_DTYPE_F32};
    for (unsigned i = 0; i < 2; i++) {
        if (!zn_test_takes_one_in(2, i)) continue;
        zenith_image a = read_photograph(context, goldens[i].name), b = a;
        b.data = malloc(session_image_bytes(&b));
        zenith_quality q = {.size = sizeof q};
        session_ok(context, zenith_evaluate(context, judge, model, model, &a, &b, &how, &q));
        assert_true(fabs(q.psnr - goldens[i].psnr) < 0.001);
        assert_true(fabs(q.ssim - goldens[i].ssim) < 0.0001);
        assert_true(fabs(q.ms_ssim - goldens[i].ms_ssim) < 0.0001);
        assert_true(fabs(q.squeezenet - goldens[i].squeezenet) < 0.002);
        assert_true(fabs(q.gmsd - goldens[i].gmsd) < 0.0001);
        assert_true(fabs(q.hf - goldens[i].hf) < 0.001);
        assert_true(fabs(q.mesh4 - goldens[i].mesh4) < 0.005);
        assert_true(fabs(q.latent_distance - goldens[i].latent) < 0.001);
        free(a.data);
        free(b.data);
    }
    zenith_judge_free(judge);
    zenith_model_free(model);
    zenith_context_free(context);
}
