// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
//     YUV4MPEG2 W832 H480 F16:1 Ip A1:1 C420jpeg XCOLORRANGE=LIMITED\n
//     FRAME\n  Y plane, U plane, V plane
//     FRAME\n  ...
#include "src/format/video/y4m.h"

#include "src/base/memory.h"
#include "src/base/text.h"

#include <math.h>
#include <string.h>

enum { LARGEST_SIDE = 1 << 16, MOST_PIXELS = 1 << 28 };

static const char magic[] = "YUV4MPEG2", frame_magic[] = "FRAME";

// --- header -------------------------------------------------------------------------------------

typedef struct tag {
    const char *text;
    size_t length;
} tag;

static bool is(const tag *t, const char *text)
{
    return t->length == strlen(text) && memcmp(t->text, text, t->length) == 0;
}

// All of it is a number of at most `most`.
static bool read_number(const char *text, size_t length, uint32_t most, uint32_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        value = value * 10 + (uint64_t)(text[i] - '0');
        if (value > most) return false;
    }
    *out = (uint32_t)value;
    return length > 0;
}

static bool read_rate(const tag *t, zn_y4m_header *header)
{
    const char *colon = memchr(t->text, ':', t->length);
    if (!colon) return false;
    const size_t before = (size_t)(colon - t->text);
    return read_number(t->text + 1, before - 1, UINT32_MAX, &header->rate) &&
           read_number(colon + 1, t->length - before - 1, UINT32_MAX, &header->rate_scale);
}

static zenith_status read_chroma(const tag *t, zn_y4m_header *header, zn_error *err)
{
    if (is(t, "C420") || is(t, "C420jpeg"))
        header->chroma = ZN_Y4M_420_JPEG;
    else if (is(t, "C420mpeg2"))
        header->chroma = ZN_Y4M_420_MPEG2;
    else if (is(t, "C444"))
        header->chroma = ZN_Y4M_444;
    else
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "The Y4M stream has colours as %.*s; 8-bit 420jpeg, 420mpeg2 and 444 are "
                       "read (ffmpeg: -pix_fmt yuv420p).",
                       (int)(t->length > 40 ? 40 : t->length), t->text);
    return ZENITH_OK;
}

static zenith_status read_tag(const tag *t, zn_y4m_header *header, zn_error *err)
{
    bool fits = true;
    switch (t->text[0]) {
    case 'W':
        fits = read_number(t->text + 1, t->length - 1, LARGEST_SIDE, &header->width);
        break;
    case 'H':
        fits = read_number(t->text + 1, t->length - 1, LARGEST_SIDE, &header->height);
        break;
    case 'F':
        fits = read_rate(t, header);
        break;
    case 'C':
        return read_chroma(t, header, err);
    case 'I':
        if (is(t, "It") || is(t, "Ib") || is(t, "Im"))
            return zn_fail(err, ZENITH_UNSUPPORTED,
                           "The Y4M stream is interlaced (ffmpeg: -vf yadif makes whole frames).");
        break;
    case 'X':
        if (is(t, "XCOLORRANGE=FULL")) header->full_range = true;
        break;
    default: // the shape of pixels, and what is not known here
        break;
    }
    if (fits) return ZENITH_OK;
    return zn_fail(err, ZENITH_BAD_FILE, "The Y4M header has '%.*s', which is out of range.",
                   (int)(t->length > 40 ? 40 : t->length), t->text);
}

zenith_status zn_y4m_parse(const char *line, size_t length, zn_y4m_header *out, zn_error *err)
{
    zn_y4m_header header = {.chroma = ZN_Y4M_420_JPEG};
    size_t at = sizeof magic - 1;
    if (length < at || memcmp(line, magic, at) != 0 || (length > at && line[at] != ' '))
        return zn_fail(err, ZENITH_BAD_FILE, "This is no Y4M stream: it must begin with %s.",
                       magic);
    while (at < length) {
        const char *begin = line + ++at, *space = memchr(begin, ' ', length - at);
        const tag t = {begin, space ? (size_t)(space - begin) : length - at};
        if (t.length > 0) ZN_TRY(read_tag(&t, &header, err));
        at += t.length;
    }
    if (header.width == 0 || header.height == 0 ||
        (uint64_t)header.width * header.height > MOST_PIXELS)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "The Y4M header says frames of %u x %u; 1 to %d pixels can be read.",
                       header.width, header.height, (int)MOST_PIXELS);
    *out = header;
    return ZENITH_OK;
}

