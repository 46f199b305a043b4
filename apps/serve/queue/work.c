// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See work.h. Files come and go by rows, as in `zenith encode` and `zenith decode`, so that their
// bytes are those. Numbers lie in arrays for all pictures of the request:
//
//   latents    floats [n][c][h][w]: what an encoder makes, or what is unpacked or scaled here for a
//              decoder; other latents of a request are read in its body
//   pictures   floats [n][3][h][w], or of npy [h][w][3], or bytes [n][h][w][3]
#include "apps/serve/queue/work.h"

#include "apps/serve/parse/numbers.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITEMS = 16 };

typedef struct item {
    serve_turn turn; // the first: begin() finds the item by it
    serve_work *work;
    zenith_job *job; // NULL: it was not submitted; of the work's lock
    bool cancelled;  // likewise
    bool begun;      // it has a slot, which it gives back
    zenith_latent latent;
    zenith_image image, result;
    zenith_status status;
    char message[768];
} item;

struct serve_work {
    serve_work_params is;
    serve_ask ask;
    uint32_t width, height; // of each picture
    uint32_t count;
    zenith_space space; // of latents in jobs
    zenith_source *source;
    zenith_source_info source_info;
    zenith_latent_file *file;
    float *latents;
    void *pictures;
    zenith_bytes *bytes; // of the answer, where it is a file
    zenith_target *target;
    void (*done)(void *cookie);
    void *cookie;
    atomic_int pending;
    atomic_bool late, begun;
    atomic_uint over; // pictures
    pthread_mutex_t lock;
    item items[MOST_ITEMS];
};

static size_t latent_numbers(const serve_work *work)
{
    const zenith_model_info *info = work->is.info;
    return (size_t)info->latent_channels * (work->width / info->factor) *
           (work->height / info->factor);
}

static size_t picture_numbers(const serve_work *work)
{
    return (size_t)work->width * work->height * 3;
}

// --- opening ------------------------------------------------------------------------------------

static bool library_failed(const serve_work *work, zenith_status status, serve_failure *failure)
{
    return serve_fail_status(failure, status, zenith_context_error(work->is.context));
}

static bool open_picture(serve_work *work, serve_failure *failure)
{
    zenith_status status = zenith_source_open_memory(work->is.context, work->is.body, work->is.size,
                                                     &work->ask.source, &work->source);
    if (status != ZENITH_OK) return library_failed(work, status, failure);
    work->source_info = (zenith_source_info){.size = sizeof work->source_info};
    zenith_source_get_info(work->source, &work->source_info);
    work->width = work->source_info.width;
    work->height = work->source_info.height;
    return true;
}

static bool check_file(serve_work *work, const zenith_latent_info *info, serve_failure *failure)
{
    const uint64_t factor = work->is.info->factor;
    const uint64_t pixels = (uint64_t)info->width * info->height; // sides end at 2^31
    const char *name = work->is.info->name;
    if (info->model[0] && !zenith_models_share_latents(info->model, name))
        return serve_fail_content(failure, "the latent was made by %.60s, not for %s", info->model,
                                  name);
    if (info->channels != work->is.info->latent_channels)
        return serve_fail_content(failure, "latents of %s have %u channels, not %u", name,
                                  work->is.info->latent_channels, info->channels);
    if (pixels > work->is.max_pixels / (factor * factor))
        return serve_fail_size(failure, "the picture would be larger than the limit of %llu pixels",
                               (unsigned long long)work->is.max_pixels);
    const bool one = work->ask.output == SERVE_OUT_PICTURE || work->ask.output == SERVE_OUT_NPY;
    if (info->count > MOST_ITEMS || (one && info->count > 1))
        return serve_fail_content(
            failure,
            "the file holds %u latents: one is answered as a picture, up to %d with "
            "format=raw",
            info->count, MOST_ITEMS);
    work->count = info->count;
    work->width = (uint32_t)(info->width * factor);
    work->height = (uint32_t)(info->height * factor);
    work->space = info->space;
    return true;
}

