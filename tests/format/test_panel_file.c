// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Panels in files: what is written is read where it lies, and files that do not go together are
// refused.
#include "src/base/memory.h"
#include "src/format/tensor/convrot.h"
#include "src/format/tensor/panel_weight.h"
#include "src/format/tensor/quant_note.h"
#include "src/format/tensor/stored_weight.h"
#include "src/format/tensor/weight_scale.h"
#include "tests/format/crafted.h"

#include <math.h>

enum { OUTPUTS = 33, INPUTS = 256, PANELS = 2, MOST = 5 };

// A file with one matrix "a.weight", and what may be wrong with it.
typedef struct example {
    zn_file_tensor tensors[MOST];
    size_t count, align;
    char note[256];
    uint8_t numbers[PANELS * 32 * INPUTS], steps[PANELS * 32 * INPUTS / 64];
    float scales[PANELS * 32];
    int32_t sums[PANELS * 32];
} example;

static float weight_at(int r, int k)
{
    return (float)((r * 31 + k * 7) % 101 - 50) / 64;
}

static void describe(example *e, int bits)
{
    e->count = 4;
    e->align = 64;
    e->tensors[0] = (zn_file_tensor){.name = "a.weight",
                                     .type = ZN_U8,
                                     .shape = ZN_SHAPE(PANELS, INPUTS * bits / 32, 32, 4),
                                     .data = e->numbers};
    e->tensors[1] = (zn_file_tensor){
        .name = "a.weight_scale", .type = ZN_F32, .shape = ZN_SHAPE(PANELS * 32)};
    e->tensors[2] = (zn_file_tensor){
        .name = "a.weight_sum", .type = ZN_S32, .shape = ZN_SHAPE(PANELS * 32)};
    e->tensors[3] = (zn_file_tensor){.name = "a.weight_steps",
                                     .type = ZN_U8,
                                     .shape = ZN_SHAPE(PANELS, INPUTS / 64, 32),
                                     .data = e->steps};
    e->tensors[1].data = (const uint8_t *)e->scales;
    e->tensors[2].data = (const uint8_t *)e->sums;
    if (bits == 8) e->count = 3;
}

static void note(example *e, const char *format, int bits, int outputs, int inputs, int rotated)
{
    const size_t length = (size_t)snprintf(
        e->note, sizeof e->note,
        "{\"layers\":{\"a\":{\"format\":\"%s\",\"bits\":%d,\"outputs\":%d,\"inputs\":%d", format,
        bits, outputs, inputs);
    snprintf(e->note + length, sizeof e->note - length,
             rotated ? ",\"convrot\":true,\"convrot_groupsize\":%d}}}" : "}}}", rotated);
}

static void make(example *e, int bits, int rotated)
{
    const zn_panel_kind kind = {INPUTS, INPUTS, bits, (size_t)rotated};
    zn_panel_error error = {0};
    float row[INPUTS];
    int8_t bytes[INPUTS];
    for (int panel = 0; panel < PANELS; panel++) {
        const zn_panel_target dst = {e->numbers + panel * 32 * INPUTS * bits / 8,
                                     e->steps + panel * 32 * INPUTS / 64, e->scales + panel * 32,
                                     e->sums + panel * 32};
        zn_panel_clear(&kind, &dst);
        for (int place = 0; place < 32 && panel * 32 + place < OUTPUTS; place++) {
            for (int k = 0; k < INPUTS; k++) row[k] = weight_at(panel * 32 + place, k);
            assert_true(zn_panel_pack(&kind, place, row, bytes, &dst, &error));
        }
    }
    assert_true(error.squared < (bits == 8 ? 2e-4 : 2e-2) * error.whole);
    describe(e, bits);
    note(e, ZN_PANELS_FORMAT, bits, OUTPUTS, INPUTS, rotated);
}

static zn_weights *open_example(const example *e)
{
    zn_error err = {{0}};
    zn_writer *writer = NULL;
    zn_weights *weights = NULL;
    const zn_metadata said = {"_quantization_metadata", e->note};
    const char *path = scratch("panel_file.safetensors");
    zn_test_ok(zn_writer_open(path, &writer, &err), &err);
    zn_test_ok(zn_safetensors_write_ordered(writer, e->tensors, e->count, &said, 1, e->align, &err),
               &err);
    for (size_t i = 0; i < e->count; i++) {
        const zn_desc desc = zn_desc_make(e->tensors[i].type, e->tensors[i].shape);
        size_t bytes;
        assert_true(zn_desc_bytes(&desc, &bytes));
        zn_test_ok(zn_writer_write(writer, e->tensors[i].data, bytes, &err), &err);
    }
    zn_test_ok(zn_writer_commit(writer, &err), &err);
    zn_test_ok(zn_weights_open(path, &weights, &err), &err);
    return weights;
}

