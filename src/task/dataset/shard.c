// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// One shard: a thread reads ahead, the streams of the executor decode and encode, the caller's
// thread writes. A picture is decoded by the stream that encodes it, when its network asks for
// rows, just as zenith_encode does with a zenith_source: that is why the bits are the same. Batches
// are there to bound memory; results go out in the input's order.
#include "src/base/os.h"
#include "src/base/sha256.h"
#include "src/base/text.h"
#include "src/data/sample_queue.h"
#include "src/model/autoencoder.h"
#include "src/task/dataset/store.h"

#include <math.h>
#include <string.h>

enum { MOST = 256, EACH_STREAM = 16 };
static const uint64_t most_pixels = (uint64_t)64 << 20; // bytes of a batch's pictures and latents

typedef struct item {
    zn_sample *sample;
    zn_picture *picture; // NULL: the sample was refused
    zn_stored_latent latents[ZN_DATASET_MODELS];
    uint8_t *pixels;      // rows for the models after the first; NULL: the picture gives them again
    uint32_t kept;        // rows of them that are there
    bool alone;           // it takes memory that others would need
    zenith_status status; // of its rows
    zn_error error;
    double seconds; // that its rows took
} item;

typedef struct shard_run {
    zn_dataset *set;
    const zn_shard *shard;
    zn_sample_queue *queue;
    int streams;
    zn_shard_record record;
    zn_object_writer *file;
    zn_tar_writer tar;
    zn_sha256 hash;
    zn_bytes scratch;
    item items[MOST];
    size_t count;
    item next; // that did not fit into the last batch
    bool ended;
    zenith_image images[MOST]; // of the items that have a picture
    zenith_latent latents[MOST];
    zenith_item_result results[MOST];
    item *encoded[MOST];
} shard_run;

// --- one picture --------------------------------------------------------------------------------

// What a sample is refused for, by the status; NULL: the machine is to blame, and the picture may
// be a good one.
static const char *reason_of(zenith_status status)
{
    switch (status) {
    case ZENITH_BAD_FILE:
        return "broken";
    case ZENITH_UNSUPPORTED:
        return "unsupported";
    case ZENITH_LIMIT:
        return "limit";
    case ZENITH_OVERFLOW:
        return "overflow";
    case ZENITH_INVALID_ARGUMENT:
        return "unfit";
    default:
        return NULL;
    }
}

static zenith_status refuse(item *it, zenith_status status, const char *message, zn_error *err)
{
    const char *reason = reason_of(status);
    if (!reason) return zn_fail(err, status, "%s: %s", it->sample->key, message);
    zn_sample_refuse(it->sample, reason, message);
    return ZENITH_OK;
}

// Rows that are kept already, then those of the picture, which are kept. Rows come in order, or
// from row 0 again: the picture has given all rows up to `kept`, and nothing behind it.
static zenith_status give_rows(item *it, uint32_t y, uint32_t count, uint8_t *rows)
{
    const size_t row = 3 * (size_t)zn_picture_plan(it->picture)->width;
    if (!it->pixels) return zn_picture_rows(it->picture, y, count, rows, &it->error);
    if (y + count > it->kept) {
        const uint32_t missing = y + count - it->kept;
        ZN_TRY(zn_picture_rows(it->picture, it->kept, missing, it->pixels + it->kept * row,
                               &it->error));
        it->kept += missing;
    }
    memcpy(rows, it->pixels + y * row, count * row);
    return ZENITH_OK;
}

static zenith_status item_rows(void *cookie, uint32_t y, uint32_t count, void *rows)
{
    item *it = cookie;
    const double begin = zn_clock_seconds();
    it->error.text[0] = '\0';
    it->status = give_rows(it, y, count, rows);
    it->seconds += zn_clock_seconds() - begin;
    return it->status;
}

