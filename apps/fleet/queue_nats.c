// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See queue.h. All contact with libnats.
//
//   1. One item is held at a time (fetch 1): a worker that dies takes one lease with it, and after
//      a server's crash there is no pile of deliveries whose acknowledgements nobody answers.
//   2. The server may hand a message out without end. How often is too often is the worker's to say
//      (worker.c): a message at the server's own bound would be handed to nobody and stay in the
//      stream for ever.
//   3. Delays of NakWithDelay are milliseconds, those of streams and consumers nanoseconds.
#include "apps/cli/terminal/interrupt.h"
#include "apps/fleet/queue.h"

#include <errno.h>
#include <nats/nats.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char consumer_name[] = "workers";
static const int64_t second = 1000000000;
enum {
    FETCH_WAIT = 1000, // milliseconds, as the next ones
    ACK_WAIT = 2000,
    API_WAIT = 5000,
    SETTLE_WAIT = 60000,
    PING_INTERVAL = 5000,
    RECONNECT_WAIT = 500,
    PENDING = 4096,          // messages on their way to the server
    ACKS_PENDING = 1 << 17,  // items that workers hold at once
    DUPLICATE_SECONDS = 600, // in which an id is known again
    BEATS = 4                // of a lease
};

struct cli_queue {
    cli_queue_address address;
    char dead[80], subject[80], dead_subject[80];
    natsConnection *connection;
    jsCtx *js;
    natsSubscription *subscription;
    double lease, patience;
    _Atomic uint64_t reconnects, taken, known, refused;
    uint64_t reconnects_at_take;
    // The item that is held, and the thread that says so.
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t beat;
    bool beating, stop;
    natsMsg *held;
};

static bool fail(const cli_queue *queue, cli_failure *failure, natsStatus status, const char *what)
{
    const char *detail = nats_GetLastError(NULL);
    return cli_fail_text(failure, ZENITH_IO, "%s/%s: %s: %s%s%s", queue->address.shown,
                         queue->address.name, what, natsStatus_GetText(status),
                         detail != NULL && *detail ? ": " : "", detail != NULL ? detail : "");
}

// --- the connection -----------------------------------------------------------------------------

static void note_reconnect(natsConnection *connection, void *closure)
{
    cli_queue *queue = closure;
    (void)connection;
    atomic_fetch_add(&queue->reconnects, 1);
}

// libnats prints what it meets where nobody asks for it.
static void ignore_error(natsConnection *connection, natsSubscription *subscription,
                         natsStatus status, void *closure)
{
    (void)connection, (void)subscription, (void)status, (void)closure;
}

static void note_published(jsCtx *js, natsMsg *message, jsPubAck *ack, jsPubAckErr *error,
                           void *closure)
{
    cli_queue *queue = closure;
    (void)js;
    if (error != NULL || ack == NULL)
        atomic_fetch_add(&queue->refused, 1);
    else
        atomic_fetch_add(ack->Duplicate ? &queue->known : &queue->taken, 1);
    natsMsg_Destroy(message);
}

static natsStatus set_options(cli_queue *queue, natsOptions *options)
{
    natsStatus s = natsOptions_SetURL(options, queue->address.server);
    if (s == NATS_OK) s = natsOptions_SetName(options, "zenith dataset");
    if (s == NATS_OK) s = natsOptions_SetMaxReconnect(options, -1);
    if (s == NATS_OK) s = natsOptions_SetReconnectWait(options, RECONNECT_WAIT);
    if (s == NATS_OK) s = natsOptions_SetPingInterval(options, PING_INTERVAL);
    if (s == NATS_OK) s = natsOptions_SetMaxPingsOut(options, 2);
    if (s == NATS_OK) s = natsOptions_SetReconnectedCB(options, note_reconnect, queue);
    if (s == NATS_OK) s = natsOptions_SetErrorHandler(options, ignore_error, NULL);
    return s;
}

