// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Opening models: where the files are (locate.c), which variant they hold, whether every parameter
// is there with the right shape. That last check is the network itself, built once for a small
// picture.
#include "src/model/model.h"

#include "src/base/os.h"
#include "src/base/text.h"
#include "src/model/locate.h"
#include "src/model/stored_parameter.h"

#include <string.h>

#define ZN_FAMILY(name) extern const zn_family zn_family_##name;
#include "src/model/models.list"
#undef ZN_FAMILY

static const zn_family *const families[] = {
#define ZN_FAMILY(name) &zn_family_##name,
#include "src/model/models.list"
#undef ZN_FAMILY
};
enum { FAMILIES = sizeof families / sizeof families[0] };

// --- variants -----------------------------------------------------------------------------------

const zn_variant *zn_variant_at(size_t index)
{
    for (int f = 0; f < FAMILIES; f++) {
        size_t count = (size_t)families[f]->variants_count;
        if (index < count) return &families[f]->variants[index];
        index -= count;
    }
    return NULL;
}

const zn_variant *zn_variant_find(const char *name)
{
    const zn_variant *variant;
    for (size_t i = 0; (variant = zn_variant_at(i)); i++) {
        if (strcmp(variant->name, name) == 0) return variant;
    }
    return NULL;
}

const zn_family *zn_family_of(const zn_variant *variant)
{
    for (int f = 0; f < FAMILIES; f++) {
        const zn_family *family = families[f];
        for (int i = 0; i < family->variants_count; i++)
            if (&family->variants[i] == variant) return family;
    }
    return NULL;
}

bool zn_model_space(const char *name, float *scale, float *shift)
{
    const zn_variant *variant = zn_variant_find(name);
    if (!variant || !variant->has_raw) return false;
    *scale = variant->scale;
    *shift = variant->shift;
    return true;
}

const zn_family *zn_model_probe(const zn_weights *weights, unsigned *fits, unsigned *parts)
{
    for (int f = 0; f < FAMILIES; f++) {
        *fits = families[f]->probe(weights, parts);
        if (*fits) return families[f];
    }
    return NULL;
}

static void list_names(const zn_family *family, unsigned fits, char *dst, size_t size)
{
    size_t length = 0;
    dst[0] = 0;
    for (int i = 0; i < family->variants_count; i++) {
        if (!(fits >> i & 1)) continue;
        length += zn_text_format(dst + length, size - length, "%s%s", length ? ", " : "",
                                 family->variants[i].name);
    }
}

static zenith_status choose_variant(zn_model *model, const char *name, zn_error *err)
{
    unsigned fits = 0;
    char names[128];
    model->family = zn_model_probe(model->weights, &fits, &model->parts);
    if (!model->family) {
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "these weights belong to no model of this version; `zenith inspect` lists "
                       "what is in them");
    }
    list_names(model->family, fits, names, sizeof names);
    for (int i = 0; i < model->family->variants_count; i++) {
        const zn_variant *variant = &model->family->variants[i];
        bool chosen = name ? strcmp(variant->name, name) == 0 : fits == 1u << i;
        if (chosen && (fits >> i & 1)) model->variant = variant;
    }
    if (model->variant) return ZENITH_OK;
    if (name && !zn_variant_find(name)) {
        return zn_fail(err, ZENITH_NOT_FOUND, "there is no model '%s'; these weights can be %s",
                       name, names);
    }
    if (name) {
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "these weights are not %s's; they can be %s",
                       name, names);
    }
    return zn_fail(err, ZENITH_AMBIGUOUS,
                   "these weights can be %s, which have the same names and shapes: say which with "
                   "the model's name (--model)",
                   names);
}

// --- parameters ---------------------------------------------------------------------------------

static zn_node *parameter(void *cookie, zn_graph *graph, const char *name, const zn_shape *shape)
{
    const zn_model *model = cookie;
    char renamed[ZN_NAME_SIZE];
    bool other = model->family->rename && model->family->rename(model->weights, name, renamed);
    return zn_stored_parameter(model->weights, other ? renamed : name, graph, name, shape);
}

const char *zn_layout_key(unsigned part)
{
    return part == ZN_ENCODER ? "zenith.encoder" : "zenith.decoder";
}

const char *zn_model_layout(const zn_model *model, unsigned part)
{
    return zn_weights_metadata(model->weights, zn_layout_key(part));
}

zn_node *zn_model_build(const zn_model *model, unsigned part, zn_graph *graph, zn_node *x)
{
    const zn_scope scope = {.graph = graph,
                            .parameter = parameter,
                            .cookie = (void *)(uintptr_t)model,
                            .prefix = part == ZN_ENCODER ? "encoder." : "decoder.",
                            .layout = zn_model_layout(model, part)};
    return model->family->build(&scope, model->variant, part, x);
}