size_t zn_y4m_line(const zn_y4m_header *header, char dst[ZN_Y4M_LINE])
{
    static const char *const names[] = {"420jpeg", "420mpeg2", "444"};
    const bool said = header->rate && header->rate_scale;
    return zn_text_format(dst, ZN_Y4M_LINE, "%s W%u H%u F%u:%u Ip A1:1 C%s XCOLORRANGE=%s\n", magic,
                          header->width, header->height, said ? header->rate : 16,
                          said ? header->rate_scale : 1, names[header->chroma],
                          header->full_range ? "FULL" : "LIMITED");
}

// --- colours ------------------------------------------------------------------------------------

// Of a plane of colours.
static size_t chroma_width(const zn_y4m_header *h)
{
    return h->chroma == ZN_Y4M_444 ? h->width : ((size_t)h->width + 1) / 2;
}

static size_t chroma_height(const zn_y4m_header *h)
{
    return h->chroma == ZN_Y4M_444 ? h->height : ((size_t)h->height + 1) / 2;
}

size_t zn_y4m_frame_bytes(const zn_y4m_header *header)
{
    return (size_t)header->width * header->height +
           2 * chroma_width(header) * chroma_height(header);
}

static uint8_t byte_of(float value)
{
    return (uint8_t)lrintf(fminf(fmaxf(value, 0), 255));
}

// Two samples beside each other and the part of the second, for a pixel of a row or column.
typedef struct mix {
    size_t first, second;
    float part;
} mix;

static mix mix_at(size_t pixel, size_t samples, bool whole, bool between)
{
    mix m = {pixel, pixel, 0};
    if (whole) return m;
    m.first = m.second = pixel / 2;
    const bool odd = pixel % 2 == 1;
    if (between) { // the sample is at the even pixel
        m.part = odd ? 0.5f : 0;
        m.second = m.first + (odd ? 1 : 0);
    } else {
        m.part = 0.25f;
        m.second = odd ? m.first + 1 : m.first > 0 ? m.first - 1 : 0;
    }
    if (m.second >= samples) m.second = samples - 1;
    return m;
}

static float sample(const uint8_t *plane, size_t stride, const mix *x, const mix *y)
{
    const uint8_t *a = plane + y->first * stride, *b = plane + y->second * stride;
    const float above = (float)a[x->first] + ((float)a[x->second] - (float)a[x->first]) * x->part;
    const float below = (float)b[x->first] + ((float)b[x->second] - (float)b[x->first]) * x->part;
    return above + (below - above) * y->part - 128;
}

void zn_y4m_to_rgb(const zn_y4m_header *h, const uint8_t *planes, uint8_t *rgb)
{
    const size_t width = h->width, height = h->height, stride = chroma_width(h);
    const uint8_t *us = planes + width * height, *vs = us + stride * chroma_height(h);
    const bool whole = h->chroma == ZN_Y4M_444, between = h->chroma == ZN_Y4M_420_MPEG2;
    const float black = h->full_range ? 0 : 16, light = h->full_range ? 1 : 255.0f / 219;
    const float colour = h->full_range ? 1 : 255.0f / 224;
    for (size_t y = 0; y < height; y++) {
        const mix row = mix_at(y, chroma_height(h), whole, false);
        for (size_t x = 0; x < width; x++, rgb += 3) {
            const mix column = mix_at(x, stride, whole, between);
            const float l = ((float)planes[y * width + x] - black) * light;
            const float u = sample(us, stride, &column, &row) * colour;
            const float v = sample(vs, stride, &column, &row) * colour;
            rgb[0] = byte_of(l + 1.402f * v);
            rgb[1] = byte_of(l - 0.344136f * u - 0.714136f * v);
            rgb[2] = byte_of(l + 1.772f * u);
        }
    }
}

