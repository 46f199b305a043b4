// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The video autoencoders of Wan against diffusers, on the small models of the larger goldens: one
// picture, and nine frames step by step through states. The same bits in planes and bands and on
// one thread and two, and as much memory for 33 frames as for nine.
#include "tests/model/video_coder.h"
#include "tests/model/weight_files.h"

#include "src/base/os.h"
#include "src/model/video/wan_names.h"

enum { NAME = 128, FRAMES = 9, LATENTS = 3 };
static const double BOUND = 1e-5, BOUND_BF16 = 2e-2;

// The golden of 2.2 has latents of 16 channels with the means of 2.1, which no published model has.
typedef struct kind {
    const char *folder, *variant;
    int64_t factor, latent_height, latent_width;
} kind;
static const kind kinds[] = {{"vae_wan21", "wan2.1-vae", 8, 4, 6},
                             {"vae_wan22", "wan2.2-vae", 16, 4, 2}};

static const way usual = {ZENITH_DTYPE_F32, ZN_PLAN_AUTO, 0, 1};

typedef struct world {
    const kind *kind;
    zn_safetensors *golden;
    zn_model *model;
    zn_variant variant;
    zn_autoencoder_facts facts;
    zn_dnn *dnn;
} world;

// --- goldens ------------------------------------------------------------------------------------

// [1, C, T, h, w] as T maps [h, w, C].
static clip golden_clip(const world *w, const char *which, const char *what)
{
    char name[NAME];
    zn_error err = {0};
    snprintf(name, sizeof name, "%s.%s", which, what);
    const zn_file_tensor *tensor = zn_safetensors_find(w->golden, name);
    if (!tensor) fail_msg("%s has no '%s'", w->kind->folder, name);
    const size_t c = (size_t)tensor->shape.dim[1], t = (size_t)tensor->shape.dim[2];
    const size_t pixels = (size_t)(tensor->shape.dim[3] * tensor->shape.dim[4]);
    float *planes = need(zn_alloc(tensor->bytes));
    clip made = {need(zn_alloc(tensor->bytes)), pixels * c, (size_t)tensor->shape.dim[4] * c,
                 (int)t};
    zn_test_ok(zn_file_tensor_read(tensor, planes, &err), &err);
    for (size_t i = 0; i < c * t * pixels; i++)
        made.data[(i / pixels % t * pixels + i % pixels) * c + i / pixels / t] = planes[i];
    zn_free(planes);
    return made;
}

static void change(clip *x, float factor, float offset)
{
    for (size_t i = 0; i < x->frame * (size_t)x->count; i++)
        x->data[i] = x->data[i] * factor + offset;
}

// The reference's pictures end at -1 and 1.
static void clamp(clip *x)
{
    for (size_t i = 0; i < x->frame * (size_t)x->count; i++)
        x->data[i] = fminf(fmaxf(x->data[i], -1), 1);
}

static void compare(const world *w, const char *name, const clip *got, const clip *expected,
                    double bound)
{
    double error = 0, size = 0;
    assert_int_equal(got->count, expected->count);
    for (size_t i = 0; i < got->frame * (size_t)got->count; i++) {
        error += pow((double)got->data[i] - (double)expected->data[i], 2);
        size += pow((double)expected->data[i], 2);
    }
    error = sqrt(error / size);
    print_message("%s %s: %.2g\n", w->kind->folder, name, error);
    if (!(error <= bound))
        fail_msg("%s %s: relative error %g > %g", w->kind->folder, name, error, bound);
}

static void open_world(world *w, const kind *k)
{
    char file[NAME];
    zn_error err = {0};
    *w = (world){.kind = k};
    snprintf(file, sizeof file, "%s/io.safetensors", k->folder);
    const char *golden = zn_test_path(zn_test_golden(), file);
    zn_test_need(golden);
    zn_test_ok(zn_safetensors_open(golden, &w->golden, &err), &err);
    const zn_variant *published = need((void *)(uintptr_t)zn_variant_find(k->variant));
    w->facts = zn_latents_wan21;
    w->facts.factor = (int)k->factor;
    w->variant = *published;
    w->variant.autoencoder = &w->facts;
    zn_model *model = w->model = need(zn_alloc_zero(sizeof *w->model));
    atomic_init(&model->references, 1);
    zn_test_ok(zn_weights_open(zn_test_path(zn_test_golden(), k->folder), &model->weights, &err),
               &err);
    model->family = zn_family_of(published);
    model->variant = &w->variant;
    model->parts = 3;
    for (int i = 0; i < 2; i++)
        model->family->layout(model->weights, &model->family->parts[i], model->layouts[i]);
    zn_test_ok(zn_packs_create(&model->packs, &err), &err);
    const zn_cpu cpu = zn_cpu_detect();
    (void)!zn_dnn_create(&cpu, &w->dnn, NULL); // without oneDNN, our kernels
}