static bool open_latents(serve_work *work, serve_failure *failure)
{
    zenith_latent_info info = {.size = sizeof info};
    zenith_status status = zenith_latent_file_open_memory(work->is.context, work->is.body,
                                                          work->is.size, &work->file);
    if (status != ZENITH_OK) return library_failed(work, status, failure);
    zenith_latent_file_get_info(work->file, &info);
    return check_file(work, &info, failure);
}

static bool open_tensor(serve_work *work)
{
    const uint32_t factor = work->ask.operation == SERVE_DECODE ? work->is.info->factor : 1;
    work->width = work->ask.width * factor;
    work->height = work->ask.height * factor;
    work->count = work->ask.count;
    return true;
}

bool serve_work_open(const serve_work_params *params, serve_work **out, serve_failure *failure)
{
    serve_work *work = calloc(1, sizeof *work);
    if (work == NULL) return serve_fail_memory(failure);
    pthread_mutex_init(&work->lock, NULL);
    work->is = *params;
    work->ask = *params->ask;
    work->count = 1;
    const bool good = work->ask.tensor                      ? open_tensor(work)
                      : work->ask.operation == SERVE_DECODE ? open_latents(work, failure)
                                                            : open_picture(work, failure);
    if (work->ask.space != SERVE_SPACE_OF_FILE)
        work->space = work->ask.space == SERVE_SPACE_MODEL ? ZENITH_SPACE_MODEL : ZENITH_SPACE_RAW;
    if (good)
        *out = work;
    else
        serve_work_free(work);
    return good;
}

uint64_t serve_work_pixels(const serve_work *work)
{
    return (uint64_t)work->count * work->width * work->height;
}

size_t serve_work_count(const serve_work *work)
{
    return work->count;
}

// --- buffers ------------------------------------------------------------------------------------

static bool needs_latents(const serve_work *work)
{
    if (work->ask.operation != SERVE_DECODE) return work->ask.operation == SERVE_ENCODE;
    return work->ask.packed || work->ask.space == SERVE_SPACE_OWN;
}

// Bytes of one number of `pictures`; 0: there are none.
static size_t picture_number(const serve_work *work)
{
    if (work->ask.operation == SERVE_ENCODE) return work->ask.tensor ? sizeof(float) : 0;
    if (work->ask.output == SERVE_OUT_PICTURE) return 0;
    return work->ask.output == SERVE_OUT_BYTES ? 1 : sizeof(float);
}

// What an answer in a file may take besides, and a source that is held whole.
uint64_t serve_work_bytes(const serve_work *work)
{
    const uint64_t pixels = serve_work_pixels(work);
    uint64_t bytes = pixels * 3 * picture_number(work) + pixels * 3;
    bytes += (uint64_t)work->count * latent_numbers(work) * sizeof(float);
    if (work->source != NULL && !work->source_info.streamed)
        bytes += 3 * (uint64_t)work->source_info.stored_width * work->source_info.stored_height;
    return bytes;
}

static bool make_buffers(serve_work *work, serve_failure *failure)
{
    const size_t latents = work->count * latent_numbers(work) * sizeof(float);
    const size_t pictures = work->count * picture_numbers(work) * picture_number(work);
    if (needs_latents(work)) work->latents = malloc(latents);
    if (pictures) work->pictures = malloc(pictures);
    bool good = (!needs_latents(work) || work->latents) && (!pictures || work->pictures);
    good = good && zenith_bytes_create(&work->bytes) == ZENITH_OK;
    return good || serve_fail_memory(failure);
}

static void unpack(const float *tokens, uint32_t channels, uint32_t width, uint32_t height,
                   float *planes)
{
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            const float *token = tokens + (size_t)(y / 2 * (width / 2) + x / 2) * channels * 4;
            for (uint32_t c = 0; c < channels; c++)
                planes[((size_t)c * height + y) * width + x] = token[c * 4 + y % 2 * 2 + x % 2];
        }
}

