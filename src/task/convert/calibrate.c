// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Calibration, for the encoder and then the decoder:
//   1. The pictures run in f32; an observer notes the largest magnitude of every value, and whether
//      any was negative. The results are kept as the reference.
//   2. Every convolution in 8 bits: if the error against the reference is inside the target, done.
//   3. Else residual streams are stored in the default floating type, and in 8 bits only where they
//      are multiplied: rounded, every sum would round them again. If that is inside the target,
//      done.
//   4. Else each convolution alone in 8 bits, to see what error each adds; then, the most error for
//      the least work first, they go back to the default floating type until the rest are inside
//      the target. So what stays in 8 bits is most of the work.
// The error is the relative L2 distance for latents, and the root mean square for pictures.
#include "src/task/convert/calibrate.h"

#include "src/base/os.h"
#include "src/base/text.h"
#include "src/model/autoencoder.h"
#include "src/task/autoencode/autoencode.h"
#include "src/task/autoencode/pixels.h"

#include <math.h>
#include <string.h>

// Stricter than the published bounds (3 % for latents, 44 dB for pictures): other pictures vary.
static const double encoder_target = 0.022; // relative L2
static const double decoder_target = 0.005; // rms of pixels in 0 .. 1: 46 dB

enum { FEWEST = 8, MOST_LAYERS = 256 };

typedef struct layer {
    const char *name;
    double flops;
    double price; // error energy that 8 bits add, per unit of work
    bool stream;  // a later layer adds its result
} layer;

typedef struct calibrating {
    zn_engine *engine;
    zn_model *model;
    zenith_image *images; // the caller's, in our own form
    size_t count;
    const zenith_run_params *params;
    zn_machine machine;
    zn_team *team;
    int stream;
    zn_calibration *calibration;
    float **latents, **pictures; // f32 results of each picture: the reference
    unsigned part;
    size_t steps, steps_done; // for progress
    zn_error *err;
} calibrating;

// --- runs ---------------------------------------------------------------------------------------

typedef struct one_run {
    const calibrating *c;
    size_t index;
    float *out;                // written here, if not NULL
    double difference, energy; // else compared with the reference
} one_run;

static size_t latent_elements(const calibrating *c, size_t index)
{
    const size_t factor = (size_t)c->model->variant->autoencoder->factor;
    const zenith_image *image = &c->images[index];
    return image->width / factor * (image->height / factor) *
           (size_t)c->model->variant->autoencoder->latent_channels;
}

static size_t picture_elements(const calibrating *c, size_t index)
{
    return (size_t)c->images[index].width * c->images[index].height * 3;
}

static size_t row_elements(const calibrating *c, size_t index, bool latent)
{
    const zenith_image *image = &c->images[index];
    if (!latent) return (size_t)image->width * 3;
    return latent_elements(c, index) /
           (image->height / (size_t)c->model->variant->autoencoder->factor);
}

static zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count, void *dst,
                               zn_error *err)
{
    const one_run *r = cookie;
    (void)input;
    if (r->c->part == ZENITH_ENCODER)
        return zn_image_read_rows(&r->c->images[r->index], row, count, dst, err);
    size_t width = row_elements(r->c, r->index, true);
    memcpy(dst, r->c->latents[r->index] + (size_t)row * width,
           (size_t)count * width * sizeof(float));
    return ZENITH_OK;
}

static zenith_status write_rows(void *cookie, int output, int64_t row, int64_t count,
                                const void *src, zn_error *err)
{
    one_run *r = cookie;
    (void)output;
    (void)err;
    bool latent = r->c->part == ZENITH_ENCODER;
    size_t width = row_elements(r->c, r->index, latent);
    size_t begin = (size_t)row * width, n = (size_t)count * width;
    const float *rows = src;
    if (r->out) {
        memcpy(r->out + begin, rows, n * sizeof *rows);
        return ZENITH_OK;
    }
    const float *expected = (latent ? r->c->latents : r->c->pictures)[r->index] + begin;
    for (size_t i = 0; i < n; i++) {
        double difference = (double)rows[i] - (double)expected[i];
        r->difference += difference * difference;
        r->energy += latent ? (double)expected[i] * (double)expected[i] : 1;
    }
    return ZENITH_OK;
}

