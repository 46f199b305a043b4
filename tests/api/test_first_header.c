// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A program that was built with the first header runs on today's library: every public struct with
// the size it had then. Each stands alone or in an array between guard bytes, which must stay as
// they were.
#include "tests/api/first_header.h"

#include "tests/task/session.h"

enum { COUNT = 3, WIDTH = 40, HEIGHT = 32, GUARD = 0xa5 };

// A struct of the old size with a guard behind it.
#define GUARDED(type, name)                                                                        \
    struct {                                                                                       \
        type it;                                                                                   \
        uint8_t guard[256];                                                                        \
    } name;                                                                                        \
    memset(&name, GUARD, sizeof name);                                                             \
    name.it = (type)                                                                               \
    {                                                                                              \
        .size = sizeof name.it                                                                     \
    }
#define check_guard(name)                                                                          \
    for (size_t guard_ = 0; guard_ < sizeof(name).guard; guard_++)                                 \
    assert_int_equal((name).guard[guard_], GUARD)

SESSION_OF(1, 2)

ZN_TEST(contexts_and_models)
{
    zenith_context *own = NULL;
    zenith_model *opened = NULL;
    GUARDED(zenith_context_params, params);
    GUARDED(zenith_machine_info, machine);
    GUARDED(zenith_model_params, which);
    GUARDED(zenith_model_info, info);
    params.it.threads = 1;
    assert_int_equal(zenith_context_create(&params.it, &own), ZENITH_OK);
    zenith_context_get_machine(own, &machine.it);
    check_guard(machine);
    assert_int_equal(machine.it.threads, 1);
    which.it.name = "taesd";
    which.it.weights = zn_test_path(zn_test_source(), "tests/golden/tiny_diffusers");
    session_ok(own, zenith_model_open(own, &which.it, &opened));
    zenith_model_get_info(opened, &info.it);
    check_guard(info);
    assert_int_equal(info.it.factor, 8);
    zenith_model_free(opened);
    zenith_context_free(own);
}

// Arrays: what follows an element is the next one, not fields that the struct has today.
ZN_TEST(runs)
{
    zenith_image images[COUNT];
    zenith_latent latents[COUNT], once[COUNT];
    GUARDED(zenith_run_facts, facts);
    GUARDED(zenith_run_params, params);
    GUARDED(zenith_estimate_info, estimate);
    params.it.facts = &facts.it;
    for (uint32_t i = 0; i < COUNT; i++) {
        images[i] = session_image(WIDTH + 8 * i, HEIGHT, i);
        latents[i] = session_latent(WIDTH + 8 * i, HEIGHT, 7);
        once[i] = session_latent(WIDTH + 8 * i, HEIGHT, 8);
        session_ok(context, zenith_encode(context, model, &images[i], &once[i], 1, NULL));
    }
    session_ok(context, zenith_encode(context, model, images, latents, COUNT, &params.it));
    for (int i = 0; i < COUNT; i++) {
        assert_memory_equal(latents[i].data, once[i].data, session_latent_bytes(&once[i]));
    }
    session_ok(context, zenith_decode(context, model, latents, images, COUNT, &params.it));
    check_guard(facts);
    assert_true(facts.it.arena_bytes > 0);
    session_ok(context, zenith_estimate(context, model, ZENITH_DECODER, WIDTH, HEIGHT, false,
                                        &params.it, &estimate.it));
    check_guard(estimate);
    assert_true(estimate.it.total_bytes > 0);
    for (int i = 0; i < COUNT; i++) {
        free(images[i].data);
        free(latents[i].data);
        free(once[i].data);
    }
}

