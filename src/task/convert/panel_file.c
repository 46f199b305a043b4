// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The file's order: panels, each matrix with its steps, scales and sums; then tensors whose bytes
// are whole lines of 64; then the others by falling size of their elements. So all panels begin at
// multiples of 64, and all else is aligned for its type.
#include "src/task/convert/panel_file.h"

#include "src/base/os.h"
#include "src/base/text.h"
#include "src/format/tensor/elements.h"
#include "src/format/tensor/panel_weight.h"
#include "src/format/tensor/quant_note.h"
#include "src/model/model.h"
#include "src/tensor/finite.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64, TENSORS_EACH = 4, MOST_BATCH = 64 };
enum { BATCH_BYTES = 8 << 20, PIECE_BYTES = 4 << 20, FORGET_BYTES = 256 << 20 };

// One parameter, and how it is stored.
typedef struct item {
    const zn_listed_parameter *from;
    zn_weight_class class;
    size_t index;       // in the list
    zn_panel_kind kind; // bits 0: kept
    zn_panels_size size;
    zn_type type; // kept
    zn_shape shape;
    size_t bytes; // kept
} item;

typedef struct writing {
    const zn_parameter_list *list;
    const zn_panel_file_call *call;
    zn_panel_facts *facts;
    zn_arena arena; // names
    item *items;
    zn_file_tensor *tensors;
    size_t tensors_count;
    zn_writer *file;
    uint64_t done, bytes; // that are read
    uint64_t resident;    // read since the files were last forgotten
    zn_error *err;
} writing;

// --- what is written ----------------------------------------------------------------------------

static int bits_for(const zn_panel_file_call *call, zn_care care)
{
    if (care == ZN_CARE_WHOLE) return 0;
    if (call->recipe == ZN_RECIPE_MIXED) return care == ZN_CARE_MORE ? 8 : 4;
    return call->recipe == ZN_RECIPE_Q8 ? 8 : 4;
}

static bool is_plain(const zn_stored_weight *weight)
{
    const zn_type type = weight->numbers->type;
    return weight->form == ZN_WEIGHT_PLAIN && !weight->scales && weight->scale == 1.0f &&
           (type == ZN_F32 || type == ZN_BF16 || type == ZN_F16);
}

// Vectors stay as they are. Matrices that are read now and then are of 16 bits at most.
static zn_type kept_type(const zn_listed_parameter *from)
{
    const bool plain = is_plain(&from->weight), matrix = from->shape.rank >= 2;
    if (plain && (!matrix || from->weight.numbers->type != ZN_F32))
        return from->weight.numbers->type;
    return matrix ? ZN_BF16 : ZN_F32;
}

static zenith_status plan_item(const writing *w, const zn_listed_parameter *from, item *out)
{
    const zn_writing *how = w->list->family->writing;
    const int bits = bits_for(w->call, how->classify(from->layout, from->name).care);
    *out = (item){.from = from,
                  .class = how->classify(from->layout, from->name),
                  .index = (size_t)(from - w->list->items)};
    if (bits && from->shape.rank == 2) {
        const int64_t inputs = from->shape.dim[1];
        if (inputs > ZN_PANEL_MOST_INPUTS ||
            !zn_panels_measure(from->shape.dim[0], inputs, bits, &out->size))
            return zn_fail(w->err, ZENITH_UNSUPPORTED, "'%s' is too large for panels", from->name);
        const bool rotated = w->call->rotate && inputs % ZN_PANEL_ROTATION == 0;
        out->kind = (zn_panel_kind){inputs, out->size.padded_inputs, bits,
                                    rotated ? ZN_PANEL_ROTATION : 0};
        return ZENITH_OK;
    }
    const bool as_it_is = is_plain(&from->weight) && from->rows == from->weight.rows;
    out->type = kept_type(from);
    out->shape = as_it_is ? from->weight.numbers->shape : from->shape;
    const zn_desc desc = zn_desc_make(out->type, out->shape);
    if (zn_desc_bytes(&desc, &out->bytes)) return ZENITH_OK;
    return zn_fail(w->err, ZENITH_BAD_FILE, "'%s' is too large", from->name);
}

