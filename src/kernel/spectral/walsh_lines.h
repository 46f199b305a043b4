// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Lines side by side in vectors: the vector version of walsh.c, written in the names of vector.h.
// walsh_tiles.h has tiles.
//
// A transform is cut into passes of up to PASS_BITS stages, each in registers: 2^bits vectors are
// loaded, summed and stored. The first pass reads the map, the last one writes it. A gate stands in
// the middle of the pass of the highest bits, which then goes straight on with the stages back:
//
//     map -> [bits 0 1 2] -> [3 4 5] -> [6 7 8, gate, 8 7 6] -> [5 4 3] -> [2 1 0] -> map
//     \__ block by block in the first-level cache _/        \__ block by block ___________/
//
// A group of lines is too large for the first-level cache (64 lines of 512 are 128 KB), so passes
// of low bits are made one after the other on blocks of neighbouring positions, and only those of
// high bits go over all of it. Everything is read in the order in which it lies, whole positions at
// a time: a strip of 16 lines would stay in that cache, but the map's cache lines, four apart, come
// in at a third of the speed. Between passes values stay where the result is to be, or in the
// scratch if that has another type or is spread too far.
#include "src/kernel/spectral/walsh.h"
#include "src/kernel/unroll.h"
#include "src/kernel/vector.h"

#define ALWAYS static inline __attribute__((always_inline))

// Passes of four bits would fit the registers of AVX-512, but 16 cache lines a multiple of 4 KB
// apart do not fit the 12 ways of a cache's set.
enum {
    MOST_BITS = LANES == 16 ? 4 : 3,
    PASS_BITS = ZN_WALSH_TOP_BITS,
    MOST_PASSES = 16,
    BLOCK_BYTES = 1 << 14
};

// --- in registers --------------------------------------------------------------------------------

ALWAYS void pairs(vec *v, const int n, const int apart)
{
    UNROLL for (int i = 0; i < n / 2; i++)
    {
        const int at = i / apart * 2 * apart + i % apart;
        const vec a = v[at], b = v[at + apart];
        v[at] = vec_add(a, b);
        v[at + apart] = vec_sub(a, b);
    }
}

ALWAYS void stages_up(vec *v, const int n)
{
    if (n > 1) pairs(v, n, 1);
    if (n > 2) pairs(v, n, 2);
    if (n > 4) pairs(v, n, 4);
    if (n > 8) pairs(v, n, 8);
}

ALWAYS void stages_down(vec *v, const int n)
{
    if (n > 8) pairs(v, n, 8);
    if (n > 4) pairs(v, n, 4);
    if (n > 2) pairs(v, n, 2);
    if (n > 1) pairs(v, n, 1);
}

// Stages over the lanes of a vector, as far as `length` goes: the sum of the lanes that changed
// places and what was there, with a minus in the upper lane of each pair.
ALWAYS vec stages_in_lanes(vec v, const size_t length)
{
    static const float minus[4][16] = {{1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1},
                                       {1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1},
                                       {1, 1, 1, 1, -1, -1, -1, -1, 1, 1, 1, 1, -1, -1, -1, -1},
                                       {1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1}};
    if (length > 1) v = vec_fmadd(v, vec_load_f32(minus[0]), vec_swap1(v));
    if (length > 2) v = vec_fmadd(v, vec_load_f32(minus[1]), vec_swap2(v));
#if LANES > 4
    if (length > 4) v = vec_fmadd(v, vec_load_f32(minus[2]), vec_swap4(v));
#endif
#if LANES == 16
    if (length > 8) v = vec_fmadd(v, vec_load_f32(minus[3]), vec_swap8(v));
#endif
    return v;
}

// --- memory --------------------------------------------------------------------------------------

ALWAYS vec load_map(const zn_type type, const void *src, size_t at)
{
    return type == ZN_F32 ? vec_load_f32((const float *)src + at)
                          : vec_load_bf16((const uint16_t *)src + at);
}

ALWAYS void store_map(const zn_type type, void *dst, size_t at, vec value)
{
    if (type == ZN_F32)
        vec_store_f32((float *)dst + at, value);
    else
        vec_store_bf16((uint16_t *)dst + at, value);
}