// Notes the range of a value. In f32 plans every value is f32; conversions are no values of the
// model.
static void observe(void *cookie, const zn_node *node, int64_t row, int64_t count, const void *data)
{
    const one_run *r = cookie;
    (void)row;
    if (node->desc.type != ZN_F32 || (node->op->traits & ZN_OP_CONVERTS)) return;
    zn_calibrated *entry = zn_calibration_find(r->c->calibration, node->name, false);
    if (!entry) return;
    const int64_t *dim = node->desc.shape.dim;
    const float *values = data;
    for (size_t i = 0; i < (size_t)(count * dim[2] * dim[3]); i++) {
        float magnitude = fabsf(values[i]);
        if (magnitude > entry->largest) entry->largest = magnitude;
        if (values[i] < 0) entry->positive = false;
    }
}

static zn_compile_key key_for(const calibrating *c, size_t index, zenith_dtype dtype)
{
    const zenith_image *image = &c->images[index];
    const int64_t factor = c->model->variant->autoencoder->factor;
    bool encoder = c->part == ZENITH_ENCODER;
    return (zn_compile_key){
        .model = c->model,
        .every_value = true,
        .part = zn_autoencoder_part(c->model->family, c->part),
        .sizes = {.height = image->height / factor, .width = image->width / factor},
        .dtype = dtype,
        .pixels = encoder ? zn_image_plan_number(image) : ZENITH_F32,
        .calibration = dtype == ZENITH_DTYPE_INT8 ? c->calibration : NULL};
}

static zenith_status stopped(calibrating *c, size_t steps)
{
    const zenith_run_params *params = c->params;
    if (params->cancel && atomic_load(&params->cancel->requested)) {
        return zn_fail(c->err, ZENITH_CANCELLED, "cancelled");
    }
    c->steps_done += steps;
    double fraction = (double)c->steps_done / (double)c->steps;
    if (!params->progress) return ZENITH_OK;
    if (params->progress(params->progress_cookie, fraction < 1 ? fraction : 1) == 0)
        return ZENITH_OK;
    return zn_fail(c->err, ZENITH_CANCELLED, "stopped by the progress callback");
}

static bool same_size(const calibrating *c, size_t one, size_t other)
{
    const zenith_image *a = &c->images[one], *b = &c->images[other];
    return a->width == b->width && a->height == b->height;
}

// Runs pictures through plans of one type; consecutive ones of one size share a plan.
static zenith_status
run_all(calibrating *c, zenith_dtype dtype, size_t count,
        zenith_status (*each)(calibrating *c, size_t index, one_run *run),
        void (*observer)(void *, const zn_node *, int64_t, int64_t, const void *), double *error)
{
    zn_compiled *compiled = NULL;
    double difference = 0, energy = 0;
    zenith_status status = ZENITH_OK;
    for (size_t i = 0; i < count; i++) {
        one_run one = {.c = c, .index = i};
        if (each) ZN_GO(each(c, i, &one));
        if (!compiled || !same_size(c, i, i - 1)) {
            zn_compiled_free(compiled);
            compiled = NULL;
            const zn_compile_key key = key_for(c, i, dtype);
            ZN_GO(zn_compile(&key, NULL, &c->machine, &compiled, c->err));
        }
        const zn_run run = {
            .read = read_rows, .write = write_rows, .cookie = &one, .observe = observer};
        ZN_GO(zn_engine_run(c->engine, c->stream, c->team, compiled, &run, c->err));
        ZN_GO(stopped(c, 1));
        difference += one.difference;
        energy += one.energy;
    }
    if (error) *error = energy > 0 ? sqrt(difference / energy) : 0;
fail:
    zn_compiled_free(compiled);
    return status;
}

// --- the three steps ----------------------------------------------------------------------------

static zenith_status keep_result(calibrating *c, size_t index, one_run *run)
{
    bool latent = c->part == ZENITH_ENCODER;
    size_t elements = latent ? latent_elements(c, index) : picture_elements(c, index);
    float **kept = latent ? &c->latents[index] : &c->pictures[index];
    *kept = zn_alloc(elements * sizeof **kept);
    if (!*kept) return zn_fail_memory(c->err, elements * sizeof **kept);
    run->out = *kept;
    return ZENITH_OK;
}