static int place_of(const item *i)
{
    if (i->kind.bits) return 0;
    return i->bytes % LINE == 0 ? 1 : 8 - (int)zn_type_size(i->type);
}

static int in_file_order(const void *a, const void *b)
{
    const item *x = a, *y = b;
    if (place_of(x) != place_of(y)) return place_of(x) - place_of(y);
    return x->index < y->index ? -1 : 1;
}

static uint64_t bytes_read(const item *i)
{
    const zn_stored_weight *weight = &i->from->weight;
    return weight->rows ? (uint64_t)weight->bytes * i->from->rows / weight->rows : 0;
}

static zenith_status add_tensor(writing *w, const char *name, const char *tail, zn_type type,
                                zn_shape shape)
{
    const size_t room = strlen(name) + strlen(tail) + 1;
    char *own = zn_arena_alloc(&w->arena, room);
    if (!own) return zn_fail_memory(w->err, room);
    zn_text_format(own, room, "%s%s", name, tail);
    w->tensors[w->tensors_count++] = (zn_file_tensor){.name = own, .type = type, .shape = shape};
    return ZENITH_OK;
}

static zenith_status add_tensors(writing *w, const item *i)
{
    const char *name = i->from->name;
    const zn_panel_kind *kind = &i->kind;
    const int64_t rows = i->size.panels * ZN_PANEL_OUTPUTS;
    if (!kind->bits) return add_tensor(w, name, "", i->type, i->shape);
    const int64_t quads = kind->padded_inputs * kind->bits / 8 / ZN_PANEL_QUAD;
    const int64_t groups = kind->padded_inputs / ZN_PANEL_GROUP;
    ZN_TRY(add_tensor(w, name, "", ZN_U8,
                      ZN_SHAPE(i->size.panels, quads, ZN_PANEL_OUTPUTS, ZN_PANEL_QUAD)));
    if (kind->bits == 4)
        ZN_TRY(add_tensor(w, name, "_steps", ZN_U8,
                          ZN_SHAPE(i->size.panels, groups, ZN_PANEL_OUTPUTS)));
    ZN_TRY(add_tensor(w, name, "_scale", ZN_F32, ZN_SHAPE(rows)));
    return add_tensor(w, name, "_sum", ZN_S32, ZN_SHAPE(rows));
}

static zenith_status plan(writing *w)
{
    const size_t count = w->list->count;
    w->items = zn_alloc_zero(count * sizeof *w->items);
    w->tensors = zn_alloc_zero(count * TENSORS_EACH * sizeof *w->tensors);
    if (!w->items || !w->tensors) return zn_fail_memory(w->err, count * sizeof *w->items);
    for (size_t i = 0; i < count; i++) {
        ZN_TRY(plan_item(w, &w->list->items[i], &w->items[i]));
        w->bytes += bytes_read(&w->items[i]);
    }
    qsort(w->items, count, sizeof *w->items, in_file_order);
    for (size_t i = 0; i < count; i++) ZN_TRY(add_tensors(w, &w->items[i]));
    return ZENITH_OK;
}

// --- the header ---------------------------------------------------------------------------------

static json_t *note_of(const item *i)
{
    const json_int_t outputs = (json_int_t)i->from->shape.dim[0],
                     inputs = (json_int_t)i->kind.inputs;
    if (!i->kind.rotated_by)
        return json_pack("{s:s, s:i, s:I, s:I}", "format", ZN_PANELS_FORMAT, "bits", i->kind.bits,
                         "outputs", outputs, "inputs", inputs);
    return json_pack("{s:s, s:i, s:I, s:I, s:b, s:I}", "format", ZN_PANELS_FORMAT, "bits",
                     i->kind.bits, "outputs", outputs, "inputs", inputs, "convrot", 1,
                     "convrot_groupsize", (json_int_t)i->kind.rotated_by);
}

