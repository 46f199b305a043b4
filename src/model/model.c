// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Opening models: where the files are (locate.c), which variant they hold, whether every parameter
// is there with the right shape. That last check is the network itself, built once for the smallest
// sizes.
#include "src/model/model.h"

#include "src/base/os.h"
#include "src/base/text.h"
#include "src/format/tensor/weight_scale.h"
#include "src/model/locate.h"
#include "src/model/stored_parameter.h"
#include "src/tensor/finite.h"
#include "src/tensor/row_source.h"

#include <string.h>

// --- variants -----------------------------------------------------------------------------------

const zn_variant *zn_variant_at(size_t index)
{
    for (int f = 0; zn_families[f]; f++) {
        size_t count = (size_t)zn_families[f]->variants_count;
        if (index < count) return &zn_families[f]->variants[index];
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
    for (int f = 0; zn_families[f]; f++) {
        const zn_family *family = zn_families[f];
        for (int i = 0; i < family->variants_count; i++)
            if (&family->variants[i] == variant) return family;
    }
    return NULL;
}

const zn_family *zn_model_probe(const zn_weights *weights, unsigned *fits, unsigned *parts)
{
    for (int f = 0; zn_families[f]; f++) {
        *fits = zn_families[f]->probe(weights, parts);
        if (*fits) return zn_families[f];
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
        return zn_fail(
            err, ZENITH_UNSUPPORTED,
            "these weights belong to no model of this version; zenith_inspect lists what "
            "is in them");
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
                   "these weights can be %s, which have the same names and shapes: say which "
                   "(zenith_model_params.name)",
                   names);
}

// --- parameters ---------------------------------------------------------------------------------

static zn_stored_name find_name(const zn_model *model, const char *name)
{
    zn_stored_name stored = {.piece = 0};
    if (!model->family->rename || !model->family->rename(model->weights, name, &stored))
        zn_text_format(stored.name, sizeof stored.name, "%s", name);
    return stored;
}

static zn_node *parameter(void *cookie, zn_graph *graph, const char *name, const zn_shape *shape)
{
    const zn_model *model = cookie;
    const zn_stored_name stored = find_name(model, name);
    return zn_stored_piece(model->weights, &stored, graph, name, shape);
}

static zn_node *part_of_matrix(void *cookie, zn_graph *graph, const char *name,
                               const zn_shape *shape, const zn_cut *cut)
{
    const zn_model *model = cookie;
    const zn_stored_name stored = find_name(model, name);
    return zn_stored_cut(model->weights, &stored, graph, name, shape, cut);
}

bool zn_model_has_int8(const zn_model *model)
{
    return model->calibration || model->variant->int8 == ZN_INT8_DYNAMIC;
}

const zn_part *zn_model_part(const zn_model *model, const char *name)
{
    const zn_part *part = zn_family_part(model->family, name);
    return part && zn_model_has(model, part) ? part : NULL;
}

bool zn_model_has(const zn_model *model, const zn_part *part)
{
    return model->parts >> (part - model->family->parts) & 1;
}

const char *zn_layout_key(const zn_part *part, char dst[ZN_NAME_SIZE])
{
    zn_text_format(dst, ZN_NAME_SIZE, "zenith.%s", part->name);
    return dst;
}

const char *zn_model_layout(const zn_model *model, const zn_part *part)
{
    char key[ZN_NAME_SIZE];
    const char *said = zn_weights_metadata(model->weights, zn_layout_key(part, key));
    const zn_part *stored = zn_family_part(model->family, part->name); // `part` may be `moments`
    const char *found = model->layouts[stored - model->family->parts];
    return said ? said : *found ? found : NULL;
}

static void find_layouts(zn_model *model)
{
    const zn_family *family = model->family;
    for (int i = 0; family->layout && i < family->parts_count; i++) {
        if (zn_model_has(model, &family->parts[i]))
            family->layout(model->weights, &family->parts[i], model->layouts[i]);
    }
}

void zn_model_build(const zn_model *model, const zn_part *part, const zn_sizes *sizes, bool int8,
                    zn_graph *graph, zn_node *const *inputs, zn_node **outputs)
{
    const zn_scope scope = {.graph = graph,
                            .parameter = parameter,
                            .cookie = (void *)(uintptr_t)model,
                            .prefix = "",
                            .int8 = int8 && model->variant->int8 == ZN_INT8_DYNAMIC,
                            .layout = zn_model_layout(model, part),
                            .share = model->share,
                            .part = part_of_matrix};
    zn_part_build(part, &scope, model->variant, sizes, inputs, outputs);
}

zenith_status zn_model_graph(const zn_model *model, const zn_part *part, const zn_sizes *sizes,
                             const zn_desc *pixels, zn_graph *out, zn_error *err)
{
    zn_ports ports = {.inputs_count = 0};
    zn_node *inputs[ZN_MOST_PORTS], *outputs[ZN_MOST_PORTS];
    zn_graph_begin(out, err);
    part->ports(model->variant, zn_model_layout(model, part), sizes, &ports);
    for (int i = 0; i < ports.inputs_count; i++)
        inputs[i] = zn_port_leaf(out, &ports.inputs[i], pixels);
    zn_model_build(model, part, sizes, false, out, inputs, outputs);
    for (int i = 0; i < ports.outputs_count; i++)
        if (outputs[i]) zn_graph_output(out, outputs[i]);
    zenith_status status = zn_graph_finish(out);
    if (status != ZENITH_OK) zn_graph_free(out);
    return status;
}

enum { NO_PART = 0 }; // of a tensor that no parameter begins; else 1 + the first part with one

// Of parameters that share a tensor, the first stands for it. NULL: the parameter is not the first.
static uint8_t *tensor_of(const zn_weights *weights, const zn_node *node, uint8_t *of)
{
    const void *data = node->constant.rows ? node->constant.rows->address : node->constant.data;
    for (size_t i = 0; i < zn_weights_count(weights); i++)
        if ((const void *)zn_weights_get(weights, i)->data == data) return &of[i];
    return NULL;
}

// Notes in `of`, which is per tensor, those of this part; parts that share one count it once.
static void count_parameters(zn_model *model, const zn_graph *graph, int part, uint8_t *of)
{
    for (size_t i = 0; i < graph->count; i++) {
        const zn_node *node = graph->nodes[i];
        size_t n = 0;
        if (node->kind != ZN_NODE_PARAMETER) continue;
        if (zn_graph_find(graph, node->name) != node) continue; // named twice
        uint8_t *tensor = tensor_of(model->weights, node, of);
        if (tensor && *tensor == NO_PART) *tensor = (uint8_t)(part + 1);
        if (tensor && *tensor != part + 1) continue;
        if (zn_shape_elements(&node->desc.shape, &n)) model->parameters += n;
    }
}

zenith_status zn_model_small_graph(const zn_model *model, const zn_part *part, zn_graph *out,
                                   zn_error *err)
{
    const zn_family *family = model->family;
    const zn_sizes sizes = family->sizes ? family->sizes(model->weights) : part->smallest;
    return zn_model_graph(model, part, &sizes, NULL, out, err);
}

static zenith_status check_finite(const zn_tensor *constant, bool *finite, zn_error *err)
{
    const zn_shape *shape = &constant->desc.shape;
    size_t n = 0;
    *finite = true;
    if (!zn_shape_elements(shape, &n) || n == 0) return ZENITH_OK;
    if (constant->rows)
        return zn_row_source_finite(constant->rows, shape->dim[0], n / (size_t)shape->dim[0],
                                    finite, err);
    *finite = zn_all_finite(constant->desc.type, constant->data, n);
    return ZENITH_OK;
}

static bool has_bytes(const zn_graph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        const zn_row_source *rows = graph->nodes[i]->constant.rows;
        if (rows && (rows->read_bytes || rows->fours.read)) return true;
    }
    return false;
}