static void close_world(world *w)
{
    zn_dnn_free(w->dnn);
    zn_model_unref(w->model);
    zn_safetensors_free(w->golden);
}

// --- tests --------------------------------------------------------------------------------------

static void check_decoder(world *w, const way *how, double bound)
{
    coder c;
    open_coder(&c, w->model, w->dnn, "decoder", w->kind->latent_height, w->kind->latent_width, how);
    clip image = golden_clip(w, "image", "latent"), picture = golden_clip(w, "image", "decoded");
    clip video = golden_clip(w, "video", "latent"), frames = golden_clip(w, "video", "decoded");
    clip got = empty_like(&picture, 1), all = empty_like(&frames, FRAMES);
    run_alone(&c, &image, &got);
    change(&got, 2, -1);
    clamp(&got);
    compare(w, "image.decoded", &got, &picture, bound);
    run_clip(&c, &video, &all);
    change(&all, 2, -1);
    clamp(&all);
    compare(w, "video.decoded", &all, &frames, bound);
    clip *clips[] = {&image, &picture, &video, &frames, &got, &all};
    for (int i = 0; i < 6; i++) zn_free(clips[i]->data);
    close_coder(&c);
}

static void check_encoder(world *w, const way *how, double bound)
{
    coder c;
    open_coder(&c, w->model, w->dnn, "encoder", w->kind->latent_height, w->kind->latent_width, how);
    clip image = golden_clip(w, "image", "pixels"), latent = golden_clip(w, "image", "latent");
    clip video = golden_clip(w, "video", "pixels"), latents = golden_clip(w, "video", "latent");
    clip mean = golden_clip(w, "video", "mean");
    clip got = empty_like(&latent, 1), all = empty_like(&latents, LATENTS);
    change(&image, 0.5f, 0.5f);
    change(&video, 0.5f, 0.5f);
    run_alone(&c, &image, &got);
    compare(w, "image.latent", &got, &latent, bound);
    run_clip(&c, &video, &all);
    compare(w, "video.latent", &all, &latents, bound);
    for (size_t i = 0; i < all.frame * LATENTS; i++)
        all.data[i] = zn_latent_to_raw(&w->facts, i % 16, all.data[i]);
    compare(w, "video.mean", &all, &mean, bound);
    clip *clips[] = {&image, &latent, &video, &latents, &mean, &got, &all};
    for (int i = 0; i < 7; i++) zn_free(clips[i]->data);
    close_coder(&c);
}

ZN_TEST(activations_are_the_references)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        world w;
        open_world(&w, &kinds[k]);
        check_decoder(&w, &usual, BOUND);
        check_encoder(&w, &usual, BOUND);
        close_world(&w);
    }
}

ZN_TEST(bf16_is_close)
{
    way how = usual;
    how.dtype = ZENITH_DTYPE_BF16;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        world w;
        open_world(&w, &kinds[k]);
        check_decoder(&w, &how, BOUND_BF16);
        check_encoder(&w, &how, BOUND_BF16);
        close_world(&w);
    }
}

static void check_bits(world *w, const char *part)
{
    static const way ways[] = {{ZENITH_DTYPE_F32, ZN_PLAN_PLANES, 0, 1},
                               {ZENITH_DTYPE_F32, ZN_PLAN_PLANES, 0, 2},
                               {ZENITH_DTYPE_F32, ZN_PLAN_ROLLING, 1, 1},
                               {ZENITH_DTYPE_F32, ZN_PLAN_ROLLING, 2, 2}};
    const bool decodes = strcmp(part, "decoder") == 0;
    clip in = golden_clip(w, "video", decodes ? "latent" : "pixels");
    clip like = golden_clip(w, "video", decodes ? "decoded" : "latent");
    clip first = empty_like(&like, like.count), got = empty_like(&like, like.count);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        coder c;
        open_coder(&c, w->model, w->dnn, part, w->kind->latent_height, w->kind->latent_width,
                   &ways[i]);
        run_clip(&c, &in, i ? &got : &first);
        close_coder(&c);
        if (i > 0)
            assert_memory_equal(got.data, first.data,
                                got.frame * (size_t)got.count * sizeof(float));
    }
    clip *clips[] = {&in, &like, &first, &got};
    for (int i = 0; i < 4; i++) zn_free(clips[i]->data);
}