// The first `lanes` (up to LANES) elements, of either type: for borders and what is left at the
// end. Not inlined: it stands in unrolled loops.
__attribute__((noinline)) static vec load_part(zn_type type, const void *src, size_t at,
                                               int64_t lanes)
{
    if (type == ZN_F32) return vec_load_part((const float *)src + at, lanes);
    uint16_t part[LANES] = {0};
    memcpy(part, (const uint16_t *)src + at, (size_t)lanes * sizeof *part);
    return vec_load_bf16(part);
}

__attribute__((noinline)) static void store_part(zn_type type, void *dst, size_t at, int64_t lanes,
                                                 vec value)
{
    if (type == ZN_F32) {
        vec_store_part((float *)dst + at, lanes, value);
        return;
    }
    uint16_t part[LANES];
    vec_store_bf16(part, value);
    memcpy((uint16_t *)dst + at, part, (size_t)lanes * sizeof *part);
}

// --- passes --------------------------------------------------------------------------------------

// The cache lines of the next call's src, some positions of it with the butterflies of each
// position: memory is read while sums are made.
typedef struct walsh_ahead {
    const char *at;
    size_t step, bytes; // from one position to the next, and of each
    size_t left, share; // positions in all, and at a time
} walsh_ahead;

ALWAYS void fetch_ahead(walsh_ahead *a)
{
    const size_t share = a->share < a->left ? a->share : a->left;
    a->left -= share;
    for (size_t i = 0; i < share; i++, a->at += a->step) {
        for (size_t byte = 0; byte < a->bytes; byte += 64) __builtin_prefetch(a->at + byte, 0, 2);
    }
}

// A group of lines on its way. Passes copy it: what they store could be a part of it, for all that
// the compiler knows.
typedef struct walsh_group {
    zn_walsh_lines lines;
    size_t length;  // without pruned bits
    size_t vectors; // with the last one, which may have fewer lanes
    int64_t last_lanes;
    float *values; // between passes
    bool in_place; // values are both the source and the result
    size_t pitch;  // of values, from one position to the next
    walsh_ahead ahead;
} walsh_group;

typedef struct walsh_pass {
    unsigned first, bits;
} walsh_pass;

typedef struct walsh_plan {
    walsh_pass passes[MOST_PASSES];
    // Those before `first` are made on the way from the map to values and back, those before
    // `blocked` on blocks of so many positions.
    int first, blocked, last;
    size_t block;
} walsh_plan;

// Even shares of the bits, low to high; returns how many.
static int cut_passes(size_t length, walsh_pass *passes)
{
    unsigned bits = zn_walsh_log2(length), first = 0;
    int left = bits ? (int)((bits + PASS_BITS - 1) / PASS_BITS) : 1, count = 0;
    for (; left > 0; left--, count++) {
        passes[count] = (walsh_pass){first, (bits - first + (unsigned)left - 1) / (unsigned)left};
        first += passes[count].bits;
    }
    return count;
}

// Runs `call`, which takes the constant number of vectors, for a pass's bits.
#define FOR_BITS(bits, call)                                                                       \
    switch (bits) {                                                                                \
    case 0:                                                                                        \
        call(1);                                                                                   \
        break;                                                                                     \
    case 1:                                                                                        \
        call(2);                                                                                   \
        break;                                                                                     \
    case 2:                                                                                        \
        call(4);                                                                                   \
        break;                                                                                     \
    case 3:                                                                                        \
        call(8);                                                                                   \
        break;                                                                                     \
    default:                                                                                       \
        call(16);                                                                                  \
    }

ALWAYS float *slot(const walsh_group *g, size_t position, size_t vector)
{
    return g->values + position * g->pitch + vector * LANES;
}

ALWAYS vec load_one(const zn_type type, const bool whole, const walsh_group *g, const void *src,
                    size_t at)
{
    return whole ? load_map(type, src, at) : load_part(type, src, at, g->last_lanes);
}

ALWAYS void store_one(const zn_type type, const bool whole, const walsh_group *g, void *dst,
                      size_t at, vec value)
{
    if (whole)
        store_map(type, dst, at, value);
    else
        store_part(type, dst, at, g->last_lanes, value);
}