// The body's latents as floats in planes, without the request's own scale.
static bool widen_latents(serve_work *work, serve_failure *failure)
{
    const serve_ask *ask = &work->ask;
    const size_t each = latent_numbers(work), all = each * work->count;
    float *packed = ask->packed ? malloc(all * sizeof *packed) : NULL;
    if (ask->packed && packed == NULL) return serve_fail_memory(failure);
    serve_numbers_widen(ask->number, work->is.body, all, ask->packed ? packed : work->latents);
    for (uint32_t i = 0; ask->packed && i < work->count; i++)
        unpack(packed + i * each, ask->channels, ask->width, ask->height, work->latents + i * each);
    free(packed);
    for (size_t i = 0; ask->space == SERVE_SPACE_OWN && i < all; i++)
        work->latents[i] = (float)((double)work->latents[i] / ask->scale + ask->shift);
    return true;
}

// -1 .. 1 to 0 .. 1.
static void widen_pictures(serve_work *work)
{
    const size_t all = picture_numbers(work) * work->count;
    float *floats = work->pictures;
    serve_numbers_widen(work->ask.number, work->is.body, all, floats);
    for (size_t i = 0; i < all; i++) floats[i] = floats[i] * 0.5f + 0.5f;
}

// --- jobs ---------------------------------------------------------------------------------------

static bool set_latent(serve_work *work, size_t index, serve_failure *failure)
{
    const zenith_model_info *info = work->is.info;
    zenith_latent *latent = &work->items[index].latent;
    const size_t numbers = index * latent_numbers(work);
    *latent = (zenith_latent){.size = sizeof *latent,
                              .width = work->width / info->factor,
                              .height = work->height / info->factor,
                              .channels = info->latent_channels,
                              .space = work->space};
    if (work->latents != NULL) {
        latent->data = work->latents + numbers;
    } else if (work->file != NULL) {
        zenith_status status = zenith_latent_file_get(work->file, (uint32_t)index, latent);
        latent->space = work->space;
        if (status != ZENITH_OK) return serve_fail_status(failure, status, "");
    } else {
        latent->number = work->ask.number;
        latent->data = (uint8_t *)(uintptr_t)work->is.body +
                       numbers * serve_number_size(work->ask.number);
    }
    return true;
}

static bool open_target(serve_work *work, zenith_image *image, serve_failure *failure)
{
    const zenith_target_params params = {
        .size = sizeof params, .format = work->ask.format, .quality = (int)work->ask.quality};
    zenith_status status = zenith_target_open_bytes(work->is.context, work->bytes, work->width,
                                                    work->height, &params, &work->target);
    image->rows = zenith_target_rows;
    image->cookie = work->target;
    image->restarts = true;
    return status == ZENITH_OK || library_failed(work, status, failure);
}

// Where a decoder's picture goes.
static bool set_target(serve_work *work, size_t index, zenith_image *image, serve_failure *failure)
{
    if (work->ask.output == SERVE_OUT_PICTURE) return open_target(work, image, failure);
    const bool bytes = work->ask.output == SERVE_OUT_BYTES;
    const bool planes = !bytes && work->ask.output != SERVE_OUT_NPY;
    image->number = bytes ? ZENITH_U8 : ZENITH_F32;
    image->order = planes ? ZENITH_CHW : ZENITH_HWC;
    image->data = (uint8_t *)work->pictures + index * picture_numbers(work) * picture_number(work);
    return true;
}

static void set_source(serve_work *work, size_t index, zenith_image *image)
{
    if (work->source != NULL) {
        image->rows = zenith_source_rows;
        image->cookie = work->source;
        return;
    }
    image->number = ZENITH_F32;
    image->order = ZENITH_CHW;
    image->data = (float *)work->pictures + index * picture_numbers(work);
}

static bool set_item(serve_work *work, size_t index, serve_failure *failure)
{
    item *it = &work->items[index];
    const serve_operation operation = work->ask.operation;
    it->image = (zenith_image){
        .size = sizeof it->image, .width = work->width, .height = work->height};
    it->result = it->image;
    if (operation != SERVE_RECONSTRUCT && !set_latent(work, index, failure)) return false;
    if (operation == SERVE_DECODE) return set_target(work, index, &it->image, failure);
    set_source(work, index, &it->image);
    return operation == SERVE_ENCODE || set_target(work, index, &it->result, failure);
}

