// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See metrics.h.
#include "apps/serve/metrics/metrics.h"

#include <dirent.h>
#include <inttypes.h>
#include <sys/resource.h>
#include <unistd.h>

static const double bounds[SERVE_BUCKETS] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                             0.5,   1,    2.5,   5,    10,  30};
static const double sizes[SERVE_BUCKETS] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
static const int codes[SERVE_CODES] = {200, 202, 304, 400, 401, 404, 405, 409, 413,
                                       415, 422, 429, 499, 500, 503, 504, 0};
static const char *const reasons[SERVE_REASONS] = {"queue_full", "deadline", "too_large",
                                                   "draining", "key_limit"};
static const char *const operations[SERVE_OPERATIONS] = {"encode", "decode", "reconstruct"};

void serve_histogram_note(serve_histogram *histogram, const double *limits, double value)
{
    int i = 0;
    while (i < SERVE_BUCKETS && value > limits[i]) i++;
    histogram->counts[i]++;
    histogram->sum += value;
}

static void note(serve_histogram *histogram, double seconds)
{
    serve_histogram_note(histogram, bounds, seconds);
}

// What is not in the table counts with the last, which is printed as "other".
static size_t place_of(int code)
{
    size_t i = 0;
    while (codes[i] != 0 && codes[i] != code) i++;
    return i;
}

void serve_metrics_request(serve_metrics *metrics, size_t route, int code, double seconds)
{
    pthread_mutex_lock(&metrics->lock);
    metrics->requests[route][place_of(code)]++;
    note(&metrics->seconds[route], seconds);
    pthread_mutex_unlock(&metrics->lock);
}

void serve_metrics_rejected(serve_metrics *metrics, serve_reason reason)
{
    pthread_mutex_lock(&metrics->lock);
    metrics->rejected[reason]++;
    pthread_mutex_unlock(&metrics->lock);
}

void serve_metrics_depth(serve_metrics *metrics, size_t model, serve_operation operation, int step,
                         uint64_t pixels)
{
    pthread_mutex_lock(&metrics->lock);
    serve_work_counts *counts = &metrics->work[model][operation];
    counts->depth += step;
    counts->queued += step * (int64_t)pixels;
    pthread_mutex_unlock(&metrics->lock);
}

void serve_metrics_item(serve_metrics *metrics, size_t model, serve_operation operation,
                        uint64_t pixels, double waited, double ran)
{
    pthread_mutex_lock(&metrics->lock);
    serve_work_counts *counts = &metrics->work[model][operation];
    counts->items++;
    counts->pixels += (int64_t)pixels;
    note(&counts->wait, waited);
    note(&counts->run, ran);
    pthread_mutex_unlock(&metrics->lock);
}

void serve_metrics_batch(serve_metrics *metrics, size_t model, serve_operation operation,
                         size_t count)
{
    pthread_mutex_lock(&metrics->lock);
    serve_histogram_note(&metrics->work[model][operation].batch, sizes, (double)count);
    metrics->work[model][operation].batches++;
    pthread_mutex_unlock(&metrics->lock);
}

// --- writing ------------------------------------------------------------------------------------

void serve_metrics_head(FILE *out, const char *name, const char *type, const char *help)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void serve_histogram_write(FILE *out, const char *name, const char *labels,
                           const serve_histogram *histogram, const double *limits)
{
    uint64_t sum = 0;
    for (int i = 0; i < SERVE_BUCKETS; i++) {
        sum += histogram->counts[i];
        fprintf(out, "%s_bucket{%s,le=\"%g\"} %" PRIu64 "\n", name, labels, limits[i], sum);
    }
    sum += histogram->counts[SERVE_BUCKETS];
    fprintf(out, "%s_bucket{%s,le=\"+Inf\"} %" PRIu64 "\n", name, labels, sum);
    fprintf(out, "%s_sum{%s} %g\n%s_count{%s} %" PRIu64 "\n", name, labels, histogram->sum, name,
            labels, sum);
}

static void write_requests(const serve_metrics *metrics, const char *const *routes, FILE *out)
{
    char labels[128];
    serve_metrics_head(out, "zenith_http_requests_total", "counter",
                       "Requests by route and status code.");
    for (size_t r = 0; routes[r]; r++)
        for (size_t c = 0; c < SERVE_CODES; c++) {
            if (metrics->requests[r][c] == 0) continue;
            char code[16] = "other";
            if (codes[c]) snprintf(code, sizeof code, "%d", codes[c]);
            fprintf(out, "zenith_http_requests_total{route=\"%s\",code=\"%s\"} %" PRIu64 "\n",
                    routes[r], code, metrics->requests[r][c]);
        }
    serve_metrics_head(out, "zenith_http_request_duration_seconds", "histogram",
                       "From the headers to the end.");
    for (size_t r = 0; routes[r]; r++) {
        snprintf(labels, sizeof labels, "route=\"%s\"", routes[r]);
        serve_histogram_write(out, "zenith_http_request_duration_seconds", labels,
                              &metrics->seconds[r], bounds);
    }
    serve_metrics_head(out, "zenith_requests_rejected_total", "counter",
                       "Requests that were not taken, or were given up.");
    for (size_t i = 0; i < SERVE_REASONS; i++)
        fprintf(out, "zenith_requests_rejected_total{reason=\"%s\"} %" PRIu64 "\n", reasons[i],
                metrics->rejected[i]);
}