// {"layers": {MODULE: note}} as text.
static zenith_status write_notes(const writing *w, char **out)
{
    json_t *layers = json_object(), *all = json_pack("{s:o}", "layers", layers);
    bool whole = layers && all;
    for (size_t i = 0; whole && i < w->list->count; i++) {
        char module[ZN_NAME_SIZE];
        const char *name = w->items[i].from->name;
        if (!w->items[i].kind.bits) continue;
        zn_text_format(module, sizeof module, "%.*s", (int)(strlen(name) - strlen(".weight")),
                       name);
        whole = json_object_set_new(layers, module, note_of(&w->items[i])) == 0;
    }
    const zenith_status status = whole ? zn_json_dump(all, out, NULL, w->err)
                                       : zn_fail_memory(w->err, sizeof *all);
    json_decref(all);
    return status;
}

static zenith_status write_header(writing *w)
{
    const zn_family *family = w->list->family;
    zn_metadata facts[2 + ZN_MOST_PARTS] = {{"zenith.model", w->list->variant->name}};
    char keys[ZN_MOST_PARTS][ZN_NAME_SIZE], *notes = NULL;
    size_t count = 1;
    for (int i = 0; i < family->parts_count; i++) {
        const char *layout = zn_parameter_list_layout(w->list, &family->parts[i]);
        if (!layout || !(w->list->parts >> i & 1)) continue;
        facts[count++] = (zn_metadata){zn_layout_key(&family->parts[i], keys[i]), layout};
    }
    ZN_TRY(write_notes(w, &notes));
    facts[count++] = (zn_metadata){"_quantization_metadata", notes};
    const zenith_status status = zn_safetensors_write_ordered(w->file, w->tensors, w->tensors_count,
                                                              facts, count, LINE, w->err);
    zn_free(notes);
    return status;
}

// --- progress -----------------------------------------------------------------------------------

static zenith_status step(writing *w, const item *i, size_t rows)
{
    const uint64_t bytes = bytes_read(i) * rows / (i->from->rows ? i->from->rows : 1);
    w->done += bytes;
    w->resident += bytes;
    if (w->resident >= FORGET_BYTES) {
        zn_weights_forget(w->list->weights);
        w->resident = 0;
    }
    if (w->call->stepped && w->call->stepped(w->call->cookie, i->from->name, w->done, w->bytes))
        return zn_fail(w->err, ZENITH_CANCELLED, "the conversion was cancelled");
    return ZENITH_OK;
}

static zenith_status refuse_number(const writing *w, const item *i)
{
    return zn_fail(w->err, ZENITH_BAD_FILE,
                   "%s: the tensor '%s' has NaN, infinity or numbers beyond 1e18 in it: nothing "
                   "can be computed with these "
                   "weights, which were damaged or stored in too narrow a type",
                   zn_weights_file(w->list->weights, i->from->weight.numbers),
                   i->from->weight.numbers->name);
}

// --- panels -------------------------------------------------------------------------------------

// A batch of panels of a matrix, each with a row of its own to work in.
typedef struct batch {
    const item *item;
    size_t first; // panel
    uint8_t *numbers;
    float *rows;
    int8_t *bytes;
    zn_panel_error errors[MOST_BATCH];
    bool strange[MOST_BATCH]; // a number is not finite
    // Of the whole matrix.
    uint8_t *steps;
    float *scales;
    int32_t *sums;
} batch;