static void release(serve_work *work)
{
    if (atomic_fetch_sub(&work->pending, 1) == 1) work->done(work->cookie);
}

static void item_done(void *cookie, zenith_status status, const char *message)
{
    item *it = cookie;
    serve_work *work = it->work;
    it->status = status;
    snprintf(it->message, sizeof it->message, "%s", message);
    atomic_fetch_add(&work->over, 1);
    if (it->begun) serve_turns_over(work->is.turns, &it->turn);
    release(work);
}

static void turn_late(serve_turn *turn)
{
    item *it = (item *)turn;
    atomic_store(&it->work->late, true);
    item_done(it, ZENITH_CANCELLED, "the deadline would have passed before the end");
}

// Pictures of a batch run beside each other, each on one thread; a picture alone has all threads of
// a stream.
static zenith_context *context_of(const item *it)
{
    const serve_work_params *is = &it->work->is;
    return it->turn.batch > 1 && is->apart != NULL ? is->apart : is->context;
}

static zenith_status submit(item *it, zenith_context *context)
{
    static const zenith_job_kind kinds[] = {[SERVE_ENCODE] = ZENITH_JOB_ENCODE,
                                            [SERVE_DECODE] = ZENITH_JOB_DECODE,
                                            [SERVE_RECONSTRUCT] = ZENITH_JOB_RECONSTRUCT};
    serve_work *work = it->work;
    const bool both = work->ask.operation == SERVE_RECONSTRUCT;
    const zenith_job_params params = {.size = sizeof params,
                                      .kind = kinds[work->ask.operation],
                                      .model = work->is.model,
                                      .image = &it->image,
                                      .latent = both ? NULL : &it->latent,
                                      .result = both ? &it->result : NULL,
                                      .run = &work->is.run,
                                      .done = item_done,
                                      .done_cookie = it};
    pthread_mutex_lock(&work->lock);
    const bool wanted = !it->cancelled;
    zenith_status status = wanted ? zenith_job_submit(context, &params, &it->job)
                                  : ZENITH_CANCELLED;
    pthread_mutex_unlock(&work->lock);
    return status;
}

// The item's own share of `pending` may be given back by its job before submit() returns: this
// function holds another.
static void turn_begin(serve_turn *turn)
{
    item *it = (item *)turn;
    serve_work *work = it->work;
    zenith_context *context = context_of(it);
    atomic_fetch_add(&work->pending, 1);
    atomic_store(&work->begun, true);
    it->begun = true;
    zenith_status status = submit(it, context);
    if (status != ZENITH_OK) item_done(it, status, zenith_context_error(context));
    release(work);
}

static void set_turn(serve_work *work, item *it, const serve_work_timing *timing)
{
    it->work = work;
    it->turn = (serve_turn){.key = {.model = work->is.number,
                                    .operation = (int)work->ask.operation,
                                    .image_number = (int)it->image.number,
                                    .latent_number = (int)it->latent.number,
                                    .width = work->width,
                                    .height = work->height},
                            .pays = timing->pays,
                            .arrived = timing->arrived,
                            .deadline = timing->deadline,
                            .seconds = timing->seconds / work->count,
                            .all = timing->seconds,
                            .begin = turn_begin,
                            .late = turn_late};
}

static bool prepare(serve_work *work, serve_failure *failure)
{
    if (!make_buffers(work, failure)) return false;
    if (work->ask.operation == SERVE_DECODE && work->latents && !widen_latents(work, failure))
        return false;
    if (work->ask.operation == SERVE_ENCODE && work->pictures) widen_pictures(work);
    for (size_t i = 0; i < work->count; i++)
        if (!set_item(work, i, failure)) return false;
    return true;
}

