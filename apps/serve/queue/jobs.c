// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See jobs.h.
#include "apps/serve/queue/jobs.h"

#include "apps/serve/http/routes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { MOST_KEPT = 1024 }; // jobs that are over; what they answered is bounded by bytes besides

static const char *const names[SERVE_JOB_STATES] = {"queued", "running", "done", "failed",
                                                    "cancelled"};

struct serve_job {
    serve_jobs *jobs;
    atomic_int references;
    char id[33];
    size_t route;
    serve_key *key;
    bool counted;
    time_t created;
    serve_job *next; // of the list; this and what follows is of the lock
    serve_task *task;
    bool over, cancelled, read;
    serve_job_state end;
    double ended;
    serve_place place; // at the end
    serve_answer answer;
    serve_failure failure;
};

struct serve_jobs {
    size_t most;
    uint64_t memory;
    double seconds;
    pthread_mutex_t lock;
    serve_job *first; // the oldest
};

serve_jobs *serve_jobs_create(const serve_settings *settings)
{
    serve_jobs *jobs = calloc(1, sizeof *jobs);
    if (jobs == NULL) return NULL;
    jobs->most = (size_t)settings->jobs;
    jobs->memory = settings->job_memory;
    jobs->seconds = settings->job_seconds;
    pthread_mutex_init(&jobs->lock, NULL);
    return jobs;
}

void serve_job_unref(serve_job *job)
{
    if (job == NULL || atomic_fetch_sub(&job->references, 1) > 1) return;
    serve_task_unref(job->task);
    serve_answer_free(&job->answer);
    free(job);
}

void serve_jobs_free(serve_jobs *jobs)
{
    if (jobs == NULL) return;
    for (serve_job *next, *job = jobs->first; job != NULL; job = next) {
        next = job->next;
        serve_job_unref(job);
    }
    pthread_mutex_destroy(&jobs->lock);
    free(jobs);
}

// --- room; the lock is held ---------------------------------------------------------------------

static size_t count_pending(const serve_jobs *jobs)
{
    size_t count = 0;
    for (const serve_job *each = jobs->first; each != NULL; each = each->next) count += !each->over;
    return count;
}

static uint64_t bytes_of(const serve_job *job)
{
    size_t size;
    serve_answer_body(&job->answer, &size);
    return size;
}

static bool is_full(const serve_jobs *jobs)
{
    size_t kept = 0;
    uint64_t bytes = 0;
    for (const serve_job *each = jobs->first; each != NULL; each = each->next) {
        kept += each->over;
        bytes += each->over ? bytes_of(each) : 0;
    }
    return kept > MOST_KEPT || bytes > jobs->memory;
}

static bool is_old(const serve_jobs *jobs, const serve_job *job, double now)
{
    return job->over && now - job->ended > jobs->seconds;
}

static void unlink_job(serve_jobs *jobs, const serve_job *job)
{
    serve_job **link = &jobs->first;
    while (*link != NULL && *link != job) link = &(*link)->next;
    if (*link != NULL) *link = job->next;
}

// The one to forget: one that is too old; of too many the oldest that was read, else the oldest.
// NULL: all may stay.
static serve_job *find_unwanted(serve_jobs *jobs, double now)
{
    serve_job *oldest = NULL, *read = NULL;
    for (serve_job *each = jobs->first; each != NULL; each = each->next) {
        if (is_old(jobs, each, now)) return each;
        if (each->over && oldest == NULL) oldest = each;
        if (each->over && each->read && read == NULL) read = each;
    }
    if (!is_full(jobs)) return NULL;
    return read != NULL ? read : oldest;
}

// --- the life of a job --------------------------------------------------------------------------