// halved: one bit is pruned.
ALWAYS void take_one(const zn_type type, const bool halved, const bool whole, const int n,
                     const walsh_group *g, const void *src, size_t position, size_t vector)
{
    const size_t step = g->lines.step << halved, first = position * step + vector * LANES;
    vec v[16];
    UNROLL for (int j = 0; j < n; j++)
    {
        const size_t at = first + (size_t)j * step;
        v[j] = load_one(type, whole, g, src, at);
        if (halved) v[j] = vec_add(v[j], load_one(type, whole, g, src, at + step / 2));
    }
    stages_up(v, n);
    float *dst = slot(g, position, vector);
    UNROLL for (int j = 0; j < n; j++) vec_store_f32(dst + (size_t)j * g->pitch, v[j]);
}

// The map, through the lowest bits.
ALWAYS void take(const zn_type type, const bool halved, const int n, walsh_group *group,
                 const void *src, size_t begin, size_t end)
{
    const walsh_group g = *group;
    const size_t whole = g.vectors - (g.last_lanes < LANES);
    for (size_t i = begin; i < end; i += (size_t)n) {
        fetch_ahead(&group->ahead);
        for (size_t v = 0; v < whole; v++) take_one(type, halved, true, n, &g, src, i, v);
        if (whole < g.vectors) take_one(type, halved, false, n, &g, src, i, whole);
    }
}

ALWAYS void give_one(const zn_type type, const bool halved, const bool whole, const int n,
                     const walsh_group *g, void *dst, size_t position, size_t vector)
{
    const size_t step = g->lines.step << halved, first = position * step + vector * LANES;
    const float *src = slot(g, position, vector);
    vec v[16];
    UNROLL for (int j = 0; j < n; j++) v[j] = vec_load_f32(src + (size_t)j * g->pitch);
    stages_down(v, n);
    UNROLL for (int j = 0; j < n; j++)
    {
        const size_t at = first + (size_t)j * step;
        store_one(type, whole, g, dst, at, v[j]);
        if (halved) store_one(type, whole, g, dst, at + step / 2, v[j]);
    }
}

// Back through the lowest bits, to the map.
ALWAYS void give(const zn_type type, const bool halved, const int n, walsh_group *group, void *dst,
                 size_t begin, size_t end)
{
    const walsh_group g = *group;
    const size_t whole = g.vectors - (g.last_lanes < LANES);
    for (size_t i = begin; i < end; i += (size_t)n) {
        fetch_ahead(&group->ahead);
        for (size_t v = 0; v < whole; v++) give_one(type, halved, true, n, &g, dst, i, v);
        if (whole < g.vectors) give_one(type, halved, false, n, &g, dst, i, whole);
    }
}

// Two and more pruned bits: positions that differ in them only, added as the first stages would.
static void take_sums(const walsh_group *g, const void *src, size_t begin, size_t end)
{
    const zn_walsh_lines *l = &g->lines;
    const size_t count = (size_t)1 << l->pruned;
    for (size_t i = begin * g->vectors; i < end * g->vectors; i++) {
        const size_t vector = i % g->vectors, position = i / g->vectors;
        const int64_t lanes = vector + 1 < g->vectors ? LANES : g->last_lanes;
        vec waits[sizeof(size_t) * 8]; // of each bit: the sum that waits for its neighbour
        vec sum = vec_zero();
        for (size_t k = 0; k < count; k++) {
            sum = load_part(l->src_type, src, (position * count + k) * l->step + vector * LANES,
                            lanes);
            unsigned bit = 0;
            for (; k >> bit & 1; bit++) sum = vec_add(waits[bit], sum);
            waits[bit] = sum;
        }
        vec_store_f32(slot(g, position, vector), sum);
    }
}

