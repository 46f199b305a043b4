// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See task.h.
#include "apps/serve/queue/task.h"

#include "apps/serve/http/routes.h"
#include "apps/serve/models/probe.h"
#include "apps/serve/protocols/images.h"
#include "apps/serve/queue/admission.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64 << 10 }; // of a body

void serve_refuse(serve_server *server, size_t route, serve_answer *answer,
                  const serve_failure *failure)
{
    if (failure->code == 429 && answer->retry_after == 0)
        answer->retry_after = serve_queue_retry_after(server);
    serve_answer_failure(answer, failure, serve_routes[route].protocol == SERVE_PROTOCOL_OIP);
}

static void refuse(serve_task *task)
{
    serve_refuse(task->server, task->route, &task->answer, &task->failure);
}

serve_task *serve_task_create(serve_server *server, size_t route)
{
    serve_task *task = calloc(1, sizeof *task);
    if (task == NULL) return NULL;
    task->server = server;
    task->route = route;
    task->operation = serve_routes[route].operation;
    task->socket = -1;
    atomic_init(&task->references, 1);
    return task;
}

void serve_task_ref(serve_task *task)
{
    atomic_fetch_add(&task->references, 1);
}

static void leave_queue(serve_task *task)
{
    serve_server *server = task->server;
    if (!task->entered) return;
    task->entered = false;
    serve_queue_leave(server, task->seconds);
    serve_metrics_depth(&server->metrics, task->model->number, task->ask.operation, -1,
                        serve_work_pixels(task->work));
}

void serve_task_unref(serve_task *task)
{
    if (task == NULL || atomic_fetch_sub(&task->references, 1) > 1) return;
    leave_queue(task);
    serve_work_free(task->work);
    serve_model_unref(task->model);
    serve_generation_free(task->generation);
    serve_diffae_free(task->diffae);
    serve_answer_free(&task->answer);
    serve_oip_free(&task->oip);
    free(task->body);
    serve_queue_let_go(task->server, task->held);
    free(task);
}

// --- the body -----------------------------------------------------------------------------------

static bool grow(serve_task *task, size_t least)
{
    const uint64_t most = task->server->settings.max_body;
    size_t room = task->room ? task->room * 2 : FIRST_ROOM;
    while (room < least) room *= 2; // the limit is far below SIZE_MAX / 2
    if (room > most) room = (size_t)most;
    if (!serve_queue_hold(task->server, room - task->room, &task->failure)) return false;
    task->held += room - task->room;
    uint8_t *body = realloc(task->body, room);
    if (body == NULL) return serve_fail_memory(&task->failure);
    task->body = body;
    task->room = room;
    return true;
}

static bool append(serve_task *task, const void *data, size_t size)
{
    const uint64_t most = task->server->settings.max_body;
    if (size > most - task->size) {
        serve_metrics_rejected(&task->server->metrics, SERVE_TOO_LARGE);
        return serve_fail_size(&task->failure, "a body has at most %llu bytes",
                               (unsigned long long)most);
    }
    if (task->size + size > task->room && !grow(task, task->size + size)) return false;
    memcpy(task->body + task->size, data, size);
    task->size += size;
    return true;
}

// Gives the memory of a body back that is not wanted any more.
static void drop_body(serve_task *task)
{
    free(task->body);
    task->body = NULL;
    serve_queue_let_go(task->server, task->held);
    task->held = 0;
    task->size = task->room = 0;
}

bool serve_task_append(serve_task *task, const void *data, size_t size)
{
    if (append(task, data, size)) return true;
    drop_body(task);
    return false;
}

// --- opening ------------------------------------------------------------------------------------

static bool read_ask(serve_task *task, const serve_envelope *envelope,
                     const serve_task_headers *headers)
{
    serve_failure *failure = &task->failure;
    switch (serve_routes[task->route].protocol) {
    case SERVE_PROTOCOL_REMOTE:
        return serve_ask_remote(envelope, task->operation, &task->ask, failure);
    case SERVE_PROTOCOL_OIP:
        return serve_oip_ask(envelope, task->body, task->size, headers->inference_length,
                             task->operation, &task->oip, &task->ask, failure);
    default:
        return serve_ask_native(envelope, task->operation, &task->ask, failure);
    }
}

