// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A checkpoint of a small run that is altered before its checksum is made: other shapes, types,
// names and numbers, tensors and facts that are missing. The input is a list of alterations, three
// bytes each. What is read is what was written; whatever lacks something is refused. (Whole files
// of other bytes are for fuzz_safetensors.)
#include "src/base/bytes.h"
#include "src/base/os.h"
#include "src/train/run/checkpoint.h"

#include <stdio.h>
#include <string.h>

enum { PARAMETERS = 3, BLOCKS = 4, TENSORS = PARAMETERS * BLOCKS, FACTS = 4, ELEMENTS = 40 };
enum { MOST_DIM = 8, STEPS = 1000 };

static const zn_run_identity identity = {"model = taesd\nsteps = 1000\n", "0123456789abcdef"};

typedef struct state {
    zn_train_parameter parameters[PARAMETERS];
    zn_network network;
    zn_optimizer optimizer;
} state;

typedef struct file {
    zn_file_tensor tensors[TENSORS + 1];
    char names[TENSORS + 1][128];
    size_t count;
    zn_metadata facts[FACTS + 1];
    size_t pairs;
    bool forged; // its checksum is not its own
} file;

static const float *values(void)
{
    static float numbers[2 * MOST_DIM * MOST_DIM * MOST_DIM * MOST_DIM];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) numbers[i] = 1 + (float)i;
    return numbers;
}

static void begin(state *s)
{
    static const char *const names[PARAMETERS] = {"decoder.0.weight", "decoder.0.bias", "scale"};
    const zn_shape shapes[PARAMETERS] = {ZN_SHAPE(4, 1, 3, 3), ZN_SHAPE(3), {.rank = 0}};
    const zn_train_optimizer settings = {.ema = 0.5, .loss_scale = 4, .scale_window = 10};
    zn_error err = {{0}};
    size_t offset = 0;
    *s = (state){.network = {.count = PARAMETERS}};
    s->network.parameters = s->parameters;
    for (int i = 0; i < PARAMETERS; i++) {
        zn_train_parameter *p = &s->parameters[i];
        snprintf(p->name, sizeof p->name, "%s", names[i]);
        p->tensor.desc = zn_desc_make(ZN_F32, shapes[i]);
        p->offset = offset;
        if (!zn_shape_elements(&shapes[i], &p->elements)) __builtin_trap();
        offset += p->elements;
    }
    if (offset != ELEMENTS) __builtin_trap();
    if (zn_optimizer_create(&settings, ELEMENTS, STEPS, NULL, &s->optimizer, &err) != ZENITH_OK)
        __builtin_trap();
}

static void as_written(const state *s, file *f)
{
    static const char *const blocks[BLOCKS] = {"weights", "m", "v", "ema"};
    *f = (file){.facts = {{"zenith.step", "7"},
                          {"zenith.config", identity.config},
                          {"zenith.data", identity.data},
                          {"zenith.loss_scale", "2 5 1"}},
                .pairs = FACTS};
    for (int b = 0; b < BLOCKS; b++)
        for (int i = 0; i < PARAMETERS; i++, f->count++) {
            const zn_train_parameter *p = &s->parameters[i];
            snprintf(f->names[f->count], sizeof *f->names, "%s.%s", blocks[b], p->name);
            f->tensors[f->count] = (zn_file_tensor){.name = f->names[f->count],
                                                    .type = ZN_F32,
                                                    .shape = p->tensor.desc.shape,
                                                    .data = (const uint8_t *)values()};
        }
}

static void drop_tensor(file *f, size_t at)
{
    memmove(&f->tensors[at], &f->tensors[at + 1], (f->count - at - 1) * sizeof *f->tensors);
    f->count--;
}

static void change_shape(file *f, size_t at, uint8_t value)
{
    zn_shape *shape = &f->tensors[at].shape;
    if (value < 128 && shape->rank > 0)
        shape->dim[value / 16 % shape->rank] = value % (MOST_DIM + 1);
    else if (shape->rank < 4)
        shape->dim[shape->rank++] = 1 + value % 2;
    else
        shape->rank = value % 4;
}

static void change_fact(file *f, size_t at, uint8_t value)
{
    static const char *const texts[] = {"",
                                        "0",
                                        "-1",
                                        "1001",
                                        "18446744073709551616",
                                        "1e3",
                                        "7 ",
                                        "1 2",
                                        "1 2 3 4",
                                        "101 0 0",
                                        "-1 0 0",
                                        "a b c",
                                        "\xff",
                                        "2 5 18446744073709551617",
                                        "model = taesd\nsteps = 1000\nmore = 1\n",
                                        "model = taesd"};
    f->facts[at].value = texts[value % (sizeof texts / sizeof *texts)];
}

static char *tensor_name(file *f, size_t at)
{
    return f->names[(size_t)(f->tensors[at].name - f->names[0]) / sizeof *f->names];
}