// And each value back to all positions that share it.
static void give_copies(const walsh_group *g, void *dst, size_t begin, size_t end)
{
    const zn_walsh_lines *l = &g->lines;
    for (size_t i = (begin * g->vectors) << l->pruned; i < (end * g->vectors) << l->pruned; i++) {
        const size_t vector = i % g->vectors, position = i / g->vectors;
        const int64_t lanes = vector + 1 < g->vectors ? LANES : g->last_lanes;
        store_part(l->dst_type, dst, position * l->step + vector * LANES, lanes,
                   vec_load_f32(slot(g, position >> l->pruned, vector)));
    }
}

static void take_map(walsh_group *g, unsigned bits, const void *src, zn_type type, size_t begin,
                     size_t end)
{
#define TAKE_F32(n)         take(ZN_F32, false, n, g, src, begin, end)
#define TAKE_BF16(n)        take(ZN_BF16, false, n, g, src, begin, end)
#define TAKE_HALVED_F32(n)  take(ZN_F32, true, n, g, src, begin, end)
#define TAKE_HALVED_BF16(n) take(ZN_BF16, true, n, g, src, begin, end)
    if (g->lines.pruned > 1)
        take_sums(g, src, begin, end);
    else if (g->lines.pruned && type == ZN_F32)
        FOR_BITS(bits, TAKE_HALVED_F32)
    else if (g->lines.pruned)
        FOR_BITS(bits, TAKE_HALVED_BF16)
    else if (type == ZN_F32)
        FOR_BITS(bits, TAKE_F32)
    else
        FOR_BITS(bits, TAKE_BF16)
}

static void give_map(walsh_group *g, unsigned bits, void *dst, zn_type type, size_t begin,
                     size_t end)
{
#define GIVE_F32(n)         give(ZN_F32, false, n, g, dst, begin, end)
#define GIVE_BF16(n)        give(ZN_BF16, false, n, g, dst, begin, end)
#define GIVE_HALVED_F32(n)  give(ZN_F32, true, n, g, dst, begin, end)
#define GIVE_HALVED_BF16(n) give(ZN_BF16, true, n, g, dst, begin, end)
    if (g->lines.pruned > 1)
        give_copies(g, dst, begin, end);
    else if (g->lines.pruned && type == ZN_F32)
        FOR_BITS(bits, GIVE_HALVED_F32)
    else if (g->lines.pruned)
        FOR_BITS(bits, GIVE_HALVED_BF16)
    else if (type == ZN_F32)
        FOR_BITS(bits, GIVE_F32)
    else
        FOR_BITS(bits, GIVE_BF16)
}

// The butterflies of `count` floats side by side, in n places.
ALWAYS void butterflies(const int n, const bool up, float *first, size_t apart, size_t count)
{
    float *at[16];
    UNROLL for (int j = 0; j < n; j++) at[j] = first + (size_t)j * apart;
    for (size_t i = 0; i < count; i += LANES) {
        vec v[16];
        UNROLL for (int j = 0; j < n; j++) v[j] = vec_load_f32(at[j] + i);
        if (up)
            stages_up(v, n);
        else
            stages_down(v, n);
        UNROLL for (int j = 0; j < n; j++) vec_store_f32(at[j] + i, v[j]);
    }
}

ALWAYS void middle(const int n, const bool up, walsh_group *group, unsigned first, size_t begin,
                   size_t end)
{
    const walsh_group g = *group;
    const size_t low = (size_t)1 << first;
    for (size_t top = begin; top < end; top += low * (size_t)n) {
        for (size_t i = top; i < top + low; i++) {
            fetch_ahead(&group->ahead);
            butterflies(n, up, slot(&g, i, 0), g.pitch << first, g.vectors * LANES);
        }
    }
}

static void pass_up(walsh_group *g, walsh_pass pass, size_t begin, size_t end)
{
#define UP(n) middle(n, true, g, pass.first, begin, end)
    FOR_BITS(pass.bits, UP)
}

static void pass_down(walsh_group *g, walsh_pass pass, size_t begin, size_t end){
#define DOWN(n) middle(n, false, g, pass.first, begin, end)
    FOR_BITS(pass.bits, DOWN)}

