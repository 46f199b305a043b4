// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Configs with altered numbers: the first byte chooses a model whose sizes come from config.json,
// or a schedule, and the others change numbers of that text. The weights are those that the altered
// config asks for, or those of the unaltered one. Whatever opens is compiled, and tells its facts.
#include "tests/fuzz/alter.h"
#include "tests/fuzz/made_configs.h"
#include "tests/fuzz/made_model.h"
#include "tests/fuzz/model_use.h"

#include "src/diffusion/flow_match.h"
#include "src/format/pipeline/schedule_config.h"
#include "src/model/diffae/recall.h"

#define MOST_MAPPED (UINT64_C(1) << 42)
enum { MOST_CHOICES = 32, MOST_FACTS = 1 << 16 };

typedef struct form {
    const char *variant;
    unsigned parts; // a bit each
    const char *config;
} form;

static const form forms[] = {
    {"qwen3", 1, MADE_QWEN3},
    {"qwen3", 1,
     "{\"vocab_size\":16,\"hidden_size\":8,\"intermediate_size\":12,\"num_hidden_layers\":2,"
     "\"num_attention_heads\":1,\"num_key_value_heads\":1,\"head_dim\":2,"
     "\"rope_parameters\":{\"rope_theta\":10000.5},\"rms_norm_eps\":1e-6}"},
    {"z-image", 7, "{" MADE_ZIMAGE "}"},
    {"z-image", 15,
     "{" MADE_ZIMAGE "," MADE_DRAFT ",\"all_patch_size\":[2],\"rope_theta\":256.0,"
     "\"t_scale\":1000.0,\"norm_eps\":1e-5,\"sample_size\":16}"},
    {"diffae", 127, "{" MADE_DIFFAE "}"},
    {"diffae", 127,
     "{" MADE_DIFFAE ",\"patch\":2,\"sparse_encoder\":1,\"contrast\":1.5,\"clip\":false}"},
    {"diffae", 127,
     "{" MADE_DIFFAE ",\"scan_encoder\":1,\"timesteps\":10,\"betas\":\"linear 1e-4..0.02\"}"},
    {"diffae", 8191,
     "{" MADE_DIFFAE ",\"linear_code\":1,\"recall\":5,\"code_noise\":0.3,\"temperature\":0.3,"
     "\"draft_deviation\":0.7,\"prior_betas\":\"const 0.008\"}"},
    {"sd-vae", 3, "{\"norm_num_groups\":2,\"scaling_factor\":0.18215}"},
    {NULL, 0,
     "{\"_class_name\":\"FlowMatchEulerDiscreteScheduler\",\"num_train_timesteps\":1000,\"shift\":"
     "3,"
     "\"use_dynamic_shifting\":false,\"num_inference_steps\":8,\"guidance_scale\":0}"},
};
enum { FORMS = sizeof forms / sizeof *forms };

// --- what a model tells -------------------------------------------------------------------------

static float *room(int64_t rows, int64_t columns)
{
    if (rows < 0 || columns < 0 || rows > MOST_FACTS || columns > MOST_FACTS) return NULL;
    const size_t count = (size_t)(rows * columns);
    return count > MOST_FACTS * 16 ? NULL : zn_alloc_zero((count + 1) * sizeof(float));
}

static void use_zimage(const zn_model *model)
{
    const zn_zimage_facts facts = zn_zimage_facts_of(model);
    const zn_sizes sizes = {.height = 16, .width = 16, .tokens = zn_zimage_caption_tokens(3)};
    const int64_t tokens = zn_zimage_image_tokens(model, sizes.height, sizes.width) + sizes.tokens;
    if (facts.patch < 1 || facts.head < 2 || facts.modulation < 1 || tokens < sizes.tokens)
        __builtin_trap();
    float *angles = room(tokens, facts.head);
    if (angles) zn_zimage_angles(model, &sizes, angles);
    zn_free(angles);
}

static void use_qwen3(const zn_model *model)
{
    float *angles = room(3, zn_qwen3_head(model));
    if (zn_qwen3_width(model) < 1 || zn_qwen3_vocabulary(model) < 1) __builtin_trap();
    if (angles) zn_qwen3_angles(model, 3, angles);
    zn_free(angles);
}