static zenith_status open_with(const shard_run *run, item *it, uint64_t memory, zn_error *err)
{
    const zenith_source_params *p = &run->set->source;
    zn_image_options image = zn_image_options_default();
    memcpy(image.background, p->background, sizeof image.background);
    image.first_frame = p->first_frame;
    image.limits.max_pixels = p->max_pixels;
    image.limits.max_memory = memory;
    const zn_fit_options fit = zn_dataset_choose(run->set, it->sample->key);
    return zn_picture_open(it->sample->picture, it->sample->picture_size, &image, &fit, p->filter,
                           &it->picture, err);
}

// A picture that is too large to be one of several may be alone.
static zenith_status open_picture(const shard_run *run, item *it, zn_error *err)
{
    const uint64_t all = run->set->run.max_memory / 2, share = all / (uint64_t)run->streams;
    zn_error why = {0};
    zenith_status status = open_with(run, it, share, &why);
    if (status == ZENITH_LIMIT && share < all) {
        why.text[0] = '\0';
        it->alone = true;
        status = open_with(run, it, all, &why);
    }
    if (status == ZENITH_INVALID_ARGUMENT && run->set->params.bucket_count) {
        zn_sample_refuse(it->sample, "small", why.text); // it covers none of them
        return ZENITH_OK;
    }
    return status == ZENITH_OK ? status : refuse(it, status, why.text, err);
}

// With several models the rows of a picture are kept, so that its file is decoded once: a scaled
// picture is in memory as it is, and one that is too large to be held is decoded for each model.
static zenith_status keep_pixels(const shard_run *run, item *it, zn_error *err)
{
    const zn_fit_plan *plan = zn_picture_plan(it->picture);
    const uint64_t bytes = (uint64_t)plan->width * plan->height * 3;
    const uint64_t bound = run->set->run.max_memory / 8;
    if (run->set->model_count == 1 || run->set->source.fit == ZENITH_FIT_RESIZE ||
        bytes > (bound && bound < most_pixels ? bound : most_pixels))
        return ZENITH_OK;
    it->pixels = zn_alloc((size_t)bytes);
    return it->pixels ? ZENITH_OK : zn_fail_memory(err, (size_t)bytes);
}

// The ending of a member that a latent or the facts would have too; NULL: there is none.
static const char *taken_ending(const zn_dataset *set, const zn_sample *sample)
{
    const size_t length = strlen(sample->key);
    for (size_t i = 0; i < sample->carried_count; i++) {
        const char *ending = sample->carried[i].name + length;
        char ours[ZN_DATASET_ENDING];
        if (strcmp(ending, zn_dataset_facts_ending) == 0) return ending;
        for (size_t m = 0; m < set->model_count; m++) {
            zn_dataset_ending(set, m, ours);
            if (strcmp(ending, ours) == 0) return ending;
        }
    }
    return NULL;
}

static zenith_status prepare(const shard_run *run, item *it, zn_error *err)
{
    const char *taken = taken_ending(run->set, it->sample);
    if (taken) {
        char message[256];
        zn_text_format(message, sizeof message, "it has a member %s already", taken);
        zn_sample_refuse(it->sample, "taken", message);
    }
    if (!it->sample->reason) ZN_TRY(open_picture(run, it, err));
    if (it->sample->reason) return ZENITH_OK;
    const zn_fit_plan *plan = zn_picture_plan(it->picture);
    for (size_t m = 0; m < run->set->model_count; m++)
        ZN_TRY(zn_stored_latent_make(run->set, m, plan, &it->latents[m], err));
    return keep_pixels(run, it, err);
}

static uint64_t item_bytes(const item *it)
{
    if (!it->picture) return 0;
    const zn_fit_plan *plan = zn_picture_plan(it->picture);
    uint64_t bytes = (uint64_t)plan->width * plan->height * 3;
    for (size_t m = 0; m < ZN_DATASET_MODELS; m++) bytes += zn_stored_latent_bytes(&it->latents[m]);
    return bytes;
}

