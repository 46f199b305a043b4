// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith_inspect, whose work is in task/inspect/inspection.c.
#include "src/api/context.h"
#include "src/base/memory.h"
#include "src/task/inspect/inspection.h"

zenith_status zenith_inspect(zenith_context *context, const char *path, const char *model,
                             bool graph, char **out)
{
    ZN_TRY(zn_context_enter(context));
    zenith_status status = path && out ? zn_inspect(path, model, graph, out, &context->error)
                                       : zn_fail(&context->error, ZENITH_INVALID_ARGUMENT,
                                                 "path or out is NULL");
    return zn_context_leave(context, status);
}

void zenith_text_free(char *text)
{
    zn_free(text);
}