// The highest bits, the gate, and back. All higher bits are in the butterfly.
ALWAYS void turn(const int n, walsh_group *group, unsigned first, const float *gate)
{
    const walsh_group g = *group;
    const unsigned pruned = g.lines.pruned;
    const size_t length = g.lines.length, block = length * ZN_WALSH_BLOCK;
    // A pass has no more bits than those whose gates lie together.
    const size_t gates_apart = (size_t)ZN_WALSH_BLOCK
                               << (first + pruned - zn_walsh_low_bits(length));
    for (size_t i = 0; i < g.length / (size_t)n; i++) {
        const float *gates = gate + zn_walsh_gate_at(length, i << pruned, 0);
        float *at[16];
        fetch_ahead(&group->ahead);
        UNROLL for (int j = 0; j < n; j++) at[j] = slot(&g, i + ((size_t)j << first), 0);
        for (size_t line = 0; line < g.vectors * LANES; line += LANES) {
            const float *factor = gates + line / ZN_WALSH_BLOCK * block + line % ZN_WALSH_BLOCK;
            vec v[16];
            UNROLL for (int j = 0; j < n; j++) v[j] = vec_load_f32(at[j] + line);
            stages_up(v, n);
            UNROLL for (int j = 0; j < n; j++)
                v[j] = vec_mul(v[j], vec_load_f32(factor + (size_t)j * gates_apart));
            stages_down(v, n);
            UNROLL for (int j = 0; j < n; j++) vec_store_f32(at[j] + line, v[j]);
        }
    }
}

static void pass_turn(walsh_group *g, walsh_pass pass, const float *gate){
#define TURN(n) turn(n, g, pass.first, gate)
    FOR_BITS(pass.bits, TURN)}

// The highest bits, scaled, to the map.
ALWAYS void finish(const zn_type type, const int n, walsh_group *group, unsigned first, void *dst,
                   float scale)
{
    const walsh_group g = *group;
    const vec factor = vec_set1(scale);
    const size_t apart = g.pitch << first, step = g.lines.step;
    for (size_t i = 0; i < g.length / (size_t)n; i++) {
        fetch_ahead(&group->ahead);
        for (size_t vector = 0; vector < g.vectors; vector++) {
            const bool whole = vector + 1 < g.vectors || g.last_lanes == LANES;
            const float *at = slot(&g, i, vector);
            const size_t to = i * step + vector * LANES;
            vec v[16];
            UNROLL for (int j = 0; j < n; j++) v[j] = vec_load_f32(at + (size_t)j * apart);
            stages_up(v, n);
            UNROLL for (int j = 0; j < n; j++) store_one(
                type, whole, &g, dst, to + ((size_t)j * step << first), vec_mul(v[j], factor));
        }
    }
}

static void pass_finish(walsh_group *g, walsh_pass pass, void *dst, float scale)
{
#define FINISH_F32(n)  finish(ZN_F32, n, g, pass.first, dst, scale)
#define FINISH_BF16(n) finish(ZN_BF16, n, g, pass.first, dst, scale)
    if (g->lines.dst_type == ZN_F32)
        FOR_BITS(pass.bits, FINISH_F32)
    else
        FOR_BITS(pass.bits, FINISH_BF16)
}

// The highest bits of two groups, and the sums of their products.
ALWAYS void multiply(const int n, const walsh_group *a, const walsh_group *b, unsigned first,
                     float *sums, size_t sums_step)
{
    for (size_t i = 0; i < a->length / (size_t)n; i++) {
        for (size_t vector = 0; vector < a->vectors; vector++) {
            const int64_t lanes = vector + 1 < a->vectors ? LANES : a->last_lanes;
            vec u[16], v[16];
            UNROLL for (int j = 0; j < n; j++)
            {
                u[j] = vec_load_f32(slot(a, i, vector) + ((size_t)j * a->pitch << first));
                v[j] = vec_load_f32(slot(b, i, vector) + ((size_t)j * b->pitch << first));
            }
            stages_up(u, n);
            stages_up(v, n);
            UNROLL for (int j = 0; j < n; j++)
            {
                float *sum = sums + (i + ((size_t)j << first)) * sums_step + vector * LANES;
                const vec product = vec_mul(u[j], v[j]);
                vec_store_part(sum, lanes, vec_add(vec_load_part(sum, lanes), product));
            }
        }
    }
}