static natsStatus connect_once(cli_queue *queue)
{
    natsOptions *options = NULL;
    jsOptions js;
    natsStatus s = natsOptions_Create(&options);
    if (s == NATS_OK) s = set_options(queue, options);
    if (s == NATS_OK) s = natsConnection_Connect(&queue->connection, options);
    natsOptions_Destroy(options);
    if (s == NATS_OK) s = jsOptions_Init(&js);
    if (s != NATS_OK) return s;
    js.Wait = API_WAIT;
    js.PublishAsync.MaxPending = PENDING;
    js.PublishAsync.StallWait = SETTLE_WAIT;
    js.PublishAsync.AckHandler = note_published;
    js.PublishAsync.AckHandlerClosure = queue;
    return natsConnection_JetStream(&queue->js, queue->connection, &js);
}

bool cli_queue_open(const cli_queue_address *address, double wait, cli_queue **out,
                    cli_failure *failure)
{
    cli_queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL) return cli_fail_memory(failure);
    queue->address = *address;
    snprintf(queue->dead, sizeof queue->dead, "%s_DEAD", address->name);
    snprintf(queue->subject, sizeof queue->subject, "%s.shards", address->name);
    snprintf(queue->dead_subject, sizeof queue->dead_subject, "%s.dead", address->name);
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->wake, NULL);
    natsStatus s = connect_once(queue);
    queue->patience = wait;
    for (; s == NATS_NO_SERVER && wait > 0 && !cli_interrupted(); wait -= 0.5) {
        nats_Sleep(RECONNECT_WAIT);
        s = connect_once(queue);
    }
    if (s == NATS_OK) {
        *out = queue;
        return true;
    }
    fail(queue, failure, s, "cannot connect");
    cli_queue_free(queue);
    return false;
}

// Who waits for acknowledgements is woken before libnats has freed the last one. What is freed
// after nats_Close is lost, so that the connection ends only when its threads have returned.
static void end_threads(natsConnection *connection)
{
    if (natsConnection_FlushTimeout(connection, ACK_WAIT) != NATS_OK) return; // the server is away
    if (natsConnection_DrainTimeout(connection, ACK_WAIT) != NATS_OK) return;
    while (!natsConnection_IsClosed(connection)) nats_Sleep(5);
}

