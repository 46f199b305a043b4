// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What the server counts, and how Prometheus reads it (text format 0.0.4). Any thread may count.
#ifndef ZN_SERVE_METRICS_METRICS_H
#define ZN_SERVE_METRICS_METRICS_H

#include "apps/serve/protocols/ask.h"

#include <pthread.h>
#include <stdio.h>

enum { SERVE_BUCKETS = 12, SERVE_CODES = 17, SERVE_ROUTES = 64, SERVE_MODELS = 32 };

typedef struct serve_histogram {
    uint64_t counts[SERVE_BUCKETS + 1]; // the last: above all bounds
    double sum;
} serve_histogram;

// Of one model and operation.
typedef struct serve_work_counts {
    int64_t items, pixels, batches;
    int64_t depth;                    // requests under way
    int64_t queued;                   // their pixels
    serve_histogram wait, run, batch; // batch: pictures in each
} serve_work_counts;

typedef enum serve_reason {
    SERVE_QUEUE_FULL = 0,
    SERVE_LATE = 1,
    SERVE_TOO_LARGE = 2,
    SERVE_DRAINING = 3,
    SERVE_KEY_LIMIT = 4,
    SERVE_REASONS = 5
} serve_reason;

typedef struct serve_metrics {
    pthread_mutex_t lock; // of all that follows
    uint64_t requests[SERVE_ROUTES][SERVE_CODES];
    serve_histogram seconds[SERVE_ROUTES];
    uint64_t rejected[SERVE_REASONS];
    serve_work_counts work[SERVE_MODELS][SERVE_OPERATIONS];
} serve_metrics;

void serve_metrics_request(serve_metrics *metrics, size_t route, int code, double seconds);
void serve_metrics_rejected(serve_metrics *metrics, serve_reason reason);
// A request with so many pixels begins (+1) or ends (-1).
void serve_metrics_depth(serve_metrics *metrics, size_t model, serve_operation operation, int step,
                         uint64_t pixels);
// A picture is done.
void serve_metrics_item(serve_metrics *metrics, size_t model, serve_operation operation,
                        uint64_t pixels, double waited, double ran);

// So many pictures begin together.
void serve_metrics_batch(serve_metrics *metrics, size_t model, serve_operation operation,
                         size_t count);

typedef struct serve_metrics_names {
    const char *const *routes; // ends with NULL
    const char *const *models; // likewise
    const char *isa, *onednn;
    double started; // seconds since 1970
} serve_metrics_names;
void serve_metrics_write(serve_metrics *metrics, const serve_metrics_names *names, FILE *out);

// What every page of metrics is made of. `limits` are SERVE_BUCKETS bounds; labels may not be
// empty.
void serve_histogram_note(serve_histogram *histogram, const double *limits, double value);
void serve_histogram_write(FILE *out, const char *name, const char *labels,
                           const serve_histogram *histogram, const double *limits);
void serve_metrics_head(FILE *out, const char *name, const char *type, const char *help);
void serve_metrics_process(double started, FILE *out); // seconds since 1970

#endif
