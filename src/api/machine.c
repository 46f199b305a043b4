// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a context runs on.
#include "src/api/context.h"
#include "src/task/engine/engine.h"

void zenith_context_get_machine(const zenith_context *context, zenith_machine_info *out)
{
    if (!context || !out) return;
    const zenith_machine_info info = {.isa = zn_cpu_class(context->cpu.flags),
                                      .hardware = zn_cpu_class(context->cpu.hardware),
                                      .onednn = zn_engine_onednn(),
                                      .threads = zn_executor_threads(context->executor),
                                      .streams = zn_executor_streams(context->executor),
                                      .affinity = context->share.affinity,
                                      .physical_cores = context->share.physical_cores,
                                      .quota = context->share.quota};
    zn_caller_struct_out(&info, sizeof info, out);
}
