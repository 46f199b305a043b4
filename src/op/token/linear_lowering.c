// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// linear by its kernels. A call takes all tokens it is given, portion by portion: those of a
// portion are laid out for the kernel, then workers take block after block of outputs, and look at
// the cancel flag before each. Weights are so read once for a portion, which is thousands of
// tokens.
#include "src/op/token/linear_lowering.h"
#include "src/kernel/kernels.h"

#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/graph/packs.h"
#include "src/op/convert_parallel.h"
#include "src/op/op_checks.h"
#include "src/op/op_values.h"
#include "src/op/token/token_ops.h"
#include "src/tensor/four_panels.h"

// Bytes of tokens that are laid out together: 4,096 tokens of 3,840 channels in f32, and some more.
static const int64_t portion_bytes = (int64_t)64 << 20;

int64_t zn_token_channels(const zn_node *node)
{
    return node->desc.shape.dim[node->desc.shape.rank - 1];
}

int64_t zn_token_count(const zn_node *node)
{
    const int64_t *dim = node->desc.shape.dim;
    return node->desc.shape.rank == 4 ? dim[1] * dim[2] : 1;
}

// --- workers ------------------------------------------------------------------------------------

typedef struct work {
    const zn_linear_team *team;
    zn_linear_args args; // of one portion
    const zn_call *call;
    char *scratch;        // of the workers
    int64_t outputs_step; // panels of a part
    int64_t tokens_step;  // tokens of a part
    int64_t across, count;
    atomic_llong next;
} work;

static int64_t parts_of(int64_t whole, int64_t part)
{
    return (whole + part - 1) / part;
}

static void place_some(void *arg, size_t begin, size_t end)
{
    work *w = arg;
    (void)end;
    void *scratch = w->scratch + begin * w->team->scratch;
    for (int64_t i; (i = atomic_fetch_add(&w->next, 1)) < w->count;) {
        const int64_t last = (i + 1) * w->tokens_step;
        zn_linear_place(&w->args, i * w->tokens_step, last < w->args.tokens ? last : w->args.tokens,
                        scratch);
    }
}

static int64_t panels_of(const zn_linear_args *a)
{
    return a->size.padded_outputs / a->version->panel;
}

static zn_linear_part part_at(const work *w, int64_t index)
{
    const int64_t first = index % w->across * w->outputs_step, total = panels_of(&w->args);
    const int64_t token = index / w->across * w->tokens_step, end = token + w->tokens_step;
    const int64_t left = total - first;
    return (zn_linear_part){.block = first / ZN_LINEAR_PANELS,
                            .first_panel = (int)(first % ZN_LINEAR_PANELS),
                            .panels = (int)(left < w->outputs_step ? left : w->outputs_step),
                            .token_begin = token,
                            .token_end = end < w->args.tokens ? end : w->args.tokens};
}

static void multiply_some(void *arg, size_t begin, size_t end)
{
    work *w = arg;
    (void)end;
    void *scratch = w->scratch + begin * w->team->scratch;
    for (int64_t i; (i = atomic_fetch_add(&w->next, 1)) < w->count;) {
        if (zn_call_stopped(w->call)) return;
        const zn_linear_part part = part_at(w, i);
        zn_linear_multiply(&w->args, &part, scratch);
    }
}

static void share_tokens(work *w)
{
    w->tokens_step = 4 * w->args.version->tokens;
    w->count = parts_of(w->args.tokens, w->tokens_step);
}

// Blocks of outputs; where those are few, parts of blocks; and where panels are few, also tokens.
static void share_outputs(work *w)
{
    const int64_t panels = panels_of(&w->args), group = w->args.version->tokens;
    const int64_t wanted = w->team->workers > 1 ? 2 * (int64_t)w->team->workers : 1;
    w->outputs_step = ZN_LINEAR_PANELS;
    while (w->outputs_step > 1 && parts_of(panels, w->outputs_step) < wanted) w->outputs_step /= 2;
    w->across = parts_of(panels, w->outputs_step);
    const int64_t down = parts_of(wanted, w->across);
    w->tokens_step = parts_of(parts_of(w->args.tokens, down), group) * group;
    w->count = w->across * parts_of(w->args.tokens, w->tokens_step);
}

