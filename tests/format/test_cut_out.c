// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A drawing without its ground: white outside goes, white inside stays, the edge is a little of
// both.
#include "src/format/image/cut_out.h"

#include "tests/testing.h"

#include <string.h>

enum { SIDE = 7 };

typedef struct picture {
    uint8_t rgb[SIDE * SIDE][3], rgba[SIDE * SIDE][4];
} picture;

static void set(picture *p, int x, int y, int r, int g, int b)
{
    uint8_t *pixel = p->rgb[y * SIDE + x];
    pixel[0] = (uint8_t)r, pixel[1] = (uint8_t)g, pixel[2] = (uint8_t)b;
}

static const uint8_t *at(const picture *p, int x, int y)
{
    return p->rgba[y * SIDE + x];
}

static void cut(picture *p)
{
    zn_error err = {{0}};
    assert_int_equal(zn_cut_out(p->rgb[0], SIDE, SIDE, p->rgba[0], &err), ZENITH_OK);
}

// A red ring around white: the ring closes the white off.
ZN_TEST(white_inside_stays)
{
    picture p;
    memset(p.rgb, 255, sizeof p.rgb);
    for (int i = 1; i < 6; i++) {
        set(&p, i, 1, 200, 0, 0), set(&p, i, 5, 200, 0, 0);
        set(&p, 1, i, 200, 0, 0), set(&p, 5, i, 200, 0, 0);
    }
    cut(&p);
    assert_int_equal(at(&p, 0, 0)[3], 0);
    assert_int_equal(at(&p, 3, 0)[3], 0);
    assert_int_equal(at(&p, 3, 3)[3], 255);
    assert_int_equal(at(&p, 3, 3)[0], 255);
    assert_memory_equal(at(&p, 1, 3), ((uint8_t[]){200, 0, 0, 255}), 4);
}

// A gap in the ring lets the ground in.
ZN_TEST(white_flows_through_a_gap)
{
    picture p;
    memset(p.rgb, 255, sizeof p.rgb);
    for (int i = 1; i < 6; i++) {
        set(&p, i, 1, 0, 0, 200), set(&p, i, 5, 0, 0, 200);
        set(&p, 1, i, 0, 0, 200);
        if (i != 3) set(&p, 5, i, 0, 0, 200);
    }
    cut(&p);
    assert_int_equal(at(&p, 3, 3)[3], 0);
}

// What lies over white again is the picture as it was.
ZN_TEST(edge_over_white_is_the_picture)
{
    picture p;
    memset(p.rgb, 255, sizeof p.rgb);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) set(&p, x, y, 255, 255 - 8 * x, 255 - 6 * y);
    cut(&p);
    for (int i = 0; i < SIDE * SIDE; i++) {
        const int alpha = p.rgba[i][3];
        for (int c = 0; c < 3; c++) {
            const int over = (alpha * p.rgba[i][c] + (255 - alpha) * 255 + 127) / 255;
            assert_in_range(over, p.rgb[i][c] - 1, p.rgb[i][c] + 1);
        }
    }
    assert_int_equal(at(&p, 0, 0)[3], 0);
    assert_in_range(at(&p, 3, 0)[3], 80, 160);
}