// Entries for every value of the part's graph, and the names of its convolutions.
// A value that is calibrated; those of matrix products are also layers, which can be in 8 bits.
static zenith_status list_value(calibrating *c, const zn_node *node, layer *layers, size_t *count)
{
    zn_calibrated *entry = zn_calibration_find(c->calibration, node->name, true);
    if (!entry) return zn_fail_memory(c->err, sizeof *entry);
    entry->positive = true;
    if (!(node->op->traits & ZN_OP_MATMUL)) return ZENITH_OK;
    if (*count == MOST_LAYERS)
        return zn_fail(c->err, ZENITH_UNSUPPORTED,
                       "a network of more than %d layers cannot be calibrated", MOST_LAYERS);
    layers[(*count)++] = (layer){entry->name, zn_node_flops(node), 0, false};
    return ZENITH_OK;
}

// Of the layers: the one whose result is a residual of `node`. Maps behind the first input are
// those.
static void note_streams(const zn_node *node, layer *layers, size_t count)
{
    for (int i = 1; (node->op->traits & ZN_OP_MATMUL) && i < node->inputs_count; i++) {
        for (size_t k = 0; zn_node_is_map(node->inputs[i]) && k < count; k++)
            layers[k].stream |= strcmp(layers[k].name, node->inputs[i]->name) == 0;
    }
}

static zenith_status list_values(calibrating *c, layer *layers, size_t *layers_count)
{
    const zn_compile_key key = key_for(c, 0, ZENITH_DTYPE_F32);
    zn_compiled *compiled = NULL;
    ZN_TRY(zn_compile(&key, NULL, &c->machine, &compiled, c->err));
    zenith_status status = ZENITH_OK;
    for (size_t i = 0; i < compiled->graph.count && status == ZENITH_OK; i++) {
        const zn_node *node = compiled->graph.nodes[i];
        if (node->kind != ZN_NODE_OP || !zn_node_is_map(node)) continue;
        if (node->desc.type != ZN_F32 || (node->op->traits & ZN_OP_CONVERTS)) continue;
        status = list_value(c, node, layers, layers_count);
        if (status == ZENITH_OK) note_streams(node, layers, *layers_count);
    }
    zn_compiled_free(compiled);
    return status;
}

static void set_layers(calibrating *c, const layer *layers, size_t count, bool int8)
{
    for (size_t i = 0; i < count; i++) {
        zn_calibration_find(c->calibration, layers[i].name, false)->int8 = int8;
    }
}

static size_t trial_pictures(const calibrating *c)
{
    return c->count < FEWEST ? c->count : FEWEST;
}

// Sorts the layers by price, the dearest first.
static void sort_layers(layer *layers, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        layer moving = layers[i];
        size_t at = i;
        for (; at > 0 && layers[at - 1].price < moving.price; at--) layers[at] = layers[at - 1];
        layers[at] = moving;
    }
}

static zenith_status price_layers(calibrating *c, layer *layers, size_t count)
{
    const size_t pictures = trial_pictures(c) / 2;
    double base = 0, error = 0;
    set_layers(c, layers, count, false);
    ZN_TRY(run_all(c, ZENITH_DTYPE_INT8, pictures, NULL, NULL, &base));
    for (size_t i = 0; i < count; i++) {
        set_layers(c, &layers[i], 1, true);
        ZN_TRY(run_all(c, ZENITH_DTYPE_INT8, pictures, NULL, NULL, &error));
        set_layers(c, &layers[i], 1, false);
        layers[i].price = (error * error - base * base) / layers[i].flops;
    }
    sort_layers(layers, count);
    return ZENITH_OK;
}

static zenith_status choose_layers(calibrating *c, layer *layers, size_t count)
{
    double target = c->part == ZENITH_ENCODER ? encoder_target : decoder_target, error = 0;
    set_layers(c, layers, count, true);
    ZN_TRY(run_all(c, ZENITH_DTYPE_INT8, trial_pictures(c), NULL, NULL, &error));
    if (error <= target) return ZENITH_OK;
    for (size_t i = 0; i < count; i++)
        zn_calibration_find(c->calibration, layers[i].name, false)->floating = layers[i].stream;
    ZN_TRY(run_all(c, ZENITH_DTYPE_INT8, trial_pictures(c), NULL, NULL, &error));
    if (error <= target) return ZENITH_OK;
    ZN_TRY(price_layers(c, layers, count));
    // The fewest layers to take back, found by halving: the error falls as more go back.
    size_t low = 1, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        set_layers(c, layers, middle, false);
        set_layers(c, layers + middle, count - middle, true);
        ZN_TRY(run_all(c, ZENITH_DTYPE_INT8, trial_pictures(c), NULL, NULL, &error));
        if (error <= target) high = middle;
        if (error > target) low = middle + 1;
    }
    set_layers(c, layers, low, false);
    set_layers(c, layers + low, count - low, true);
    return ZENITH_OK;
}