static void run_portion(work *w)
{
    const size_t workers = (size_t)w->team->workers;
    share_tokens(w);
    atomic_init(&w->next, 0);
    zn_parallel(w->call->team, workers, 1, place_some, w);
    share_outputs(w);
    atomic_init(&w->next, 0);
    zn_parallel(w->call->team, workers, 1, multiply_some, w);
}

static int64_t portion_of(const zn_linear_version *v, const zn_linear_size *size, int64_t tokens)
{
    const int64_t group = v->tokens;
    int64_t most = portion_bytes / (size->padded_k * (int64_t)zn_type_size(v->placed));
    most = most / group * group;
    if (most < group) most = group;
    return tokens < most ? tokens : most;
}

size_t zn_linear_team_bytes(const zn_linear_version *version, const zn_linear_size *size,
                            int64_t tokens, int workers, zn_linear_team *team)
{
    const int64_t portion = portion_of(version, size, tokens);
    const size_t placed = zn_round_up(zn_linear_placed_bytes(version, size, portion), ZN_ALIGN);
    *team = (zn_linear_team){.workers = workers,
                             .scratch = zn_linear_scratch_bytes(version, size, portion)};
    return placed + team->scratch * (size_t)workers;
}

void zn_linear_team_run(const zn_linear_team *team, const zn_linear_args *args, const zn_call *call)
{
    const zn_linear_version *v = args->version;
    const int64_t portion = portion_of(v, &args->size, args->tokens);
    const size_t from = (size_t)args->size.inputs * zn_type_size(args->src_type);
    const size_t to = (size_t)args->size.outputs * zn_type_size(args->dst_type);
    const size_t placed = zn_linear_placed_bytes(v, &args->size, portion);
    for (int64_t t = 0; t < args->tokens && !zn_call_stopped(call); t += portion) {
        const int64_t left = args->tokens - t;
        work w = {.team = team,
                  .args = *args,
                  .call = call,
                  .scratch = (char *)call->scratch + zn_round_up(placed, ZN_ALIGN)};
        w.args.src = (const char *)args->src + (size_t)t * from;
        w.args.dst = (char *)args->dst + (size_t)t * to;
        w.args.tokens = left < portion ? left : portion;
        w.args.placed = call->scratch;
        run_portion(&w);
    }
}

// --- weights ------------------------------------------------------------------------------------

typedef struct packing {
    const zn_tensor *weight; // [out, in]
    bool turned;
    bool bytes; // taken from a row source as they are
    const zn_linear_version *version;
    zn_linear_size size;
    zn_team *team;
} packing;

// The rows of weights [first, first + count) in f32.
static void fill_rows(const packing *p, int64_t first, int64_t count, float *rows)
{
    const int64_t inputs = p->size.inputs, outputs = p->size.outputs;
    if (!p->turned) {
        zn_values_get(p->weight, (size_t)(first * inputs), (size_t)(count * inputs), rows);
        return;
    }
    for (int64_t k = 0; k < inputs; k++) {
        for (int64_t i = 0; i < count; i++)
            rows[i * inputs + k] = zn_value_get(p->weight, (size_t)(k * outputs + first + i));
    }
}

// Packing by several workers, which take panel after panel.
typedef struct packers {
    const packing *p;
    void *dst;
    char *scratch; // of all
    size_t bytes;  // of one
    atomic_llong next;
} packers;

