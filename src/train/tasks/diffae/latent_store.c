// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/train/tasks/diffae/latent_store.h"

#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/sha256.h"
#include "src/base/text.h"
#include "src/format/tensor/safetensors.h"
#include "src/model/autoencoder.h"
#include "src/model/locate.h"
#include "src/train/data/permutation.h"

#include <math.h>
#include <string.h>

enum { ENCODER, DECODER, PARTS };
enum { CHUNK = 32, TOLD_EVERY = 32 * CHUNK, STATISTICS_OF = 512, COLOURS = 3 };
static const uint64_t most_bytes = (uint64_t)64 << 30; // of the file

struct zn_latents {
    zn_trainer *trainer;
    const zn_network *networks[PARTS];
    zn_train_graph graphs[PARTS];
    zn_batch_runner *runners[PARTS];
    int64_t side, channels;
    size_t values, pixels; // of a latent, of a picture
    uint64_t count;        // of stored ones
    zn_safetensors *file;
    const uint8_t *stored; // in it
    uint16_t *held;
};

// --- networks -----------------------------------------------------------------------------------

typedef struct frozen {
    const zn_network *network;
    zn_shape input;
} frozen;

static void build(zn_train_building *b)
{
    const frozen *f = b->networks;
    zn_node *x = zn_graph_input(b->graph, "input", zn_desc_make(ZN_F32, f->input));
    b->result = zn_network_apply(f->network, b->graph, "", x, NULL);
    if (b->result) zn_train_keep(b, b->result);
}

static zn_precision precision(const zn_train_building *b, const zn_node *node)
{
    const zn_network *network = ((const frozen *)b->networks)->network;
    return network->family->precision ? network->family->precision(network->variant, node->name)
                                      : ZN_PRECISION_PLAIN;
}

zenith_status zn_frozen_open(const zn_trainer *t, const zn_network *network, zn_shape input,
                             size_t sample_bytes, size_t most, zn_train_graph *graph,
                             zn_batch_runner **runner, zn_error *err)
{
    const frozen f = {.network = network, .input = input};
    const zn_train_builder builder = {build, precision, &f, 1};
    const zn_cpu *cpu = &t->options->cpu;
    ZN_TRY(zn_train_graph_create(&t->config, &builder, false, cpu, graph, err));
    const zn_train_graph *graphs[2] = {graph, graph};
    return zn_batch_runner_create(t->executor, cpu, graphs, sample_bytes, most, runner, err);
}

static zenith_status open_network(zn_latents *l, int which, size_t sample_bytes, size_t most,
                                  zn_error *err)
{
    const int64_t crop = l->trainer->config.data.crop;
    const zn_shape input = which == ENCODER ? ZN_SHAPE(1, crop, crop, COLOURS)
                                            : ZN_SHAPE(1, l->side, l->side, l->channels);
    return zn_frozen_open(l->trainer, l->networks[which], input, sample_bytes, most,
                          &l->graphs[which], &l->runners[which], err);
}

static void close_network(zn_latents *l, int which)
{
    zn_batch_runner_free(l->runners[which]);
    zn_train_graph_free(&l->graphs[which]);
    l->runners[which] = NULL;
}

// --- encoding -----------------------------------------------------------------------------------

// Samples of the data from `first` on, or held crops.
typedef struct encoding {
    zn_latents *latents;
    bool held;
    uint64_t first;
} encoding;

static zenith_status fetch(void *cookie, size_t index, uint8_t *pixels, uint64_t *number,
                           zn_error *err)
{
    const encoding *e = cookie;
    zn_trainer *t = e->latents->trainer;
    *number = e->first + index;
    if (!e->held) return zn_data_get(t->data, *number, pixels, err);
    return zn_trainer_held_pixels(t, (size_t)*number, pixels, number, err);
}