static void drop(shard_run *run, item *it)
{
    zn_picture_free(it->picture);
    zn_free(it->pixels);
    for (size_t m = 0; m < ZN_DATASET_MODELS; m++) zn_stored_latent_free(&it->latents[m]);
    zn_sample_queue_give_back(run->queue, it->sample);
    *it = (item){.sample = NULL};
}

// --- a batch ------------------------------------------------------------------------------------

// An archive that is broken from some place on ends there, and its record says so.
static zenith_status take(shard_run *run, item *it, bool *unread, zn_error *err)
{
    zn_error why = {0};
    const double begin = zn_clock_seconds();
    zenith_status status = zn_sample_queue_take(run->queue, &it->sample, &why);
    run->set->waited += zn_clock_seconds() - begin;
    run->ended = !it->sample;
    if (status == ZENITH_BAD_FILE || status == ZENITH_LIMIT) {
        memcpy(run->record.input_error, why.text, sizeof run->record.input_error);
        return ZENITH_OK;
    }
    *unread = status != ZENITH_OK && status != ZENITH_OUT_OF_MEMORY;
    return status == ZENITH_OK ? status : zn_fail(err, status, "%s", why.text);
}

static bool has_room(const shard_run *run, uint64_t bytes)
{
    const uint64_t bound = run->set->run.max_memory / 8;
    const size_t most = (size_t)run->streams * EACH_STREAM;
    if (run->count == 0) return true;
    if (run->count >= (most < MOST ? most : MOST) || run->items[run->count - 1].alone) return false;
    return bytes < (bound && bound < most_pixels ? bound : most_pixels) &&
           !zn_sample_queue_is_dry(run->queue);
}

static zenith_status fill_batch(shard_run *run, bool *unread, zn_error *err)
{
    uint64_t bytes = 0;
    run->count = 0;
    while (!run->ended && has_room(run, bytes)) {
        item *it = &run->items[run->count];
        *it = run->next;
        run->next = (item){.sample = NULL};
        if (!it->sample) {
            ZN_TRY(take(run, it, unread, err));
            if (!it->sample) break;
            run->count++; // it is dropped with the batch from here on
            ZN_TRY(prepare(run, it, err));
            if (it->alone && run->count > 1) {
                run->next = *it;
                run->count--;
                break;
            }
        } else {
            run->count++;
        }
        bytes += item_bytes(it);
    }
    return ZENITH_OK;
}

static size_t gather(shard_run *run, size_t model)
{
    const zn_dataset *set = run->set;
    size_t n = 0;
    for (size_t i = 0; i < run->count; i++) {
        item *it = &run->items[i];
        const zn_stored_latent *latent = &it->latents[model];
        if (it->sample->reason) continue;
        const zn_fit_plan *plan = zn_picture_plan(it->picture);
        run->images[n] = (zenith_image){.size = sizeof run->images[n],
                                        .width = plan->width,
                                        .height = plan->height,
                                        .rows = item_rows,
                                        .cookie = it};
        run->latents[n] = (zenith_latent){
            .size = sizeof run->latents[n],
            .width = latent->width,
            .height = latent->height,
            .channels = latent->channels,
            .space = set->params.space,
            .data = latent->data,
            .kind = set->params.kind,
        };
        run->results[n] = (zenith_item_result){.size = sizeof run->results[n],
                                               .status = ZENITH_INTERNAL};
        run->encoded[n++] = it;
    }
    return n;
}

static int on_progress(void *cookie, double fraction)
{
    (void)fraction;
    return zn_dataset_tick(cookie);
}