static zenith_status calibrate_part(calibrating *c, unsigned part)
{
    layer layers[MOST_LAYERS];
    size_t count = 0;
    c->part = part;
    ZN_TRY(list_values(c, layers, &count));
    // Entries are kept in order of names, so their names do not move while more are added.
    ZN_TRY(run_all(c, ZENITH_DTYPE_F32, c->count, keep_result, observe, NULL));
    return choose_layers(c, layers, count);
}

static zenith_status calibrate_job(void *arg, zn_team *team, int stream)
{
    calibrating *c = arg;
    c->team = team;
    c->stream = stream;
    ZN_TRY(zn_engine_machine(c->engine, stream, &c->machine, c->err));
    ZN_TRY(calibrate_part(c, ZENITH_ENCODER));
    return calibrate_part(c, ZENITH_DECODER);
}

// --- all of it ----------------------------------------------------------------------------------

static zenith_status take_pictures(const calibrating *c, const zenith_image *theirs)
{
    const uint32_t factor = (uint32_t)c->model->variant->autoencoder->factor;
    for (size_t i = 0; i < c->count; i++) {
        zenith_image *image = &c->images[i];
        ZN_TRY(zn_image_take(theirs, i, image, c->err));
        ZN_TRY(zn_image_check(image, c->err));
        if (image->data && image->width && image->height && image->width % factor == 0 &&
            image->height % factor == 0)
            continue;
        return zn_fail(c->err, ZENITH_INVALID_ARGUMENT,
                       "picture %zu is not in memory, or its size is no multiple of %u", i, factor);
    }
    return ZENITH_OK;
}

static zenith_status check(const calibrating *c)
{
    const zn_variant *variant = c->model->variant;
    ZN_TRY(zn_autoencoder_check(variant, c->err));
    if (variant->int8 != ZN_INT8_CALIBRATED) {
        return zn_fail(c->err, ZENITH_UNSUPPORTED, "%s has no int8", variant->name);
    }
    if (zn_autoencoder_flags(c->model) != (ZENITH_ENCODER | ZENITH_DECODER)) {
        return zn_fail(c->err, ZENITH_NOT_FOUND, "calibration needs the encoder and the decoder");
    }
    if (c->count < FEWEST) {
        return zn_fail(c->err, ZENITH_INVALID_ARGUMENT, "calibration needs at least %d pictures",
                       FEWEST);
    }
    return ZENITH_OK;
}

zenith_status zn_calibrate(zn_engine *engine, zn_model *model, const zenith_image *images,
                           size_t count, const char *path, const zenith_run_params *params,
                           zn_error *err)
{
    calibrating c = {
        .engine = engine, .model = model, .count = count, .params = params, .err = err};
    ZN_TRY(check(&c));
    zenith_status status;
    c.steps = 2 * (count + FEWEST * 2 + FEWEST / 2 * 36 + FEWEST * 5);
    c.images = zn_alloc_zero(count * sizeof *c.images);
    c.latents = zn_alloc_zero(count * sizeof *c.latents);
    c.pictures = zn_alloc_zero(count * sizeof *c.pictures);
    if (!c.images || !c.latents || !c.pictures)
        ZN_GO(zn_fail_memory(err, count * sizeof *c.images));
    ZN_GO(take_pictures(&c, images));
    ZN_GO(zn_calibration_create(&c.calibration, err));
    c.calibration->pictures = (int)count;
    zn_text_format(c.calibration->model, sizeof c.calibration->model, "%s", model->variant->name);
    zn_text_format(c.calibration->weights, sizeof c.calibration->weights, "%s",
                   zn_model_sha256(model));
    ZN_GO(zn_executor_run(zn_engine_executor(engine), calibrate_job, &c, 1, err));
    ZN_GO(zn_calibration_write(c.calibration, path, err));
fail:
    for (size_t i = 0; c.latents && c.pictures && i < count; i++) {
        zn_free(c.latents[i]);
        zn_free(c.pictures[i]);
    }
    zn_free(c.images);
    zn_free(c.latents);
    zn_free(c.pictures);
    zn_calibration_free(c.calibration);
    return status;
}