static void fill_pixels(const void *cookie, zn_sample *sample)
{
    const encoding *e = cookie;
    float *input = zn_sample_input(sample, "input");
    for (size_t i = 0; i < e->latents->pixels; i++) input[i] = (float)sample->pixels[i] / 255.0f;
}

// Latents of `count` of them as f16. results: room for as many floats.
static zenith_status encode(encoding *e, size_t count, float *results, uint16_t *dst, zn_error *err)
{
    const zn_latents *l = e->latents;
    const zn_batch batch = {count, fetch, fill_pixels, e};
    ZN_TRY(zn_batch_losses(l->runners[ENCODER], &batch, results, err));
    for (size_t i = 0; i < count * l->values; i++) {
        zn_type_store(ZN_F16, dst, i, results[i]);
        if (!isfinite(zn_type_load(ZN_F16, dst, i)))
            return zn_fail(err, ZENITH_BAD_FILE,
                           "%s made a latent with numbers beyond what f16 holds (65504)",
                           l->networks[ENCODER]->variant->name);
    }
    return ZENITH_OK;
}

static zenith_status cancelled(const zn_latents *l, uint64_t done, zn_error *err)
{
    const zn_train_options *o = l->trainer->options;
    if (!o->cancel || atomic_load(o->cancel) == 0) return ZENITH_OK;
    return zn_fail(err, ZENITH_CANCELLED,
                   "stopped while latents of pictures were made: %llu of %llu, and none are kept",
                   (unsigned long long)done, (unsigned long long)l->count);
}

static zenith_status write_latents(zn_latents *l, zn_writer *file, float *results, uint16_t *halves,
                                   zn_error *err)
{
    encoding e = {.latents = l};
    for (; e.first < l->count; e.first += CHUNK) {
        const uint64_t left = l->count - e.first;
        const size_t count = left < CHUNK ? (size_t)left : CHUNK;
        ZN_TRY(cancelled(l, e.first, err));
        ZN_TRY(encode(&e, count, results, halves, err));
        ZN_TRY(zn_writer_write(file, halves, count * l->values * sizeof *halves, err));
        if (e.first % TOLD_EVERY == 0)
            zn_log_write(l->trainer->options->log, ZN_LOG_INFO, "latents of pictures: %llu of %llu",
                         (unsigned long long)e.first, (unsigned long long)l->count);
    }
    return ZENITH_OK;
}

static zenith_status make_file(zn_latents *l, const char *path, const char *key, zn_error *err)
{
    const size_t room = CHUNK * l->values;
    float *results = zn_alloc(room * sizeof *results);
    uint16_t *halves = zn_alloc(room * sizeof *halves);
    zn_writer *file = NULL;
    const zn_metadata metadata[] = {{"zenith.latents", key}};
    zn_file_tensor tensor = {.name = "latents",
                             .type = ZN_F16,
                             .shape = ZN_SHAPE((int64_t)l->count, l->side, l->side, l->channels)};
    zenith_status status = ZENITH_OK;
    if (!results || !halves) ZN_GO(zn_fail_memory(err, room * sizeof *results));
    ZN_GO(zn_directory_make(l->trainer->config.output, err));
    ZN_GO(zn_writer_open(path, &file, err));
    ZN_GO(zn_safetensors_write_header(file, &tensor, 1, metadata, 1, err));
    ZN_GO(write_latents(l, file, results, halves, err));
    ZN_GO(zn_writer_commit(file, err));
    file = NULL;
fail:
    if (file) zn_writer_discard(file);
    zn_free(results);
    zn_free(halves);
    return status;
}

// --- the file -----------------------------------------------------------------------------------

