// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Where weights may lie: parts as files, shards and folders, and folders of several models.
#include "tests/model/weight_files.h"

#include "src/base/os.h"
#include "src/model/autoencoder.h"
#include "src/model/pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *folder(const char *name)
{
    const char *path = zn_test_path(zn_test_build(), name);
    mkdir(path, 0755);
    return path;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
}

static void link_to(const char *from, const char *to)
{
    unlink(to);
    assert_int_equal(symlink(from, to), 0);
}

// --- parts --------------------------------------------------------------------------------------

static const char tiny[] = "tests/golden/tiny_diffusers";

static void refuse(const char *name, const char *weights, zenith_status expected, const char *text)
{
    zn_error err = {0};
    zn_model *model = NULL;
    const zn_model_request request = {.name = name, .weights = weights};
    const zenith_status status = zn_model_open(&request, &model, &err);
    if (status != expected || !strstr(err.text, text))
        fail_msg("%s: status %d, '%s'; expected %d, '%s'", weights, (int)status, err.text,
                 (int)expected, text);
}

// An index of all tensors of the decoder of `from`, in the one shard of that name.
static void write_index(const zn_model *model, const char *path, const char *shard)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fprintf(file, "{\"weight_map\":{");
    bool first = true;
    for (size_t i = 0; i < zn_weights_count(model->weights); i++) {
        const char *name = zn_weights_get(model->weights, i)->name;
        if (strncmp(name, "decoder.", 8) != 0) continue;
        fprintf(file, "%s\"%s\":\"%s\"", first ? "" : ",", name + 8, shard);
        first = false;
    }
    fprintf(file, "}}");
    fclose(file);
}

// The same model with its parts as files, one of them as shards, and one of them as a folder.
ZN_TEST(parts_lie_anywhere)
{
    zn_error err = {0};
    char files[1024], shards[1024], own[1024], encoder[1024], decoder[1024];
    zn_model *tiny_model = model_at(zn_test_path(zn_test_source(), tiny), "taesd");
    snprintf(files, sizeof files, "%s", folder("parts-files"));
    snprintf(shards, sizeof shards, "%s", folder("parts-shards"));
    snprintf(own, sizeof own, "%s", folder("parts-own"));
    zn_test_ok(zn_model_write(tiny_model, files, ZN_F32, &err), &err);
    zn_model *whole = model_at(files, "taesd");
    snprintf(encoder, sizeof encoder, "%s", zn_test_path(files, "taesd_encoder.safetensors"));
    snprintf(decoder, sizeof decoder, "%s", zn_test_path(files, "taesd_decoder.safetensors"));

    link_to(encoder, zn_test_path(shards, "taesd_encoder.safetensors"));
    link_to(decoder, zn_test_path(shards, "d-1.safetensors"));
    write_index(whole, zn_test_path(shards, "taesd_decoder.safetensors.index.json"),
                "d-1.safetensors");
    zn_model *sharded = model_at(shards, "taesd");
    assert_string_equal(zn_model_sha256(sharded), zn_model_sha256(whole));
    assert_int_equal(zn_autoencoder_flags(sharded), ZENITH_ENCODER | ZENITH_DECODER);
    unlink(zn_test_path(shards, "d-1.safetensors"));
    refuse("taesd", shards, ZENITH_BAD_FILE, "d-1.safetensors");

    mkdir(zn_test_path(own, "decoder"), 0755);
    link_to(encoder, zn_test_path(own, "encoder.safetensors"));
    link_to(decoder, zn_test_path(own, "decoder/model.safetensors"));
    zn_model *apart = model_at(own, "taesd");
    assert_string_equal(zn_model_sha256(apart), zn_model_sha256(whole));
    refuse(NULL, own, ZENITH_AMBIGUOUS, "taesd, taesdxl");
    zn_model_unref(apart);
    zn_model_unref(sharded);
    zn_model_unref(whole);
    zn_model_unref(tiny_model);
}

// --- pipelines ----------------------------------------------------------------------------------

static const char one[] =
    "{\"_class_name\": \"Toy\", \"vae\": [\"diffusers\", \"AutoencoderTiny\"], "
    "\"tokenizer\": [\"transformers\", \"T\"], \"safety\": [null, null], "
    "\"flag\": true, \"gone\": [\"diffusers\", \"G\"]}";

