// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A context: its birth and end, and the frame around every call on it.
#include "src/api/context.h"

#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/task/engine/engine.h"

const char *zenith_version(void)
{
    return ZENITH_VERSION_TEXT;
}

int zenith_version_number(void)
{
    return ZENITH_VERSION;
}

// --- calls --------------------------------------------------------------------------------------

zenith_status zn_context_enter(zenith_context *context)
{
    if (!context) return ZENITH_INVALID_ARGUMENT;
    if (context->process != zn_process_id()) return ZENITH_FORKED;
    zn_mutex_lock(context->lock);
    context->error.text[0] = 0;
    return ZENITH_OK;
}

zenith_status zn_context_leave(zenith_context *context, zenith_status status)
{
    if (status != ZENITH_OK) zn_fail(&context->error, status, "%s", zenith_status_text(status));
    zn_sentences_set(context->sentences, status == ZENITH_OK ? "" : context->error.text);
    zn_mutex_unlock(context->lock);
    return status;
}

const char *zenith_context_error(const zenith_context *context)
{
    if (!context) return "";
    if (context->process != zn_process_id()) {
        return "this process was forked after the context was made: make a new context in the "
               "child";
    }
    return zn_sentences_get(context->sentences);
}

// --- creation -----------------------------------------------------------------------------------

static int default_threads(const zn_cpu_share *share)
{
    int threads = share->physical_cores < share->affinity ? share->physical_cores : share->affinity;
    if (share->quota > 0 && share->quota < threads) threads = share->quota;
    return threads > 0 ? threads : 1;
}

static zenith_status start(zenith_context *context, const zenith_context_params *params)
{
    enum { MOST = 1024 };
    zn_error *err = &context->error;
    int threads = params->threads > 0 ? params->threads : default_threads(&context->share);
    int streams = params->streams > 0 ? params->streams : 1;
    if (params->threads < 0 || params->streams < 0 || threads > MOST || streams > MOST) {
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "threads and streams must be 0 to %d", MOST);
    }
    ZN_TRY(zn_mutex_create(&context->lock, err));
    ZN_TRY(zn_sentences_create(&context->sentences, err));
    ZN_TRY(zn_executor_create(streams, threads, &context->executor, err));
    return zn_engine_create(context->executor, &context->cpu, params->plan_memory,
                            params->tuned_plans, &context->engine, err);
}

zenith_status zenith_context_create(const zenith_context_params *params, zenith_context **out)
{
    if (!out) return ZENITH_INVALID_ARGUMENT;
    zenith_context_params filled;
    ZN_TRY(zn_params_copy(params, &filled, sizeof filled, NULL));
    zenith_context *context = zn_alloc_zero(sizeof *context);
    if (!context) return ZENITH_OUT_OF_MEMORY;
    context->process = zn_process_id();
    context->cpu = zn_cpu_detect();
    context->share = zn_os_cpu_share();
    context->log = (zn_log){filled.log, filled.log_cookie, filled.log_level};
    zenith_status status = start(context, &filled);
    if (status != ZENITH_OK) {
        zenith_context_free(context);
        return status;
    }
    zn_log_write(&context->log, ZN_LOG_INFO, "%d threads on %s",
                 zn_executor_threads(context->executor), zn_cpu_class(context->cpu.flags));
    *out = context;
    return ZENITH_OK;
}

void zenith_context_free(zenith_context *context)
{
    if (!context) return;
    // In a forked child the executor's threads are not there; what it frees it frees by itself.
    if (context->executor) zn_executor_end(context->executor);
    zn_engine_free(context->engine);
    zn_executor_free(context->executor);
    zn_sentences_unref(context->sentences);
    zn_mutex_free(context->lock);
    zn_free(context);
}

void zenith_context_trim(zenith_context *context)
{
    if (zn_context_enter(context) != ZENITH_OK) return;
    zn_engine_trim(context->engine);
    (void)zn_context_leave(context, ZENITH_OK);
}
