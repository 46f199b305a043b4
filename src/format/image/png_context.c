// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/format/image/png.h"

#include "src/format/image/codec.h"

spng_ctx *zn_png_context_create(int flags)
{
    struct spng_alloc memory = {zn_codec_malloc, zn_codec_realloc, zn_codec_calloc, zn_codec_free};
    return spng_ctx_new2(&memory, flags);
}

zenith_status zn_png_check(int code, zn_error *err)
{
    if (zn_codec_failure() || code == SPNG_EMEM)
        return zn_fail(err, ZENITH_OUT_OF_MEMORY, "libspng found no memory left.");
    if (!code) return ZENITH_OK;
    zenith_status status = code == SPNG_ECHUNK_LIMITS ? ZENITH_LIMIT
                           : code == SPNG_EINTERNAL   ? ZENITH_INTERNAL
                                                      : ZENITH_BAD_FILE;
    // libspng has two codes for a file that ends early: from its own check, and from the stream.
    if (code == SPNG_EOF || code == SPNG_IO_EOF)
        return zn_fail(err, status,
                       "The PNG file is cut short: it ends before its last chunk. Copy or download "
                       "it again.");
    return zn_fail(err, status, "The PNG file cannot be used (libspng: %s).", spng_strerror(code));
}