// 128 bits that nobody guesses.
static bool make_id(char id[33])
{
    uint8_t bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) return false;
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(id + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

// What is larger than the room for all answers cannot be kept.
static void check_size(serve_job *job)
{
    const unsigned long long most = job->jobs->memory;
    if (bytes_of(job) <= most) return;
    serve_fail_size(&job->failure,
                    "the answer is larger than %llu bytes: ask for it "
                    "without a job",
                    most);
    serve_answer_failure(&job->answer, &job->failure, false);
}

// The task is over; on any thread.
static void finish(void *cookie)
{
    serve_job *job = cookie;
    serve_jobs *jobs = job->jobs;
    serve_task *task = job->task;
    if (job->counted) serve_key_leave(&task->server->keys, job->key);
    pthread_mutex_lock(&jobs->lock);
    serve_task_place(task, &job->place);
    job->answer = task->answer;
    task->answer = (serve_answer){0};
    job->failure = task->failure;
    check_size(job);
    const bool good = job->answer.code == 200;
    const bool cancelled = job->cancelled || atomic_load(&task->left);
    job->end = good ? SERVE_JOB_DONE : cancelled ? SERVE_JOB_CANCELLED : SERVE_JOB_FAILED;
    job->ended = serve_clock();
    job->over = true;
    pthread_mutex_unlock(&jobs->lock);
    serve_job_unref(job);
}

static serve_job *make_job(serve_jobs *jobs, serve_task *task, serve_key *key, bool counted)
{
    serve_job *job = calloc(1, sizeof *job);
    if (job == NULL || !make_id(job->id)) {
        free(job);
        return NULL;
    }
    atomic_init(&job->references, 3); // the list's, the task's and the caller's
    job->jobs = jobs;
    job->route = task->route;
    job->key = key;
    job->counted = counted;
    job->created = time(NULL);
    job->task = task;
    return job;
}

// Only the polling thread adds, so that the room it finds stays.
bool serve_jobs_add(serve_jobs *jobs, serve_task *task, serve_key *key, bool counted,
                    serve_job **out, serve_failure *failure)
{
    const size_t pending = serve_jobs_pending(jobs);
    if (pending >= jobs->most)
        return serve_fail(failure, 429, "queue_full",
                          "there are %zu jobs that are not over: ask again later", pending);
    serve_job *job = make_job(jobs, task, key, counted);
    if (job == NULL) return serve_fail_memory(failure);
    serve_task_ref(task);
    serve_task_start(task, -1, finish, job);
    pthread_mutex_lock(&jobs->lock);
    serve_job **end = &jobs->first;
    while (*end != NULL) end = &(*end)->next;
    *end = job;
    pthread_mutex_unlock(&jobs->lock);
    *out = job;
    return true;
}

serve_job *serve_jobs_find(serve_jobs *jobs, const char *id, size_t length, const serve_key *key)
{
    pthread_mutex_lock(&jobs->lock);
    serve_job *job = jobs->first;
    while (job != NULL &&
           (job->key != key || strlen(job->id) != length || memcmp(job->id, id, length) != 0))
        job = job->next;
    if (job != NULL) atomic_fetch_add(&job->references, 1);
    pthread_mutex_unlock(&jobs->lock);
    return job;
}

void serve_job_delete(serve_jobs *jobs, serve_job *job)
{
    pthread_mutex_lock(&jobs->lock);
    const bool over = job->over;
    serve_task *task = job->task;
    job->cancelled = true;
    if (!over) serve_task_ref(task);
    if (over)
        job->task =
            NULL; // freed here: the end of a task must not find itself the last to hold the job
    if (over) unlink_job(jobs, job);
    pthread_mutex_unlock(&jobs->lock);
    if (!over) serve_task_cancel(task);
    serve_task_unref(task);
    if (over) serve_job_unref(job); // the list's
}

// --- what is seen of it -------------------------------------------------------------------------

const char *serve_job_id(const serve_job *job)
{
    return job->id;
}

static serve_job_state look(serve_job *job, serve_place *place)
{
    *place = job->place;
    if (job->over) return job->end;
    serve_task_place(job->task, place);
    return place->running ? SERVE_JOB_RUNNING : SERVE_JOB_QUEUED;
}

serve_job_state serve_job_look(serve_job *job, serve_place *place)
{
    pthread_mutex_lock(&job->jobs->lock);
    const serve_job_state state = look(job, place);
    pthread_mutex_unlock(&job->jobs->lock);
    return state;
}

char *serve_job_preview(serve_job *job, unsigned *seen)
{
    pthread_mutex_lock(&job->jobs->lock);
    char *text = job->task != NULL && job->task->generation != NULL
                     ? serve_generation_kept(job->task->generation, seen)
                     : NULL;
    pthread_mutex_unlock(&job->jobs->lock);
    return text;
}

static void set_number(json_t *object, const char *name, uint64_t number)
{
    json_object_set_new(object, name, json_integer((json_int_t)number));
}

// The lock is held.
static json_t *describe(serve_job *job)
{
    serve_place place;
    const serve_job_state state = look(job, &place);
    json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I}", "id", job->id, "object",
                               "job", "route", serve_routes[job->route].path, "state", names[state],
                               "created", (json_int_t)job->created, "step", (json_int_t)place.step,
                               "total", (json_int_t)place.total);
    if (state == SERVE_JOB_QUEUED) set_number(object, "position", place.before);
    if (!job->over && place.seconds >= 0)
        json_object_set_new(object, "eta", json_real(place.seconds));
    if (state == SERVE_JOB_DONE) set_number(object, "bytes", bytes_of(job));
    if (state == SERVE_JOB_FAILED)
        json_object_set_new(object, "error",
                            json_pack("{s:s, s:i, s:s}", "type", job->failure.type, "code",
                                      job->failure.code, "message", job->failure.text));
    return object;
}