static size_t count_parameters(const zn_graph *graph, uint64_t *elements)
{
    size_t tensors = 0;
    for (size_t i = 0; i < graph->count; i++) {
        const zn_node *node = graph->nodes[i];
        size_t n = 0;
        if (node->kind != ZN_NODE_PARAMETER) continue;
        if (zn_graph_find(graph, node->name) != node) continue; // named twice
        if (zn_shape_elements(&node->desc.shape, &n)) *elements += n;
        tensors++;
    }
    return tensors;
}

zenith_status zn_model_small_graph(const zn_model *model, unsigned part, zn_graph *out,
                                   zn_error *err)
{
    const int64_t factor = model->variant->factor, latent = model->variant->latent_channels;
    const int64_t side = model->family->side ? model->family->side(model->weights) : factor;
    zn_graph_begin(out, err);
    zn_shape shape = part == ZN_ENCODER ? ZN_SHAPE(1, side, side, 3)
                                        : ZN_SHAPE(1, side / factor, side / factor, latent);
    zn_node *x = zn_graph_input(out, "input", zn_desc_make(ZN_F32, shape));
    zn_node *y = zn_model_build(model, part, out, x);
    if (y) zn_graph_output(out, y);
    zenith_status status = zn_graph_finish(out);
    if (status != ZENITH_OK) zn_graph_free(out);
    return status;
}

// Fails if a parameter is missing or misshapen.
static zenith_status check_parameters(zn_model *model, zn_error *err)
{
    size_t used = 0;
    for (unsigned part = ZN_ENCODER; part <= ZN_DECODER; part <<= 1) {
        zn_graph graph;
        if (!(model->parts & part)) continue;
        ZN_TRY(zn_model_small_graph(model, part, &graph, err));
        used += count_parameters(&graph, &model->parameters);
        zn_graph_free(&graph);
    }
    model->unexpected = zn_weights_count(model->weights) - used;
    return ZENITH_OK;
}

// --- open ---------------------------------------------------------------------------------------

static zenith_status check_parts(const zn_model *model, unsigned wanted, zn_error *err)
{
    unsigned missing = wanted & ~model->parts;
    if (!missing) return ZENITH_OK;
    return zn_fail(err, ZENITH_NOT_FOUND, "the weights of %s have no %s", model->variant->name,
                   missing & ZN_ENCODER ? "encoder" : "decoder");
}

// A calibration that does not fit, or is broken, is as good as none.
static zenith_status find_calibration(zn_model *model, const zn_model_request *request,
                                      zn_error *err)
{
    char path[ZN_PATH_SIZE];
    for (int i = 0; zn_locate_calibration(model->variant->name, request->weights, i, path); i++) {
        zn_calibration *found = NULL;
        zn_error why = {0};
        if (!zn_path_is_file(path)) continue;
        zenith_status status = zn_calibration_read(path, &found, &why);
        if (status == ZENITH_OUT_OF_MEMORY) return zn_fail(err, status, "%s", why.text);
        if (status != ZENITH_OK) continue;
        if (strcmp(found->weights, model->sha256) == 0) {
            model->calibration = found;
            return ZENITH_OK;
        }
        zn_calibration_free(found);
    }
    return ZENITH_OK;
}

zenith_status zn_model_open(const zn_model_request *request, zn_model **out, zn_error *err)
{
    zn_model *model = zn_alloc_zero(sizeof *model);
    if (!model) return zn_fail_memory(err, sizeof *model);
    zenith_status status = ZENITH_OK;
    atomic_init(&model->references, 1);
    ZN_GO(zn_locate_weights(request->name, request->weights, &model->weights, err));
    ZN_GO(choose_variant(model, request->name, err));
    ZN_GO(check_parts(model, request->parts, err));
    ZN_GO(check_parameters(model, err));
    ZN_GO(zn_packs_create(&model->packs, err));
    zn_weights_sha256(model->weights, model->sha256);
    ZN_GO(find_calibration(model, request, err));
    *out = model;
    return ZENITH_OK;
fail:
    zn_model_unref(model);
    return status;
}

zn_model *zn_model_ref(zn_model *model)
{
    atomic_fetch_add(&model->references, 1);
    return model;
}

void zn_model_unref(zn_model *model)
{
    if (!model || atomic_fetch_sub(&model->references, 1) != 1) return;
    zn_calibration_free(model->calibration);
    zn_packs_free(model->packs);
    zn_weights_free(model->weights);
    zn_free(model);
}
