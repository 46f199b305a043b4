// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith/generate.h: an image's latent from a prompt, with the small bundled pipeline.
#include <zenith/generate.h>

static int print_nothing_and_go_on(void *cookie, const zenith_generate_report *report)
{
    *(uint32_t *)cookie = report->step;
    return 0; // any other number cancels the call
}

zenith_status prompt_to_latent(zenith_context *context, const char *prompt, float *values);

zenith_status prompt_to_latent(zenith_context *context, const char *prompt, float *values)
{
    zenith_generator *generator = NULL;
    zenith_generator_params where;
    zenith_generate_params what;
    zenith_latent latent;
    uint32_t steps_done = 0;
    zenith_generator_params_init(&where);
    zenith_generate_params_init(&what);
    zenith_latent_init(&latent);
    what.prompt = prompt;
    what.seed = 42;
    what.report = print_nothing_and_go_on;
    what.report_cookie = &steps_done;
    latent.width = latent.height = 32; // an image of 256 x 256
    latent.channels = 16;
    latent.data = values;
    zenith_status status = zenith_generator_open(context, &where, &generator);
    if (status == ZENITH_OK) status = zenith_generate(context, generator, &what, &latent);
    zenith_generator_free(generator);
    return status;
}
