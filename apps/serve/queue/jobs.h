// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Jobs: tasks that nobody waits for. A job is found again by its id, by the key that made it alone,
// until its answer has been kept for as long as the settings say, or its room is wanted by newer
// ones.
//
// Invariants
//   1. A job has its task until that is over and serve_jobs_look has freed it: its end comes on a
//      thread of the task's own work, which cannot free itself.
//   2. Three may hold a job: the list, its task until that is over, and a request that shows it.
#ifndef ZN_SERVE_QUEUE_JOBS_H
#define ZN_SERVE_QUEUE_JOBS_H

#include "apps/serve/queue/task.h"

#include <jansson.h>

typedef struct serve_job serve_job;
typedef struct serve_jobs serve_jobs;

typedef enum serve_job_state {
    SERVE_JOB_QUEUED = 0,
    SERVE_JOB_RUNNING = 1,
    SERVE_JOB_DONE = 2,
    SERVE_JOB_FAILED = 3,
    SERVE_JOB_CANCELLED = 4,
    SERVE_JOB_STATES = 5
} serve_job_state;

serve_jobs *serve_jobs_create(const serve_settings *settings); // NULL: out of memory
void serve_jobs_free(serve_jobs *jobs);                        // when none is pending; NULL is fine

// Starts a task that was opened, and holds it; the job is held for the caller. key: who may ask for
// it; counted: it leaves the key's limits when it is over. False: there are too many.
bool serve_jobs_add(serve_jobs *jobs, serve_task *task, serve_key *key, bool counted,
                    serve_job **out, serve_failure *failure);
// Held for the caller; NULL: there is none of this id, or it is another key's.
serve_job *serve_jobs_find(serve_jobs *jobs, const char *id, size_t length, const serve_key *key);
void serve_job_unref(serve_job *job); // NULL is fine

const char *serve_job_id(const serve_job *job);
// What a client sees of it: {"id", "route", "state", "created", "step", "total"}, and what its
// state has besides.
json_t *serve_job_describe(serve_job *job);
json_t *serve_jobs_describe(serve_jobs *jobs,
                            const serve_key *key); // an array of all that the key has
// What its route would have answered, borrowed from the job. False: it is not there.
bool serve_job_result(serve_job *job, serve_answer *answer, serve_failure *failure);
// Cancels one that is pending; forgets one that is over.
void serve_job_delete(serve_jobs *jobs, serve_job *job);

// What its events are made of: the state and how far it is.
serve_job_state serve_job_look(serve_job *job, serve_place *place);
// The newest preview as an event, to be freed, where it is newer than *seen, which follows; NULL:
// there is none.
char *serve_job_preview(serve_job *job, unsigned *seen);

// Of the main thread, every few milliseconds: frees what is over, and forgets what was kept long
// enough.
void serve_jobs_look(serve_jobs *jobs);
void serve_jobs_cancel(serve_jobs *jobs); // all
size_t serve_jobs_pending(serve_jobs *jobs);
void serve_jobs_write(serve_jobs *jobs, FILE *out); // for Prometheus

#endif