// This function holds one of `pending`, so that `done` comes after all turns are there.
void serve_work_start(serve_work *work, const serve_work_timing *timing, void (*done)(void *cookie),
                      void *cookie)
{
    serve_failure failure = {0};
    work->done = done;
    work->cookie = cookie;
    atomic_init(&work->pending, (int)work->count + 1);
    const bool ready = prepare(work, &failure);
    const zenith_status status = failure.code == 422 ? ZENITH_INVALID_ARGUMENT
                                                     : ZENITH_OUT_OF_MEMORY;
    for (size_t i = 0; i < work->count; i++) {
        item *it = &work->items[i];
        set_turn(work, it, timing);
        if (ready)
            serve_turns_add(work->is.turns, &it->turn);
        else
            item_done(it, status, failure.text);
    }
    serve_turns_look(work->is.turns);
    release(work);
}

static void cancel(serve_work *work, item *it)
{
    if (serve_turns_withdraw(work->is.turns, &it->turn)) {
        item_done(it, ZENITH_CANCELLED, "cancelled before it began");
        return;
    }
    pthread_mutex_lock(&work->lock);
    it->cancelled = true;
    zenith_job *job = it->job;
    pthread_mutex_unlock(&work->lock);
    zenith_job_cancel(job);
}

void serve_work_cancel(serve_work *work)
{
    for (size_t i = 0; i < work->count; i++) cancel(work, &work->items[i]);
}

// The pictures before the first one that waits are those of others: of its own the earlier ones
// have begun.
void serve_work_place(serve_work *work, serve_place *out)
{
    double seconds = 0;
    const unsigned over = atomic_load(&work->over);
    *out = (serve_place){.running = atomic_load(&work->begun), .step = over, .total = work->count};
    for (size_t i = 0; i < work->count; i++)
        if (serve_turns_before(work->is.turns, &work->items[i].turn, &out->before, &seconds)) break;
    out->seconds = seconds / (double)work->is.turns->slots +
                   work->items[0].turn.seconds * (work->count - over);
}

bool serve_work_late(const serve_work *work)
{
    return atomic_load(&work->late);
}

bool serve_work_times(const serve_work *work, size_t index, serve_work_facts *out)
{
    const item *it = &work->items[index];
    zenith_job_info info = {.size = sizeof info};
    if (it->job == NULL || it->status != ZENITH_OK) return false;
    zenith_job_get_info(it->job, &info);
    *out = (serve_work_facts){.waited = it->turn.began - it->turn.arrived + info.waited,
                              .ran = info.ran,
                              .batch = it->turn.batch};
    return true;
}

// --- answers ------------------------------------------------------------------------------------

// The sentence of the file that failed inside a run, else the job's own.
static bool item_failure(const serve_work *work, const item *it, serve_failure *failure)
{
    const char *of_source = zenith_source_error(work->source);
    const char *of_target = zenith_target_error(work->target);
    const char *text = *of_source ? of_source : *of_target ? of_target : it->message;
    return serve_fail_status(failure, it->status, text);
}

static void set_shape(const serve_work *work, serve_answer *answer, uint32_t channels,
                      uint32_t height, uint32_t width)
{
    if (work->ask.output == SERVE_OUT_BYTES)
        snprintf(answer->shape, sizeof answer->shape, "[%u, %u, %u, %u]", work->count, height,
                 width, channels);
    else
        snprintf(answer->shape, sizeof answer->shape, "[%u, %u, %s%u, %u]", work->count, channels,
                 work->ask.clip ? "1, " : "", height, width);
}

// Takes the array over, narrowed in place.
static void answer_numbers(serve_work *work, void **numbers, size_t count, zenith_number number,
                           serve_answer *answer)
{
    if (number != ZENITH_U8) serve_numbers_narrow(number, *numbers, count, *numbers);
    answer->data = *numbers;
    answer->size = count * serve_number_size(number);
    answer->dtype = serve_number_name(number);
    answer->content_type = "tensor/binary";
    *numbers = NULL;
    answer->code = 200;
    (void)work;
}

