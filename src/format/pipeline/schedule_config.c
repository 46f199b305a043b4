// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/format/pipeline/schedule_config.h"

#include "src/base/json.h"

#include <string.h>

enum { TIMESTEPS = 1000, NAME_SHOWN = 100 };
static const double least_shift = 1e-3, most_shift = 1e3, most_guidance = 100;

static zenith_status check_kind(const zn_json *config, zn_error *err)
{
    static const char known[] = "FlowMatchEulerDiscreteScheduler";
    const char *kind;
    if (!zn_json_has(config, "_class_name")) return ZENITH_OK;
    ZN_TRY(zn_json_get_text(config, "_class_name", &kind, err));
    if (strcmp(kind, known) == 0) return ZENITH_OK;
    return zn_fail(err, ZENITH_UNSUPPORTED, "the schedule is %.*s, and only %s is known",
                   NAME_SHOWN, kind, known);
}

static zenith_status check_off(const zn_json *config, const char *key, zn_error *err)
{
    bool on = false;
    if (!zn_json_has(config, key)) return ZENITH_OK;
    ZN_TRY(zn_json_get_flag(config, key, &on, err));
    if (!on) return ZENITH_OK;
    return zn_fail(err, ZENITH_UNSUPPORTED, "this version has no schedule with \"%s\"", key);
}

static zenith_status check_settings(const zn_json *config, zn_error *err)
{
    static const char *const off[] = {"use_dynamic_shifting",   "use_karras_sigmas",
                                      "use_exponential_sigmas", "use_beta_sigmas",
                                      "invert_sigmas",          "stochastic_sampling"};
    int64_t timesteps = TIMESTEPS;
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) ZN_TRY(check_off(config, off[i], err));
    if (zn_json_has(config, "num_train_timesteps"))
        ZN_TRY(zn_json_get_integer(config, "num_train_timesteps", 1, INT32_MAX, &timesteps, err));
    if (timesteps != TIMESTEPS || zn_json_has(config, "shift_terminal"))
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "this version knows schedules of %d timesteps without \"shift_terminal\"",
                       TIMESTEPS);
    return ZENITH_OK;
}

static zenith_status read_usual(const zn_json *config, zn_schedule_config *out, zn_error *err)
{
    int64_t steps = 0;
    double guidance = 0;
    if (zn_json_has(config, "num_inference_steps"))
        ZN_TRY(zn_json_get_integer(config, "num_inference_steps", 1, TIMESTEPS, &steps, err));
    if (zn_json_has(config, "guidance_scale"))
        ZN_TRY(zn_json_get_number(config, "guidance_scale", &guidance, err));
    if (!(guidance >= 0 && guidance <= most_guidance))
        return zn_fail(err, ZENITH_BAD_FILE, "\"guidance_scale\" is not between 0 and %g",
                       most_guidance);
    out->steps = (uint32_t)steps;
    out->guidance = guidance;
    return ZENITH_OK;
}

static zenith_status read_config(const zn_json *config, zn_schedule_config *out, zn_error *err)
{
    double value = 1;
    zn_schedule_config read = {0};
    if (!zn_json_is_object(config)) return zn_fail(err, ZENITH_BAD_FILE, "not a JSON object");
    ZN_TRY(check_kind(config, err));
    ZN_TRY(check_settings(config, err));
    if (zn_json_has(config, "shift")) ZN_TRY(zn_json_get_number(config, "shift", &value, err));
    if (!(value >= least_shift && value <= most_shift))
        return zn_fail(err, ZENITH_BAD_FILE, "\"shift\" is not between %g and %g", least_shift,
                       most_shift);
    ZN_TRY(read_usual(config, &read, err));
    read.shift = value;
    *out = read;
    return ZENITH_OK;
}

zenith_status zn_schedule_config_parse(const char *text, size_t size, const char *where,
                                       zn_schedule_config *out, zn_error *err)
{
    zn_json *config = NULL;
    ZN_TRY(zn_json_parse(text, size, where, &config, err));
    zenith_status status = read_config(config, out, err);
    if (status != ZENITH_OK) zn_error_prefix(err, where);
    zn_json_free(config);
    return status;
}
