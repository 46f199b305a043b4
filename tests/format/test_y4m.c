// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Y4M: headers that are read and refused, colours that BT.601 names, where samples of colour lie,
// streams that end in the wrong place.
#include "tests/format/byte_stream.h"
#include "tests/testing.h"

#include "src/format/video/y4m.h"

#include <stdlib.h>
#include <string.h>

static zenith_status parse(const char *line, zn_y4m_header *out, zn_error *err)
{
    err->text[0] = '\0';
    return zn_y4m_parse(line, strlen(line), out, err);
}

ZN_TEST(headers_are_read)
{
    zn_error err = {0};
    zn_y4m_header h, again;
    char line[ZN_Y4M_LINE];
    zn_test_ok(parse("YUV4MPEG2 W832 H480 F30000:1001 Ip A1:1 C420mpeg2 XYSCSS=420MPEG2", &h, &err),
               &err);
    assert_int_equal(h.width, 832);
    assert_int_equal(h.height, 480);
    assert_int_equal(h.rate, 30000);
    assert_int_equal(h.rate_scale, 1001);
    assert_int_equal(h.chroma, ZN_Y4M_420_MPEG2);
    assert_false(h.full_range);
    assert_int_equal(zn_y4m_frame_bytes(&h), 832 * 480 * 3 / 2);
    size_t length = zn_y4m_line(&h, line);
    assert_int_equal(line[length - 1], '\n');
    zn_test_ok(zn_y4m_parse(line, length - 1, &again, &err), &err);
    assert_int_equal(again.width, h.width);
    assert_int_equal(again.height, h.height);
    assert_int_equal(again.rate, h.rate);
    assert_int_equal(again.rate_scale, h.rate_scale);
    assert_int_equal(again.chroma, h.chroma);
    assert_int_equal(again.full_range, h.full_range);
    zn_test_ok(parse("YUV4MPEG2 H3  W5 XCOLORRANGE=FULL", &h, &err), &err); // what is not said
    assert_int_equal(h.chroma, ZN_Y4M_420_JPEG);
    assert_true(h.full_range);
    assert_int_equal(zn_y4m_frame_bytes(&h), 15 + 2 * 3 * 2);
}

