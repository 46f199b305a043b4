// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The networks of words to a picture in one graph, as training has them: a tiny text encoder
// (qwen3) and a tiny diffusion transformer (zimage) that takes captions with a mask. Every
// parameter has a gradient, and along a random direction of each network's parameters the loss
// changes as its gradients say. What the mask hides changes nothing.
#include "tests/model/joined_training.h"

#include "src/model/text_to_image/qwen3.h"
#include "src/model/text_to_image/zimage.h"

enum { TEXT, CONTEXT, MODULATION, DENOISER, NETWORKS };
enum { TOKENS = 32, THERE = 7, HEIGHT = 6, ACROSS = 8, CHANNELS = 4 };
enum { VOCABULARY = 20, WIDTH = 12, TEXT_HEAD = 8, HEAD = 6, ALL_TOKENS = 2 * TOKENS };
enum { IDS, TEXT_ANGLES, CONTEXT_ANGLES, MASK, TIME, LATENT, ANGLES, TARGET, INPUTS };
static const char *const names[NETWORKS] = {"text", "context", "modulation", "denoiser"};
static const char text_layout[] =
    "vocabulary=20 width=10 inner=14 layers=3 heads=4 keys=2 head=8 theta=10000";
static const char image_layout[] =
    "width=12 layers=2 refiners=1 heads=2 caption=10 channels=4 axis=2 rows=2 columns=2";
static const zn_sizes sizes[NETWORKS] = {{.tokens = TOKENS},
                                         {.tokens = TOKENS, .masked = true},
                                         {.tokens = 1},
                                         {.height = HEIGHT, .width = ACROSS, .tokens = TOKENS}};

typedef struct training {
    joined j;
    float *inputs[INPUTS];
    size_t row[INPUTS];
} training;

static zn_node *leaf(training *t, int which, const char *name, zn_shape shape)
{
    size_t count = 0;
    assert_true(zn_shape_elements(&shape, &count));
    t->inputs[which] = part_need(zn_alloc_zero(count * sizeof(float)));
    t->row[which] = count / (size_t)shape.dim[1];
    return zn_graph_input(&t->j.plain, name, zn_desc_make(ZN_F32, shape));
}

static void build(training *t)
{
    zn_node *in[INPUTS];
    const zn_shape map = ZN_SHAPE(1, HEIGHT, ACROSS, CHANNELS);
    zn_graph_begin(&t->j.plain, &t->j.err);
    in[IDS] = leaf(t, IDS, "ids", ZN_SHAPE(1, TOKENS, 1, 1));
    in[TEXT_ANGLES] = leaf(t, TEXT_ANGLES, "text.angles", ZN_SHAPE(1, TOKENS, 1, TEXT_HEAD));
    in[CONTEXT_ANGLES] = leaf(t, CONTEXT_ANGLES, "context.angles", ZN_SHAPE(1, TOKENS, 1, HEAD));
    in[MASK] = leaf(t, MASK, "mask", ZN_SHAPE(1, TOKENS, 1, WIDTH));
    in[TIME] = leaf(t, TIME, "time", ZN_SHAPE(1, 1, 1, 1));
    in[LATENT] = leaf(t, LATENT, "latent", map);
    in[ANGLES] = leaf(t, ANGLES, "angles", ZN_SHAPE(1, ALL_TOKENS, 1, HEAD));
    in[TARGET] = leaf(t, TARGET, "target", map);
    zn_node *text = joined_build(&t->j, TEXT, (zn_node *[]){in[IDS], in[TEXT_ANGLES]});
    zn_node *context = joined_build(&t->j, CONTEXT,
                                    (zn_node *[]){text, in[CONTEXT_ANGLES], in[MASK]});
    zn_node *rows = joined_build(&t->j, MODULATION, &in[TIME]);
    zn_node *modulation = zn_channel_sum(&t->j.plain, "step", rows); // of one row: it as a vector
    zn_node *y = joined_build(&t->j, DENOISER,
                              (zn_node *[]){in[LATENT], context, modulation, in[ANGLES]});
    joined_finish(&t->j, y, in[TARGET]);
}

// The rest of the caption is not there, and its numbers are of no word: 0 of the table.
static void fill(training *t)
{
    zn_random random = {.seed = 5};
    for (int i = 0; i < THERE; i++) t->inputs[IDS][i] = (float)((5 * i + 3) % VOCABULARY);
    for (int i = 0; i < THERE * WIDTH; i++) t->inputs[MASK][i] = 1;
    zn_qwen3_layout_angles(text_layout, TOKENS, t->inputs[TEXT_ANGLES]);
    zn_zimage_layout_caption_angles(image_layout, TOKENS, t->inputs[CONTEXT_ANGLES]);
    zn_zimage_layout_angles(image_layout, &sizes[DENOISER], t->inputs[ANGLES]);
    t->inputs[TIME][0] = 0.4f;
    for (int i = 0; i < HEIGHT * ACROSS * CHANNELS; i++) {
        t->inputs[LATENT][i] = zn_random_normal(&random);
        t->inputs[TARGET][i] = zn_random_normal(&random);
    }
}

static void open_network(joined *t, int which)
{
    const zn_variant *variant = zn_variant_find(which == TEXT ? "qwen3" : "z-image");
    const zn_network_shape shape = {.layout = which == TEXT ? text_layout : image_layout};
    const zn_part *part = zn_family_part(zn_family_of(variant), names[which]);
    zn_test_ok(zn_network_of_variant(variant, part, &shape, &t->networks[which], &t->err), &t->err);
    joined_add(t);
}

static zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count, void *dst,
                               zn_error *err)
{
    const training *t = cookie;
    (void)err;
    memcpy(dst, t->inputs[input] + (size_t)row * t->row[input],
           (size_t)count * t->row[input] * sizeof(float));
    return ZENITH_OK;
}

static void open_training(training *t)
{
    *t = (training){.j = {.read = read_rows, .cookie = t, .names = names, .sizes = sizes}};
    for (int i = 0; i < NETWORKS; i++) open_network(&t->j, i);
    joined_make_weights(&t->j);
    for (int i = 0; i < NETWORKS; i++)
        zn_network_randomise(&t->j.networks[i], t->j.weights, 3 + (uint64_t)i, 1, ZN_INIT_PYTORCH);
    build(t);
    fill(t);
}

static void close_training(training *t)
{
    joined_close(&t->j);
    for (int i = 0; i < INPUTS; i++) zn_free(t->inputs[i]);
}

ZN_TEST(gradients_say_how_the_loss_changes)
{
    training t;
    open_training(&t);
    joined_check_slopes(&t.j);
    close_training(&t);
}

// What is not there changes nothing, whatever its numbers are.
ZN_TEST(padding_is_not_seen)
{
    training t;
    open_training(&t);
    const double before = joined_loss(&t.j);
    for (int i = THERE; i < TOKENS; i++) t.inputs[IDS][i] = (float)(1 + i % 7);
    assert_true(joined_loss(&t.j) == before);
    t.inputs[IDS][THERE - 1] += 1;
    assert_true(joined_loss(&t.j) != before);
    close_training(&t);
}