static bool open_work(serve_task *task, const serve_task_headers *headers)
{
    serve_server *server = task->server;
    const serve_settings *settings = &server->settings;
    const serve_envelope envelope = {.parameters = headers->parameters,
                                     .content_type = headers->content_type,
                                     .accept = headers->accept,
                                     .body = task->size,
                                     .model = &task->model->info,
                                     .types = serve_estimates_types(&task->model->estimates),
                                     .max_pixels = settings->max_pixels,
                                     .max_memory = settings->queue_memory};
    const bool asked = read_ask(task, &envelope, headers);
    const bool oip = task->oip.numbers != NULL; // a part of the body, or made of it
    const serve_work_params params = {
        .context = server->context,
        .apart = server->apart,
        .turns = &server->turns,
        .model = task->model->model,
        .number = task->model->number,
        .info = &task->model->info,
        .ask = &task->ask,
        .body = oip ? task->oip.numbers : task->body,
        .size = oip ? task->oip.size : task->size,
        .max_pixels = settings->max_pixels,
        .run = {.size = sizeof(zenith_run_params),
                .dtype = task->ask.compute ? task->ask.compute : (zenith_dtype)settings->dtype,
                .max_memory = settings->max_memory}};
    return asked && serve_work_open(&params, &task->work, &task->failure);
}

static bool hold(serve_task *task, uint64_t bytes)
{
    if (!serve_queue_hold(task->server, bytes, &task->failure)) return false;
    task->held += bytes;
    return true;
}

static bool enter_queue(serve_task *task)
{
    serve_server *server = task->server;
    if (!hold(task, serve_work_bytes(task->work) + task->oip.bytes) ||
        !serve_queue_enter(server, task->model, task->ask.operation, serve_work_pixels(task->work),
                           &task->seconds, &task->answer.retry_after, &task->failure))
        return false;
    task->answer.retry_after = 0;
    task->entered = true;
    serve_metrics_depth(&server->metrics, task->model->number, task->ask.operation, 1,
                        serve_work_pixels(task->work));
    return true;
}

static bool open_images(serve_task *task, const char *content_type)
{
    return serve_images_open(task->server, serve_routes[task->route].images, task->job,
                             content_type, task->body, task->size, &task->generation, &task->answer,
                             &task->failure);
}

static bool open_diffae(serve_task *task, const serve_task_headers *headers)
{
    const serve_diffae_params params = {.what = serve_routes[task->route].diffae,
                                        .parameters = headers->parameters,
                                        .content_type = headers->content_type,
                                        .body = task->body,
                                        .size = task->size};
    return serve_diffae_open(task->server->diffaes, &params, &task->diffae, &task->failure) &&
           hold(task, serve_diffae_bytes(task->diffae));
}

bool serve_task_open(serve_task *task, const serve_task_headers *headers)
{
    bool good;
    if (serve_routes[task->route].diffae != SERVE_DIFFAE_NONE) {
        good = open_diffae(task, headers);
    } else if (serve_routes[task->route].images != SERVE_IMAGES_NONE) {
        good = open_images(task, headers->content_type);
        if (good && task->generation == NULL) return false; // it was no work
        good = good && hold(task, serve_generation_bytes(task->generation));
    } else {
        good = open_work(task, headers) && enter_queue(task);
    }
    if (!good) refuse(task);
    return good;
}

bool serve_task_streams(const serve_task *task)
{
    return task->generation != NULL && serve_images_streams(task->generation);
}

// --- the end ------------------------------------------------------------------------------------

static void note_times(serve_task *task)
{
    serve_server *server = task->server;
    const size_t count = serve_work_count(task->work);
    const uint64_t pixels = serve_work_pixels(task->work) / count;
    for (size_t i = 0; i < count; i++) {
        serve_work_facts facts;
        if (!serve_work_times(task->work, i, &facts)) continue;
        serve_metrics_item(&server->metrics, task->model->number, task->ask.operation, pixels,
                           facts.waited, facts.ran);
        task->answer.waited += facts.waited;
        task->answer.ran += facts.ran;
        if (task->ask.compute == ZENITH_DTYPE_DEFAULT) // what is known is of the server's type
            serve_queue_learn(server, task->model, task->ask.operation, pixels,
                              facts.ran / serve_server_beside(server, facts.batch));
    }
}

static void take_out(serve_task *task)
{
    serve_server *server = task->server;
    pthread_mutex_lock(&server->lock);
    serve_task **link = &server->working;
    while (*link != NULL && *link != task) link = &(*link)->next;
    if (*link != NULL) *link = task->next;
    pthread_mutex_unlock(&server->lock);
}

// Why work that was given up was.
static void explain(serve_task *task)
{
    const bool late = task->work != NULL && serve_work_late(task->work);
    if (late || atomic_load(&task->late)) {
        serve_metrics_rejected(&task->server->metrics, SERVE_LATE);
        serve_fail(&task->failure, 504, "deadline_exceeded",
                   "the deadline of X-Request-Timeout-Ms has passed");
    } else if (atomic_load(&task->left)) {
        serve_fail(&task->failure, 499, "client_closed", "the client left");
    }
}