ZN_TEST(headers_are_refused)
{
    static const struct {
        const char *line;
        zenith_status status;
    } cases[] = {
        {"", ZENITH_BAD_FILE},
        {"YUV4MPEG", ZENITH_BAD_FILE},
        {"YUV4MPEG2", ZENITH_BAD_FILE},
        {"YUV4MPEG2W4 H4", ZENITH_BAD_FILE},
        {"YUV4MPEG2 W4", ZENITH_BAD_FILE},
        {"YUV4MPEG2 W0 H4", ZENITH_BAD_FILE},
        {"YUV4MPEG2 W-4 H4", ZENITH_BAD_FILE},
        {"YUV4MPEG2 W H4", ZENITH_BAD_FILE},
        {"YUV4MPEG2 W65537 H1", ZENITH_BAD_FILE},
        {"YUV4MPEG2 W65536 H65536", ZENITH_BAD_FILE},
        {"YUV4MPEG2 W99999999999999999999 H1", ZENITH_BAD_FILE},
        {"YUV4MPEG2 W4 H4 F25", ZENITH_BAD_FILE},
        {"YUV4MPEG2 W4 H4 F:1", ZENITH_BAD_FILE},
        {"YUV4MPEG2 W4 H4 It", ZENITH_UNSUPPORTED},
        {"YUV4MPEG2 W4 H4 C420p10", ZENITH_UNSUPPORTED},
        {"YUV4MPEG2 W4 H4 C422", ZENITH_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zn_error err = {0};
        zn_y4m_header h;
        if (parse(cases[i].line, &h, &err) != cases[i].status)
            fail_msg("'%s' is not refused as it should be: %s", cases[i].line, err.text);
        assert_true(err.text[0] != '\0');
    }
}

// The colours of the bars that every test picture has: 8-bit studio range, BT.601.
ZN_TEST(colours_are_known)
{
    static const uint8_t rgb[][3] = {{255, 255, 255}, {0, 0, 0},   {255, 0, 0},
                                     {0, 255, 0},     {0, 0, 255}, {255, 255, 0}};
    static const uint8_t yuv[][3] = {{235, 128, 128}, {16, 128, 128}, {81, 90, 240},
                                     {145, 54, 34},   {41, 240, 110}, {210, 16, 146}};
    const zn_y4m_header h = {.width = 1, .height = 1, .chroma = ZN_Y4M_444};
    for (size_t i = 0; i < sizeof rgb / sizeof *rgb; i++) {
        uint8_t planes[3], back[3];
        zn_y4m_from_rgb(&h, rgb[i], planes);
        assert_memory_equal(planes, yuv[i], 3);
        zn_y4m_to_rgb(&h, yuv[i], back);
        for (int c = 0; c < 3; c++) assert_true(abs(back[c] - rgb[i][c]) <= 1);
    }
}

// Grey with one sample of colour that is another: how far it reaches.
ZN_TEST(colour_lies_where_it_says)
{
    uint8_t planes[4 * 2 + 2 + 2] = {0}, rgb[4 * 2 * 3];
    zn_y4m_header h = {.width = 4, .height = 2, .full_range = true};
    memset(planes, 100, 8);
    memset(planes + 8, 128, 4);
    planes[11] = 228; // V of the right half: 100 above the middle
    zn_y4m_to_rgb(&h, planes, rgb);
    static const int jpeg[4] = {0, 25, 75, 100}, mpeg2[4] = {0, 50, 100, 100};
    for (int x = 0; x < 4; x++)
        assert_true(abs(rgb[3 * x] - (100 + (int)(1.402 * jpeg[x] + 0.5))) <= 1);
    h.chroma = ZN_Y4M_420_MPEG2;
    zn_y4m_to_rgb(&h, planes, rgb);
    for (int x = 0; x < 4; x++)
        assert_true(abs(rgb[3 * x] - (100 + (int)(1.402 * mpeg2[x] + 0.5))) <= 1);
}

static zenith_status read_all(const char *text, size_t size, uint64_t *frames, zn_error *err)
{
    byte_stream b = {(const uint8_t *)text, size, 0};
    zn_y4m_reader reader;
    uint8_t rgb[12];
    bool there = true;
    err->text[0] = '\0';
    zenith_status status = zn_y4m_open(&reader, byte_stream_read, &b, err);
    while (status == ZENITH_OK && there) status = zn_y4m_next(&reader, rgb, &there, err);
    *frames = reader.frames;
    zn_y4m_close(&reader);
    return status;
}

ZN_TEST(streams_end_where_they_may)
{
    static const char whole[] = "YUV4MPEG2 W2 H2\nFRAME\nabcdefFRAME Ip\nabcdef";
    zn_error err = {0};
    uint64_t frames = 0;
    zn_test_ok(read_all(whole, sizeof whole - 1, &frames, &err), &err);
    assert_int_equal(frames, 2);
    for (size_t size = 0; size < sizeof whole - 1; size++) {
        const bool between = size == 16 || size == 28; // after the header, after a frame
        const zenith_status status = read_all(whole, size, &frames, &err);
        if (status != (between ? ZENITH_OK : ZENITH_BAD_FILE))
            fail_msg("%zu bytes: status %d, %s", size, (int)status, err.text);
    }
    assert_int_equal(read_all("YUV4MPEG2 W2 H2\nFRAMES\nabcdef", 29, &frames, &err),
                     ZENITH_BAD_FILE);
    char endless[3000];
    memset(endless, ' ', sizeof endless);
    memcpy(endless, "YUV4MPEG2 W2 H2", 15);
    assert_int_equal(read_all(endless, sizeof endless, &frames, &err), ZENITH_BAD_FILE);
    assert_non_null(strstr(err.text, "1024"));
}