void zn_y4m_from_rgb(const zn_y4m_header *h, const uint8_t *rgb, uint8_t *planes)
{
    const size_t pixels = (size_t)h->width * h->height;
    const float black = h->full_range ? 0 : 16, light = h->full_range ? 1 : 219.0f / 255;
    const float colour = h->full_range ? 1 : 224.0f / 255;
    for (size_t i = 0; i < pixels; i++, rgb += 3) {
        const float r = rgb[0], g = rgb[1], b = rgb[2];
        const float l = 0.299f * r + 0.587f * g + 0.114f * b;
        planes[i] = byte_of(black + l * light);
        planes[pixels + i] = byte_of(128 + (b - l) / 1.772f * colour);
        planes[2 * pixels + i] = byte_of(128 + (r - l) / 1.402f * colour);
    }
}

// --- a stream -----------------------------------------------------------------------------------

// A line of text without its end; *there is false where the stream ends before its first byte.
static zenith_status read_line(zn_y4m_reader *reader, char line[ZN_Y4M_LINE], size_t *length,
                               bool *there, zn_error *err)
{
    *length = 0;
    *there = true;
    while (*length < ZN_Y4M_LINE) {
        size_t got = 0;
        ZN_TRY(reader->read(reader->cookie, line + *length, 1, &got, err));
        if (got == 0 && *length == 0) {
            *there = false;
            return ZENITH_OK;
        }
        if (got == 0)
            return zn_fail(err, ZENITH_BAD_FILE, "The Y4M stream ends within a line of text.");
        if (line[*length] == '\n') return ZENITH_OK;
        ++*length;
    }
    return zn_fail(err, ZENITH_BAD_FILE,
                   "The Y4M stream has a line of more than %d characters before frame %llu.",
                   (int)ZN_Y4M_LINE, (unsigned long long)reader->frames + 1);
}

zenith_status zn_y4m_open(zn_y4m_reader *reader, zn_y4m_read_fn *read, void *cookie, zn_error *err)
{
    char line[ZN_Y4M_LINE];
    size_t length;
    bool there;
    *reader = (zn_y4m_reader){.read = read, .cookie = cookie};
    ZN_TRY(read_line(reader, line, &length, &there, err));
    if (!there) return zn_fail(err, ZENITH_BAD_FILE, "The Y4M stream is empty.");
    ZN_TRY(zn_y4m_parse(line, length, &reader->header, err));
    const size_t bytes = zn_y4m_frame_bytes(&reader->header);
    reader->planes = zn_alloc(bytes);
    return reader->planes ? ZENITH_OK : zn_fail_memory(err, bytes);
}

zenith_status zn_y4m_next(zn_y4m_reader *reader, uint8_t *rgb, bool *there, zn_error *err)
{
    char line[ZN_Y4M_LINE];
    size_t length, got = 0;
    const size_t word = sizeof frame_magic - 1, bytes = zn_y4m_frame_bytes(&reader->header);
    const unsigned long long number = reader->frames + 1;
    ZN_TRY(read_line(reader, line, &length, there, err));
    if (!*there) return ZENITH_OK;
    if (length < word || memcmp(line, frame_magic, word) != 0 ||
        (length > word && line[word] != ' '))
        return zn_fail(err, ZENITH_BAD_FILE, "Frame %llu of the Y4M stream does not begin with %s.",
                       number, frame_magic);
    ZN_TRY(reader->read(reader->cookie, reader->planes, bytes, &got, err));
    if (got < bytes)
        return zn_fail(err, ZENITH_BAD_FILE, "The Y4M stream is cut short within frame %llu.",
                       number);
    zn_y4m_to_rgb(&reader->header, reader->planes, rgb);
    reader->frames++;
    return ZENITH_OK;
}

void zn_y4m_close(zn_y4m_reader *reader)
{
    zn_free(reader->planes);
    reader->planes = NULL;
}
