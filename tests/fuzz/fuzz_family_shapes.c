// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Weights of every family with altered shapes: a tiny valid file is made up for a model that the
// first byte chooses, and the other bytes change sizes, ranks, types, names and layouts. It is
// opened, inspected, compiled and, where that is cheap, run; unaltered, all of that must work.
#include "tests/fuzz/alter.h"
#include "tests/fuzz/made_configs.h"
#include "tests/fuzz/made_model.h"
#include "tests/fuzz/model_use.h"

// Small models are read whole when they are opened; of others no more than what is run.
#define MOST_READ   (UINT64_C(64) << 20)
#define MOST_MAPPED (UINT64_C(1) << 42)
enum { MOST_CHOICES = 64 }; // after so many alterations nothing is left of a network

// How the models of a family, or of one of its variants, are made up.
typedef struct form {
    const char *model;
    unsigned parts;     // a bit each; 0: all
    const char *layout; // what it is built by; NULL: the usual one
    bool says;          // the file's metadata has the layout
    const char *config; // what the file's metadata has of config.json; NULL: nothing
} form;

static const form forms[] = {
    {"zenith", 0, "8x1 8x1 8x1", true, NULL},
    {"zenith", 0, "16x2w8 8x1w16 8x0", true, NULL},
    {"zenith", 0, "8x1", true, NULL},
    {"hierarchical", 0, NULL, false, NULL},
    {"zenith_hierarchical", 0, "f2", true, NULL},
    {"zenith_prune", 0, "f4s50", true, NULL},
    {"kl_vae", 0, "g2l1w4-4-4-4", false, "{\"norm_num_groups\":2}"},
    {"sd-vae", 0, "g2l2qw4-6-4-4", false, "{\"norm_num_groups\":2,\"scaling_factor\":0.18215}"},
    {"wan_vae", 0, "l1", false, NULL},
    {"wan_vae", 2, NULL, false, NULL},
    {"qwen3", 0, NULL, false, MADE_QWEN3},
    {"zimage", 7, NULL, false, "{" MADE_ZIMAGE "}"},
    {"zimage", 15, NULL, false, "{" MADE_ZIMAGE "," MADE_DRAFT "}"},
    {"diffae", 127, NULL, false, "{" MADE_DIFFAE "}"},
    {"diffae", 127, NULL, false, "{" MADE_DIFFAE ",\"patch\":2,\"sparse_encoder\":1}"},
    {"diffae", 127, NULL, false, "{" MADE_DIFFAE ",\"scan_encoder\":1}"},
    {"diffae", 0, NULL, false, "{" MADE_DIFFAE ",\"linear_code\":1,\"recall\":5}"},
};

typedef struct sample {
    const zn_variant *variant;
    const form *form;
} sample;
enum { MOST_SAMPLES = 256 };

static void make(const sample *is, made_model *model)
{
    static const form plain = {.model = ""};
    const form *how = is->form ? is->form : &plain;
    const zn_family *family = zn_family_of(is->variant);
    char layout[ZN_LAYOUT_SIZE] = "";
    zn_error err = {{0}};
    if (how->config) made_layout(is->variant, how->config, layout);
    const unsigned parts = how->parts ? how->parts : (1u << family->parts_count) - 1;
    const char *built = how->layout ? how->layout : *layout ? layout : NULL;
    *model = (made_model){.variant = is->variant};
    if (made_list(model, parts, built, &err) != ZENITH_OK || model->overflowed) {
        fprintf(stderr, "%s '%s': %s\n", is->variant->name, built ? built : "", err.text);
        __builtin_trap();
    }
    if (how->says) snprintf(model->layout, sizeof model->layout, "%s", how->layout);
    if (how->config) snprintf(model->config, sizeof model->config, "%s", how->config);
}

