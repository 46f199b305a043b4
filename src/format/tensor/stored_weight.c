// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Which form a weight is stored in follows from the type of "X.weight" and from what lies beside
// it. Here the tensors that make a weight are put together and compared; stored_weight_rows.c reads
// numbers.
#include "src/format/tensor/stored_weight.h"

#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/format/tensor/elements.h"
#include "src/format/tensor/quant_note.h"
#include "src/format/tensor/weight_scale.h"

#include <math.h>
#include <string.h>

enum { NAME_SHOWN = 100, USUAL_GROUP = 64, TILE_ROWS = 128, TILE_COLUMNS = 4, NVFP4_GROUP = 16 };

// What a weight is put together for.
typedef struct finder {
    const zn_weights *weights;
    const zn_file_tensor *tensor; // "X.weight"
    const char *file;
    const zn_shape *expected; // or NULL
    zn_error *err;
} finder;

static zenith_status refuse(const finder *f, zenith_status status, const char *what)
{
    return zn_fail(f->err, status, "%s: tensor \"%.*s\": %s", f->file, NAME_SHOWN, f->tensor->name,
                   what);
}

static bool is_type(const zn_file_tensor *tensor, zn_type type)
{
    return tensor && tensor->supported && tensor->type == type;
}

static bool is_float(const zn_file_tensor *tensor)
{
    return is_type(tensor, ZN_F32) || is_type(tensor, ZN_BF16) || is_type(tensor, ZN_F16);
}

static size_t elements_of(const zn_file_tensor *tensor)
{
    size_t elements = 0;
    zn_shape_elements(&tensor->shape, &elements);
    return elements;
}

// What the file says about the module: a tensor of bytes, else the metadata.
static zenith_status read_note(const finder *f, zn_quant_note *out)
{
    const zn_file_tensor *text = zn_weight_beside(f->weights, f->tensor->name, ".comfy_quant");
    const zn_json *note = zn_weights_note(f->weights, f->tensor);
    *out = (zn_quant_note){.format = ""};
    if (is_type(text, ZN_U8))
        return zn_quant_note_parse((const char *)text->data, text->bytes, f->file, out, f->err);
    return note ? zn_quant_note_read(note, f->file, out, f->err) : ZENITH_OK;
}

// --- scales

static zenith_status check_finite(const finder *f, const zn_file_tensor *scales)
{
    const size_t count = elements_of(scales);
    for (size_t i = 0; i < count; i++) {
        float scale;
        zn_elements_to_f32(scales->type, scales->data, i, 1, &scale);
        if (!isfinite(scale))
            return zn_fail(f->err, ZENITH_BAD_FILE, "%s: '%.*s' is not finite", f->file, NAME_SHOWN,
                           scales->name);
    }
    return ZENITH_OK;
}

// One scale for each row, or for all.
static zenith_status take_row_scales(const finder *f, const zn_file_tensor *scales,
                                     zn_stored_weight *out)
{
    const size_t count = is_float(scales) ? elements_of(scales) : 0;
    if (count == 0 || (count != 1 && count != out->rows))
        return refuse(f, ZENITH_BAD_FILE,
                      "its scale must be floating numbers, one or one for each row");
    ZN_TRY(check_finite(f, scales));
    out->bytes += scales->bytes;
    if (count == out->rows)
        out->scales = scales;
    else
        zn_elements_to_f32(scales->type, scales->data, 0, 1, &out->scale);
    return ZENITH_OK;
}

// --- forms

// MLX's bits for a number by what the files say; 0 where they do not.
static uint64_t noted_bits(const zn_weights *weights)
{
    const char *level = zn_weights_metadata(weights, "quantization_level");
    const zn_json *config = zn_weights_config(weights), *entry = NULL;
    int64_t bits = 0;
    if (level) return strcmp(level, "4") == 0 ? 4 : strcmp(level, "8") == 0 ? 8 : 0;
    if (config && zn_json_get_object(config, "quantization", &entry, NULL) == ZENITH_OK &&
        zn_json_get_integer(entry, "bits", 1, 32, &bits, NULL) == ZENITH_OK)
        return (uint64_t)bits;
    return 0;
}