static void finish_work(void *cookie)
{
    serve_task *task = cookie;
    bool good = serve_work_finish(task->work, &task->answer, &task->failure);
    if (good) note_times(task);
    if (good && serve_routes[task->route].protocol == SERVE_PROTOCOL_OIP)
        good = serve_oip_answer(&task->oip, &task->model->info, task->operation, &task->answer,
                                &task->failure);
    if (!good) explain(task);
    if (!good) refuse(task);
    leave_queue(task);
    take_out(task);
    task->done(task->cookie);
}

static void finish_images(void *cookie)
{
    serve_task *task = cookie;
    if (!serve_images_finish(task->generation, serve_routes[task->route].images, &task->answer,
                             &task->failure)) {
        explain(task);
        refuse(task);
    }
    take_out(task);
    task->done(task->cookie);
}

static void finish_diffae(void *cookie)
{
    serve_task *task = cookie;
    if (!serve_diffae_answer(task->diffae, &task->answer, &task->failure)) {
        explain(task);
        refuse(task);
    }
    take_out(task);
    task->done(task->cookie);
}

// The client reads what is left of the stream.
static void finish_stream(void *cookie)
{
    serve_task *task = cookie;
    const bool good = serve_generation_result(task->generation, &task->failure);
    if (!good) explain(task);
    take_out(task);
    serve_images_end(task->generation, good ? NULL : &task->failure);
    task->done(task->cookie);
}

// --- under way ----------------------------------------------------------------------------------

// From here on the task is looked after by serve_tasks_look, until its end takes it out.
static void put_in(serve_task *task)
{
    serve_server *server = task->server;
    pthread_mutex_lock(&server->lock);
    task->next = server->working;
    server->working = task;
    pthread_mutex_unlock(&server->lock);
}

static void start_work(serve_task *task)
{
    const uint64_t pixels = serve_work_pixels(task->work) / serve_work_count(task->work);
    const serve_work_timing timing = {
        .arrived = serve_clock(),
        .deadline = task->deadline,
        .seconds = task->seconds,
        .pays = serve_probe_pays(task->server, task->model, task->ask.operation, pixels)};
    serve_work_start(task->work, &timing, finish_work, task);
}

void serve_task_start(serve_task *task, int socket, void (*done)(void *cookie), void *cookie)
{
    task->socket = socket;
    task->done = done;
    task->cookie = cookie;
    serve_task_ref(task); // until all is submitted: `done` may come before that
    put_in(task);
    if (task->generation != NULL)
        serve_generation_start(task->generation,
                               serve_task_streams(task) ? finish_stream : finish_images, task);
    else if (task->diffae != NULL)
        serve_diffae_start(task->diffae, finish_diffae, task);
    else
        start_work(task);
    atomic_store(&task->submitted, true);
    serve_task_unref(task);
}

void serve_task_cancel(serve_task *task)
{
    if (task->generation != NULL)
        serve_generation_cancel(task->generation);
    else if (task->diffae != NULL)
        serve_diffae_cancel(task->diffae);
    else
        serve_work_cancel(task->work);
}

void serve_task_place(serve_task *task, serve_place *out)
{
    if (task->generation != NULL)
        serve_generation_place(task->generation, out);
    else if (task->diffae != NULL)
        serve_diffae_place(task->diffae, out);
    else
        serve_work_place(task->work, out);
}

void serve_task_leave(serve_task *task)
{
    pthread_mutex_lock(&task->server->lock);
    atomic_store(&task->left, true);
    task->socket = -1;
    pthread_mutex_unlock(&task->server->lock);
    if (atomic_load(&task->submitted)) serve_task_cancel(task);
}

bool serve_has_left(int socket)
{
    struct pollfd state = {.fd = socket, .events = POLLRDHUP};
    return socket >= 0 && poll(&state, 1, 0) > 0 &&
           (state.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

// A task that is to be given up, held for the caller; NULL: there is none.
static serve_task *find_lost(serve_server *server, bool all)
{
    const double now = serve_clock();
    pthread_mutex_lock(&server->lock);
    serve_task *found = server->working;
    for (; found != NULL; found = found->next) {
        if (!atomic_load(&found->submitted)) continue;
        if (atomic_load(&found->left) || atomic_load(&found->late)) continue; // told already
        const bool late = found->deadline > 0 && now > found->deadline;
        if (late) atomic_store(&found->late, true);
        if (!late && (all || serve_has_left(found->socket))) atomic_store(&found->left, true);
        if (late || atomic_load(&found->left)) break;
    }
    if (found != NULL) serve_task_ref(found);
    pthread_mutex_unlock(&server->lock);
    return found;
}

void serve_tasks_look(serve_server *server, bool all)
{
    for (serve_task *lost; (lost = find_lost(server, all)) != NULL;) {
        serve_task_cancel(lost);
        serve_task_unref(lost);
    }
}