ZN_TEST(quality)
{
    zenith_judge *judge = NULL;
    GUARDED(zenith_judge_params, params);
    GUARDED(zenith_quality, found);
    GUARDED(zenith_run_params, how);
    zenith_image original = session_image(WIDTH, HEIGHT, 1),
                 picture = session_image(WIDTH, HEIGHT, 2);
    session_ok(context, zenith_judge_open(context, &params.it, &judge));
    session_ok(context, zenith_compare(context, judge, &original, &original, &found.it));
    check_guard(found);
    assert_true(found.it.ssim > 0.999);
    session_ok(context, zenith_evaluate(context, judge, model, model, &original, &picture, &how.it,
                                        &found.it));
    check_guard(found);
    assert_true(found.it.latent_distance > 0);
    zenith_judge_free(judge);
    free(original.data);
    free(picture.data);
}

// A training run and a pruning whose params are refused for what they say, not for their size.
ZN_TEST(training)
{
    GUARDED(zenith_train_params, train);
    GUARDED(zenith_prune_params, prune);
    GUARDED(zenith_prune_info, info);
    train.it.config = "no-such-config.json";
    assert_int_equal(zenith_train(context, &train.it), ZENITH_NOT_FOUND);
    prune.it.output = "no-such-folder/of/pruned";
    prune.it.channels = 2;
    assert_int_equal(zenith_prune(context, model, &prune.it, &info.it), ZENITH_INVALID_ARGUMENT);
    assert_non_null(strstr(zenith_context_error(context), "share"));
    check_guard(info);
}

static const char *file(const char *name)
{
    static char path[2][1024];
    static int turn;
    char *chosen = path[turn++ % 2];
    snprintf(chosen, sizeof path[0], "%s/first-header-%s", zn_test_build(), name);
    return chosen;
}

ZN_TEST(files)
{
    zenith_target *target = NULL;
    zenith_source *source = NULL;
    GUARDED(zenith_target_params, target_params);
    GUARDED(zenith_source_params, source_params);
    GUARDED(zenith_source_info, info);
    zenith_image image = session_image(WIDTH, HEIGHT, 3);
    const char *path = file("picture.ppm");
    session_ok(context,
               zenith_target_open(context, path, WIDTH, HEIGHT, &target_params.it, &target));
    assert_int_equal(zenith_target_rows(target, 0, HEIGHT, image.data), ZENITH_OK);
    assert_int_equal(zenith_target_finish(target), ZENITH_OK);
    zenith_target_free(target);
    session_ok(context, zenith_source_open(context, path, &source_params.it, &source));
    zenith_source_get_info(source, &info.it);
    check_guard(info);
    assert_int_equal(info.it.width, WIDTH);
    zenith_source_free(source);
    remove(path);
    free(image.data);
}

ZN_TEST(latent_files)
{
    zenith_latent_file *opened = NULL;
    GUARDED(zenith_latent_save_params, params);
    GUARDED(zenith_source_info, source);
    GUARDED(zenith_latent_info, info);
    GUARDED(zenith_latent, streamed);
    zenith_latent latents[2] = {session_latent(WIDTH, HEIGHT, 1), session_latent(WIDTH, HEIGHT, 2)};
    zenith_image image = session_image(WIDTH, HEIGHT, 0), same = session_image(WIDTH, HEIGHT, 9);
    const char *path = file("latents.safetensors");
    params.it.model = "taesd";
    params.it.source = &source.it;
    session_ok(context, zenith_latent_save(context, path, latents, 2, &params.it));
    session_ok(context, zenith_latent_file_open(context, path, &opened));
    zenith_latent_file_get_info(opened, &info.it);
    check_guard(info);
    assert_int_equal(info.it.count, 2);
    assert_int_equal(zenith_latent_file_get(opened, 1, &streamed.it), ZENITH_OK);
    check_guard(streamed);
    session_ok(context, zenith_decode(context, model, &streamed.it, &image, 1, NULL));
    session_ok(context, zenith_decode(context, model, &latents[1], &same, 1, NULL));
    assert_memory_equal(image.data, same.data, session_image_bytes(&same));
    zenith_latent_file_free(opened);
    remove(path);
    free(image.data);
    free(same.data);
    for (int i = 0; i < 2; i++) free(latents[i].data);
}
