// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "zenith/train.h"
#include "src/api/context.h"
#include "src/task/autoencode/autoencode.h"
#include "src/train/run/trainer.h"

typedef struct reporting {
    zenith_train_fn *report;
    zenith_skip_fn *skip;
    void *cookie;
} reporting;

static int on_report(void *cookie, const zn_train_report *report)
{
    const reporting *r = cookie;
    if (!r->report) return 0;
    const zenith_train_report told = {.size = sizeof told,
                                      .step = report->step,
                                      .steps = report->steps,
                                      .loss = report->loss,
                                      .psnr = report->psnr,
                                      .images_per_second = report->images_per_second,
                                      .seconds_left = report->seconds_left};
    return r->report(r->cookie, &told);
}

static void on_skip(void *cookie, const char *name, const char *reason)
{
    const reporting *r = cookie;
    if (r->skip) r->skip(r->cookie, name, reason);
}

static zenith_status train(zenith_context *context, const zenith_train_params *params)
{
    zenith_train_params filled;
    ZN_TRY(zn_params_copy(params, &filled, sizeof filled, &context->error));
    if (!filled.config)
        return zn_fail(&context->error, ZENITH_INVALID_ARGUMENT, "the config's path is NULL");
    reporting told = {filled.report, filled.skip, filled.report_cookie};
    const zn_train_options options = {.config = filled.config,
                                      .resume = filled.resume,
                                      .stop_at = filled.stop_at,
                                      .threads = zn_executor_threads(context->executor) *
                                                 zn_executor_streams(context->executor),
                                      .cpu = context->cpu,
                                      .cancel = filled.cancel ? &filled.cancel->requested : NULL,
                                      .report = on_report,
                                      .skip = on_skip,
                                      .cookie = &told,
                                      .log = &context->log};
    return zn_train(&options, &context->error);
}

zenith_status zenith_train(zenith_context *context, const zenith_train_params *params)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, train(context, params));
}