// A digest of all that decides what is in it.
static void key_of(const zn_latents *l, char key[65])
{
    const zn_trainer *t = l->trainer;
    const zn_train_data *d = &t->config.data;
    zn_sha256 hash;
    char text[256];
    zn_text_format(text, sizeof text, " crop %lld flip %d scale %g%s seed %lld count %llu type %d",
                   (long long)d->crop, d->flip, d->min_scale, d->whole ? " whole" : "",
                   (long long)d->seed, (unsigned long long)l->count, t->config.dtype);
    zn_sha256_begin(&hash);
    zn_sha256_add(&hash, zn_model_sha256(t->frozen), 64);
    zn_sha256_add(&hash, zn_data_checksum(t->data), 64);
    zn_sha256_add(&hash, text, strlen(text));
    zn_sha256_end(&hash, key);
}

// One that is another's, or broken, is as good as none.
static bool map_file(zn_latents *l, const char *path, const char *key)
{
    const zn_shape shape = ZN_SHAPE((int64_t)l->count, l->side, l->side, l->channels);
    if (!zn_path_is_file(path) || zn_safetensors_open(path, &l->file, NULL) != ZENITH_OK)
        return false;
    const char *said = zn_safetensors_metadata(l->file, "zenith.latents");
    const zn_file_tensor *found = zn_safetensors_find(l->file, "latents");
    if (said && strcmp(said, key) == 0 && found && found->supported && found->type == ZN_F16 &&
        zn_shape_equal(&found->shape, &shape)) {
        l->stored = found->data;
        return true;
    }
    zn_safetensors_free(l->file);
    l->file = NULL;
    return false;
}

// The first of several processes makes the file, and the others wait for it.
static zenith_status open_file(zn_latents *l, zn_error *err)
{
    zn_trainer *t = l->trainer;
    char key[65], path[ZN_PATH_SIZE];
    zenith_status status = ZENITH_OK;
    key_of(l, key);
    if (zn_text_format(path, sizeof path, "%s/latents-%.12s.safetensors", t->config.output, key) +
            1 >=
        sizeof path)
        return zn_fail(err, ZENITH_LIMIT, "\"output\" is too long a path: '%s'", t->config.output);
    if (t->ranks.rank == 0 && !map_file(l, path, key)) status = zn_trainer_claim(t, err);
    if (t->ranks.rank == 0 && !l->file && status == ZENITH_OK)
        status = make_file(l, path, key, err);
    int failed = status != ZENITH_OK;
    ZN_TRY(zn_ranks_agree(&t->ranks, &failed, err));
    if (status != ZENITH_OK) return status;
    if (!failed && (l->file || map_file(l, path, key))) return ZENITH_OK;
    return zn_fail(err, ZENITH_IO, "the latents in '%s' cannot be read", path);
}

static zenith_status hold(zn_latents *l, zn_error *err)
{
    const size_t count = l->trainer->held_count;
    float *results = zn_alloc(l->values * sizeof *results);
    l->held = zn_alloc(count * l->values * sizeof *l->held);
    zenith_status status = results && l->held
                               ? ZENITH_OK
                               : zn_fail_memory(err, count * l->values * sizeof *l->held);
    for (size_t i = 0; i < count && status == ZENITH_OK; i++) {
        encoding e = {.latents = l, .held = true, .first = i};
        status = encode(&e, 1, results, l->held + i * l->values, err);
    }
    zn_free(results);
    return status;
}

// --- the whole ----------------------------------------------------------------------------------

static zenith_status open(zn_latents *l, zn_error *err)
{
    zn_trainer *t = l->trainer;
    const zn_autoencoder_facts *facts = t->frozen->variant->autoencoder;
    const zn_train_data *d = &t->config.data;
    l->networks[ENCODER] = &t->frozen_encoder;
    l->networks[DECODER] = &t->frozen_decoder;
    l->side = d->crop / facts->factor;
    l->channels = facts->latent_channels;
    l->values = (size_t)(l->side * l->side * l->channels);
    l->pixels = (size_t)(d->crop * d->crop * COLOURS);
    l->count = zn_data_count(t->data) * (d->flip ? 2 : 1);
    if (l->count > most_bytes / (l->values * sizeof(uint16_t)))
        return zn_fail(
            err, ZENITH_LIMIT,
            "latents of %llu crops would take more than %llu GB: train on fewer pictures",
            (unsigned long long)l->count, (unsigned long long)(most_bytes >> 30));
    ZN_TRY(open_network(l, ENCODER, l->pixels, CHUNK, err));
    ZN_TRY(open_file(l, err));
    ZN_TRY(hold(l, err));
    close_network(l, ENCODER); // it is not needed again
    return t->held_count > 0 ? open_network(l, DECODER, 0, t->held_count, err) : ZENITH_OK;
}