static zenith_status check_graph_numbers(const zn_graph *graph, zn_error *err)
{
    for (size_t i = 0; i < graph->count; i++) {
        const zn_node *node = graph->nodes[i];
        bool finite = true;
        if (node->kind != ZN_NODE_PARAMETER) continue;
        ZN_TRY(check_finite(&node->constant, &finite, err));
        if (finite) continue;
        return zn_fail(
            err, ZENITH_BAD_FILE,
            "the tensor '%s' has NaN or infinity in it: nothing can be computed with these "
            "weights, which were damaged or stored in too narrow a type",
            node->name);
    }
    return ZENITH_OK;
}

zenith_status zn_model_check_numbers(const zn_model *model, zn_error *err)
{
    for (int i = 0; i < model->family->parts_count; i++) {
        zn_graph graph;
        const zn_part *part = &model->family->parts[i];
        if (!zn_model_has(model, part)) continue;
        ZN_TRY(zn_model_small_graph(model, part, &graph, err));
        zenith_status status = check_graph_numbers(&graph, err);
        zn_graph_free(&graph);
        ZN_TRY(status);
    }
    return ZENITH_OK;
}

// Autoencoders are small: their weights are read when they are opened.
static bool is_small(const zn_model *model)
{
    return model->variant->autoencoder != NULL;
}