// Every variant of every family, in each of its forms.
static size_t list_samples(sample dst[MOST_SAMPLES])
{
    size_t count = 0;
    const zn_variant *variant;
    for (size_t i = 0; (variant = zn_variant_at(i)); i++) {
        const char *family = zn_family_of(variant)->name;
        const size_t before = count;
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
            const char *model = forms[f].model;
            const bool fits = strcmp(model, family) == 0 || strcmp(model, variant->name) == 0;
            if (fits && count < MOST_SAMPLES) dst[count++] = (sample){variant, &forms[f]};
        }
        if (count == before && count < MOST_SAMPLES) dst[count++] = (sample){variant, NULL};
    }
    return count;
}

// --- alterations --------------------------------------------------------------------------------

static void alter_rank(choices *from, made_tensor *tensor)
{
    const unsigned at = choose(from, (size_t)tensor->rank + 1);
    int64_t *dim = tensor->dim + at;
    const size_t after = (size_t)tensor->rank - at;
    if (choose(from, 2) == 0) {
        if (tensor->rank == MADE_RANK) return;
        memmove(dim + 1, dim, after * sizeof *dim);
        *dim = 1;
        tensor->rank++;
    } else if (after > 0) {
        memmove(dim, dim + 1, (after - 1) * sizeof *dim);
        tensor->rank--;
    }
}

static void transpose(made_tensor *tensor)
{
    for (int i = 0, k = tensor->rank - 1; i < k; i++, k--) {
        const int64_t size = tensor->dim[i];
        tensor->dim[i] = tensor->dim[k];
        tensor->dim[k] = size;
    }
}

static made_tensor *copy_tensor(made_model *model, const made_tensor *tensor)
{
    if (model->count == MADE_TENSORS) return NULL;
    model->tensors[model->count] = *tensor;
    return &model->tensors[model->count++];
}

// The tensor again, under a name with another number in it: one more block.
static void add_block(choices *from, made_model *model, const made_tensor *tensor)
{
    made_tensor *copy = copy_tensor(model, tensor);
    if (copy) alter_number(from, copy->name, sizeof copy->name);
}

// A tensor that says how another is stored.
static void add_beside(choices *from, made_model *model, const made_tensor *tensor)
{
    static const char *const tails[] = {".weight_scale", ".scale_weight", ".input_scale", ".scales",
                                        ".biases",       ".comfy_quant",  ".bias"};
    made_tensor *copy = copy_tensor(model, tensor);
    if (!copy) return;
    char *dot = strrchr(copy->name, '.');
    if (!dot) dot = copy->name + strlen(copy->name);
    snprintf(dot, sizeof copy->name - (size_t)(dot - copy->name), "%s",
             tails[choose(from, sizeof tails / sizeof *tails)]);
    copy->dtype = (int)choose(from, MADE_DTYPES);
    copy->rank = (int)choose(from, 3);
    for (int i = 0; i < copy->rank; i++)
        if (choose(from, 2)) copy->dim[i] = alter_size(from, copy->dim[i]);
}

// The same size everywhere, so that a whole network is wider or narrower; only where a name has a
// part of this one.
static void alter_everywhere(choices *from, made_model *model, const made_tensor *tensor)
{
    char part[MADE_NAME];
    if (tensor->rank == 0) return;
    const int64_t old = tensor->dim[choose(from, (size_t)tensor->rank)];
    const int64_t size = alter_size(from, old);
    snprintf(part, sizeof part, "%s", tensor->name);
    for (unsigned dots = choose(from, 4), i = 0; part[i]; i++)
        if (part[i] == '.' && dots-- == 0) part[i] = 0;
    const bool all = choose(from, 2) == 0;
    for (size_t i = 0; i < model->count; i++) {
        made_tensor *other = &model->tensors[i];
        if (!all && strncmp(other->name, part, strlen(part)) != 0) continue;
        for (int d = 0; d < other->rank; d++)
            if (other->dim[d] == old) other->dim[d] = size;
    }
}