static void use_diffae(const zn_model *model)
{
    zn_error err = {{0}};
    const zn_diffae_facts facts = zn_diffae_facts_of(model);
    zn_diffae_schedules schedules;
    double offset = 0;
    float *codes = room(4, facts.shape.code);
    float number = 0;
    const zn_json *config = zn_weights_config(model->weights);
    if (facts.multiple < 1 || facts.factor < 1 || facts.modulation < 1) __builtin_trap();
    if (!codes) return;
    (void)!zn_diffae_statistics(model, codes, codes + facts.shape.code, &err);
    (void)!zn_diffae_spread(model, codes, &err);
    for (int i = -1; i < 3; i++) (void)!zn_diffae_direction(model, i, codes, &offset, &err);
    for (size_t i = 0; i < 3; i++) (void)zn_diffae_attribute(model, i);
    (void)!zn_diffae_schedules_read(config, &schedules, &err);
    (void)!zn_diffae_code_noise_read(config, &number, &err);
    (void)!zn_diffae_temperature_read(config, &number, &err);
    zn_free(codes);
    float *norms = zn_diffae_recalls(model) ? room(ZN_DIFFAE_CELLS, facts.shape.recall) : NULL;
    if (norms) (void)!zn_diffae_norms(model, norms, &err);
    zn_free(norms);
}

// --- one config ---------------------------------------------------------------------------------

static bool use_schedule(const char *text)
{
    enum { MOST_STEPS = 1000 };
    static float sigmas[MOST_STEPS + 1];
    zn_schedule_config read = {.shift = 1};
    zn_error err = {{0}};
    if (zn_schedule_config_parse(text, strlen(text), "schedule", &read, &err) != ZENITH_OK) {
        if (!*err.text) __builtin_trap();
        return false;
    }
    const int steps = read.steps ? (int)read.steps : 1;
    if (steps < 1 || steps > MOST_STEPS) __builtin_trap();
    if (zn_flow_sigmas(steps, read.shift, sigmas, &err) != ZENITH_OK) return false;
    for (int i = 0; i < steps; i++)
        if (!(sigmas[i] > sigmas[i + 1] || sigmas[i] == sigmas[i + 1]) || !(sigmas[i] <= 1))
            __builtin_trap();
    return true;
}

static bool open_and_use(const made_model *model, const model_use *how)
{
    const char *path = made_scratch("config-numbers");
    const char *family = zn_family_of(model->variant)->name;
    zn_model *opened = NULL;
    zn_error err = {{0}};
    const zn_model_request request = {.name = model->variant->name, .weights = path};
    if (!made_write(model, path, MOST_MAPPED)) return false;
    const zenith_status status = zn_model_open(&request, &opened, &err);
    if (status != ZENITH_OK) {
        if (opened || !*err.text) __builtin_trap();
        if (getenv("FUZZ_SAY")) fprintf(stderr, "%s\n", err.text);
        return false;
    }
    if (strcmp(family, "zimage") == 0) use_zimage(opened);
    if (strcmp(family, "qwen3") == 0) use_qwen3(opened);
    if (strcmp(family, "diffae") == 0) use_diffae(opened);
    const bool used = use_model(opened, how);
    zn_model_unref(opened);
    return used;
}

// weighed: the config that the weights are of.
static bool use_config(const form *is, const char *config, const char *weighed,
                       const model_use *how)
{
    static made_model model;
    char layout[ZN_LAYOUT_SIZE];
    zn_error err = {{0}};
    if (!is->variant) return use_schedule(config);
    model = (made_model){.variant = zn_variant_find(is->variant)};
    if (!model.variant) __builtin_trap();
    made_layout(model.variant, weighed, layout);
    const bool vae = model.variant->autoencoder != NULL;
    // What is refused leaves the tensors before it, which are a file all the same.
    (void)!made_list(&model, is->parts, vae ? "g2l1qw4-4-4-4" : *layout ? layout : NULL, &err);
    snprintf(model.config, sizeof model.config, "%s", config);
    return open_and_use(&model, how);
}

// What is not altered must be taken.
static void check_forms(void)
{
    const model_use usual = {true, false, ZENITH_DTYPE_F32, ZENITH_F32, USED_BYTES};
    for (size_t i = 0; i < FORMS; i++) {
        if (use_config(&forms[i], forms[i].config, forms[i].config, &usual)) continue;
        fprintf(stderr, "the config %s is refused\n", forms[i].config);
        __builtin_trap();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool checked;
    char config[4096];
    choices from = {.data = data, .size = size < MOST_CHOICES ? size : MOST_CHOICES};
    const form *is = &forms[choose(&from, FORMS)];
    const unsigned flags = choose(&from, 256);
    if (!checked) check_forms();
    checked = true;
    snprintf(config, sizeof config, "%s", is->config);
    while (choices_left(&from)) alter_number(&from, config, sizeof config);
    const model_use how = {.named = true,
                           .dtype = flags & 2 ? ZENITH_DTYPE_BF16 : ZENITH_DTYPE_F32,
                           .pixels = ZENITH_F32,
                           .most = flags & 4 ? USED_BYTES >> 6 : 0};
    (void)use_config(is, config, flags & 1 ? is->config : config, &how);
    return 0;
}
