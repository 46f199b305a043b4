// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Codes of diffusion autoencoders in files: zenith/diffae.h.
#include "src/api/code_file.h"

#include "src/api/context.h"
#include "src/base/input.h"
#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/format/latent/diffae_code.h"
#include "src/format/tensor/npy.h"
#include "src/format/tensor/safetensors.h"
#include "src/model/diffae/diffae.h"
#include "src/task/diffae/task.h"

#include <string.h>

struct zenith_code_file {
    zn_diffae_code inside;
};

// --- reading ------------------------------------------------------------------------------------

static zenith_status open_file(const char *path, zenith_code_file **out, zn_error *err)
{
    zn_input input;
    const char *name = strcmp(path, "-") != 0 ? path : "standard input";
    zenith_code_file *file = zn_alloc_zero(sizeof *file);
    if (!file) return zn_fail_memory(err, sizeof *file);
    zenith_status status = zn_input_open(path, 0, &input, err);
    if (status == ZENITH_OK) {
        status = input.size ? zn_diffae_code_read(input.data, input.size, name, &file->inside, err)
                            : zn_fail(err, ZENITH_BAD_FILE, "%s is empty", name);
        zn_input_close(&input);
    }
    if (status == ZENITH_OK)
        *out = file;
    else
        zn_free(file);
    return status;
}

zenith_status zenith_code_file_open(zenith_context *context, const char *path,
                                    zenith_code_file **out)
{
    ZN_TRY(zn_context_enter(context));
    zenith_status status = path && out ? open_file(path, out, &context->error)
                                       : zn_fail(&context->error, ZENITH_INVALID_ARGUMENT,
                                                 "the path or the place for the file is NULL");
    return zn_context_leave(context, status);
}

void zenith_code_file_free(zenith_code_file *file)
{
    if (!file) return;
    zn_diffae_code_free(&file->inside);
    zn_free(file);
}

void zenith_code_file_get(const zenith_code_file *file, zenith_code *out)
{
    if (!file || !out) return;
    const zn_diffae_code *inside = &file->inside;
    const zenith_code code = {.width = inside->width,
                              .height = inside->height,
                              .code = inside->code,
                              .noise = inside->noise,
                              .steps = (uint32_t)inside->steps,
                              .numbers = (uint32_t)inside->numbers,
                              .weights = inside->weights[0] ? inside->weights : NULL,
                              .noise_numbers = zn_diffae_code_noise(inside)};
    zn_caller_struct_out(&code, sizeof code, out);
}

// --- writing ------------------------------------------------------------------------------------

static zenith_status save(const char *path, const zenith_model *model, const zenith_code *codes,
                          zn_error *err)
{
    const zn_model *inner = NULL;
    zenith_code code;
    zn_writer *file = NULL;
    ZN_TRY(zn_diffae_of(model, &inner, err));
    ZN_TRY(zn_code_in(inner, codes, 0, &code, err));
    const zn_diffae_sizes sizes = zn_diffae_sizes_of(inner);
    zn_diffae_code written = {.width = code.width,
                              .height = code.height,
                              .channels = code.noise ? sizes.channels : 0,
                              .factor = code.noise ? sizes.factor : 0,
                              .steps = code.noise ? (int)code.steps : 0,
                              .numbers = code.numbers,
                              .code = code.code,
                              .noise = code.noise};
    zn_text_format(written.weights, sizeof written.weights, "%s", zn_model_sha256(inner));
    ZN_TRY(zn_writer_open(path, &file, err));
    zenith_status status = zn_diffae_code_write(file, &written, err);
    if (status == ZENITH_OK) return zn_writer_commit(file, err);
    zn_writer_discard(file);
    return status;
}

zenith_status zenith_code_save(zenith_context *context, const char *path, const zenith_model *model,
                               const zenith_code *code)
{
    ZN_TRY(zn_context_enter(context));
    zenith_status status = path ? save(path, model, code, &context->error)
                                : zn_fail(&context->error, ZENITH_INVALID_ARGUMENT,
                                          "the path is NULL");
    return zn_context_leave(context, status);
}

static zenith_status write_header(zn_writer *file, const char *path, const zn_model *model,
                                  const zn_shape *shape, zn_error *err)
{
    const size_t length = strlen(path);
    if (length > 4 && strcmp(path + length - 4, ".npy") == 0)
        return zn_npy_write_header(file, ZN_F32, shape, err);
    const zn_metadata metadata[] = {{"zenith.model", "diffae"},
                                    {"zenith.weights", zn_model_sha256(model)}};
    zn_file_tensor tensor = {.name = "z", .type = ZN_F32, .shape = *shape};
    return zn_safetensors_write_header(file, &tensor, 1, metadata, 2, err);
}

static zenith_status save_all(const char *path, const zenith_model *model, const zenith_code *codes,
                              size_t count, zn_error *err)
{
    const zn_model *inner = NULL;
    zn_writer *file = NULL;
    zenith_code code;
    zenith_status status;
    ZN_TRY(zn_diffae_of(model, &inner, err));
    const zn_shape shape = ZN_SHAPE((int64_t)count, zn_diffae_facts_of(inner).shape.code);
    ZN_GO(zn_writer_open(path, &file, err));
    ZN_GO(write_header(file, path, inner, &shape, err));
    for (size_t i = 0; i < count; i++) {
        ZN_GO(zn_code_in(inner, codes, i, &code, err));
        ZN_GO(zn_writer_write(file, code.code, code.numbers * sizeof(float), err));
    }
    return zn_writer_commit(file, err);
fail:
    zn_writer_discard(file);
    return status;
}

zenith_status zenith_codes_save(zenith_context *context, const char *path,
                                const zenith_model *model, const zenith_code *codes, size_t count)
{
    ZN_TRY(zn_context_enter(context));
    zenith_status status = path && codes && count > 0 && count <= INT32_MAX
                               ? save_all(path, model, codes, count, &context->error)
                               : zn_fail(&context->error, ZENITH_INVALID_ARGUMENT,
                                         "a path and at least one code are needed");
    return zn_context_leave(context, status);
}