// A row's words have `row_bits` bits in all and belong to `groups` groups.
static uint64_t find_bits(const finder *f, uint64_t row_bits, uint64_t groups)
{
    if (f->expected && f->expected->rank > 0) {
        const uint64_t columns = (uint64_t)f->expected->dim[f->expected->rank - 1];
        return columns > 0 && row_bits % columns == 0 ? row_bits / columns : 0;
    }
    const uint64_t noted = noted_bits(f->weights), group_bits = row_bits / groups;
    if (noted) return noted;
    return group_bits == 4 * 32 ? 4 : group_bits == 8 * 128 ? 8 : group_bits / USUAL_GROUP;
}

static zenith_status as_mlx(const finder *f, zn_stored_weight *out)
{
    const zn_shape *shape = &f->tensor->shape;
    const zn_file_tensor *scales = zn_weight_beside(f->weights, f->tensor->name, ".scales");
    const zn_file_tensor *biases = zn_weight_beside(f->weights, f->tensor->name, ".biases");
    if (!is_float(scales) || !is_float(biases) || !zn_shape_equal(&scales->shape, &biases->shape) ||
        shape->rank != 2 || scales->shape.rank != 2 || scales->shape.dim[0] != shape->dim[0] ||
        scales->shape.dim[1] == 0 || scales->type != biases->type)
        return refuse(f, ZENITH_BAD_FILE,
                      "numbers in words of 32 bits need '.scales' and '.biases' of as many rows "
                      "beside them, as MLX writes");
    const uint64_t row_bits = 32 * (uint64_t)shape->dim[1], groups = (uint64_t)scales->shape.dim[1];
    const uint64_t bits = find_bits(f, row_bits, groups);
    if ((bits != 4 && bits != 8) || row_bits / bits % groups != 0)
        return refuse(f, ZENITH_UNSUPPORTED,
                      "MLX weights of 4 or 8 bits are read, and these shapes are of others");
    out->form = ZN_WEIGHT_MLX;
    out->scales = scales;
    out->offsets = biases;
    out->bits = (size_t)bits;
    out->columns = (size_t)(row_bits / bits);
    out->group = (size_t)(row_bits / bits / groups);
    out->shape.dim[1] = (int64_t)out->columns;
    out->bytes += scales->bytes + biases->bytes;
    return ZENITH_OK;
}

static zenith_status as_int8(const finder *f, const zn_file_tensor *scales,
                             const zn_quant_note *note, zn_stored_weight *out)
{
    if (*note->format && strcmp(note->format, "int8_tensorwise") != 0)
        return zn_fail(f->err, ZENITH_UNSUPPORTED,
                       "%s: tensor \"%.*s\" is quantised as '%s', which this version cannot read",
                       f->file, NAME_SHOWN, f->tensor->name, note->format);
    if (out->shape.rank != 2)
        return refuse(f, ZENITH_BAD_FILE, "8-bit integers with scales must be a matrix");
    if (note->rotated_by && out->columns % note->rotated_by != 0)
        return refuse(f, ZENITH_BAD_FILE, "its rows are not whole groups of rotated features");
    out->form = ZN_WEIGHT_INT8;
    out->rotated_by = note->rotated_by;
    return take_row_scales(f, scales, out);
}

static zenith_status as_nvfp4(const finder *f, const zn_file_tensor *scales,
                              const zn_file_tensor *second, zn_stored_weight *out)
{
    size_t bytes, columns;
    if (out->shape.rank != 2 || !zn_mul_size(out->columns, 2, &columns) ||
        columns % NVFP4_GROUP != 0 || !is_float(second) || elements_of(second) != 1)
        return refuse(f, ZENITH_BAD_FILE,
                      "4-bit floats must be a matrix with whole groups of 16, and have one "
                      "'.weight_scale_2'");
    const size_t down = zn_round_up(out->rows, TILE_ROWS);
    const size_t across = zn_round_up(columns / NVFP4_GROUP, TILE_COLUMNS);
    if (!zn_mul_size(down, across, &bytes) || bytes != scales->bytes)
        return refuse(f, ZENITH_BAD_FILE,
                      "'.weight_scale' has another number of scales than one for each 16 weights, "
                      "in tiles of 128 rows by 4");
    ZN_TRY(check_finite(f, second));
    zn_elements_to_f32(second->type, second->data, 0, 1, &out->scale);
    out->form = ZN_WEIGHT_NVFP4;
    out->scales = scales;
    out->columns = columns;
    out->shape.dim[1] = (int64_t)columns;
    out->bytes += scales->bytes + second->bytes;
    return ZENITH_OK;
}