void cli_queue_free(cli_queue *queue)
{
    if (queue == NULL) return;
    if (queue->beating) {
        pthread_mutex_lock(&queue->lock);
        queue->stop = true;
        pthread_cond_signal(&queue->wake);
        pthread_mutex_unlock(&queue->lock);
        pthread_join(queue->beat, NULL);
    }
    natsMsg_Destroy(queue->held);
    natsSubscription_Destroy(queue->subscription);
    if (queue->connection != NULL) end_threads(queue->connection);
    jsCtx_Destroy(queue->js);
    natsConnection_Destroy(queue->connection);
    (void)nats_CloseAndWait(ACK_WAIT); // its threads free what they hold
    pthread_cond_destroy(&queue->wake);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

// --- who fills it -------------------------------------------------------------------------------

static natsStatus make_stream(cli_queue *queue, const char *name, const char *subject,
                              jsRetentionPolicy retention)
{
    jsStreamConfig config;
    jsErrCode code = 0;
    natsStatus s = jsStreamConfig_Init(&config);
    if (s != NATS_OK) return s;
    config.Name = name;
    config.Subjects = &subject;
    config.SubjectsLen = 1;
    config.Retention = retention;
    config.Storage = js_FileStorage;
    config.Duplicates = DUPLICATE_SECONDS * second;
    config.MaxMsgSize = 2 * CLI_QUEUE_MESSAGE;
    s = js_AddStream(NULL, queue->js, &config, NULL, &code);
    return code == JSStreamNameExistErr ? NATS_OK : s; // with replicas of its operator's choice
}

static natsStatus make_consumer(cli_queue *queue, double lease)
{
    jsConsumerConfig config;
    jsErrCode code = 0;
    natsStatus s = jsConsumerConfig_Init(&config);
    if (s != NATS_OK) return s;
    config.Durable = consumer_name;
    config.AckPolicy = js_AckExplicit;
    config.AckWait = (int64_t)(lease * (double)second);
    config.MaxDeliver = -1;
    config.MaxAckPending = ACKS_PENDING;
    return js_AddConsumer(NULL, queue->js, queue->address.name, &config, NULL, &code);
}

bool cli_queue_make(cli_queue *queue, double lease, cli_failure *failure)
{
    natsStatus s = make_stream(queue, queue->address.name, queue->subject, js_WorkQueuePolicy);
    if (s == NATS_OK) s = make_stream(queue, queue->dead, queue->dead_subject, js_LimitsPolicy);
    if (s != NATS_OK) return fail(queue, failure, s, "cannot make its streams");
    s = make_consumer(queue, lease);
    return s == NATS_OK || fail(queue, failure, s, "cannot make its consumer");
}

bool cli_queue_publish(cli_queue *queue, const char *id, const char *text, cli_failure *failure)
{
    jsPubOptions options;
    natsStatus s = jsPubOptions_Init(&options);
    options.MsgId = id;
    if (s == NATS_OK)
        s = js_PublishAsync(queue->js, queue->subject, text, (int)strlen(text), &options);
    return s == NATS_OK || fail(queue, failure, s, "cannot publish");
}

bool cli_queue_settle(cli_queue *queue, uint64_t *taken, uint64_t *known, cli_failure *failure)
{
    jsPubOptions options;
    natsStatus s = jsPubOptions_Init(&options);
    options.MaxWait = SETTLE_WAIT;
    if (s == NATS_OK) s = js_PublishAsyncComplete(queue->js, &options);
    *taken = atomic_load(&queue->taken);
    *known = atomic_load(&queue->known);
    if (s == NATS_OK && atomic_load(&queue->refused) > 0) s = NATS_ERR;
    return s == NATS_OK || fail(queue, failure, s, "it did not take all messages");
}

// --- who works on it ----------------------------------------------------------------------------

// Says that the item is in work, a few times in each lease.
static void *beat(void *cookie)
{
    cli_queue *queue = cookie;
    pthread_mutex_lock(&queue->lock);
    while (!queue->stop) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        const int64_t later = until.tv_nsec + (int64_t)(queue->lease / BEATS * (double)second);
        until.tv_sec += (time_t)(later / second);
        until.tv_nsec = (long)(later % second);
        const int woken = pthread_cond_timedwait(&queue->wake, &queue->lock, &until);
        if (woken == ETIMEDOUT && queue->held != NULL) (void)natsMsg_InProgress(queue->held, NULL);
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

// A server that was just started answers before its streams are there.
static natsStatus ask_consumer(cli_queue *queue, jsConsumerInfo **info, jsErrCode *code)
{
    natsStatus s = NATS_TIMEOUT;
    for (double wait = queue->patience;; wait -= 0.5) {
        s = js_GetConsumerInfo(info, queue->js, queue->address.name, consumer_name, NULL, code);
        const bool away = s == NATS_TIMEOUT || s == NATS_NO_RESPONDERS ||
                          s == NATS_CONNECTION_DISCONNECTED;
        if (!away || wait <= 0 || cli_interrupted()) return s;
        nats_Sleep(RECONNECT_WAIT);
    }
}

bool cli_queue_join(cli_queue *queue, double *lease, cli_failure *failure)
{
    jsConsumerInfo *info = NULL;
    jsSubOptions options;
    jsErrCode code = 0;
    natsStatus s = ask_consumer(queue, &info, &code);
    if (code == JSStreamNotFoundErr || code == JSConsumerNotFoundErr)
        return cli_fail_text(failure, ZENITH_NOT_FOUND,
                             "%s has no queue '%s': 'zenith dataset publish IN --queue %s/%s' "
                             "makes it",
                             queue->address.shown, queue->address.name, queue->address.shown,
                             queue->address.name);
    if (s != NATS_OK) return fail(queue, failure, s, "cannot ask for its consumer");
    *lease = queue->lease = (double)info->Config->AckWait / (double)second;
    jsConsumerInfo_Destroy(info);
    s = jsSubOptions_Init(&options);
    options.Stream = queue->address.name;
    options.Consumer = consumer_name;
    if (s == NATS_OK)
        s = js_PullSubscribe(&queue->subscription, queue->js, queue->subject, consumer_name, NULL,
                             &options, &code);
    if (s != NATS_OK) return fail(queue, failure, s, "cannot subscribe");
    queue->beating = pthread_create(&queue->beat, NULL, beat, queue) == 0;
    return queue->beating ||
           cli_fail_text(failure, ZENITH_OUT_OF_MEMORY, "there can be no further thread");
}

// What is left of the stream, where nothing came.
static cli_queue_found look(cli_queue *queue)
{
    jsStreamInfo *info = NULL;
    jsErrCode code = 0;
    natsStatus s = js_GetStreamInfo(&info, queue->js, queue->address.name, NULL, &code);
    if (code == JSStreamNotFoundErr) return CLI_QUEUE_GONE;
    if (s != NATS_OK) return CLI_QUEUE_NOTHING;
    const uint64_t left = info->State.Msgs;
    jsStreamInfo_Destroy(info);
    return left == 0 ? CLI_QUEUE_EMPTY : CLI_QUEUE_NOTHING;
}

static natsStatus count_deliveries(natsMsg *message, uint64_t *out)
{
    jsMsgMetaData *facts = NULL;
    natsStatus s = natsMsg_GetMetaData(&facts, message);
    if (s == NATS_OK) *out = facts->NumDelivered;
    jsMsgMetaData_Destroy(facts);
    return s;
}

cli_queue_found cli_queue_take(cli_queue *queue, cli_queue_item *out)
{
    natsMsgList list = {0};
    jsErrCode code = 0;
    queue->reconnects_at_take = atomic_load(&queue->reconnects);
    natsStatus s = natsSubscription_Fetch(&list, queue->subscription, 1, FETCH_WAIT, &code);
    if (s == NATS_OK && list.Count == 1) {
        pthread_mutex_lock(&queue->lock);
        queue->held = list.Msgs[0];
        pthread_mutex_unlock(&queue->lock);
        list.Msgs[0] = NULL;
        natsMsgList_Destroy(&list);
        out->text = natsMsg_GetData(queue->held);
        out->size = (size_t)natsMsg_GetDataLength(queue->held);
        if (count_deliveries(queue->held, &out->delivered) == NATS_OK) return CLI_QUEUE_ITEM;
        cli_queue_later(queue, queue->lease); // it came from elsewhere than the stream
        return CLI_QUEUE_NOTHING;
    }
    natsMsgList_Destroy(&list);
    if (s != NATS_TIMEOUT)
        nats_Sleep(RECONNECT_WAIT); // the server is away: it is not asked at once
    return look(queue);
}

// The item as the caller's, which the thread does not touch any more.
static natsMsg *give_back(cli_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    natsMsg *message = queue->held;
    queue->held = NULL;
    pthread_mutex_unlock(&queue->lock);
    return message;
}

bool cli_queue_done(cli_queue *queue)
{
    jsOptions options;
    jsErrCode code = 0;
    natsMsg *message = give_back(queue);
    natsStatus s = jsOptions_Init(&options);
    options.Wait = ACK_WAIT;
    if (s == NATS_OK) s = natsMsg_AckSync(message, &options, &code);
    natsMsg_Destroy(message);
    return s == NATS_OK;
}

void cli_queue_later(cli_queue *queue, double seconds)
{
    natsMsg *message = give_back(queue);
    if (seconds > 0)
        (void)natsMsg_NakWithDelay(message, (int64_t)(seconds * 1000), NULL);
    else
        (void)natsMsg_Nak(message, NULL);
    natsMsg_Destroy(message);
}

bool cli_queue_bury(cli_queue *queue, const char *reason)
{
    char line[256]; // a header ends with its line
    natsMsg *copy = NULL, *message = give_back(queue);
    jsErrCode code = 0;
    snprintf(line, sizeof line, "%s", reason);
    for (char *at = line; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f) *at = ' ';
    const int length = natsMsg_GetDataLength(message);
    natsStatus s = natsMsg_Create(&copy, queue->dead_subject, NULL, natsMsg_GetData(message),
                                  length < CLI_QUEUE_MESSAGE ? length : CLI_QUEUE_MESSAGE);
    if (s == NATS_OK) s = natsMsgHeader_Set(copy, "Zenith-Reason", line);
    if (s == NATS_OK) s = js_PublishMsg(NULL, queue->js, copy, NULL, &code);
    if (s == NATS_OK) s = natsMsg_Term(message, NULL);
    natsMsg_Destroy(copy);
    natsMsg_Destroy(message);
    return s == NATS_OK;
}

bool cli_queue_was_cut_off(cli_queue *queue)
{
    return atomic_load(&queue->reconnects) != queue->reconnects_at_take;
}
