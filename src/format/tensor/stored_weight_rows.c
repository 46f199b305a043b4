// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The numbers of stored weights, row by row.
#include "src/format/tensor/convrot.h"
#include "src/format/tensor/elements.h"
#include "src/format/tensor/stored_weight.h"

// Element `index` of a tensor of floats.
static float number_at(const zn_file_tensor *tensor, size_t index)
{
    float value;
    zn_elements_to_f32(tensor->type, tensor->data, index, 1, &value);
    return value;
}

static void scale_row(const zn_stored_weight *weight, size_t row, float *dst)
{
    const float scale = weight->scales ? number_at(weight->scales, row) : weight->scale;
    for (size_t i = 0; scale != 1.0f && i < weight->columns; i++) dst[i] *= scale;
}

// Words are little-endian, so number i of a row is in byte i * bits / 8, the lower bits first.
static void read_mlx(const zn_stored_weight *weight, size_t row, float *dst)
{
    const size_t groups = weight->columns / weight->group;
    const uint8_t *src = weight->numbers->data + row * (weight->columns * weight->bits / 8);
    for (size_t g = 0; g < groups; g++) {
        const float scale = number_at(weight->scales, row * groups + g);
        const float offset = number_at(weight->offsets, row * groups + g);
        for (size_t i = g * weight->group; i < (g + 1) * weight->group; i++) {
            const int number = weight->bits == 8 ? src[i] : src[i / 2] >> 4 * (i % 2) & 15;
            dst[i] = (float)number * scale + offset;
        }
    }
}

static void read_scaled(const zn_stored_weight *weight, size_t row, float *dst)
{
    zn_file_tensor_read_rows(weight->numbers, row, row + 1, dst);
    scale_row(weight, row, dst);
    if (weight->rotated_by) zn_convrot_row(dst, weight->columns, weight->rotated_by);
}

// Where the scale of 16 weights is: tiles of 128 rows by 4 groups, in each of which 4 rows that are
// 32 apart lie together.
static size_t tile_place(size_t row, size_t group, size_t groups)
{
    const size_t tile = row / 128 * ((groups + 3) / 4) + group / 4;
    return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + group % 4;
}

static void read_nvfp4(const zn_stored_weight *weight, size_t row, float *dst)
{
    static const float values[16] = {0,     0.5f,  1,  1.5f,  2,  3,  4,  6,
                                     -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};
    const size_t groups = weight->columns / 16;
    const uint8_t *src = weight->numbers->data + row * (weight->columns / 2);
    for (size_t i = 0; i < weight->columns; i++) {
        const uint8_t code = weight->scales->data[tile_place(row, i / 16, groups)];
        const float scale = weight->scale * zn_f8_e4m3_to_f32(code);
        dst[i] = values[i % 2 ? src[i / 2] & 15 : src[i / 2] >> 4] * scale;
    }
}

static void read_panels(const zn_stored_weight *weight, size_t row, float *dst)
{
    zn_panels_read(&weight->panels, (int64_t)row, dst);
    if (weight->rotated_by) zn_convrot_quick(dst, weight->columns, weight->rotated_by);
}

void zn_stored_weight_read(const zn_stored_weight *weight, size_t begin, size_t end, float *dst)
{
    static void (*const readers[])(const zn_stored_weight *, size_t, float *) = {
        [ZN_WEIGHT_PLAIN] = read_scaled, [ZN_WEIGHT_BLOCKS] = read_scaled,
        [ZN_WEIGHT_MLX] = read_mlx,      [ZN_WEIGHT_INT8] = read_scaled,
        [ZN_WEIGHT_NVFP4] = read_nvfp4,  [ZN_WEIGHT_PANELS] = read_panels,
    };
    const bool numbers_alone = (weight->form == ZN_WEIGHT_PLAIN && !weight->scales) ||
                               weight->form == ZN_WEIGHT_BLOCKS;
    if (numbers_alone && weight->scale == 1.0f) { // rows may be short: a kernel's are of 3
        zn_file_tensor_read_rows(weight->numbers, begin, end, dst);
        return;
    }
    for (size_t row = begin; row < end; row++)
        readers[weight->form](weight, row, dst + (row - begin) * weight->columns);
}

