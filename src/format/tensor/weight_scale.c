// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/format/tensor/weight_scale.h"

#include "src/base/text.h"
#include "src/format/tensor/elements.h"

#include <math.h>
#include <string.h>

enum { NAME_SIZE = 512, NAME_SHOWN = 100 };

static const char weight_tail[] = ".weight";
static const char *const scale_tails[] = {".weight" ZN_WEIGHT_SCALE_TAIL, ".scale_weight"};
static const char *const other_tails[] = {".input_scale",    ".scale_input",  ".comfy_quant",
                                          ".weight_scale_2", ".weight_steps", ".weight_sum"};
static const char *const mlx_tails[] = {".scales", ".biases"};
static const char file_mark[] = "scaled_fp8";
enum {
    SCALE_TAILS = sizeof scale_tails / sizeof *scale_tails,
    OTHER_TAILS = sizeof other_tails / sizeof *other_tails,
    MLX_TAILS = sizeof mlx_tails / sizeof *mlx_tails,
};

// The tensor whose name is the first `length` letters of `name` and then `tail`; NULL where there
// is none. A name too long for this has no scale: networks' names are much shorter.
static const zn_file_tensor *find_beside(const zn_weights *weights, const char *name, size_t length,
                                         const char *tail)
{
    char other[NAME_SIZE];
    if (length + strlen(tail) >= sizeof other) return NULL;
    zn_text_format(other, sizeof other, "%.*s%s", (int)length, name, tail);
    return zn_weights_find(weights, other);
}

const zn_file_tensor *zn_weight_beside(const zn_weights *weights, const char *name,
                                       const char *tail)
{
    if (!zn_text_ends_with(name, weight_tail)) return NULL;
    return find_beside(weights, name, strlen(name) - strlen(weight_tail), tail);
}

const zn_file_tensor *zn_weight_scale_find(const zn_weights *weights, const char *name)
{
    const zn_file_tensor *found = NULL;
    for (int i = 0; i < SCALE_TAILS && !found; i++)
        found = zn_weight_beside(weights, name, scale_tails[i]);
    return found;
}

static bool is_f8(const zn_file_tensor *tensor)
{
    return tensor->supported && (tensor->type == ZN_F8_E4M3 || tensor->type == ZN_F8_E5M2);
}

static bool is_float(const zn_file_tensor *tensor)
{
    return tensor->supported && (tensor->type == ZN_F32 || tensor->type == ZN_BF16 ||
                                 tensor->type == ZN_F16 || tensor->type == ZN_F64);
}

zenith_status zn_weight_scale(const zn_weights *weights, const zn_file_tensor *tensor, float *out,
                              zn_error *err)
{
    float scale = 1;
    size_t elements = 0;
    const zn_file_tensor *found = zn_weight_scale_find(weights, tensor->name);
    *out = 1;
    if (!found) return ZENITH_OK;
    const char *file = zn_weights_file(weights, found);
    if (!is_float(found) || !zn_shape_elements(&found->shape, &elements) || elements != 1) {
        if (!is_f8(tensor)) return ZENITH_OK; // another quantisation, whose weights are refused
        return zn_fail(
            err, ZENITH_UNSUPPORTED,
            "%s: '%.*s' is not one floating number; 8-bit floats are read with one scale "
            "for each tensor, not by row or block: use another form of these weights",
            file, NAME_SHOWN, found->name);
    }
    zn_elements_to_f32(found->type, found->data, 0, 1, &scale);
    if (!isfinite(scale))
        return zn_fail(err, ZENITH_BAD_FILE, "%s: '%.*s' is not a finite number", file, NAME_SHOWN,
                       found->name);
    if (!is_f8(tensor) && scale != 1.0f)
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "%s: '%.*s' is a scale of weights stored as %.*s; only weights stored as "
                       "8-bit floats have scales",
                       file, NAME_SHOWN, found->name, NAME_SHOWN, tensor->dtype);
    *out = scale;
    return ZENITH_OK;
}

static const zn_file_tensor *told_of(const zn_weights *weights, const char *name, const char *tail)
{
    if (!zn_text_ends_with(name, tail)) return NULL;
    return find_beside(weights, name, strlen(name) - strlen(tail), weight_tail);
}

bool zn_weight_is_note(const zn_weights *weights, const zn_file_tensor *tensor)
{
    const char *name = tensor->name;
    for (int i = 0; i < SCALE_TAILS; i++)
        if (told_of(weights, name, scale_tails[i])) return true;
    for (int i = 0; i < OTHER_TAILS; i++)
        if (told_of(weights, name, other_tails[i])) return true;
    for (int i = 0; i < MLX_TAILS; i++) { // a module may have a bias of its own, of another name
        const zn_file_tensor *weight = told_of(weights, name, mlx_tails[i]);
        if (weight && strcmp(weight->dtype, "U32") == 0) return true;
    }
    const char *dot = strrchr(name, '.'); // parts of a model put a prefix before it
    return strcmp(dot ? dot + 1 : name, file_mark) == 0;
}

size_t zn_weight_notes(const zn_weights *weights)
{
    size_t count = 0;
    for (size_t i = 0; i < zn_weights_count(weights); i++)
        count += zn_weight_is_note(weights, zn_weights_get(weights, i));
    return count;
}

float zn_weight_scale_for(zn_type type, float largest)
{
    enum { LEAST = -126, MOST = 127 };
    if (largest == 0) return 1;
    int exponent, top;
    const float fraction = frexpf(largest, &exponent);
    const float limit = frexpf(type == ZN_F8_E4M3 ? 448.0f : 57344.0f, &top);
    exponent -= fraction > limit ? top - 1 : top;
    return ldexpf(1, exponent < LEAST ? LEAST : exponent > MOST ? MOST : exponent);
}