// Fails if a parameter is missing or misshapen, or, of a small model, no number.
static zenith_status check_parts_parameters(zn_model *model, uint8_t *of, zn_error *err)
{
    for (int i = 0; i < model->family->parts_count; i++) {
        zn_graph graph;
        const zn_part *part = &model->family->parts[i];
        if (!zn_model_has(model, part)) continue;
        ZN_TRY(zn_model_small_graph(model, part, &graph, err));
        count_parameters(model, &graph, i, of);
        zenith_status status = is_small(model) ? check_graph_numbers(&graph, err) : ZENITH_OK;
        model->bytes = model->bytes || has_bytes(&graph);
        zn_graph_free(&graph);
        ZN_TRY(status);
    }
    return ZENITH_OK;
}

static zenith_status check_parameters(zn_model *model, zn_error *err)
{
    const size_t count = zn_weights_count(model->weights);
    uint8_t *of = zn_alloc_zero(count + 1);
    if (!of) return zn_fail_memory(err, count + 1);
    zenith_status status = check_parts_parameters(model, of, err);
    model->unexpected = count - zn_weight_notes(model->weights);
    for (size_t i = 0; i < count; i++) model->unexpected -= of[i] != NO_PART;
    zn_free(of);
    return status;
}

// --- open ---------------------------------------------------------------------------------------

static zenith_status check_parts(const zn_model *model, const char *const *wanted, zn_error *err)
{
    for (; wanted && *wanted; wanted++) {
        if (zn_model_part(model, *wanted)) continue;
        return zn_fail(err, ZENITH_NOT_FOUND, "the weights of %s have no %s", model->variant->name,
                       *wanted);
    }
    return ZENITH_OK;
}

const char *zn_model_calibration_problem(const zn_model *model)
{
    return model->calibration_problem;
}

// A calibration that does not fit, or is broken, is as good as none; one's own that is broken is
// told.
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
        if (status != ZENITH_OK && i == 0)
            zn_text_format(model->calibration_problem, sizeof model->calibration_problem, "%s",
                           why.text);
        if (status != ZENITH_OK) continue;
        if (strcmp(found->weights, zn_model_sha256(model)) == 0) {
            model->calibration = found;
            return ZENITH_OK;
        }
        zn_calibration_free(found);
    }
    return ZENITH_OK;
}

// Fails where the parts cannot be divided so.
static zenith_status take_share(zn_model *model, const zn_share *share, zn_error *err)
{
    model->share = share;
    for (int i = 0; share && i < model->family->parts_count; i++) {
        zn_graph graph;
        const zn_part *part = &model->family->parts[i];
        if (!zn_model_has(model, part)) continue;
        ZN_TRY(zn_model_small_graph(model, part, &graph, err));
        zn_graph_free(&graph);
    }
    return ZENITH_OK;
}

static void forget_read(void *weights)
{
    zn_weights_forget(weights);
}

// Where the model lies, also where it was found by its name.
static const char *place_of(const zn_model *model, const zn_model_request *request)
{
    if (request->weights || zn_weights_count(model->weights) == 0)
        return request->weights ? request->weights : "";
    return zn_weights_file(model->weights, zn_weights_get(model->weights, 0));
}

static zenith_status open_companion(zn_model *model, const zn_model_request *request, zn_error *err)
{
    zn_companion wanted = {.name = ""};
    zn_error why = {0};
    if (!model->family->companion) return ZENITH_OK;
    ZN_TRY(model->family->companion(model->weights, &wanted, err));
    if (!wanted.name[0]) return ZENITH_OK;
    const zn_model_request its = {.name = wanted.name, .beside = place_of(model, request)};
    zenith_status status = zn_model_open(&its, &model->companion, &why);
    if (status != ZENITH_OK)
        return zn_fail(err, status, "%s, which this %s works with: %s", wanted.name,
                       model->variant->name, why.text);
    if (!wanted.sha256[0] || strcmp(wanted.sha256, zn_model_sha256(model->companion)) == 0)
        return ZENITH_OK;
    return zn_fail(err, ZENITH_BAD_FILE,
                   "this %s was trained with other weights of %s than those that were found: put "
                   "those beside it (SHA-256 %.12s...)",
                   model->variant->name, wanted.name, wanted.sha256);
}

static zenith_status locate(const zn_model_request *request, zn_weights **out, zn_error *err)
{
    if (request->file_count)
        return zn_locate_files(request->name, request->files, request->file_count, out, err);
    return request->beside ? zn_locate_companion(request->name, request->beside, out, err)
                           : zn_locate_weights(request->name, request->weights, out, err);
}

