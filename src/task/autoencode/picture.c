// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Crop, pad and exact are one loop: a row of the reader lands in `line`, its used part is copied,
// and edge pixels fill what is missing. A row below the last one is that line once more.
//
//            crop_x   crop_width
//   line   |........|############|...|      crop: result = ####
//   result          |############eee|       pad:  crop_x = 0, e = the last pixel again
//
// Resize decodes the file when the first row is asked for, and keeps only the result.
//
// Invariants
//   1. reader xor resized: a resized picture has no reader after open.
//   2. next_row is the row that must come next, unless it is row 0; after a failure it is past the
//      end, so that only row 0 can follow.
//   3. A file is read to its end even when its last rows are cut off: a truncated one shows.
#include "src/task/autoencode/picture.h"

#include "src/base/memory.h"
#include "src/format/image/resize.h"

#include <string.h>

struct zn_picture {
    const uint8_t *data;
    size_t size;
    zn_image_options image;
    zn_image_facts facts;
    zn_fit_plan plan;
    bool resized;
    zenith_filter filter;
    zn_image_reader *reader;
    uint8_t *line;   // one row as the reader delivers it
    uint8_t *pixels; // resized: the result, once it is there
    uint32_t next_row;
};

static uint64_t picture_bytes(uint32_t width, uint32_t height)
{
    return (uint64_t)width * height * 3; // sides end at 2^24
}

// What zn_resize_rgb holds beside its source: the result, the picture between its two passes, and
// the weights of both (of a pixel of the longer side at most 28 bytes, across four times as many,
// and a row of the source besides).
static uint64_t resize_bytes(const zn_picture *picture)
{
    const zn_fit_plan *plan = &picture->plan;
    const zn_image_facts *facts = &picture->facts;
    uint64_t sides = (uint64_t)facts->width + facts->height + plan->scaled_width;
    return picture_bytes(plan->width, plan->height) + picture_bytes(plan->width, facts->height) +
           160 * (sides + plan->scaled_height);
}

// Bytes that the fit holds beside the reader. A reader that turns a picture holds the whole of it
// already, and zn_image_read then takes that very place.
static uint64_t fit_bytes(const zn_picture *picture)
{
    const zn_image_facts *facts = &picture->facts;
    if (!picture->resized) return (uint64_t)facts->width * 3;
    uint64_t source = facts->orientation <= 2 ? picture_bytes(facts->width, facts->height) : 0;
    return source + resize_bytes(picture);
}

// Opens the reader again with what is left of the memory limit: it then checks its own share.
static zenith_status check_memory(zn_picture *picture, zn_error *err)
{
    uint64_t limit = picture->image.limits.max_memory, beside = fit_bytes(picture);
    if (!limit) return ZENITH_OK;
    zenith_status status = ZENITH_LIMIT;
    if (beside < limit) {
        zn_image_reader_free(picture->reader);
        picture->reader = NULL;
        zn_image_options less = picture->image;
        less.limits.max_memory = limit - beside;
        status = zn_image_reader_open(picture->data, picture->size, &less, &picture->reader, NULL);
    }
    if (status == ZENITH_OK) return ZENITH_OK;
    if (status != ZENITH_LIMIT)
        return zn_fail(err, status, "The picture cannot be read a second time: %s.",
                       zenith_status_text(status));
    return zn_fail(err, ZENITH_LIMIT,
                   "%s a picture of %u x %u pixels takes %llu bytes of memory beside what reading "
                   "it takes; the limit for both is %llu.",
                   picture->resized ? "Resizing" : "Fitting", picture->facts.width,
                   picture->facts.height, (unsigned long long)beside, (unsigned long long)limit);
}

static zenith_status prepare(zn_picture *picture, const zn_fit_options *fit, zn_error *err)
{
    ZN_TRY(
        zn_image_reader_open(picture->data, picture->size, &picture->image, &picture->reader, err));
    picture->facts = *zn_image_reader_facts(picture->reader);
    ZN_TRY(zn_fit_plan_make(fit, picture->facts.width, picture->facts.height, &picture->plan, err));
    ZN_TRY(check_memory(picture, err));
    if (picture->resized) {
        zn_image_reader_free(picture->reader);
        picture->reader = NULL;
        return ZENITH_OK;
    }
    size_t bytes = 3 * (size_t)picture->facts.width;
    picture->line = zn_alloc(bytes);
    return picture->line ? ZENITH_OK : zn_fail_memory(err, bytes);
}

zenith_status zn_picture_open(const uint8_t *data, size_t size, const zn_image_options *image,
                              const zn_fit_options *fit, zenith_filter filter, zn_picture **out,
                              zn_error *err)
{
    if (filter != ZENITH_LANCZOS && filter != ZENITH_BICUBIC)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "Filter %d is unknown: there are lanczos and bicubic.", (int)filter);
    zn_picture *picture = zn_alloc_zero(sizeof *picture);
    if (!picture) return zn_fail_memory(err, sizeof *picture);
    picture->data = data;
    picture->size = size;
    picture->image = *image;
    picture->resized = fit->fit == ZENITH_FIT_RESIZE;
    picture->filter = filter;
    zenith_status status = prepare(picture, fit, err);
    if (status == ZENITH_OK)
        *out = picture;
    else
        zn_picture_free(picture);
    return status;
}

