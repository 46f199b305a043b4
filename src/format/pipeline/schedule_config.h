// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The schedule of a pipeline (diffusers' scheduler_config.json), as far as diffusion/flow_match.h
// has it: FlowMatchEulerDiscreteScheduler with a fixed shift.
#ifndef ZN_FORMAT_PIPELINE_SCHEDULE_CONFIG_H
#define ZN_FORMAT_PIPELINE_SCHEDULE_CONFIG_H

#include "src/base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct zn_schedule_config {
    double shift; // 1 where the text says none
    // What pictures are made with where nobody says it: "num_inference_steps" and "guidance_scale",
    // which diffusers takes with each call and leaves alone here. 0: the text does not say, and no
    // guidance.
    uint32_t steps;
    double guidance;
} zn_schedule_config;

// Another schedule, or a setting that would change the sigmas, is ZENITH_UNSUPPORTED, never a
// different picture. `where` names the text in messages.
zenith_status zn_schedule_config_parse(const char *text, size_t size, const char *where,
                                       zn_schedule_config *out, zn_error *err);

#endif
