// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith/diffae.h: the semantic code of a face is moved towards an attribute, and decoded.
#include <zenith/diffae.h>

zenith_status make_it_smile(zenith_context *context, zenith_model *model, zenith_image *face,
                            float *numbers, float *noise);

zenith_status make_it_smile(zenith_context *context, zenith_model *model, zenith_image *face,
                            float *numbers, float *noise)
{
    zenith_diffae_info info;
    zenith_code code;
    zenith_diffae_info_init(&info);
    zenith_code_init(&code);
    zenith_status status = zenith_diffae_get_info(context, model, &info);
    code.width = face->width;
    code.height = face->height;
    code.code = numbers; // info.numbers of them
    code.noise = noise;  // info.channels planes of the image's size
    if (status == ZENITH_OK) status = zenith_diffae_encode(context, model, face, &code, NULL);
    for (uint32_t i = 0; status == ZENITH_OK && i < info.attributes; i++) {
        const char *name = zenith_diffae_attribute(model, i);
        if (name && strcmp(name, "Smiling") == 0)
            status = zenith_diffae_edit(context, model, &code, i, 0.3);
    }
    if (status == ZENITH_OK) status = zenith_diffae_decode(context, model, &code, face, NULL);
    return status;
}