json_t *serve_job_describe(serve_job *job)
{
    pthread_mutex_lock(&job->jobs->lock);
    json_t *object = describe(job);
    pthread_mutex_unlock(&job->jobs->lock);
    return object;
}

json_t *serve_jobs_describe(serve_jobs *jobs, const serve_key *key)
{
    json_t *list = json_array();
    pthread_mutex_lock(&jobs->lock);
    for (serve_job *each = jobs->first; each != NULL; each = each->next)
        if (each->key == key) json_array_append_new(list, describe(each));
    pthread_mutex_unlock(&jobs->lock);
    return list;
}

bool serve_job_result(serve_job *job, serve_answer *answer, serve_failure *failure)
{
    pthread_mutex_lock(&job->jobs->lock);
    const bool over = job->over, there = over && job->end != SERVE_JOB_CANCELLED;
    if (there) {
        *answer = job->answer;
        answer->borrowed = true;
        job->read = true;
    }
    pthread_mutex_unlock(&job->jobs->lock);
    return there || serve_fail(failure, 409, "conflict",
                               over ? "the job was cancelled" : "the job is not over");
}

// --- all of them --------------------------------------------------------------------------------

// A task that is over and to be freed, or a job to be forgotten, each with the list's hold of it.
static bool take_one(serve_jobs *jobs, serve_task **task, serve_job **job)
{
    *task = NULL;
    *job = NULL;
    pthread_mutex_lock(&jobs->lock);
    for (serve_job *each = jobs->first; each != NULL && *task == NULL; each = each->next) {
        if (!each->over || each->task == NULL) continue;
        *task = each->task;
        each->task = NULL;
    }
    if (*task == NULL) *job = find_unwanted(jobs, serve_clock());
    if (*job != NULL) unlink_job(jobs, *job);
    pthread_mutex_unlock(&jobs->lock);
    return *task != NULL || *job != NULL;
}

void serve_jobs_look(serve_jobs *jobs)
{
    serve_task *task;
    serve_job *job;
    while (take_one(jobs, &task, &job)) {
        serve_task_unref(task);
        serve_job_unref(job);
    }
}

// One that is pending and was not told yet, with its task held; NULL: there is none.
static serve_task *find_pending(serve_jobs *jobs)
{
    serve_task *task = NULL;
    pthread_mutex_lock(&jobs->lock);
    for (serve_job *each = jobs->first; each != NULL && task == NULL; each = each->next) {
        if (each->over || each->cancelled) continue;
        each->cancelled = true;
        task = each->task;
        serve_task_ref(task);
    }
    pthread_mutex_unlock(&jobs->lock);
    return task;
}

void serve_jobs_cancel(serve_jobs *jobs)
{
    for (serve_task *task; (task = find_pending(jobs)) != NULL;) {
        serve_task_cancel(task);
        serve_task_unref(task);
    }
}

size_t serve_jobs_pending(serve_jobs *jobs)
{
    pthread_mutex_lock(&jobs->lock);
    const size_t count = count_pending(jobs);
    pthread_mutex_unlock(&jobs->lock);
    return count;
}

void serve_jobs_write(serve_jobs *jobs, FILE *out)
{
    serve_place place;
    size_t counts[SERVE_JOB_STATES] = {0};
    pthread_mutex_lock(&jobs->lock);
    for (serve_job *each = jobs->first; each != NULL; each = each->next)
        counts[look(each, &place)]++;
    pthread_mutex_unlock(&jobs->lock);
    fprintf(out, "# HELP zenith_jobs Jobs that are known, by state.\n# TYPE zenith_jobs gauge\n");
    for (size_t i = 0; i < SERVE_JOB_STATES; i++)
        fprintf(out, "zenith_jobs{state=\"%s\"} %zu\n", names[i], counts[i]);
}
