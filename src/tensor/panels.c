// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/tensor/panels.h"

#include "src/base/memory.h"

static int64_t fill_up(int64_t number, int64_t step)
{
    return (number + step - 1) / step * step;
}

bool zn_panels_measure(int64_t outputs, int64_t inputs, int bits, zn_panels_size *out)
{
    if (outputs < 1 || inputs < 1 || outputs > INT32_MAX / 2 || inputs > INT32_MAX / 2)
        return false;
    if (bits != 8 && bits != 4) return false;
    const int64_t rows = fill_up(outputs, ZN_PANEL_OUTPUTS);
    zn_panels_size size = {.panels = rows / ZN_PANEL_OUTPUTS,
                           .padded_inputs = fill_up(inputs, ZN_PANEL_FILL),
                           .scales_bytes = (size_t)rows * sizeof(float)};
    size_t bytes;
    if (!zn_mul_size((size_t)rows, (size_t)size.padded_inputs, &bytes)) return false;
    size.numbers_bytes = bits == 8 ? bytes : bytes / 2;
    size.steps_bytes = bits == 8 ? 0 : bytes / ZN_PANEL_GROUP;
    *out = size;
    return true;
}

int zn_panels_byte(const zn_panels *p, int64_t padded_inputs, int64_t output, int64_t k)
{
    const int64_t panel = output / ZN_PANEL_OUTPUTS, o = output % ZN_PANEL_OUTPUTS;
    const int64_t quads = padded_inputs / ZN_PANEL_QUAD, quad = k / ZN_PANEL_QUAD;
    const int64_t within = o * ZN_PANEL_QUAD + k % ZN_PANEL_QUAD;
    const int64_t quad_bytes = ZN_PANEL_OUTPUTS * ZN_PANEL_QUAD;
    if (p->bits == 8)
        return ((const int8_t *)p->numbers)[(panel * quads + quad) * quad_bytes + within];
    const int64_t at = (panel * quads / 2 + quad / 2) * quad_bytes + within;
    const int pair = ((const uint8_t *)p->numbers)[at], u = quad % 2 ? pair >> 4 : pair & 15;
    if (p->factors) {
        const int64_t g = (panel * (padded_inputs / p->group) + k / p->group) * ZN_PANEL_OUTPUTS;
        const int offset = p->offsets ? p->offsets[g + o] : ZN_FOUR_HALF;
        return zn_four_byte(p->levels[u], p->factors[g + o], offset);
    }
    const int64_t groups = padded_inputs / ZN_PANEL_GROUP;
    return (u - 8) * p->steps[(panel * groups + k / ZN_PANEL_GROUP) * ZN_PANEL_OUTPUTS + o];
}

void zn_panels_read_bytes(const zn_panels *panels, int64_t output, int8_t *dst)
{
    const int64_t padded = fill_up(panels->inputs, ZN_PANEL_FILL);
    for (int64_t k = 0; k < panels->inputs; k++)
        dst[k] = (int8_t)zn_panels_byte(panels, padded, output, k);
}

void zn_panels_read(const zn_panels *panels, int64_t output, float *dst)
{
    const int64_t padded = fill_up(panels->inputs, ZN_PANEL_FILL);
    for (int64_t k = 0; k < panels->inputs; k++)
        dst[k] = (float)zn_panels_byte(panels, padded, output, k) * panels->scales[output];
}

bool zn_panels_slice(const zn_panels *panels, int64_t first, int64_t count, zn_panels *out)
{
    zn_panels_size before;
    *out = *panels;
    out->outputs = count;
    if (first % ZN_PANEL_OUTPUTS != 0) return false;
    if (first == 0) return true;
    if (!zn_panels_measure(first, panels->inputs, panels->bits, &before)) return false;
    out->numbers = (const char *)panels->numbers + before.numbers_bytes;
    if (panels->steps) out->steps = panels->steps + before.steps_bytes;
    if (panels->factors) out->factors += before.numbers_bytes * 2 / (size_t)panels->group;
    if (panels->offsets) out->offsets += before.numbers_bytes * 2 / (size_t)panels->group;
    out->scales = panels->scales + first;
    out->sums = panels->sums + first;
    return true;
}
