// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The schedule of a pipeline (diffusers' scheduler_config.json), as far as diffusion/flow_match.h has it:
// FlowMatchEulerDiscreteScheduler with a fixed shift.
#ifndef ZN_FORMAT_SCHEDULE_CONFIG_H
#define ZN_FORMAT_SCHEDULE_CONFIG_H

#include "src/base/status.h"

#include <stddef.h>

// The shift that the text says; 1 where it says none. Another schedule, or a setting that would change the sigmas,
// is ZENITH_UNSUPPORTED, never a different picture. `where` names the text in messages.
zenith_status zn_schedule_config_parse(const char *text, size_t size, const char *where,
                                       double *shift, zn_error *err);

#endif