static void pass_multiply(const walsh_group *a, const walsh_group *b, walsh_pass pass, float *sums,
                          size_t sums_step)
{
#define MULTIPLY(n) multiply(n, a, b, pass.first, sums, sums_step)
    FOR_BITS(pass.bits, MULTIPLY)
}

// --- whole transforms ----------------------------------------------------------------------------

static walsh_group group_of(const zn_walsh_lines *lines, float *scratch)
{
    const size_t vectors = (lines->count + LANES - 1) / LANES;
    return (walsh_group){.lines = *lines,
                         .length = lines->length >> lines->pruned,
                         .vectors = vectors,
                         .last_lanes = (int64_t)(lines->count - (vectors - 1) * LANES),
                         .values = scratch,
                         .pitch = vectors * LANES};
}

// The same, with values in the result's place if they can be there and lie close together.
static walsh_group group_in(const zn_walsh_lines *lines, const void *src, void *dst, float *scratch)
{
    walsh_group g = group_of(lines, scratch);
    if (lines->dst_type != ZN_F32 || lines->pruned || g.last_lanes < LANES ||
        lines->step > 2 * lines->count)
        return g;
    g.values = dst;
    g.pitch = lines->step;
    g.in_place = src == dst;
    return g;
}

static walsh_plan plan_of(const walsh_group *g)
{
    walsh_plan p = {.block = g->length};
    p.last = cut_passes(g->length, p.passes) - 1;
    p.first = p.last > 0 && g->lines.pruned < 2 && !g->in_place;
    for (; p.blocked < p.last; p.blocked++) {
        const walsh_pass *pass = &p.passes[p.blocked];
        const size_t positions = (size_t)1 << (pass->first + pass->bits);
        if (p.blocked > 0 && positions * g->vectors * LANES * sizeof(float) > BLOCK_BYTES) break;
        p.block = positions;
    }
    return p;
}

// Shares out what is to be fetched over the butterflies there are, there and back or only there.
static void plan_ahead(walsh_group *g, const walsh_plan *plan, bool back)
{
    const zn_walsh_lines *l = &g->lines;
    const size_t size = l->src_type == ZN_F32 ? sizeof(float) : sizeof(uint16_t);
    size_t count = 0;
    if (!l->next) return;
    for (int p = 0; p <= plan->last; p++)
        count += g->length >> plan->passes[p].bits << (back && p < plan->last);
    g->ahead = (walsh_ahead){.at = l->next,
                             .step = l->step * size,
                             .bytes = l->count * size,
                             .left = l->length,
                             .share = (l->length + count - 1) / count};
}

// Through all passes but the last, which may be the first.
static void go_up(walsh_group *g, const walsh_plan *plan, const void *src, zn_type type)
{
    for (size_t begin = 0; begin < g->length; begin += plan->block) {
        const size_t end = begin + plan->block;
        if (!g->in_place)
            take_map(g, plan->first ? plan->passes[0].bits : 0, src, type, begin, end);
        for (int p = plan->first; p < plan->blocked; p++) pass_up(g, plan->passes[p], begin, end);
    }
    for (int p = plan->blocked; p < plan->last; p++) pass_up(g, plan->passes[p], 0, g->length);
}

static void go_down(walsh_group *g, const walsh_plan *plan, void *dst, zn_type type)
{
    for (int p = plan->last; p-- > plan->blocked;) pass_down(g, plan->passes[p], 0, g->length);
    for (size_t begin = 0; begin < g->length; begin += plan->block) {
        const size_t end = begin + plan->block;
        for (int p = plan->blocked; p-- > plan->first;) pass_down(g, plan->passes[p], begin, end);
        if (!g->in_place)
            give_map(g, plan->first ? plan->passes[0].bits : 0, dst, type, begin, end);
    }
}

static void gate_group(const zn_walsh_lines *lines, const void *src, void *dst, const float *gate,
                       float *scratch)
{
    walsh_group g = group_in(lines, src, dst, scratch);
    const walsh_plan plan = plan_of(&g);
    plan_ahead(&g, &plan, true);
    go_up(&g, &plan, src, lines->src_type);
    pass_turn(&g, plan.passes[plan.last], gate);
    go_down(&g, &plan, dst, lines->dst_type);
}

