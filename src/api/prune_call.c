// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/api/context.h"
#include "src/api/models.h"
#include "src/task/autoencode/autoencode.h"
#include "src/train/prune/prune.h"
#include "zenith/train.h"

enum { DEFAULT_MULTIPLE = 32, DEFAULT_BATCHES = 16 }; // 32 of bf16 are what conv_dot takes at once

static void tell(const zn_prune_report *report, zenith_prune_info *out)
{
    const zn_prune_count *before = &report->before, *after = &report->after;
    const zenith_prune_info info = {.parts = report->parts,
                                    .parameters_before = before->parameters,
                                    .parameters = after->parameters,
                                    .channels_before = before->channels,
                                    .channels = after->channels,
                                    .blocks_before = before->blocks,
                                    .blocks = after->blocks,
                                    .operations_before = before->operations,
                                    .operations = after->operations,
                                    .frequencies_before = before->frequencies,
                                    .frequencies = after->frequencies};
    if (out) zn_caller_struct_out(&info, sizeof info, out);
}

static zenith_status prune(zenith_context *context, const zenith_model *model,
                           const zenith_prune_params *params, zenith_prune_info *out)
{
    zn_error *err = &context->error;
    zenith_prune_params full;
    zn_prune_report report;
    ZN_TRY(zn_params_copy(params, &full, sizeof full, err));
    if (!model || !full.output)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "the model or the output's path is NULL");
    if (full.blocks > INT16_MAX || full.frequencies > INT16_MAX ||
        full.parts > (ZENITH_ENCODER | ZENITH_DECODER))
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "an unknown part, or too many blocks or frequencies");
    const zn_prune_options options = {.model = model->inner,
                                      .output = full.output,
                                      .parts = full.parts,
                                      .channels = full.channels,
                                      .blocks = (int)full.blocks,
                                      .multiple = full.multiple ? full.multiple : DEFAULT_MULTIPLE,
                                      .frequencies = (int)full.frequencies,
                                      .still = full.still,
                                      .config = full.config,
                                      .batches = full.batches ? full.batches : DEFAULT_BATCHES,
                                      .threads = zn_executor_threads(context->executor) *
                                                 zn_executor_streams(context->executor),
                                      .cpu = context->cpu,
                                      .cancel = full.cancel ? &full.cancel->requested : NULL,
                                      .log = &context->log};
    ZN_TRY(zn_prune(&options, &report, err));
    tell(&report, out);
    return ZENITH_OK;
}

zenith_status zenith_prune(zenith_context *context, const zenith_model *model,
                           const zenith_prune_params *params, zenith_prune_info *out)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, prune(context, model, params, out));
}
