// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Zenith as a contender (contender.h): one picture encoded or decoded per iteration through the
// public interface, from floats to floats in CHW order, as the other runtimes take and give them.
#include "bench/contender.h"
#include "zenith/zenith.h"

#include <stdio.h>
#include <string.h>

typedef struct bench {
    zenith_context *context;
    zenith_model *model;
    zenith_image image;
    zenith_latent latent;
    zenith_run_params params;
    bool encode;
} bench;

static void run_once(void *cookie)
{
    bench *b = cookie;
    zenith_status status = b->encode ? zenith_encode(b->context, b->model, &b->image, &b->latent, 1,
                                                     &b->params)
                                     : zenith_decode(b->context, b->model, &b->latent, &b->image, 1,
                                                     &b->params);
    if (status != ZENITH_OK) contender_fail("run", zenith_context_error(b->context));
}

static void open_model(bench *b, const contender_options *o)
{
    const zenith_context_params machine = {.size = sizeof machine, .threads = o->threads};
    const zenith_model_params which = {.size = sizeof which,
                                       .name = *o->model ? o->model : NULL,
                                       .weights = o->weights,
                                       .parts = o->encode ? ZENITH_ENCODER : ZENITH_DECODER};
    if (zenith_context_create(&machine, &b->context) != ZENITH_OK)
        contender_fail("context", "cannot be made");
    if (zenith_model_open(b->context, &which, &b->model) != ZENITH_OK)
        contender_fail("model", zenith_context_error(b->context));
}

static void set_buffers(bench *b, const contender_options *o)
{
    zenith_model_info info = {.size = sizeof info};
    zenith_model_get_info(b->model, &info);
    uint32_t side = o->size / info.factor;
    size_t image_count = (size_t)o->size * o->size * 3;
    size_t latent_count = (size_t)side * side * info.latent_channels;
    b->image = (zenith_image){.size = sizeof b->image,
                              .width = o->size,
                              .height = o->size,
                              .number = ZENITH_F32,
                              .order = ZENITH_CHW};
    b->latent = (zenith_latent){.size = sizeof b->latent,
                                .width = side,
                                .height = side,
                                .channels = info.latent_channels,
                                .number = ZENITH_F32,
                                .order = ZENITH_CHW};
    b->image.data = b->encode ? contender_read_input(o, image_count)
                              : contender_alloc(image_count * sizeof(float));
    b->latent.data = b->encode ? contender_alloc(latent_count * sizeof(float))
                               : contender_read_input(o, latent_count);
}

static zenith_dtype dtype_of(const char *name)
{
    if (strcmp(name, "f32") == 0) return ZENITH_DTYPE_F32;
    return strcmp(name, "bf16") == 0 ? ZENITH_DTYPE_BF16 : ZENITH_DTYPE_INT8;
}

int main(int argc, char **argv)
{
    const contender_options o = contender_parse(argc, argv);
    bench b = {.encode = o.encode, .params = {.size = sizeof b.params, .dtype = dtype_of(o.dtype)}};
    zenith_machine_info machine = {.size = sizeof machine};
    char note[256];
    open_model(&b, &o);
    set_buffers(&b, &o);
    zenith_context_get_machine(b.context, &machine);
    snprintf(note, sizeof note, "zenith %s, %s, oneDNN %s", zenith_version(), machine.isa,
             machine.onednn);
    const contender c = {.run = run_once,
                         .cookie = &b,
                         .output = b.encode ? b.latent.data : b.image.data,
                         .channels = b.encode ? b.latent.channels : 3,
                         .pixels = b.encode ? (size_t)b.latent.width * b.latent.height
                                            : (size_t)o.size * o.size,
                         .note = note};
    int code = contender_serve(&c);
    zenith_model_free(b.model);
    zenith_context_free(b.context);
    return code;
}
