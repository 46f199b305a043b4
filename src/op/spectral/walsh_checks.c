// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/op/spectral/walsh_checks.h"

#include "src/kernel/spectral/walsh.h"

#include <math.h>

zenith_status zn_walsh_check_map(const zn_node *node, int input, zn_error *err)
{
    ZN_TRY(zn_check_map(node, input, err));
    return zn_check_wide_floats(node, input, err);
}

zenith_status zn_walsh_check_length(const zn_node *node, int64_t length, const char *what,
                                    zn_error *err)
{
    if (length >= 2 && length <= ZN_WALSH_LONGEST && (length & (length - 1)) == 0) return ZENITH_OK;
    return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                   "%s needs a %s that is a power of two, from 2 to %d, not %lld", node->op->name,
                   what, (int)ZN_WALSH_LONGEST, (long long)length);
}

zenith_status zn_walsh_check_gate(const zn_node *node, int input, int64_t frequencies,
                                  zn_error *err)
{
    const zn_shape *shape = &node->inputs[input]->desc.shape;
    const int64_t channels = node->inputs[0]->desc.shape.dim[3];
    if (shape->rank == 2 && shape->dim[0] == frequencies && shape->dim[1] == channels)
        return ZENITH_OK;
    char text[96];
    zn_shape_text(shape, text, sizeof text);
    return zn_fail(err, ZENITH_INVALID_ARGUMENT, "%s: '%s' has shape %s, not [%lld, %lld]",
                   node->op->name, node->inputs[input]->name, text, (long long)frequencies,
                   (long long)channels);
}

zenith_status zn_walsh_check_tile(const zn_node *node, const zn_walsh_tile_attributes *a,
                                  zn_error *err)
{
    const bool size = a->size == 4 || a->size == 8 || a->size == 16;
    if (size && (a->shift == 0 || a->shift == a->size / 2) && a->kept >= 1 && a->kept <= a->size)
        return ZENITH_OK;
    return zn_fail(
        err, ZENITH_INVALID_ARGUMENT,
        "%s: tiles have 4, 8 or 16 pixels, a shift of none or half of them, and 1 to all "
        "of their frequencies; not %d, %d, %d",
        node->op->name, a->size, a->shift, a->kept);
}

zenith_status zn_walsh_infer_gate(zn_node *node, int dimension, zn_error *err)
{
    ZN_TRY(zn_check_inputs(node, 2, 2, err));
    ZN_TRY(zn_walsh_check_map(node, 0, err));
    const int64_t length = node->inputs[0]->desc.shape.dim[dimension];
    ZN_TRY(zn_walsh_check_length(node, length, dimension == 2 ? "width" : "height", err));
    ZN_TRY(zn_walsh_check_gate(node, 1, length, err));
    zn_infer_like_input(node);
    return ZENITH_OK;
}

void zn_walsh_double(double *values, size_t length)
{
    for (size_t apart = 1; apart < length; apart *= 2) {
        for (size_t i = 0; i < length; i++) {
            if (i & apart) continue;
            const double a = values[i], b = values[i + apart];
            values[i] = a + b;
            values[i + apart] = a - b;
        }
    }
}

void zn_walsh_gate_reference(const zn_tensor *inputs, int dimension, zn_tensor *output)
{
    const int64_t *dim = output->desc.shape.dim;
    const size_t length = (size_t)dim[dimension], channels = (size_t)dim[3];
    const size_t step = dimension == 2 ? channels : (size_t)dim[2] * channels;
    const size_t count = zn_value_count(output);
    for (size_t first = 0; first < count; first++) {
        if (first / step % length != 0) continue; // not the first of a line
        double line[ZN_WALSH_LONGEST];
        for (size_t i = 0; i < length; i++)
            line[i] = (double)zn_value_get(&inputs[0], first + i * step);
        zn_walsh_double(line, length);
        for (size_t k = 0; k < length; k++)
            line[k] *= (double)zn_value_get(&inputs[1], k * channels + first % channels) /
                       (double)length;
        zn_walsh_double(line, length);
        for (size_t i = 0; i < length; i++) zn_value_set(output, first + i * step, (float)line[i]);
    }
}

double zn_walsh_gate_flops(const zn_node *node, int dimension)
{
    const int64_t *dim = node->inputs[0]->desc.shape.dim;
    const double stages = (double)zn_walsh_log2((size_t)dim[dimension]);
    return (2 * stages + 1) * (double)(dim[0] * dim[1]) * (double)(dim[2] * dim[3]);
}

// --- tiles ---------------------------------------------------------------------------------------

int64_t zn_mirror(int64_t at, int64_t length)
{
    const int64_t period = 2 * length;
    at %= period;
    if (at < 0) at += period;
    return at < length ? at : period - 1 - at;
}

// The number of changes of sign of a frequency's function.
static int changes_of_sign(int frequency, int size)
{
    int changes = 0;
    for (int i = 1; i < size; i++) {
        int differ = frequency & (i ^ (i - 1)), parity = 0;
        for (; differ; differ &= differ - 1) parity ^= 1;
        changes += parity;
    }
    return changes;
}

bool zn_walsh_keeps(const zn_walsh_tile_attributes *a, int frequency)
{
    return changes_of_sign(frequency, a->size) < a->kept;
}

// The functions with the fewest changes, a power of two of them, are those without low bits.
unsigned zn_walsh_pruned(const zn_walsh_tile_attributes *a)
{
    unsigned pruned = 0;
    while (a->kept <= a->size >> (pruned + 1)) pruned++;
    return pruned;
}

void zn_walsh_tile_double(int size, double *values)
{
    double line[16];
    for (int y = 0; y < size; y++) zn_walsh_double(values + y * size, (size_t)size);
    for (int x = 0; x < size; x++) {
        for (int y = 0; y < size; y++) line[y] = values[y * size + x];
        zn_walsh_double(line, (size_t)size);
        for (int y = 0; y < size; y++) values[y * size + x] = line[y] / size;
    }
}

void zn_walsh_tile_take(const zn_walsh_tile_attributes *a, const zn_tensor *map, zn_walsh_place at,
                        bool mirrored, double *values)
{
    const int64_t *dim = map->desc.shape.dim;
    for (int i = 0; i < a->size * a->size; i++) {
        const int64_t row = at.top + i / a->size, column = at.left + i % a->size;
        const int64_t y = zn_mirror(row, dim[1]), x = zn_mirror(column, dim[2]);
        const int64_t place = ((at.image * dim[1] + y) * dim[2] + x) * dim[3] + at.channel;
        const bool there = mirrored || (y == row && x == column);
        values[i] = there ? (double)zn_value_get(map, (size_t)place) : 0;
    }
    zn_walsh_tile_double(a->size, values);
}

double zn_walsh_tile_flops(const zn_walsh_tile_attributes *a)
{
    const unsigned pruned = zn_walsh_pruned(a);
    const double each = 4.0 * zn_walsh_log2((size_t)a->size >> pruned) + 2; // of a kept value
    return each / (1 << 2 * pruned) + (pruned > 0);                         // and the sums
}