ZN_TEST(bits_are_the_same)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        world w;
        open_world(&w, &kinds[k]);
        check_bits(&w, "decoder");
        check_bits(&w, "encoder");
        close_world(&w);
    }
}

// --- names --------------------------------------------------------------------------------------

static void replace(char name[NAME], const char *ours, const char *theirs)
{
    char changed[2 * NAME];
    char *found = strstr(name, ours);
    if (!found) return;
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(found - name), name, theirs,
             found + strlen(ours));
    snprintf(name, NAME, "%.*s", NAME - 1, changed);
}

// The numbers of blocks in the original checkpoints: goldens have levels of 1 block, and 2 in the
// decoder.
static void replace_blocks(char name[NAME], bool by_level)
{
    char ours[NAME], theirs[NAME];
    for (int level = 0; level < 4; level++) {
        for (int block = 0; block < 3; block++) {
            if (by_level)
                snprintf(theirs, NAME, "upsamples.%d.upsamples.%d.", level, block);
            else
                snprintf(theirs, NAME, "upsamples.%d.", 3 * level + block);
            snprintf(ours, NAME, "up_blocks.%d.resnets.%d.", level, block);
            replace(name, ours, theirs);
            snprintf(ours, NAME, "up_blocks.%d.%s.", level,
                     by_level ? "upsampler" : "upsamplers.0");
            if (block == 2) replace(name, ours, theirs);
        }
        snprintf(theirs, NAME, "downsamples.%d.downsamples.0.", level);
        snprintf(ours, NAME, "down_blocks.%d.resnets.0.", level);
        replace(name, ours, theirs);
        snprintf(theirs, NAME, "downsamples.%d.downsamples.1.", level);
        snprintf(ours, NAME, "down_blocks.%d.downsampler.", level);
        replace(name, ours, theirs);
    }
    replace(name, "down_blocks.", "downsamples.");
}

static void original_name(const char *ours, bool by_level, char name[NAME])
{
    static const char *const changes[][2] = {
        {"conv1.", "residual.2."},
        {"conv2.", "residual.6."},
        {"norm1.", "residual.0."},
        {"norm2.", "residual.3."},
        {"conv_shortcut.", "shortcut."},
        {"mid_block.resnets.0.", "middle.0."},
        {"mid_block.attentions.0.", "middle.1."},
        {"mid_block.resnets.1.", "middle.2."},
        {"conv_in.", "conv1."},
        {"norm_out.", "head.0."},
        {"conv_out.", "head.2."},
        {"post_quant_conv.", "conv2."},
        {"quant_conv.", "conv1."},
    };
    snprintf(name, NAME, "%s", ours);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        replace(name, changes[i][0], changes[i][1]);
    replace_blocks(name, by_level);
}

// Every tensor of a golden in one file under the original names.
static const char *write_original(const zn_weights *weights, bool by_level)
{
    enum { MOST = 256 };
    static char names[MOST][NAME];
    static zn_file_tensor tensors[MOST];
    const size_t count = zn_weights_count(weights);
    const char *path = zn_test_path(zn_test_build(), "wan_original.safetensors");
    assert_true(count <= MOST);
    for (size_t i = 0; i < count; i++) {
        tensors[i] = *zn_weights_get(weights, i);
        original_name(tensors[i].name, by_level, names[i]);
        tensors[i].name = names[i];
    }
    write_tensors(path, tensors, count, NULL, 0);
    return path;
}

ZN_TEST(original_names_are_found)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        world w;
        zn_error err = {0};
        zn_weights *other = NULL;
        open_world(&w, &kinds[k]);
        const zn_weights *weights = w.model->weights;
        zn_test_ok(zn_weights_open(write_original(weights, k == 1), &other, &err), &err);
        for (int encoder = 0; encoder < 2; encoder++)
            assert_int_equal(zn_wan_layers(other, encoder), zn_wan_layers(weights, encoder));
        for (size_t i = 0; i < zn_weights_count(weights); i++) {
            const zn_file_tensor *tensor = zn_weights_get(weights, i);
            const bool beside = strstr(tensor->name, "quant_conv."), post = tensor->name[0] == 'p';
            char ours[NAME], stored[ZN_NAME_SIZE];
            snprintf(ours, NAME, "%s%s",
                     !beside ? ""
                     : post  ? "decoder."
                             : "encoder.",
                     tensor->name);
            const zn_file_tensor *found = zn_wan_find(other, ours, stored);
            if (!found) fail_msg("%s: '%s' is not found", kinds[k].folder, ours);
            assert_int_equal(found->bytes, tensor->bytes);
            assert_memory_equal(found->data, tensor->data, tensor->bytes);
        }
        zn_weights_free(other);
        close_world(&w);
    }
}