static void pack_panel(const packing *p, int64_t first, void *scratch, void *dst)
{
    const int64_t left = p->size.outputs - first, panel = p->version->panel;
    const int64_t count = left < panel ? left : panel;
    if (!p->bytes) {
        fill_rows(p, first, count, scratch);
        zn_linear_pack(p->version, &p->size, first, count, scratch, dst);
        return;
    }
    const zn_row_source *source = p->weight->rows;
    float *scales = scratch;
    int8_t *rows = (int8_t *)(scales + panel);
    source->read_bytes(source, first, first + count, rows, scales);
    zn_linear_pack_bytes(p->version, &p->size, first, count, rows, scales, dst);
}

static void pack_some(void *arg, size_t begin, size_t end)
{
    packers *all = arg;
    const packing *p = all->p;
    (void)end;
    for (int64_t o; (o = atomic_fetch_add(&all->next, 1) * p->version->panel) < p->size.outputs;)
        pack_panel(p, o, all->scratch + begin * all->bytes, all->dst);
}

static zenith_status pack_by(const packing *p, size_t scratch, zn_parallel_fn *some, void *dst,
                             zn_error *err)
{
    const size_t workers = (size_t)zn_team_threads(p->team);
    packers all = {.p = p, .dst = dst, .bytes = zn_round_up(scratch, ZN_ALIGN)};
    all.scratch = zn_alloc(workers * all.bytes);
    if (!all.scratch) return zn_fail_memory(err, workers * all.bytes);
    atomic_init(&all.next, 0);
    zn_parallel(p->team, workers, 1, some, &all);
    zn_free(all.scratch);
    return ZENITH_OK;
}

// Plain weights the other way round, as every step of training has them: some inputs after the
// other.
static void pack_columns_some(void *arg, size_t begin, size_t end)
{
    enum { SOME = 32 };
    packers *all = arg;
    const packing *p = all->p;
    const int64_t inputs = p->size.inputs;
    const zn_linear_columns columns = {
        .data = p->weight->data, .type = ZN_F32, .stride = p->size.outputs};
    (void)begin, (void)end;
    for (int64_t k; (k = atomic_fetch_add(&all->next, 1) * SOME) < inputs;)
        zn_linear_pack_columns(p->version, &p->size, k, k + SOME < inputs ? k + SOME : inputs,
                               &columns, all->dst);
}

static bool are_plain_columns(const packing *p)
{
    const zn_tensor *weight = p->weight;
    return p->turned && p->version->weights == ZN_F32 && !weight->rows &&
           weight->desc.type == ZN_F32 && weight->desc.scale == 1.0f &&
           (uintptr_t)weight->data % sizeof(float) == 0;
}

static zenith_status pack(void *arg, void *dst, zn_error *err)
{
    const packing *p = arg;
    if (are_plain_columns(p)) return pack_by(p, 1, pack_columns_some, dst, err);
    const size_t row = (size_t)p->size.inputs * (p->bytes ? 1 : sizeof(float));
    return pack_by(p, (size_t)p->version->panel * (row + sizeof(float)), pack_some, dst, err);
}

// --- weights that stay in 4 bits ----------------------------------------------------------------

static void pack_fours_some(void *arg, size_t begin, size_t end)
{
    packers *all = arg;
    const packing *p = all->p;
    zn_panels panels;
    (void)end;
    zn_four_panels_place(&p->weight->rows->fours, p->size.outputs, p->size.inputs, all->dst,
                         &panels);
    for (int64_t first;
         (first = atomic_fetch_add(&all->next, 1) * ZN_PANEL_OUTPUTS) < p->size.outputs;)
        for (int64_t o = first; o < first + ZN_PANEL_OUTPUTS && o < p->size.outputs; o++)
            zn_four_panels_pack(p->weight->rows, &panels, o, all->scratch + begin * all->bytes);
}

static zenith_status pack_fours(void *arg, void *dst, zn_error *err)
{
    const packing *p = arg;
    return pack_by(p, zn_four_panels_scratch(&p->weight->rows->fours, p->size.inputs),
                   pack_fours_some, dst, err);
}