static void lines_group(const zn_walsh_lines *lines, const void *src, void *dst, float scale,
                        float *scratch)
{
    walsh_group g = group_in(lines, src, dst, scratch);
    const walsh_plan plan = plan_of(&g);
    plan_ahead(&g, &plan, false);
    go_up(&g, &plan, src, lines->src_type);
    pass_finish(&g, plan.passes[plan.last], dst, scale);
}

static void products_group(const zn_walsh_lines *lines, const void *src, const void *other,
                           float *sums, size_t sums_step, float *scratch)
{
    walsh_group a = group_of(lines, scratch);
    walsh_group b = group_of(lines, scratch + zn_walsh_scratch(lines->length));
    const walsh_plan plan = plan_of(&a);
    go_up(&a, &plan, src, lines->src_type);
    go_up(&b, &plan, other, lines->dst_type);
    pass_multiply(&a, &b, plan.passes[plan.last], sums, sums_step);
}

// Lines in groups that the scratch has room for.
#define FOR_GROUPS(all, lines, first)                                                              \
    for (size_t first = 0, most_ = zn_walsh_group((all)->length); first < (all)->count;            \
         first += most_)                                                                           \
        for (zn_walsh_lines lines = group_lines(all, first, most_), *once_ = &lines; once_;        \
             once_ = NULL)

static zn_walsh_lines group_lines(const zn_walsh_lines *all, size_t first, size_t most)
{
    zn_walsh_lines lines = *all;
    lines.count = all->count - first < most ? all->count - first : most;
    if (all->next)
        lines.next = (const char *)all->next +
                     first * (all->src_type == ZN_F32 ? sizeof(float) : sizeof(uint16_t));
    return lines;
}

static const void *from(const void *src, zn_type type, size_t first)
{
    return (const char *)src + first * (type == ZN_F32 ? sizeof(float) : sizeof(uint16_t));
}

static void *to(void *dst, zn_type type, size_t first)
{
    return (char *)dst + first * (type == ZN_F32 ? sizeof(float) : sizeof(uint16_t));
}

static void gate_lines(const zn_walsh_lines *all, const void *src, void *dst, const float *gate,
                       float *scratch)
{
    FOR_GROUPS(all, lines, first)
    {
        gate_group(&lines, from(src, all->src_type, first), to(dst, all->dst_type, first),
                   gate + zn_walsh_gate_at(all->length, 0, first), scratch);
    }
}

static void scale_lines(const zn_walsh_lines *all, const void *src, void *dst, float scale,
                        float *scratch)
{
    FOR_GROUPS(all, lines, first)
    {
        lines_group(&lines, from(src, all->src_type, first), to(dst, all->dst_type, first), scale,
                    scratch);
    }
}

static void multiply_lines(const zn_walsh_lines *all, const void *src, const void *other,
                           float *sums, size_t sums_step, float *scratch)
{
    FOR_GROUPS(all, lines, first)
    {
        products_group(&lines, from(src, all->src_type, first), from(other, all->dst_type, first),
                       sums + first, sums_step, scratch);
    }
}

// --- transforms along contiguous memory ----------------------------------------------------------

// What is read `ahead` elements later; beyond the end it is nothing's, and no harm.
ALWAYS void fetch_next(const zn_type type, const void *src, size_t at, size_t ahead)
{
    const size_t size = type == ZN_F32 ? sizeof(float) : sizeof(uint16_t);
    __builtin_prefetch((const char *)src + (at + ahead) * size, 0, 3);
}

// `n` vectors at a time, which hold one transform of n * LANES, or n = 1 and several shorter ones.
ALWAYS void vectors_short(const zn_type from_type, const zn_type to_type, const int n,
                          const void *src, void *dst, const size_t length, size_t count,
                          float scale)
{
    const vec factor = vec_set1(scale);
    for (size_t at = 0; at < count; at += (size_t)n * LANES) {
        vec v[16];
        UNROLL for (int j = 0; j < n; j++)
            v[j] = stages_in_lanes(load_map(from_type, src, at + (size_t)j * LANES), length);
        stages_up(v, n);
        UNROLL for (int j = 0; j < n; j++)
            store_map(to_type, dst, at + (size_t)j * LANES, vec_mul(v[j], factor));
    }
}