// A tensor that panels need, of so many bytes, where vectors can read it.
static bool is_panel_part(const zn_file_tensor *tensor, zn_type type, size_t bytes)
{
    return is_type(tensor, type) && tensor->bytes == bytes && bytes > 0 &&
           (uintptr_t)tensor->data % ZN_ALIGN == 0;
}

static bool is_panel_shape(const zn_file_tensor *tensor, const zn_panels_size *size, int bits)
{
    const zn_shape wanted = ZN_SHAPE(size->panels, size->padded_inputs * bits / 8 / ZN_PANEL_QUAD,
                                     ZN_PANEL_OUTPUTS, ZN_PANEL_QUAD);
    return zn_shape_equal(&tensor->shape, &wanted);
}

static zenith_status as_panels(const finder *f, const zn_file_tensor *scales,
                               const zn_quant_note *note, zn_stored_weight *out)
{
    const zn_file_tensor *steps = zn_weight_beside(f->weights, f->tensor->name, ".weight_steps");
    const zn_file_tensor *sums = zn_weight_beside(f->weights, f->tensor->name, ".weight_sum");
    const int bits = (int)note->bits;
    zn_panels_size size;
    if (!zn_panels_measure(note->outputs, note->inputs, bits, &size) ||
        (note->rotated_by && (size_t)note->inputs % note->rotated_by != 0))
        return refuse(
            f, ZENITH_BAD_FILE,
            "the metadata says no outputs, inputs, bits and rotation that panels can have");
    if (!is_panel_shape(f->tensor, &size, bits) ||
        !is_panel_part(f->tensor, ZN_U8, size.numbers_bytes) ||
        (bits == 4 && !is_panel_part(steps, ZN_U8, size.steps_bytes)) ||
        !is_panel_part(scales, ZN_F32, size.scales_bytes) ||
        !is_panel_part(sums, ZN_S32, size.scales_bytes))
        return refuse(
            f, ZENITH_BAD_FILE,
            "its panels, '_steps', '_scale' and '_sum' have other sizes than the metadata "
            "says, or do not begin at multiples of 64 bytes: write it by 'zenith convert'");
    ZN_TRY(check_finite(f, scales));
    out->form = ZN_WEIGHT_PANELS;
    out->scales = scales;
    out->rows = (size_t)note->outputs;
    out->columns = (size_t)note->inputs;
    out->shape = ZN_SHAPE(note->outputs, note->inputs);
    out->bits = (size_t)bits;
    out->rotated_by = note->rotated_by;
    out->bytes += (bits == 4 ? steps->bytes : 0) + scales->bytes + sums->bytes;
    out->panels = (zn_panels){.outputs = note->outputs,
                              .inputs = note->inputs,
                              .bits = bits,
                              .rotated_by = (int64_t)note->rotated_by,
                              .numbers = f->tensor->data,
                              .steps = bits == 4 ? steps->data : NULL,
                              .scales = (const void *)scales->data,
                              .sums = (const void *)sums->data};
    return ZENITH_OK;
}

// Elements of a type of ours.
static zenith_status as_plain(const finder *f, const zn_file_tensor *scales, zn_stored_weight *out)
{
    const bool f8 = is_type(f->tensor, ZN_F8_E4M3) || is_type(f->tensor, ZN_F8_E5M2);
    if (f8 && is_float(scales) && elements_of(scales) > 1 && elements_of(scales) == out->rows)
        return take_row_scales(f, scales, out);
    ZN_TRY(zn_weight_scale(f->weights, f->tensor, &out->scale, f->err));
    if (f8 && scales) out->bytes += scales->bytes;
    return ZENITH_OK;
}

