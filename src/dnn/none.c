// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Built instead of onednn*.c without oneDNN. zn_dnn_create always fails, so nothing below it is
// ever called with an object; the functions are there for the linker.
#include "src/dnn/dnn.h"

static zenith_status unsupported(zn_error *err)
{
    return zn_fail(err, ZENITH_UNSUPPORTED, "this build of the library is without oneDNN");
}

zenith_status zn_dnn_create(const zn_cpu *cpu, zn_dnn **out, zn_error *err)
{
    (void)cpu, (void)out;
    return unsupported(err);
}

void zn_dnn_free(zn_dnn *dnn)
{
    (void)dnn;
}

const char *zn_dnn_version(void)
{
    return "none";
}

zenith_status zn_dnn_conv_create(zn_dnn *dnn, const zn_dnn_conv_desc *desc, zn_dnn_conv **out,
                                 zn_error *err)
{
    (void)dnn, (void)desc, (void)out;
    return unsupported(err);
}

void zn_dnn_conv_free(zn_dnn_conv *conv)
{
    (void)conv;
}

const char *zn_dnn_conv_id(const zn_dnn_conv *conv)
{
    (void)conv;
    return "";
}

const zn_layout *zn_dnn_conv_layout(const zn_dnn_conv *conv)
{
    (void)conv;
    return NULL;
}

size_t zn_dnn_conv_scratch(const zn_dnn_conv *conv)
{
    (void)conv;
    return 0;
}

zenith_status zn_dnn_conv_pack(const zn_dnn_conv *conv, const void *weights, void *packed,
                               zn_error *err)
{
    (void)conv, (void)weights, (void)packed;
    return unsupported(err);
}

zenith_status zn_dnn_conv_run(const zn_dnn_conv *conv, const void *src, const void *packed,
                              const float *bias, void *dst, void *scratch, zn_error *err)
{
    (void)conv, (void)src, (void)packed, (void)bias, (void)dst, (void)scratch;
    return unsupported(err);
}