static const char *make_pipeline(const char *name, const char *index, bool second)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s", folder(name));
    write_text(zn_test_path(path, "model_index.json"), index);
    mkdir(zn_test_path(path, "tokenizer"), 0755);
    link_to(zn_test_path(zn_test_source(), tiny), zn_test_path(path, "vae"));
    if (second) link_to(zn_test_path(zn_test_source(), tiny), zn_test_path(path, "vae2"));
    return path;
}

ZN_TEST(a_pipeline_names_its_models)
{
    zn_error err = {0};
    zn_pipeline pipeline;
    zn_weights *weights = NULL;
    const char *path = make_pipeline("pipeline-one", one, false);
    assert_true(zn_pipeline_is(path));
    assert_false(zn_pipeline_is(zn_test_source()));
    zn_test_ok(zn_pipeline_open(path, &pipeline, &err), &err);
    assert_string_equal(pipeline.index.kind, "Toy");
    assert_int_equal(pipeline.index.count, 3);
    assert_string_equal(zn_pipeline_find(&pipeline, "vae")->kind, "AutoencoderTiny");
    assert_string_equal(zn_pipeline_find(&pipeline, "vae")->library, "diffusers");
    assert_null(zn_pipeline_find(&pipeline, "safety"));
    zn_test_ok(zn_pipeline_weights(&pipeline, "vae", &weights, &err), &err);
    zn_weights_free(weights);
    assert_int_equal(zn_pipeline_weights(&pipeline, "tokenizer", &weights, &err), ZENITH_NOT_FOUND);
    assert_int_equal(zn_pipeline_weights(&pipeline, "gone", &weights, &err), ZENITH_NOT_FOUND);
    assert_int_equal(zn_pipeline_weights(&pipeline, "safety", &weights, &err), ZENITH_NOT_FOUND);
    zn_pipeline_free(&pipeline);
}

ZN_TEST(the_known_model_of_a_pipeline)
{
    zn_model *model = model_at(make_pipeline("pipeline-one", one, false), "taesd");
    assert_string_equal(model->family->name, "taesd");
    zn_model_unref(model);
    refuse("taef1", make_pipeline("pipeline-one", one, false), ZENITH_NOT_FOUND,
           "vae (AutoencoderTiny)");
    refuse(
        "taesd",
        make_pipeline("pipeline-two", "{\"vae\": [\"a\", \"A\"], \"vae2\": [\"b\", \"B\"]}", true),
        ZENITH_AMBIGUOUS, "vae2 (B)");
    refuse("taesd", make_pipeline("pipeline-none", "{\"tokenizer\": [\"t\", \"T\"]}", false),
           ZENITH_NOT_FOUND, "tokenizer (T)");
    static const char *const bad[] = {
        "{\"../vae\": [\"a\", \"A\"]}", "{}", "[]", "{\"vae\"", "{\"/\": [\"a\", \"A\"]}",
        "{\"_class_name\": 1}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuse("taesd", make_pipeline("pipeline-bad", bad[i], false), ZENITH_BAD_FILE,
               "model_index.json");
}

// diffusers' own folder, with three shards.
ZN_TEST(a_published_pipeline)
{
    zn_error err = {0};
    zn_pipeline pipeline;
    static const struct {
        const char *name;
        const char *tensor;
    } models[] = {{"transformer", "layers.0.attention.to_q.weight"},
                  {"text_encoder", "embed_tokens.weight"},
                  {"vae", "decoder.conv_in.weight"}};
    zn_test_need(zn_test_path(zn_test_golden(), "pipeline/model_index.json"));
    zn_test_ok(zn_pipeline_open(zn_test_path(zn_test_golden(), "pipeline"), &pipeline, &err), &err);
    assert_int_equal(pipeline.index.count, 5);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        zn_weights *weights = NULL;
        zn_test_ok(zn_pipeline_weights(&pipeline, models[i].name, &weights, &err), &err);
        if (!zn_weights_find(weights, models[i].tensor))
            fail_msg("%s has no %s", models[i].name, models[i].tensor);
        assert_non_null(zn_weights_config(weights));
        zn_weights_free(weights);
    }
    zn_pipeline_free(&pipeline);
    // Three models, by name; without one the autoencoder is meant.
    static const char *const names[] = {NULL, "flux-vae", "qwen3", "z-image"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        zn_model *model = model_at(zn_test_path(zn_test_golden(), "pipeline"), names[i]);
        assert_string_equal(model->variant->name, names[i] ? names[i] : "flux-vae");
        zn_model_unref(model);
    }
}
