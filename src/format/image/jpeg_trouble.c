// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// libjpeg's errors and warnings. Its warnings are where damaged data shows: the decoder has met
// nonsense and goes on with grey. For us those are errors; the few that touch no pixel may pass.
#include "src/format/image/jpeg.h"

#include <jerror.h>

static zenith_status status_of(int code)
{
    switch (code) {
    case JERR_OUT_OF_MEMORY:
        return ZENITH_OUT_OF_MEMORY;
    case JERR_NO_BACKING_STORE: // max_memory_to_use is reached
        return ZENITH_LIMIT;
    case JERR_ARITH_NOTIMPL:
    case JERR_BAD_PRECISION: // 12 bits
    case JERR_CONVERSION_NOTIMPL:
    case JERR_SOF_UNSUPPORTED: // lossless, hierarchical
        return ZENITH_UNSUPPORTED;
    default:
        return ZENITH_BAD_FILE;
    }
}

static void jump_back(j_common_ptr info, zenith_status status)
{
    zn_jpeg_trouble *trouble = (zn_jpeg_trouble *)info->err;
    char text[JMSG_LENGTH_MAX];
    trouble->manager.format_message(info, text);
    trouble->status = zn_fail(&trouble->error, status, "libjpeg: %s.", text);
    longjmp(trouble->back, 1);
}

static void on_error(j_common_ptr info)
{
    jump_back(info, status_of(info->err->msg_code));
}

static void on_message(j_common_ptr info, int level)
{
    if (level >= 0) return; // a trace
    switch (info->err->msg_code) {
    case JWRN_EXTRANEOUS_DATA: // padding before a marker: common, and no pixel depends on it
    case JWRN_JFIF_MAJOR:
    case JWRN_ADOBE_XFORM:
    case JWRN_BOGUS_ICC:
        return;
    default:
        jump_back(info, ZENITH_BAD_FILE);
    }
}

static void on_output(j_common_ptr info)
{
    (void)info;
}

struct jpeg_error_mgr *zn_jpeg_trouble_init(zn_jpeg_trouble *trouble)
{
    jpeg_std_error(&trouble->manager);
    trouble->manager.error_exit = on_error;
    trouble->manager.emit_message = on_message;
    trouble->manager.output_message = on_output;
    trouble->status = ZENITH_OK;
    trouble->error.text[0] = 0;
    return &trouble->manager;
}