ALWAYS void vectors_typed(const zn_type from_type, const zn_type to_type, const void *src,
                          void *dst, size_t length, size_t count, float scale)
{
#define VECTORS_SHORT(n, of) vectors_short(from_type, to_type, n, src, dst, of, count, scale)
    switch (length) {
    case 2:
        VECTORS_SHORT(1, 2);
        break;
    case 4:
        VECTORS_SHORT(1, 4);
        break;
#if LANES > 4
    case 8:
        VECTORS_SHORT(1, 8);
        break;
#endif
    case LANES * 2:
        VECTORS_SHORT(2, LANES);
        break;
    case LANES * 4:
        VECTORS_SHORT(4, LANES);
        break;
    case LANES * 8:
        VECTORS_SHORT(8, LANES);
        break;
#if LANES == 16
    case LANES:
        VECTORS_SHORT(1, LANES);
        break;
    case LANES * 16:
        VECTORS_SHORT(16, LANES);
        break;
#endif
    }
}

// A long one: the lanes and the lowest bits of the vectors' numbers first, to the scratch; the rest
// as a line of vectors.
ALWAYS void take_vectors(const zn_type type, const int n, const void *src, size_t length,
                         float *dst)
{
    for (size_t at = 0; at < length; at += (size_t)n * LANES) {
        vec v[16];
        UNROLL for (int j = 0; j < n; j++)
        {
            const size_t from = at + (size_t)j * LANES;
            fetch_next(type, src, from, length);
            v[j] = stages_in_lanes(load_map(type, src, from), LANES);
        }
        stages_up(v, n);
        UNROLL for (int j = 0; j < n; j++) vec_store_f32(dst + at + (size_t)j * LANES, v[j]);
    }
}

static void vectors_long(zn_type src_type, zn_type dst_type, const void *src, void *dst,
                         size_t length, float scale, float *scratch)
{
    const zn_walsh_lines lines = {ZN_F32, dst_type, length / LANES, LANES, LANES, 0, NULL};
    walsh_group g = group_of(&lines, scratch);
    walsh_pass passes[MOST_PASSES] = {{0}};
    const int last = cut_passes(g.length, passes) - 1;
#define TAKE_VECTORS_F32(n)  take_vectors(ZN_F32, n, src, length, scratch)
#define TAKE_VECTORS_BF16(n) take_vectors(ZN_BF16, n, src, length, scratch)
    if (src_type == ZN_F32)
        FOR_BITS(passes[0].bits, TAKE_VECTORS_F32)
    else
        FOR_BITS(passes[0].bits, TAKE_VECTORS_BF16)
    for (int p = 1; p < last; p++) pass_up(&g, passes[p], 0, g.length);
    pass_finish(&g, passes[last], dst, scale);
}

static void transform_vectors(zn_type src_type, zn_type dst_type, const void *src, void *dst,
                              size_t length, size_t count, float scale, float *scratch)
{
    if (length > LANES << MOST_BITS) {
        for (size_t i = 0; i < count; i++)
            vectors_long(src_type, dst_type, from(src, src_type, i * length),
                         to(dst, dst_type, i * length), length, scale, scratch);
        return;
    }
    const size_t whole = count * length / LANES * LANES;
    if (src_type == ZN_F32 && dst_type == ZN_F32)
        vectors_typed(ZN_F32, ZN_F32, src, dst, length, whole, scale);
    else if (src_type == ZN_F32)
        vectors_typed(ZN_F32, ZN_BF16, src, dst, length, whole, scale);
    else if (dst_type == ZN_F32)
        vectors_typed(ZN_BF16, ZN_F32, src, dst, length, whole, scale);
    else
        vectors_typed(ZN_BF16, ZN_BF16, src, dst, length, whole, scale);
    zn_walsh_reference.vectors(src_type, dst_type, from(src, src_type, whole),
                               to(dst, dst_type, whole), length, (count * length - whole) / length,
                               scale, scratch);
}