zenith_status zn_latents_open(zn_trainer *t, zn_latents **out, zn_error *err)
{
    zn_latents *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    l->trainer = t;
    zenith_status status = open(l, err);
    if (status == ZENITH_OK)
        *out = l;
    else
        zn_latents_free(l);
    return status;
}

void zn_latents_free(zn_latents *l)
{
    if (!l) return;
    for (int i = 0; i < PARTS; i++) close_network(l, i);
    zn_safetensors_free(l->file);
    zn_free(l->held);
    zn_free(l);
}

void zn_latents_get(const zn_latents *l, uint64_t number, float *dst)
{
    const uint64_t held = UINT64_MAX - number;
    const uint8_t *src = (const uint8_t *)l->held + held * l->values * sizeof(uint16_t);
    if (held >= l->trainer->held_count) {
        const uint64_t at = zn_permutation_at((uint64_t)l->trainer->config.data.seed,
                                              number / l->count, l->count, number % l->count);
        src = l->stored + at * l->values * sizeof(uint16_t);
    }
    for (size_t i = 0; i < l->values; i++) {
        uint16_t half; // the file may have them at any address
        memcpy(&half, src + i * sizeof half, sizeof half);
        dst[i] = zn_type_load(ZN_F16, &half, 0);
    }
}

void zn_latents_statistics(const zn_latents *l, float *mean, float *deviation)
{
    const size_t channels = (size_t)l->channels;
    const uint64_t count = l->count < STATISTICS_OF ? l->count : STATISTICS_OF;
    const double n = (double)count * (double)(l->values / channels);
    for (size_t c = 0; c < channels; c++) {
        double sum = 0, squares = 0;
        for (size_t i = c; i < count * l->values; i += channels) {
            uint16_t half;
            memcpy(&half, l->stored + i * sizeof half, sizeof half);
            const double value = (double)zn_type_load(ZN_F16, &half, 0);
            sum += value;
            squares += value * value;
        }
        mean[c] = (float)(sum / n);
        deviation[c] = (float)sqrt(fmax(squares / n - sum / n * (sum / n), 1e-8));
    }
}

// --- decoding -----------------------------------------------------------------------------------

typedef struct decoding {
    const float *src;
    size_t values;
} decoding;

static zenith_status fetch_nothing(void *cookie, size_t index, uint8_t *pixels, uint64_t *number,
                                   zn_error *err)
{
    (void)cookie, (void)pixels, (void)err;
    *number = index;
    return ZENITH_OK;
}

static void fill_latent(const void *cookie, zn_sample *sample)
{
    const decoding *d = cookie;
    memcpy(zn_sample_input(sample, "input"), d->src + sample->index * d->values,
           d->values * sizeof *d->src);
}

zenith_status zn_frozen_decode(zn_batch_runner *runner, size_t count, const float *src,
                               size_t values, float *pictures, zn_error *err)
{
    decoding d = {src, values};
    const zn_batch batch = {count, fetch_nothing, fill_latent, &d};
    return zn_batch_losses(runner, &batch, pictures, err);
}

zenith_status zn_latents_decode(zn_latents *l, size_t count, const float *src, float *pictures,
                                zn_error *err)
{
    return zn_frozen_decode(l->runners[DECODER], count, src, l->values, pictures, err);
}