static void answer_picture_numbers(serve_work *work, serve_answer *answer)
{
    const size_t count = picture_numbers(work) * work->count;
    const bool bytes = work->ask.output == SERVE_OUT_BYTES;
    float *floats = work->pictures;
    for (size_t i = 0; work->ask.output == SERVE_OUT_SIGNED && i < count; i++)
        floats[i] = floats[i] * 2 - 1;
    for (size_t i = 0; work->ask.output == SERVE_OUT_UNIT && i < count; i++)
        floats[i] = floats[i] > 0 ? floats[i] < 1 ? floats[i] : 1 : 0;
    set_shape(work, answer, 3, work->height, work->width);
    answer_numbers(work, &work->pictures, count, bytes ? ZENITH_U8 : work->ask.out_number, answer);
}

static void answer_latent_numbers(serve_work *work, serve_answer *answer)
{
    const zenith_model_info *info = work->is.info;
    const size_t count = latent_numbers(work) * work->count;
    void *numbers = work->latents;
    set_shape(work, answer, info->latent_channels, work->height / info->factor,
              work->width / info->factor);
    answer_numbers(work, &numbers, count, work->ask.out_number, answer);
    work->latents = NULL;
}

static bool answer_bytes(serve_work *work, const char *content_type, zenith_status status,
                         serve_answer *answer, serve_failure *failure)
{
    if (status != ZENITH_OK) return library_failed(work, status, failure);
    answer->bytes = work->bytes;
    work->bytes = NULL;
    answer->content_type = content_type;
    answer->code = 200;
    return true;
}

static bool answer_latent_file(serve_work *work, serve_answer *answer, serve_failure *failure)
{
    const bool npy = work->ask.output == SERVE_OUT_NPY;
    const zenith_latent_save_params how = {.size = sizeof how,
                                           .format = npy ? "npy" : "safetensors",
                                           .number = work->ask.out_number,
                                           .model = work->is.info->name,
                                           .source = work->source ? &work->source_info : NULL};
    return answer_bytes(
        work, npy ? "application/x-npy" : "application/vnd.safetensors",
        zenith_latent_save_bytes(work->is.context, work->bytes, &work->items[0].latent, 1, &how),
        answer, failure);
}

static bool answer_picture(serve_work *work, serve_answer *answer, serve_failure *failure)
{
    char type[32];
    static const char *const content_types[] = {"image/png", "image/jpeg", "image/webp", NULL};
    if (work->ask.output == SERVE_OUT_NPY)
        return answer_bytes(
            work, "application/x-npy",
            zenith_image_save_npy_bytes(work->is.context, work->bytes, &work->items[0].image),
            answer, failure);
    snprintf(type, sizeof type, "image/%s", work->ask.format);
    size_t i = 0;
    while (content_types[i] && strcmp(content_types[i], type) != 0) i++;
    return answer_bytes(work, content_types[i], zenith_target_finish(work->target), answer,
                        failure);
}

bool serve_work_finish(serve_work *work, serve_answer *answer, serve_failure *failure)
{
    for (size_t i = 0; i < work->count; i++)
        if (work->items[i].status != ZENITH_OK) return item_failure(work, &work->items[i], failure);
    const serve_ask *ask = &work->ask;
    const size_t latents = work->ask.operation == SERVE_ENCODE ? latent_numbers(work) * work->count
                                                               : 0;
    for (size_t i = 0; ask->space == SERVE_SPACE_OWN && i < latents; i++)
        work->latents[i] = (float)(((double)work->latents[i] - ask->shift) * ask->scale);
    if (ask->output == SERVE_OUT_LATENT) {
        answer_latent_numbers(work, answer);
        return true;
    }
    if (ask->operation == SERVE_ENCODE) return answer_latent_file(work, answer, failure);
    if (ask->output == SERVE_OUT_PICTURE || ask->output == SERVE_OUT_NPY)
        return answer_picture(work, answer, failure);
    answer_picture_numbers(work, answer);
    return true;
}

void serve_work_free(serve_work *work)
{
    if (work == NULL) return;
    for (size_t i = 0; i < MOST_ITEMS; i++) zenith_job_free(work->items[i].job);
    zenith_target_free(work->target);
    zenith_source_free(work->source);
    zenith_latent_file_free(work->file);
    zenith_bytes_free(work->bytes);
    free(work->latents);
    free(work->pictures);
    pthread_mutex_destroy(&work->lock);
    free(work);
}
