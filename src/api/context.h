// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The inside of a zenith_context, for the files of api/.
#ifndef ZN_API_CONTEXT_H
#define ZN_API_CONTEXT_H

#include "src/api/sentences.h"
#include "src/base/caller_struct.h"
#include "src/base/cpu.h"
#include "src/base/executor.h"
#include "src/base/log.h"
#include "src/base/os.h"
#include "zenith/zenith.h"

struct zn_engine; // task/engine/engine.h: plans and working memory, per stream

struct zenith_context {
    zn_mutex *lock;          // one call at a time
    zn_error error;          // of the call that holds the lock
    zn_sentences *sentences; // of the last call of each thread
    zn_executor *executor;
    struct zn_engine *engine;
    zn_cpu cpu;
    zn_cpu_share share;
    zn_log log;
    uint64_t process; // that made it: a forked child gets ZENITH_FORKED
};

// Begins a call: refuses NULL and forked contexts, takes the lock, clears the error. Pair with
// _leave, which keeps the error's text for the calling thread and returns the status.
zenith_status zn_context_enter(zenith_context *context);
zenith_status zn_context_leave(zenith_context *context, zenith_status status);

// A caller's params, whose first version had at least one field; NULL: all zero.
static inline zenith_status zn_params_copy(const void *params, void *dst, size_t dst_size,
                                           zn_error *err)
{
    return zn_caller_struct_in(params, 2 * sizeof(size_t), dst, dst_size, err);
}
// The same for parameters of a run, checked, with the default type filled in.
zenith_status zn_run_params_fill(const zenith_context *context, const zenith_run_params *params,
                                 zenith_run_params *out, zn_error *err);

#endif