zenith_status zn_model_open(const zn_model_request *request, zn_model **out, zn_error *err)
{
    zn_model *model = zn_alloc_zero(sizeof *model);
    if (!model) return zn_fail_memory(err, sizeof *model);
    zenith_status status = ZENITH_OK;
    atomic_init(&model->references, 1);
    ZN_GO(locate(request, &model->weights, err));
    // A folder of any name, where models are searched for, may have a model of any name.
    const bool told = request->weights || request->file_count;
    const bool named = request->name && (told || zn_variant_find(request->name));
    ZN_GO(choose_variant(model, named ? request->name : NULL, err));
    find_layouts(model);
    ZN_GO(check_parts(model, request->parts, err));
    ZN_GO(open_companion(model, request, err));
    ZN_GO(check_parameters(model, err));
    ZN_GO(zn_packs_create(&model->packs, err));
    zn_packs_watch(model->packs, forget_read, model->weights);
    ZN_GO(zn_mutex_create(&model->hashing, err));
    ZN_GO(take_share(model, request->share, err)); // after the check, which is of the whole
    if (is_small(model))
        zn_weights_forget(model->weights); // most will not be read again but to be packed
    if (is_small(model) && !request->share) ZN_GO(find_calibration(model, request, err));
    if (request->held) {
        model->held = *request->held;
        *request->held = (zn_arena){0};
    }
    *out = model;
    return ZENITH_OK;
fail:
    zn_model_unref(model);
    return status;
}

bool zn_model_hashed(const zn_model *model)
{
    zn_mutex_lock(model->hashing);
    const bool known = model->sha256[0];
    zn_mutex_unlock(model->hashing);
    return known;
}

const char *zn_model_sha256(const zn_model *model)
{
    zn_model *filled = (zn_model *)(uintptr_t)model; // nothing else is ever seen of it
    zn_mutex_lock(model->hashing);
    if (!model->sha256[0]) {
        zn_weights_sha256(model->weights, filled->sha256);
        zn_weights_forget(model->weights);
    }
    zn_mutex_unlock(model->hashing);
    return model->sha256;
}

zenith_status zn_model_again(zn_model *model, zn_model **out, zn_error *err)
{
    zn_model *again = zn_alloc_zero(sizeof *again);
    if (!again) return zn_fail_memory(err, sizeof *again);
    zenith_status status;
    atomic_init(&again->references, 1);
    again->base = zn_model_ref(model);
    again->weights = model->weights;
    again->family = model->family;
    again->variant = model->variant;
    again->share = model->share;
    again->parts = model->parts;
    again->bytes = model->bytes;
    memcpy(again->layouts, model->layouts, sizeof again->layouts);
    again->parameters = model->parameters;
    again->unexpected = model->unexpected;
    again->calibration = model->calibration;
    again->companion = model->companion ? zn_model_ref(model->companion) : NULL;
    ZN_GO(zn_packs_create(&again->packs, err));
    zn_packs_watch(again->packs, forget_read, again->weights);
    ZN_GO(zn_mutex_create(&again->hashing, err));
    *out = again;
    return ZENITH_OK;
fail:
    zn_model_unref(again);
    return status;
}

uint64_t zn_model_least_bytes(const zn_model *model, size_t element)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < zn_weights_count(model->weights); i++) {
        const zn_file_tensor *tensor = zn_weights_get(model->weights, i);
        size_t n = 0;
        if (!zn_shape_elements(&tensor->shape, &n)) continue;
        const uint64_t packed = (uint64_t)n * element;
        sum += packed < tensor->bytes ? packed : tensor->bytes;
    }
    return sum;
}

zn_model *zn_model_ref(zn_model *model)
{
    atomic_fetch_add(&model->references, 1);
    return model;
}

void zn_model_close(zn_model *model)
{
    if (!model) return;
    atomic_store(&model->closed, true);
    if (model->companion) atomic_store(&model->companion->closed, true);
    zn_model_unref(model);
}

void zn_model_unref(zn_model *model)
{
    if (!model || atomic_fetch_sub(&model->references, 1) != 1) return;
    zn_packs_free(model->packs);
    zn_mutex_free(model->hashing);
    zn_model_unref(model->companion);
    if (model->base) {
        zn_model_unref(model->base);
    } else {
        zn_calibration_free(model->calibration);
        zn_weights_free(model->weights);
        zn_arena_free(&model->held);
    }
    zn_free(model);
}