static void read_back(int bits, int rotated, const char *text)
{
    static example e;
    static float values[OUTPUTS * INPUTS];
    zn_error err = {{0}};
    zn_stored_weight weight;
    char found[64];
    double squared = 0, whole = 0;
    const zn_shape expected = ZN_SHAPE(OUTPUTS, INPUTS);
    make(&e, bits, rotated);
    zn_weights *weights = open_example(&e);
    const zn_file_tensor *numbers = zn_weights_find(weights, "a.weight");
    zn_test_ok(zn_stored_weight_of(weights, numbers, &expected, &weight, &err), &err);
    zn_stored_weight_text(&weight, found, sizeof found);
    assert_string_equal(found, text);
    assert_int_equal(weight.form, ZN_WEIGHT_PANELS);
    assert_ptr_equal(weight.panels.numbers, numbers->data); // used as it lies
    assert_int_equal(weight.panels.outputs, OUTPUTS);
    assert_int_equal((uintptr_t)weight.panels.sums % 64, 0);
    assert_int_equal(weight.bytes, PANELS * 32 * (INPUTS * bits / 8 + (bits == 4 ? 4 : 0) + 8));
    zn_stored_weight_read(&weight, 0, OUTPUTS, values);
    for (int i = 0; i < OUTPUTS * INPUTS; i++) {
        const double right = (double)weight_at(i / INPUTS, i % INPUTS);
        squared += (right - (double)values[i]) * (right - (double)values[i]);
        whole += right * right;
    }
    assert_true(squared < (bits == 8 ? 2e-4 : 2e-2) * whole);
    assert_int_equal(zn_weight_notes(weights), bits == 8 ? 2 : 3);
    zn_weights_free(weights);
}

ZN_TEST(reading_back)
{
    read_back(8, 0, "panels 8-bit");
    read_back(8, 256, "panels 8-bit, rotated 256");
    read_back(4, 0, "panels 4-bit");
    read_back(4, 64, "panels 4-bit, rotated 64");
}

static void refused(const char *name, const example *e, zenith_status expected,
                    const char *fragment)
{
    zn_error err = {{0}};
    zn_stored_weight weight;
    zn_weights *weights = open_example(e);
    const zn_file_tensor *numbers = zn_weights_find(weights, "a.weight");
    const zenith_status status = zn_stored_weight_of(weights, numbers, NULL, &weight, &err);
    expect_refusal(name, status, &err, expected, fragment);
    zn_weights_free(weights);
}

ZN_TEST(metadata_that_does_not_fit)
{
    static example e;
    make(&e, 4, 0);
    note(&e, ZN_PANELS_FORMAT, 8, OUTPUTS, INPUTS, 0);
    refused("8 bits", &e, ZENITH_BAD_FILE, "other sizes");
    note(&e, ZN_PANELS_FORMAT, 5, OUTPUTS, INPUTS, 0);
    refused("5 bits", &e, ZENITH_BAD_FILE, "panels can have");
    note(&e, ZN_PANELS_FORMAT, 4, 65, INPUTS, 0);
    refused("65 outputs", &e, ZENITH_BAD_FILE, "other sizes");
    note(&e, ZN_PANELS_FORMAT, 4, OUTPUTS, 128, 0);
    refused("128 inputs", &e, ZENITH_BAD_FILE, "other sizes");
    note(&e, ZN_PANELS_FORMAT, 4, OUTPUTS, 0, 0);
    refused("no inputs", &e, ZENITH_BAD_FILE, "inputs");
    note(&e, ZN_PANELS_FORMAT, 4, OUTPUTS, 200, 256);
    refused("a rotation of 256 of 200", &e, ZENITH_BAD_FILE, "panels can have");
    note(&e, ZN_PANELS_FORMAT, 4, OUTPUTS, INPUTS, 32);
    refused("a rotation of 32", &e, ZENITH_UNSUPPORTED, "powers of four");
    note(&e, "zenith_panels_2", 4, OUTPUTS, INPUTS, 0);
    refused("a later version", &e, ZENITH_UNSUPPORTED, "zenith_panels_2");
}

ZN_TEST(tensors_that_do_not_fit)
{
    static example e;
    const char *const missing[] = {"a.weight_scale", "a.weight_sum", "a.weight_steps"};
    for (int i = 0; i < 3; i++) {
        make(&e, 4, 0);
        e.tensors[i + 1].name = "other";
        refused(missing[i], &e, ZENITH_BAD_FILE, "other sizes");
    }
    for (int i = 0; i < 3; i++) {
        make(&e, 4, 0);
        e.tensors[i + 1].shape.dim[0] -= i == 2 ? 1 : 16;
        refused(missing[i], &e, ZENITH_BAD_FILE, "other sizes");
    }
    make(&e, 4, 0);
    e.tensors[1].type = ZN_S32;
    refused("integers as scales", &e, ZENITH_BAD_FILE, "other sizes");
    make(&e, 4, 0);
    e.tensors[0].shape = ZN_SHAPE(1, INPUTS / 4, 32, 4);
    refused("another shape of as many bytes", &e, ZENITH_BAD_FILE, "other sizes");
    make(&e, 4, 0);
    e.scales[3] = INFINITY;
    refused("an infinite scale", &e, ZENITH_BAD_FILE, "not finite");
}

ZN_TEST(bytes_between_lines)
{
    static example e;
    make(&e, 8, 0);
    for (size_t i = e.count++; i > 0; i--) e.tensors[i] = e.tensors[i - 1];
    e.tensors[0] = (zn_file_tensor){
        .name = "first", .type = ZN_F32, .shape = ZN_SHAPE(2), .data = (const uint8_t *)e.scales};
    refused("a tensor of 8 bytes before them", &e, ZENITH_BAD_FILE, "multiples of 64");
}
