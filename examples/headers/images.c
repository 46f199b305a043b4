// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith.h: a photograph to its latent and back, without a copy: a BGRA buffer, as GUI toolkits
// have, goes in and out. The examples here compile as C and as C++: structs are set up by their
// _init functions.
#include <zenith/zenith.h>

zenith_status photograph_to_latent_and_back(const void *bgra, void *back, uint32_t side,
                                            float *latent);

zenith_status photograph_to_latent_and_back(const void *bgra, void *back, uint32_t side,
                                            float *latent)
{
    zenith_context *context = NULL;
    zenith_model *model = NULL;
    zenith_context_params machine;
    zenith_model_params which;
    zenith_image image;
    zenith_latent values;
    zenith_context_params_init(&machine);
    zenith_model_params_init(&which);
    zenith_image_init(&image);
    zenith_latent_init(&values);
    which.name = "zenith-sd-fast";
    image.width = image.height = side;
    image.channels = ZENITH_BGRA;
    image.pixels = bgra;
    values.width = values.height = side / 8;
    values.channels = 4;
    values.data = latent;
    zenith_status status = zenith_context_create(&machine, &context);
    if (status == ZENITH_OK) status = zenith_model_open(context, &which, &model);
    if (status == ZENITH_OK) status = zenith_encode(context, model, &image, &values, 1, NULL);
    image.data = back;
    if (status == ZENITH_OK) status = zenith_decode(context, model, &values, &image, 1, NULL);
    zenith_model_free(model);
    zenith_context_free(context);
    return status;
}