// --- 4 bits ---

// Twenty times what a number of four bits stands for.
static const int8_t nvfp4_levels[16] = {0, 10,  20,  30,  40,  60,  80,  120,
                                        0, -10, -20, -30, -40, -60, -80, -120};

bool zn_stored_weight_is_four(const zn_stored_weight *weight, zn_stored_four *out)
{
    const zn_block_type *blocks = weight->numbers ? weight->numbers->blocks : NULL;
    *out = (zn_stored_four){.group = 0};
    if (weight->form == ZN_WEIGHT_BLOCKS && blocks && blocks->read_four && weight->scale == 1.0f)
        *out = (zn_stored_four){blocks->levels, ZN_BLOCK_FOUR_GROUP, blocks->weights,
                                blocks->offsets};
    if (weight->form == ZN_WEIGHT_MLX && weight->bits == 4 && weight->group % 8 == 0 &&
        ZN_PANEL_FILL % weight->group == 0)
        *out = (zn_stored_four){zn_even_levels, weight->group, weight->group, true};
    if (weight->form == ZN_WEIGHT_NVFP4) *out = (zn_stored_four){nvfp4_levels, 16, 16, false};
    return out->unit > 0 && weight->columns % out->unit == 0;
}

static void four_blocks(const zn_stored_weight *weight, size_t row, size_t left, size_t width,
                        uint8_t *numbers, float *factors, float *offsets)
{
    const zn_block_type *type = weight->numbers->blocks;
    const size_t first = (row * weight->columns + left) / type->weights;
    const size_t groups = type->weights / ZN_BLOCK_FOUR_GROUP;
    for (size_t i = 0; i < width / type->weights; i++)
        type->read_four(weight->numbers->data + (first + i) * type->bytes,
                        numbers + i * type->weights, factors + i * groups, offsets + i * groups);
}

static void four_mlx(const zn_stored_weight *weight, size_t row, size_t left, size_t width,
                     uint8_t *numbers, float *factors, float *offsets)
{
    const size_t first = row * weight->columns + left;
    const uint8_t *src = weight->numbers->data + first / 2;
    for (size_t i = 0; i < width; i++) numbers[i] = src[i / 2] >> 4 * (i % 2) & 15;
    for (size_t g = 0; g < width / weight->group; g++) {
        const float step = number_at(weight->scales, first / weight->group + g);
        factors[g] = zn_even_factor(step);
        offsets[g] = zn_even_offset(step, number_at(weight->offsets, first / weight->group + g));
    }
}

static void four_nvfp4(const zn_stored_weight *weight, size_t row, size_t left, size_t width,
                       uint8_t *numbers, float *factors, float *offsets)
{
    const uint8_t *src = weight->numbers->data + (row * weight->columns + left) / 2;
    (void)offsets;
    for (size_t i = 0; i < width; i++) numbers[i] = src[i / 2] >> (i % 2 ? 0 : 4) & 15;
    for (size_t g = 0; g < width / 16; g++) {
        const size_t at = tile_place(row, left / 16 + g, weight->columns / 16);
        factors[g] = weight->scale * zn_f8_e4m3_to_f32(weight->scales->data[at]) / 20;
    }
}

void zn_stored_weight_read_four(const zn_stored_weight *weight, size_t row, size_t left,
                                size_t width, uint8_t *numbers, float *factors, float *offsets)
{
    if (weight->form == ZN_WEIGHT_BLOCKS)
        four_blocks(weight, row, left, width, numbers, factors, offsets);
    else if (weight->form == ZN_WEIGHT_MLX)
        four_mlx(weight, row, left, width, numbers, factors, offsets);
    else
        four_nvfp4(weight, row, left, width, numbers, factors, offsets);
}