static zenith_status get_fours(zn_packs *packs, const packing *p, zn_panels *out, zn_error *err)
{
    char key[64];
    const zn_row_source *rows = p->weight->rows;
    const int64_t outputs = p->size.outputs, inputs = p->size.inputs;
    const size_t used = zn_text_format(key, sizeof key, "linear in 4 bits, inputs %lld",
                                       (long long)inputs);
    packing copy = *p;
    const void *block = NULL;
    size_t bytes;
    if (!zn_four_panels_measure(&rows->fours, outputs, inputs, &bytes))
        return zn_fail_memory(err, SIZE_MAX);
    ZN_TRY(zn_packs_get(packs, rows->address, key, used, bytes, pack_fours, &copy, &block, err));
    zn_four_panels_place(&rows->fours, outputs, inputs, block, out);
    return ZENITH_OK;
}

// --- packed weights -----------------------------------------------------------------------------

static zenith_status get_packed(zn_packs *packs, const packing *p, const void **out, zn_error *err)
{
    char key[96];
    const zn_linear_version *v = p->version;
    const size_t used = zn_text_format(
        key, sizeof key, "linear %s as %s panel %d group %d inputs %lld%s%s",
        zn_type_name(v->weights), zn_type_name(v->placed), v->panel, v->group,
        (long long)p->size.inputs, p->turned ? " turned" : "", p->bytes ? " bytes" : "");
    packing copy = *p;
    const void *address = p->weight->rows ? p->weight->rows->address : p->weight->data;
    return zn_packs_get(packs, address, key, used, p->size.bytes, pack, &copy, out, err);
}

// --- lowering -----------------------------------------------------------------------------------

typedef struct linear_lowering {
    zn_lowering base;
    zn_linear_args args;
    zn_panels panels; // where the weights lie in some
    zn_linear_team team;
    int64_t width; // tokens of a row
    char id[32];
} linear_lowering;

static zenith_status run(const zn_lowering *base, const zn_call *call, zn_error *err)
{
    (void)err;
    const linear_lowering *l = (const linear_lowering *)base;
    zn_linear_args args = l->args;
    args.src = call->inputs[0];
    args.dst = call->output;
    args.tokens = call->rows * l->width;
    zn_linear_team_run(&l->team, &args, call);
    return ZENITH_OK;
}

// A row source whose bytes are multiplied as they are; NULL: there is none.
static const zn_row_source *bytes_of(const zn_node *node)
{
    const zn_row_source *rows = node->inputs[1]->constant.rows;
    return rows && rows->read_bytes && zn_linear_in_bytes(node) ? rows : NULL;
}

bool zn_linear_in_bytes(const zn_node *node)
{
    const zn_linear_attributes *a = node->attributes;
    const zn_row_source *rows = node->inputs[1]->constant.rows;
    if (a->int8) return true;
    return rows && rows->read_bytes && node->inputs[0]->desc.type != ZN_F32 &&
           zn_token_channels(node->inputs[0]) <= ZN_LINEAR_MOST_INPUTS;
}

// What is multiplied: bf16 maps by bf16, others by what loses nothing.
static zn_type weights_type(const zn_node *node)
{
    const zn_desc *weight = &node->inputs[1]->desc;
    if (zn_linear_in_bytes(node)) return ZN_S8;
    if (node->inputs[0]->desc.type == ZN_BF16) return ZN_BF16;
    return weight->type == ZN_BF16 && weight->scale == 1.0f ? ZN_BF16 : ZN_F32;
}