static zenith_status encode_batch(shard_run *run, size_t model, zn_error *err)
{
    zn_dataset *set = run->set;
    const size_t n = gather(run, model);
    zn_error why = {0};
    zn_batch batch = {.model = set->models[model],
                      .part = ZENITH_ENCODER,
                      .images = run->images,
                      .latents = run->latents,
                      .count = n,
                      .params = set->run};
    batch.params.max_memory = zn_dataset_run_memory(set->run.max_memory);
    batch.params.results = run->results;
    batch.params.progress = on_progress;
    batch.params.progress_cookie = set;
    const double begin = zn_clock_seconds();
    zenith_status status = zn_autoencode(set->engine, &batch, &why);
    double decoded = 0;
    for (size_t i = 0; i < n; i++) {
        decoded += run->encoded[i]->seconds / run->streams;
        run->encoded[i]->seconds = 0; // the next model's rows are counted by themselves
    }
    set->decoded += decoded;
    set->encoded += fmax(zn_clock_seconds() - begin - decoded, 0);
    if (status == ZENITH_CANCELLED) return zn_fail(err, status, "%s", why.text);
    for (size_t i = 0; i < n; i++) {
        item *it = run->encoded[i];
        const zenith_item_result *result = &run->results[i];
        const bool rows = it->status != ZENITH_OK;
        if (result->status == ZENITH_OK) continue;
        ZN_TRY(refuse(it, rows ? it->status : result->status,
                      rows ? it->error.text : result->message, err));
    }
    return ZENITH_OK;
}

// --- writing ------------------------------------------------------------------------------------

static bool fits(const zn_dataset *set, item *it)
{
    for (size_t m = 0; m < set->model_count; m++)
        if (!zn_stored_latent_fits(set, &it->latents[m])) return false;
    return true;
}

static zenith_status write_latents(shard_run *run, const item *it, zn_error *err)
{
    const zn_dataset *set = run->set;
    const char *key = it->sample->key;
    for (size_t m = 0; m < set->model_count; m++)
        ZN_TRY(zn_stored_latent_write(set, m, &it->latents[m], it->picture, key, &run->tar,
                                      &run->scratch, err));
    return zn_dataset_facts_write(set, it->latents, it->picture, key, &run->tar, &run->scratch,
                                  err);
}

static zenith_status write_item(shard_run *run, item *it, zn_error *err)
{
    zn_dataset *set = run->set;
    const zn_sample *sample = it->sample;
    set->report.bytes_done += sample->bytes;
    if (!sample->reason && !fits(set, it)) {
        char message[128];
        zn_text_format(message, sizeof message, "its latent has numbers beyond what %s holds",
                       zn_type_name(set->type));
        zn_sample_refuse(it->sample, "overflow", message);
    }
    if (sample->reason) {
        set->report.bad++;
        return zn_shard_record_add_bad(&run->record, sample->key, sample->reason, sample->message,
                                       err);
    }
    ZN_TRY(write_latents(run, it, err));
    for (size_t i = 0; i < sample->carried_count; i++) {
        const zn_carried *carried = &sample->carried[i];
        ZN_TRY(zn_tar_write_member(&run->tar, carried->name, carried->size, err));
        ZN_TRY(zn_tar_write_bytes(&run->tar, carried->data, carried->size, err));
        ZN_TRY(zn_tar_write_end(&run->tar, err));
    }
    run->record.ok++;
    set->report.pictures++;
    return ZENITH_OK;
}

static zenith_status write_batch(shard_run *run, zn_error *err)
{
    const double begin = zn_clock_seconds();
    for (size_t i = 0; i < run->count; i++) {
        ZN_TRY(write_item(run, &run->items[i], err));
        ZN_TRY(zn_object_writer_drain(run->file, err));
        drop(run, &run->items[i]);
    }
    run->count = 0;
    run->set->written += zn_clock_seconds() - begin;
    return ZENITH_OK;
}

// --- the shard ----------------------------------------------------------------------------------

