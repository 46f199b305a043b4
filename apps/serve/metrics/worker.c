// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See worker.h: GET /metrics for Prometheus, GET /health for whoever restarts it.
#include "apps/serve/metrics/worker.h"

#include "apps/serve/http/http.h"
#include "apps/serve/metrics/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { CONNECTIONS = 16, IDLE_SECONDS = 10, MODEL = 64, RESULTS = 4 };
static const double bounds[SERVE_BUCKETS] = {1,   2.5, 5,   10,   25,   50,
                                             100, 250, 500, 1000, 2500, 5000};

struct serve_worker {
    struct MHD_Daemon *daemon;
    char model[MODEL];
    double started;
    pthread_mutex_t lock; // of all that follows
    uint64_t shards[RESULTS], pictures, bad, bytes_in, bytes_out, lost;
    serve_histogram seconds;
};

static void write_counts(const serve_worker *w, FILE *out)
{
    static const char *const results[RESULTS] = {"ok", "dup", "poison", "retry"};
    char labels[MODEL + 16];
    serve_metrics_head(out, "zenith_shards_total", "counter", "Shards by what became of them.");
    for (size_t i = 0; i < RESULTS; i++)
        fprintf(out, "zenith_shards_total{result=\"%s\"} %" PRIu64 "\n", results[i], w->shards[i]);
    serve_metrics_head(out, "zenith_shard_seconds", "histogram", "Of shards that were done.");
    snprintf(labels, sizeof labels, "model=\"%s\"", w->model);
    serve_histogram_write(out, "zenith_shard_seconds", labels, &w->seconds, bounds);
    serve_metrics_head(out, "zenith_images_total", "counter", "Pictures of shards that were done.");
    fprintf(out, "zenith_images_total{result=\"ok\"} %" PRIu64 "\n", w->pictures);
    fprintf(out, "zenith_images_total{result=\"bad\"} %" PRIu64 "\n", w->bad);
    serve_metrics_head(out, "zenith_bytes_total", "counter", "Bytes of those shards.");
    fprintf(out, "zenith_bytes_total{dir=\"in\"} %" PRIu64 "\n", w->bytes_in);
    fprintf(out, "zenith_bytes_total{dir=\"out\"} %" PRIu64 "\n", w->bytes_out);
    serve_metrics_head(out, "zenith_lease_lost_total", "counter",
                       "Shards that the queue may have given to another meanwhile.");
    fprintf(out, "zenith_lease_lost_total %" PRIu64 "\n", w->lost);
}

static struct MHD_Response *make_page(serve_worker *w)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) return NULL;
    serve_metrics_head(out, "zenith_build_info", "gauge", "What works.");
    fprintf(out, "zenith_build_info{version=\"%s\"} 1\n", zenith_version());
    pthread_mutex_lock(&w->lock);
    write_counts(w, out);
    pthread_mutex_unlock(&w->lock);
    serve_metrics_process(w->started, out);
    fclose(out);
    return MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE);
}

static enum MHD_Result handle(void *cookie, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *data_size, void **request)
{
    static char fine[] = "ok\n", unknown[] = "there are /metrics and /health\n";
    struct MHD_Response *response = NULL;
    unsigned code = MHD_HTTP_OK;
    (void)version, (void)data, (void)data_size, (void)request;
    if (strcmp(method, "GET") != 0) return MHD_NO;
    if (strcmp(url, "/metrics") == 0) {
        response = make_page(cookie);
    } else if (strcmp(url, "/health") == 0) {
        response = MHD_create_response_from_buffer(strlen(fine), fine, MHD_RESPMEM_PERSISTENT);
    } else {
        code = MHD_HTTP_NOT_FOUND;
        response = MHD_create_response_from_buffer(strlen(unknown), unknown,
                                                   MHD_RESPMEM_PERSISTENT);
    }
    if (response == NULL) return MHD_NO;
    (void)MHD_add_response_header(response, "Content-Type", "text/plain; version=0.0.4");
    const enum MHD_Result queued = MHD_queue_response(connection, code, response);
    MHD_destroy_response(response);
    return queued;
}

serve_worker *serve_worker_start(const char *host, int port, const char *model, serve_say_fn *say)
{
    struct sockaddr_storage address = {0};
    if (!serve_http_address(host, port, say, &address)) return NULL;
    serve_worker *w = calloc(1, sizeof *w);
    if (w == NULL) return NULL;
    for (size_t i = 0; model != NULL && model[i] && i + 1 < MODEL; i++)
        w->model[i] = (char)(model[i] == '"' || model[i] == '\\' || model[i] == '\n' ? '_'
                                                                                     : model[i]);
    w->started = (double)time(NULL);
    pthread_mutex_init(&w->lock, NULL);
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD;
    if (address.ss_family == AF_INET6) flags |= MHD_USE_IPv6;
    errno = 0;
    w->daemon = MHD_start_daemon(flags, 0, NULL, NULL, handle, w, MHD_OPTION_SOCK_ADDR, &address,
                                 MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
                                 MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
                                 MHD_OPTION_END);
    if (w->daemon != NULL) return w;
    say("cannot listen on %s, port %d: %s", host, port, strerror(errno));
    serve_worker_stop(w);
    return NULL;
}

void serve_worker_stop(serve_worker *worker)
{
    if (worker == NULL) return;
    if (worker->daemon != NULL) MHD_stop_daemon(worker->daemon);
    pthread_mutex_destroy(&worker->lock);
    free(worker);
}

void serve_worker_count(serve_worker *worker, const serve_shard_facts *shard)
{
    if (worker == NULL) return;
    pthread_mutex_lock(&worker->lock);
    worker->shards[shard->result]++;
    worker->pictures += shard->pictures;
    worker->bad += shard->bad;
    worker->bytes_in += shard->bytes_in;
    worker->bytes_out += shard->bytes_out;
    if (shard->result == SERVE_SHARD_OK)
        serve_histogram_note(&worker->seconds, bounds, shard->seconds);
    pthread_mutex_unlock(&worker->lock);
}

void serve_worker_lost(serve_worker *worker)
{
    if (worker == NULL) return;
    pthread_mutex_lock(&worker->lock);
    worker->lost++;
    pthread_mutex_unlock(&worker->lock);
}