// How tokens are placed and results written.
static zenith_status fill_ends(const zn_lowering_request *request, zn_linear_args *args,
                               zn_error *err)
{
    const zn_node *node = request->node;
    const zn_desc *x = &node->inputs[0]->desc, *y = &node->desc;
    const zn_row_source *bytes = bytes_of(node);
    const zn_kernels *kernels = request->kernels;
    const void *bias = NULL;
    *args = (zn_linear_args){.src_type = x->type,
                             .src_scale = x->scale,
                             .widen = kernels->convert(x->type, ZN_F32),
                             .dst_type = y->type,
                             .dst_scale = y->scale,
                             .narrow = kernels->convert(ZN_F32, y->type)};
    if (!args->widen || !args->narrow)
        return zn_fail(err, ZENITH_UNSUPPORTED, "linear makes no %s of %s", zn_type_name(y->type),
                       zn_type_name(x->type));
    if (bytes && bytes->rotated_by) {
        args->rotated_by = bytes->rotated_by;
        args->rotate = kernels->rotation;
        if (!zn_rotation_fits(zn_token_channels(node->inputs[0]), args->rotated_by))
            return zn_fail(err, ZENITH_BAD_FILE, "'%s' is rotated by %lld inputs, which is no size",
                           node->inputs[1]->name, (long long)args->rotated_by);
    }
    if (node->inputs_count == 3)
        ZN_TRY(zn_pack_vector(request->packs, &node->inputs[2]->constant, &bias, err));
    args->bias = bias;
    return ZENITH_OK;
}

// Weights in panels stay where they lie; others are packed.
static zenith_status fill_args(const zn_lowering_request *request, linear_lowering *l,
                               zn_error *err)
{
    const zn_node *node = request->node;
    const zn_linear_attributes *a = node->attributes;
    const zn_row_source *bytes = bytes_of(node);
    zn_linear_args *args = &l->args;
    ZN_TRY(fill_ends(request, args, err));
    packing p = {.weight = &node->inputs[1]->constant,
                 .turned = a->turned,
                 .bytes = bytes != NULL,
                 .team = request->team};
    p.version = zn_linear_for(request->kernels, weights_type(node), node->inputs[0]->desc.type);
    args->version = p.version;
    if (bytes && bytes->panels.bits) {
        l->panels = bytes->panels;
        args->panels = &l->panels;
        if (zn_linear_measure_panels(p.version, &l->panels, &args->size)) return ZENITH_OK;
        return zn_fail_memory(err, SIZE_MAX);
    }
    if (!zn_linear_measure(p.version, zn_token_channels(node), zn_token_channels(node->inputs[0]),
                           &p.size))
        return zn_fail_memory(err, SIZE_MAX);
    args->size = p.size;
    if (p.version->weights == ZN_S8 && p.weight->rows && p.weight->rows->fours.read) {
        ZN_TRY(get_fours(request->packs, &p, &l->panels, err));
        args->panels = &l->panels;
        if (zn_linear_measure_panels(p.version, &l->panels, &args->size)) return ZENITH_OK;
        return zn_fail_memory(err, SIZE_MAX);
    }
    return get_packed(request->packs, &p, &args->packed, err);
}

zenith_status zn_linear_lower(const zn_lowering_request *request, zn_lowering **out, zn_error *err)
{
    const zn_node *node = request->node;
    const bool map = zn_node_is_map(node);
    linear_lowering *l = zn_alloc_zero(sizeof *l);
    if (!l) return zn_fail_memory(err, sizeof *l);
    zenith_status status;
    ZN_GO(fill_args(request, l, err));
    l->width = map ? node->desc.shape.dim[2] : 1;
    l->base = (zn_lowering){.run = run, .free = zn_lowering_free, .id = l->id};
    const int64_t tokens = map ? request->rows * l->width : 1;
    l->base.scratch_bytes = zn_linear_team_bytes(l->args.version, &l->args.size, tokens,
                                                 request->threads, &l->team);
    zn_text_format(l->id, sizeof l->id, "linear:%s:%s",
                   l->panels.bits == 4   ? "q4"
                   : l->panels.bits == 8 ? "q8"
                                         : zn_type_name(l->args.version->weights),
                   l->args.version->name);
    *out = &l->base;
    return ZENITH_OK;
fail:
    zn_free(l);
    return status;
}