void zn_picture_free(zn_picture *picture)
{
    if (!picture) return;
    zn_image_reader_free(picture->reader);
    zn_free(picture->line);
    zn_free(picture->pixels);
    zn_free(picture);
}

const zn_image_facts *zn_picture_facts(const zn_picture *picture)
{
    return &picture->facts;
}

const zn_fit_plan *zn_picture_plan(const zn_picture *picture)
{
    return &picture->plan;
}

bool zn_picture_streamed(const zn_picture *picture)
{
    return picture->facts.streamed && !picture->resized;
}

// --- rows, passed through

static zenith_status read_lines(zn_picture *picture, uint32_t from, uint32_t to, zn_error *err)
{
    for (uint32_t y = from; y < to; y++)
        ZN_TRY(zn_image_reader_rows(picture->reader, y, 1, picture->line,
                                    3 * (size_t)picture->facts.width, err));
    return ZENITH_OK;
}

static void cut_line(const zn_picture *picture, uint8_t *dst)
{
    const zn_fit_plan *plan = &picture->plan;
    memcpy(dst, picture->line + 3 * (size_t)plan->crop_x, 3 * (size_t)plan->crop_width);
    for (size_t x = plan->crop_width; x < plan->width; x++)
        memcpy(dst + 3 * x, dst + 3 * (x - 1), 3);
}

static zenith_status passed_row(zn_picture *picture, uint32_t y, uint8_t *dst, zn_error *err)
{
    const zn_fit_plan *plan = &picture->plan;
    uint32_t at = plan->crop_y + y;
    if (y < plan->crop_height) ZN_TRY(read_lines(picture, y ? at : 0, at + 1, err));
    cut_line(picture, dst);
    if (y + 1 == plan->height && at + 1 < picture->facts.height)
        return read_lines(picture, at + 1, picture->facts.height, err);
    return ZENITH_OK;
}

// --- rows, resized

static zn_resize how_to_resize(const zn_picture *picture)
{
    const zn_fit_plan *plan = &picture->plan;
    return (zn_resize){.width = picture->facts.width,
                       .height = picture->facts.height,
                       .stride = 3 * (size_t)picture->facts.width,
                       .to_width = plan->scaled_width,
                       .to_height = plan->scaled_height,
                       .left = plan->cut_x,
                       .top = plan->cut_y,
                       .cut_width = plan->width,
                       .cut_height = plan->height,
                       .filter = picture->filter == ZENITH_BICUBIC ? ZN_RESIZE_BICUBIC
                                                                   : ZN_RESIZE_LANCZOS};
}

static zenith_status resize_all(zn_picture *picture, zn_error *err)
{
    zn_image_options image = picture->image;
    if (image.limits.max_memory) image.limits.max_memory -= resize_bytes(picture);
    zn_image_pixels source = {0};
    ZN_TRY(zn_image_read(picture->data, picture->size, &image, &source, err));
    const zn_resize how = how_to_resize(picture);
    const size_t row = 3 * (size_t)how.cut_width, bytes = row * how.cut_height;
    uint8_t *pixels = zn_alloc(bytes);
    zenith_status status = pixels ? ZENITH_OK : zn_fail_memory(err, bytes);
    if (status == ZENITH_OK) status = zn_resize_rgb(&how, source.data, pixels, row, err);
    zn_image_pixels_free(&source);
    if (status == ZENITH_OK)
        picture->pixels = pixels;
    else
        zn_free(pixels);
    return status;
}

static zenith_status next_rows(zn_picture *picture, uint32_t y, uint32_t count, uint8_t *dst,
                               zn_error *err)
{
    size_t row = 3 * (size_t)picture->plan.width;
    if (picture->resized) {
        if (!picture->pixels) ZN_TRY(resize_all(picture, err));
        memcpy(dst, picture->pixels + y * row, count * row);
        return ZENITH_OK;
    }
    for (uint32_t i = 0; i < count; i++) ZN_TRY(passed_row(picture, y + i, dst + i * row, err));
    return ZENITH_OK;
}

static void mirror_rows(const zn_fit_plan *plan, uint32_t count, uint8_t *rows)
{
    for (size_t y = 0; y < count; y++) {
        uint8_t *left = rows + 3 * y * plan->width, *right = left + 3 * ((size_t)plan->width - 1);
        for (; left < right; left += 3, right -= 3) {
            uint8_t kept[3];
            memcpy(kept, left, 3);
            memcpy(left, right, 3);
            memcpy(right, kept, 3);
        }
    }
}

zenith_status zn_picture_rows(zn_picture *picture, uint32_t y, uint32_t count, uint8_t *dst,
                              zn_error *err)
{
    uint32_t height = picture->plan.height;
    if (y > height || count > height - y || (y != 0 && y != picture->next_row))
        return zn_fail(
            err, ZENITH_INVALID_ARGUMENT,
            "%u rows from row %u of %u were asked for; rows come in order, or from row 0 "
            "again.",
            count, y, height);
    if (count == 0) return ZENITH_OK;
    zenith_status status = next_rows(picture, y, count, dst, err);
    if (status == ZENITH_OK && picture->plan.mirror) mirror_rows(&picture->plan, count, dst);
    picture->next_row = status == ZENITH_OK ? y + count : height + 1;
    return status;
}