// Numbers for each model and operation.
typedef struct family {
    const char *name, *type, *help;
    size_t offset;        // into serve_work_counts: of a count, or of a histogram
    const double *limits; // of a histogram's buckets; NULL: a count
} family;

#define AT(member) offsetof(serve_work_counts, member)
static const family families[] = {
    {"zenith_items_total", "counter", "Pictures done.", AT(items), NULL},
    {"zenith_pixels_total", "counter", "Their pixels.", AT(pixels), NULL},
    {"zenith_queue_depth", "gauge", "Requests under way.", AT(depth), NULL},
    {"zenith_queue_work_pixels", "gauge", "Their pixels.", AT(queued), NULL},
    {"zenith_queue_wait_seconds", "histogram", "From the body to the work.", AT(wait), bounds},
    {"zenith_infer_duration_seconds", "histogram", "The work.", AT(run), bounds},
    {"zenith_batch_size", "histogram", "Pictures that are worked together.", AT(batch), sizes},
    {"zenith_batches_total", "counter", "Batches, those of one among them.", AT(batches), NULL}};

static void write_family(const serve_metrics *metrics, const char *const *models, const family *f,
                         FILE *out)
{
    char labels[160];
    serve_metrics_head(out, f->name, f->type, f->help);
    for (size_t m = 0; models[m]; m++)
        for (size_t o = 0; o < SERVE_OPERATIONS; o++) {
            const void *counts = (const char *)&metrics->work[m][o] + f->offset;
            snprintf(labels, sizeof labels, "model=\"%s\",op=\"%s\"", models[m], operations[o]);
            if (f->limits)
                serve_histogram_write(out, f->name, labels, counts, f->limits);
            else
                fprintf(out, "%s{%s} %" PRId64 "\n", f->name, labels, *(const int64_t *)counts);
        }
}

static void write_work(const serve_metrics *metrics, const char *const *models, FILE *out)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        write_family(metrics, models, &families[i], out);
    serve_metrics_head(out, "zenith_model_loaded", "gauge", "Models that are served.");
    for (size_t i = 0; models[i]; i++)
        fprintf(out, "zenith_model_loaded{model=\"%s\"} 1\n", models[i]);
}

static long resident_pages(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL) return 0;
    if (fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
    fclose(file);
    return pages;
}

static long open_files(void)
{
    long count = -3; // . and .., and this folder itself
    DIR *folder = opendir("/proc/self/fd");
    if (folder == NULL) return 0;
    while (readdir(folder) != NULL) count++;
    closedir(folder);
    return count;
}

void serve_metrics_process(double started, FILE *out)
{
    struct rusage use = {0};
    getrusage(RUSAGE_SELF, &use);
    const double seconds = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
    serve_metrics_head(out, "process_cpu_seconds_total", "counter", "User and system time.");
    fprintf(out, "process_cpu_seconds_total %.2f\n", seconds);
    serve_metrics_head(out, "process_resident_memory_bytes", "gauge", "Memory in use.");
    fprintf(out, "process_resident_memory_bytes %ld\n", resident_pages() * sysconf(_SC_PAGESIZE));
    serve_metrics_head(out, "process_open_fds", "gauge", "Open files and connections.");
    fprintf(out, "process_open_fds %ld\n", open_files());
    serve_metrics_head(out, "process_start_time_seconds", "gauge", "Since 1970.");
    fprintf(out, "process_start_time_seconds %.2f\n", started);
}

void serve_metrics_write(serve_metrics *metrics, const serve_metrics_names *names, FILE *out)
{
    serve_metrics_head(out, "zenith_build_info", "gauge", "What serves.");
    fprintf(out, "zenith_build_info{version=\"%s\",isa=\"%s\",onednn=\"%s\"} 1\n", zenith_version(),
            names->isa, names->onednn);
    pthread_mutex_lock(&metrics->lock);
    write_requests(metrics, names->routes, out);
    write_work(metrics, names->models, out);
    pthread_mutex_unlock(&metrics->lock);
    serve_metrics_process(names->started, out);
}