static void alter_tensor(choices *from, made_model *model, unsigned how)
{
    if (model->count == 0) return;
    made_tensor *tensor = &model->tensors[choose(from, model->count)];
    const unsigned d = choose(from, tensor->rank ? (size_t)tensor->rank : 1);
    if (how < 4) tensor->dim[d] = alter_size(from, tensor->dim[d]);
    if (how == 3 && tensor->rank > 1) tensor->dim[(d + 1) % (unsigned)tensor->rank] = 0;
    if (how == 4) alter_rank(from, tensor);
    if (how == 5) transpose(tensor);
    if (how == 6) *tensor = model->tensors[--model->count];
    if (how == 7) (void)copy_tensor(model, tensor);
    if (how == 8) tensor->dtype = (int)choose(from, MADE_DTYPES);
    if (how == 9) add_block(from, model, tensor);
    if (how == 10) add_beside(from, model, tensor);
    if (how == 11) alter_number(from, tensor->name, sizeof tensor->name);
    if (how > 11) alter_everywhere(from, model, tensor);
}

static void alter(choices *from, made_model *model)
{
    const int dtype = (int)choose(from, 3);
    for (size_t i = 0; i < model->count; i++) model->tensors[i].dtype = dtype;
    while (choices_left(from)) {
        const unsigned how = choose(from, 17);
        if (how < 15) alter_tensor(from, model, how);
        if (how == 15) alter_number(from, model->layout, sizeof model->layout);
        if (how == 16) alter_number(from, model->config, sizeof model->config);
    }
}

// --- one file -----------------------------------------------------------------------------------

static bool open_and_use(const made_model *model, const model_use *how)
{
    const char *path = made_scratch("family-shapes");
    zn_model *opened = NULL;
    zn_error err = {{0}};
    const bool small = model->variant->autoencoder != NULL;
    const zn_model_request request = {.name = how->named ? model->variant->name : NULL,
                                      .weights = path};
    if (!made_write(model, path, small ? MOST_READ : MOST_MAPPED)) return false;
    if (how->inspected) use_inspection(path, request.name);
    const zenith_status status = zn_model_open(&request, &opened, &err);
    if (status != ZENITH_OK && (opened || !*err.text)) __builtin_trap();
    const bool used = status == ZENITH_OK && use_model(opened, how);
    zn_model_unref(opened);
    if (!used && status != ZENITH_OK && getenv("FUZZ_SAY")) fprintf(stderr, "%s\n", err.text);
    return used;
}

static sample samples[MOST_SAMPLES];
static size_t count;

// A search begins with the list alone, since it has time for altered files only.
int LLVMFuzzerInitialize(const int *argc, char ***argv);
int LLVMFuzzerInitialize(const int *argc, char ***argv)
{
    (void)argc, (void)argv;
    count = list_samples(samples);
    return 0;
}

// What is not altered must be taken, so that alterations are of valid files.
static void check_samples(void)
{
    static made_model model;
    count = list_samples(samples);
    for (size_t i = 0; i < count; i++) {
        const model_use usual = {true, true, ZENITH_DTYPE_F32, ZENITH_F32, USED_BYTES};
        make(&samples[i], &model);
        if (open_and_use(&model, &usual)) continue;
        fprintf(stderr, "%s, form %zu, is refused\n", samples[i].variant->name, i);
        __builtin_trap();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static made_model model;
    choices from = {.data = data, .size = size < MOST_CHOICES ? size : MOST_CHOICES};
    if (!count) check_samples(); // in a plain build, where nobody calls the other
    make(&samples[choose(&from, count)], &model);
    const unsigned flags = choose(&from, 256);
    alter(&from, &model);
    const zenith_dtype dtypes[] = {ZENITH_DTYPE_F32, ZENITH_DTYPE_BF16,
                                   model.variant->int8 == ZN_INT8_DYNAMIC ? ZENITH_DTYPE_INT8
                                                                          : ZENITH_DTYPE_F32,
                                   ZENITH_DTYPE_F32};
    const model_use how = {.named = !(flags & 1),
                           .inspected = (flags & 0x30) == 0x30,
                           .dtype = dtypes[flags >> 1 & 3],
                           .pixels = flags & 8 ? ZENITH_U8 : ZENITH_F32,
                           .most = flags & 0x40 ? USED_BYTES >> 6 : 0};
    (void)open_and_use(&model, &how);
    return 0;
}