static void pack_panel(batch *b, size_t slot)
{
    const item *i = b->item;
    const size_t padded = (size_t)i->kind.padded_inputs, panel = b->first + slot;
    const size_t outputs = (size_t)i->from->shape.dim[0];
    const zn_panel_target dst = {b->numbers + slot * (padded * 32 * (size_t)i->kind.bits / 8),
                                 b->steps + panel * (padded / ZN_PANEL_GROUP * ZN_PANEL_OUTPUTS),
                                 b->scales + panel * ZN_PANEL_OUTPUTS,
                                 b->sums + panel * ZN_PANEL_OUTPUTS};
    float *row = b->rows + slot * padded;
    zn_panel_clear(&i->kind, &dst);
    for (int place = 0; place < ZN_PANEL_OUTPUTS; place++) {
        const size_t output = panel * ZN_PANEL_OUTPUTS + (size_t)place;
        if (output >= outputs || b->strange[slot]) return;
        zn_stored_weight_read(&i->from->weight, i->from->first + output,
                              i->from->first + output + 1, row);
        b->strange[slot] = !zn_panel_pack(&i->kind, place, row, b->bytes + slot * padded, &dst,
                                          &b->errors[slot]);
    }
}

static void pack_panels(void *arg, size_t begin, size_t end)
{
    for (size_t slot = begin; slot < end; slot++) pack_panel(arg, slot);
}

static zenith_status allocate(batch *b, size_t most, zn_error *err)
{
    const zn_panel_kind *kind = &b->item->kind;
    const size_t padded = (size_t)kind->padded_inputs;
    b->numbers = zn_alloc(most * padded * ZN_PANEL_OUTPUTS * (size_t)kind->bits / 8);
    b->rows = zn_alloc(most * padded * sizeof *b->rows);
    b->bytes = zn_alloc(most * padded);
    b->steps = zn_alloc(b->item->size.steps_bytes);
    b->scales = zn_alloc(b->item->size.scales_bytes);
    b->sums = zn_alloc(b->item->size.scales_bytes);
    if (b->numbers && b->rows && b->bytes && b->steps && b->scales && b->sums) return ZENITH_OK;
    return zn_fail_memory(err, most * padded * ZN_PANEL_OUTPUTS);
}

static void release(batch *b)
{
    zn_free(b->numbers);
    zn_free(b->rows);
    zn_free(b->bytes);
    zn_free(b->steps);
    zn_free(b->scales);
    zn_free(b->sums);
}

static zenith_status write_batch(writing *w, batch *b, size_t panels, zn_panel_error *sum)
{
    const item *i = b->item;
    const size_t each = i->size.numbers_bytes / (size_t)i->size.panels;
    memset(b->errors, 0, sizeof b->errors);
    zn_parallel(w->call->team, panels, 1, pack_panels, b);
    for (size_t slot = 0; slot < panels; slot++) {
        if (b->strange[slot]) return refuse_number(w, i);
        sum->squared += b->errors[slot].squared;
        sum->whole += b->errors[slot].whole;
    }
    ZN_TRY(zn_writer_write(w->file, b->numbers, panels * each, w->err));
    const size_t begin = b->first * ZN_PANEL_OUTPUTS, outputs = i->from->rows;
    const size_t end = begin + panels * ZN_PANEL_OUTPUTS;
    return step(w, i, (end < outputs ? end : outputs) - begin);
}

static zenith_status write_panels(writing *w, const item *i, double *error)
{
    const zn_panels_size *size = &i->size;
    const size_t each = size->numbers_bytes / (size_t)size->panels;
    size_t most = each < BATCH_BYTES ? BATCH_BYTES / each : 1;
    zn_panel_error sum = {0};
    batch b = {.item = i};
    zenith_status status;
    if (most > MOST_BATCH) most = MOST_BATCH;
    ZN_GO(allocate(&b, most, w->err));
    for (; b.first < (size_t)size->panels; b.first += most) {
        const size_t left = (size_t)size->panels - b.first;
        ZN_GO(write_batch(w, &b, left < most ? left : most, &sum));
    }
    if (i->kind.bits == 4) ZN_GO(zn_writer_write(w->file, b.steps, size->steps_bytes, w->err));
    ZN_GO(zn_writer_write(w->file, b.scales, size->scales_bytes, w->err));
    ZN_GO(zn_writer_write(w->file, b.sums, size->scales_bytes, w->err));
    *error = sum.whole > 0 ? sqrt(sum.squared / sum.whole) : 0;
fail:
    release(&b);
    return status;
}