static void alter(file *f, const uint8_t edit[3])
{
    static const zn_type types[] = {ZN_F32, ZN_F16, ZN_BF16, ZN_S8};
    const size_t tensor = f->count ? edit[1] % f->count : 0,
                 fact = f->pairs ? edit[1] % f->pairs : 0;
    const int kind = edit[0] % 7;
    if (f->count > 0 && kind == 0) change_shape(f, tensor, edit[2]);
    if (f->count > 0 && kind == 1) drop_tensor(f, tensor);
    if (f->count > 0 && kind == 2) f->tensors[tensor].type = types[edit[2] % 4];
    if (f->count > 0 && kind == 3) tensor_name(f, tensor)[edit[2] % 4] ^= 1; // all are longer
    if (f->pairs > 0 && kind == 4) change_fact(f, fact, edit[2]);
    if (f->pairs > 0 && kind == 5) f->facts[fact] = f->facts[--f->pairs];
    if (kind == 6) f->forged = true;
}

static zenith_status write_altered(file *f, const char *checksum, zn_bytes *out)
{
    zn_error err = {{0}};
    zn_writer *writer = NULL;
    f->facts[f->pairs] = (zn_metadata){"zenith.checksum", checksum};
    zenith_status status = zn_writer_open_bytes(out, &writer, &err);
    if (status != ZENITH_OK) return status;
    status = zn_safetensors_write(writer, f->tensors, f->count, f->facts, f->pairs + 1, &err);
    if (status == ZENITH_OK) return zn_writer_commit(writer, &err);
    zn_writer_discard(writer);
    return status;
}

static bool says(const file *f, const char *key, const char *value)
{
    for (size_t i = 0; i < f->pairs; i++)
        if (strcmp(f->facts[i].key, key) == 0) return strcmp(f->facts[i].value, value) == 0;
    return false;
}

static bool is_there(const file *f, const zn_file_tensor *tensor)
{
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->tensors[i].name, tensor->name) == 0)
            return zn_shape_equal(&f->tensors[i].shape, &tensor->shape);
    return false;
}

// Whether everything that a checkpoint needs is there after all alterations.
static bool is_whole(const state *s, const file *f)
{
    file all;
    as_written(s, &all);
    bool whole = !f->forged && says(f, "zenith.config", identity.config) &&
                 says(f, "zenith.data", identity.data) && says(f, "zenith.loss_scale", "2 5 1") &&
                 (says(f, "zenith.step", "7") || says(f, "zenith.step", "0"));
    for (size_t i = 0; i < all.count; i++) whole &= is_there(f, &all.tensors[i]);
    return whole;
}

static bool is_written(const state *s, const float *block)
{
    bool same = true;
    for (int i = 0; i < PARAMETERS; i++) // of numbers up to 36, all types but bytes have the value
        for (size_t k = 0; k < s->parameters[i].elements; k++)
            same &= block[s->parameters[i].offset + k] == values()[k];
    return same;
}

static void check(state *s, const file *f, const zn_safetensors *opened, bool plain)
{
    const zn_optimizer *o = &s->optimizer;
    zn_error err = {{0}};
    const zenith_status status = zn_checkpoint_take(opened, &s->network, 1, &s->optimizer,
                                                    &identity, &err);
    if (status != ZENITH_OK) {
        if (!*err.text || o->step != 0 || o->scale.exponent != 2) __builtin_trap();
        if (plain && is_whole(s, f)) __builtin_trap();
        return;
    }
    if (!is_whole(s, f) || o->step > STEPS || o->scale.exponent > ZN_LARGEST_SCALE)
        __builtin_trap();
    const float *blocks[BLOCKS] = {o->weights, o->m, o->v, o->ema};
    for (int b = 0; plain && b < BLOCKS; b++)
        if (!is_written(s, blocks[b])) __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char checksum[65] = "";
    state s;
    file f;
    zn_bytes bytes = {0};
    zn_safetensors *opened = NULL;
    zn_error err = {{0}};
    bool plain = true;
    begin(&s);
    as_written(&s, &f);
    for (size_t i = 0; i + 3 <= size && i < 96; i += 3) {
        alter(&f, data + i);
        plain &= data[i] % 7 != 2;
    }
    for (int turn = 0; turn < 2; turn++) { // first to learn the checksum
        zn_safetensors_free(opened);
        opened = NULL;
        if (write_altered(&f, checksum, &bytes) != ZENITH_OK) break;
        if (zn_safetensors_open_memory(bytes.data, bytes.size, "fuzz", &opened, &err) != ZENITH_OK)
            break;
        zn_checkpoint_checksum(opened, checksum);
        if (f.forged) checksum[0] = checksum[0] == '0' ? '1' : '0';
    }
    if (opened) check(&s, &f, opened, plain);
    zn_safetensors_free(opened);
    zn_bytes_free(&bytes);
    zn_optimizer_free(&s.optimizer);
    return 0;
}