static zenith_status recognise(const finder *f, zn_stored_weight *out)
{
    const zn_file_tensor *scales = zn_weight_scale_find(f->weights, f->tensor->name);
    const zn_file_tensor *second = zn_weight_beside(f->weights, f->tensor->name, ".weight_scale_2");
    zn_quant_note note;
    ZN_TRY(read_note(f, &note));
    if (f->tensor->blocks) {
        out->form = ZN_WEIGHT_BLOCKS;
        return ZENITH_OK;
    }
    if (strcmp(f->tensor->dtype, "U32") == 0) return as_mlx(f, out);
    if (!f->tensor->supported)
        return zn_fail(f->err, ZENITH_UNSUPPORTED,
                       "%s: tensor \"%.*s\" has elements of type %.*s, which this version cannot "
                       "read",
                       f->file, NAME_SHOWN, f->tensor->name, NAME_SHOWN, f->tensor->dtype);
    if (strcmp(note.format, ZN_PANELS_FORMAT) == 0) return as_panels(f, scales, &note, out);
    if (f->tensor->type == ZN_S8 && scales) return as_int8(f, scales, &note, out);
    if (f->tensor->type == ZN_U8 && is_type(scales, ZN_F8_E4M3) && second)
        return as_nvfp4(f, scales, second, out);
    if (*note.format && (f->tensor->type == ZN_S8 || f->tensor->type == ZN_U8))
        return zn_fail(f->err, ZENITH_UNSUPPORTED,
                       "%s: tensor \"%.*s\" is quantised as '%s', and the scales of that are not "
                       "beside it, or this version cannot read it",
                       f->file, NAME_SHOWN, f->tensor->name, note.format);
    return as_plain(f, scales, out);
}

// --- shapes

// Writers leave dimensions of 1 out, or keep them.
static bool same_but_ones(const zn_shape *a, const zn_shape *b)
{
    int i = 0, j = 0;
    for (;; i++, j++) {
        while (i < a->rank && a->dim[i] == 1) i++;
        while (j < b->rank && b->dim[j] == 1) j++;
        if (i == a->rank || j == b->rank) return i == a->rank && j == b->rank;
        if (a->dim[i] != b->dim[j]) return false;
    }
}

static zenith_status check_shape(const finder *f, zn_stored_weight *weight)
{
    char want[128], have[128];
    if (!f->expected) return ZENITH_OK;
    if (same_but_ones(f->expected, &weight->shape)) {
        weight->shape = *f->expected;
        return ZENITH_OK;
    }
    zn_shape_text(f->expected, want, sizeof want);
    zn_shape_text(&weight->shape, have, sizeof have);
    return zn_fail(f->err, ZENITH_BAD_FILE,
                   "%s: tensor \"%.*s\" has the shape %s where %s is expected", f->file, NAME_SHOWN,
                   f->tensor->name, have, want);
}

zenith_status zn_stored_weight_of(const zn_weights *weights, const zn_file_tensor *tensor,
                                  const zn_shape *expected, zn_stored_weight *out, zn_error *err)
{
    const finder f = {.weights = weights,
                      .tensor = tensor,
                      .file = zn_weights_file(weights, tensor),
                      .expected = expected,
                      .err = err};
    zn_stored_weight found = {.form = ZN_WEIGHT_PLAIN,
                              .shape = tensor->shape,
                              .numbers = tensor,
                              .scale = 1,
                              .bytes = tensor->bytes};
    if (!zn_file_tensor_rows(tensor, &found.rows, &found.columns))
        return refuse(&f, ZENITH_BAD_FILE, "the product of its dimensions is too large");
    ZN_TRY(recognise(&f, &found));
    ZN_TRY(check_shape(&f, &found));
    *out = found;
    return ZENITH_OK;
}

// --- what it is

double zn_stored_weight_bits(const zn_stored_weight *weight)
{
    size_t elements = 0;
    zn_shape_elements(&weight->shape, &elements);
    return elements > 0 ? 8.0 * (double)weight->bytes / (double)elements : 0;
}

void zn_stored_weight_text(const zn_stored_weight *weight, char *dst, size_t size)
{
    if (weight->form == ZN_WEIGHT_MLX)
        zn_text_format(dst, size, "MLX %zu-bit, groups of %zu", weight->bits, weight->group);
    else if (weight->form == ZN_WEIGHT_INT8 && weight->rotated_by)
        zn_text_format(dst, size, "INT8 convrot %zu", weight->rotated_by);
    else if (weight->form == ZN_WEIGHT_INT8)
        zn_text_format(dst, size, "INT8");
    else if (weight->form == ZN_WEIGHT_PANELS && weight->rotated_by)
        zn_text_format(dst, size, "panels %zu-bit, rotated %zu", weight->bits, weight->rotated_by);
    else if (weight->form == ZN_WEIGHT_PANELS)
        zn_text_format(dst, size, "panels %zu-bit", weight->bits);
    else if (weight->form == ZN_WEIGHT_NVFP4)
        zn_text_format(dst, size, "NVFP4");
    else if (weight->bytes > weight->numbers->bytes)
        zn_text_format(dst, size, "%s scaled", weight->numbers->dtype);
    else
        zn_text_format(dst, size, "%s", weight->numbers->dtype);
}