// --- what is kept -------------------------------------------------------------------------------

static zenith_status keep_rows(writing *w, const item *i, size_t begin, size_t end, float *values,
                               uint8_t *bytes)
{
    const zn_stored_weight *weight = &i->from->weight;
    const size_t count = (end - begin) * weight->columns;
    zn_stored_weight_read(weight, i->from->first + begin, i->from->first + end, values);
    if (!zn_all_finite(ZN_F32, values, count)) return refuse_number(w, i);
    zn_elements_from_f32(i->type, values, count, bytes);
    ZN_TRY(zn_writer_write(w->file, bytes, count * zn_type_size(i->type), w->err));
    return step(w, i, end - begin);
}

static zenith_status write_kept(writing *w, const item *i)
{
    const size_t rows = i->from->rows, row = i->from->weight.columns * sizeof(float);
    size_t most = row < PIECE_BYTES && row > 0 ? PIECE_BYTES / row : 1;
    if (most > rows) most = rows;
    zenith_status status = ZENITH_OK;
    float *values = zn_alloc(most * row);
    uint8_t *bytes = zn_alloc(most * row);
    if (!values || !bytes) ZN_GO(zn_fail_memory(w->err, most * row));
    for (size_t begin = 0; begin < rows; begin += most) {
        const size_t end = rows - begin < most ? rows : begin + most;
        ZN_GO(keep_rows(w, i, begin, end, values, bytes));
    }
fail:
    zn_free(values);
    zn_free(bytes);
    return status;
}

// --- all ----------------------------------------------------------------------------------------

static zn_panel_class *class_of(zn_panel_facts *facts, const item *i)
{
    for (int c = 0; c < facts->count; c++) {
        zn_panel_class *class = &facts->classes[c];
        if (class->bits == i->kind.bits && strcmp(class->name, i->class.name) == 0) return class;
    }
    if (facts->count == ZN_MOST_PANEL_CLASSES) return &facts->classes[facts->count - 1];
    facts->classes[facts->count] = (zn_panel_class){.name = i->class.name, .bits = i->kind.bits};
    return &facts->classes[facts->count++];
}

static void count_item(writing *w, const item *i, double error)
{
    zn_panel_class *class = class_of(w->facts, i);
    size_t elements = 0;
    zn_shape_elements(&i->from->shape, &elements);
    class->tensors++;
    class->weights += elements;
    class->bytes_before += bytes_read(i);
    class->bytes_after += i->kind.bits ? i->size.numbers_bytes + i->size.steps_bytes +
                                             2 * i->size.scales_bytes
                                       : i->bytes;
    class->errors += error;
}

static zenith_status write_all(writing *w)
{
    ZN_TRY(write_header(w));
    for (size_t i = 0; i < w->list->count; i++) {
        double error = 0;
        if (w->items[i].kind.bits)
            ZN_TRY(write_panels(w, &w->items[i], &error));
        else
            ZN_TRY(write_kept(w, &w->items[i]));
        count_item(w, &w->items[i], error);
    }
    return ZENITH_OK;
}

zenith_status zn_panel_file_write(const zn_parameter_list *list, const char *path,
                                  const zn_panel_file_call *call, zn_panel_facts *facts,
                                  zn_error *err)
{
    zenith_status status;
    *facts = (zn_panel_facts){.count = 0};
    writing w = {.list = list, .call = call, .facts = facts, .err = err};
    ZN_GO(plan(&w));
    ZN_GO(zn_writer_open(path, &w.file, err));
    ZN_GO(write_all(&w));
    status = zn_writer_commit(w.file, err);
    w.file = NULL;
fail:
    zn_writer_discard(w.file);
    zn_free(w.items);
    zn_free(w.tensors);
    zn_arena_free(&w.arena);
    return status;
}