static zenith_status run_batches(shard_run *run, bool *unread, zn_error *err)
{
    while (!run->ended) {
        ZN_TRY(fill_batch(run, unread, err));
        for (size_t m = 0; m < run->set->model_count; m++) ZN_TRY(encode_batch(run, m, err));
        ZN_TRY(write_batch(run, err));
        if (zn_dataset_tick(run->set)) return zn_fail(err, ZENITH_CANCELLED, "cancelled");
    }
    *unread = true; // the next thing is the input's
    ZN_TRY(zn_sample_queue_checksum(run->queue, run->record.input_sha256, err));
    *unread = false;
    return ZENITH_OK;
}

static void fill_record(shard_run *run)
{
    const zn_dataset *set = run->set;
    zn_shard_record *r = &run->record;
    zn_text_format(r->version, sizeof r->version, "%s", ZENITH_VERSION_TEXT);
    zn_text_format(r->model, sizeof r->model, "%s", set->model_names);
    zn_text_format(r->weights, sizeof r->weights, "%s", set->weights);
    zn_text_format(r->isa, sizeof r->isa, "%s", set->isa);
    zn_host_name(r->host, sizeof r->host);
    memcpy(r->config, set->config, sizeof r->config);
    memcpy(r->input_etag, run->shard->etag, sizeof r->input_etag);
    r->input_bytes = run->shard->bytes;
    r->output_bytes = run->tar.bytes;
    zn_sha256_end(&run->hash, r->output_sha256);
}

// The tar first, then the record: each whole, and on the disk before the next.
static zenith_status commit(shard_run *run, double begin, zn_error *err)
{
    zn_object_writer *file = run->file;
    ZN_TRY(zn_tar_write_finish(&run->tar, err));
    fill_record(run);
    run->record.seconds = zn_clock_seconds() - begin;
    run->file = NULL;
    ZN_TRY(zn_dataset_commit(run->set, run->shard->name, file, &run->record, err));
    if (run->set->dropped) return ZENITH_OK;
    run->set->info.pictures += run->record.ok;
    run->set->info.bad += run->record.bad_count;
    run->set->info.damaged += run->record.input_error[0] != '\0';
    run->set->info.bytes += run->record.output_bytes;
    return ZENITH_OK;
}

static zenith_status run_shard(shard_run *run, bool *unread, zn_error *err)
{
    const uint64_t memory = run->set->run.max_memory;
    const double begin = zn_clock_seconds();
    char path[ZN_DATASET_PATH];
    const zn_sample_limits limits = {.picture_bytes = memory / 8, .carried_bytes = memory / 8};
    *unread = true;
    ZN_TRY(zn_sample_queue_open(run->shard, memory ? &limits : NULL, memory / 8, &run->queue, err));
    *unread = false;
    ZN_TRY(zn_dataset_path(run->set->params.output, run->shard->name, ".tar", path, err));
    ZN_TRY(zn_object_writer_open(run->set->params.storage, path, &run->file, err));
    zn_sha256_begin(&run->hash);
    run->tar = (zn_tar_writer){.file = zn_object_writer_file(run->file), .hash = &run->hash};
    ZN_TRY(run_batches(run, unread, err));
    return commit(run, begin, err);
}

zenith_status zn_dataset_encode_shard(zn_dataset *set, const zn_shard *shard, bool *unread,
                                      zn_error *err)
{
    shard_run *run = zn_alloc_zero(sizeof *run);
    if (!run) return zn_fail_memory(err, sizeof *run);
    run->set = set;
    run->shard = shard;
    run->streams = zn_executor_streams(zn_engine_executor(set->engine));
    set->report.shard = shard->name;
    zenith_status status = run_shard(run, unread, err);
    for (size_t i = 0; i < run->count; i++) drop(run, &run->items[i]);
    if (run->next.sample) drop(run, &run->next);
    zn_sample_queue_free(run->queue);
    zn_object_writer_discard(run->file);
    zn_shard_record_free(&run->record);
    zn_bytes_free(&run->scratch);
    zn_free(run);
    return status;
}
