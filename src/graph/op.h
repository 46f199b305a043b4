// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What an operator is. Instances live in src/op; small operators and their gradients share a file;
// src/op/ops.list makes the table. Nothing anywhere switches over operators: passes, plans, tests
// and documentation read this descriptor.
//
// Rows. Maps [n, h, w, c] are computed in chunks of whole rows, so that memory stays bounded and a
// request to stop is seen soon. `rows` says which rows of an input the rows [begin, end) of the
// result need; they may lie outside [0, h): such rows read as zero, which is how vertical padding
// is done. They move on with the rows of the result, and how many they are does not depend on the
// height. An operator that needs every row (a mean) is a barrier: the plan finishes its inputs
// first, and `rows` says which rows outside the map it reads as zero besides. A plan refuses an
// operator that asks for the whole map and is no barrier.
//
// Same bits. A lowering may choose its algorithm only by operator, channels, kernel, type and ISA,
// never by height, width, rows per call, threads or timing.
#ifndef ZN_GRAPH_OP_H
#define ZN_GRAPH_OP_H

#include "src/base/cpu.h"
#include "src/base/parallel.h"
#include "src/graph/graph.h"

#include <stdatomic.h>

struct zn_dnn;
struct zn_packs;

typedef struct zn_rows {
    int64_t begin, end;
} zn_rows;

// One call of a lowering: result rows [row, row + rows) from windows of the inputs. Where the
// operator `rings` (below), there may be fewer rows than the request had, and input 0 may wrap: its
// rows from the wrap-th on lie ring_bytes before the place where they would follow.
typedef struct zn_call {
    const void *const *inputs; // of maps: the first row that `rows` asks for; else: the whole value
    void *output;              // of maps: the first row to write; else: the whole value
    int64_t row;               // may be negative or beyond h: such rows are computed and dropped
    int64_t rows;
    int64_t wrap; // INT64_MAX: it does not
    size_t ring_bytes;
    void *scratch; // scratch_bytes of the lowering, aligned to ZN_ALIGN
    zn_team *team;
    // Not zero: stop soon. NULL: never. What may take longer than a few milliseconds looks at it
    // now and then (zn_call_stopped) and returns early; the run then ends with ZENITH_CANCELLED.
    const atomic_int *cancel;
} zn_call;

static inline bool zn_call_stopped(const zn_call *call)
{
    return call->cancel && atomic_load_explicit(call->cancel, memory_order_relaxed) != 0;
}

// What the plan asks of an operator: code for `rows` rows a call on this machine.
typedef struct zn_lowering_request {
    const zn_node *node;
    int64_t rows;  // rows of the result per call; the whole height for other than maps
    bool in_place; // the result lies where input 0 does (below)
    zn_cpu cpu;
    const struct zn_kernels *kernels; // for this CPU (kernel/kernels.h); it outlives the lowering
    int threads;
    struct zn_dnn *dnn;     // NULL without oneDNN
    struct zn_packs *packs; // packed weights, shared by all plans of a model
    zn_team *team;          // for packing; NULL: the caller's thread alone
} zn_lowering_request;

typedef struct zn_lowering zn_lowering;
struct zn_lowering {
    zenith_status (*run)(const zn_lowering *self, const zn_call *call, zn_error *err);
    void (*free)(zn_lowering *self);
    size_t scratch_bytes;
    // Takes calls of fewer rows than it was made for: rows outside the map are left out.
    bool any_rows;
    const char *id; // which algorithm: "onednn:brgconv:avx512_core_amx", "kernel:avx2", "reference"

    // Of lowerings whose calls consist of pieces that threads share. Each of the `parts` has
    // part_bytes of the scratch, from parts_at on, and takes every parts-th piece, or (`runs`)
    // pieces that follow one another. parts 0: without scratch.
    void (*piece)(const zn_lowering *self, const zn_call *call, size_t index, void *scratch);
    size_t parts, part_bytes, parts_at;
    bool runs;
    size_t pieces; // of every call; 0: as many as it has rows
};
void zn_lowering_run_pieces(const zn_lowering *self, const zn_call *call, size_t pieces);
zenith_status zn_lowering_run_all(const zn_lowering *self, const zn_call *call, zn_error *err);
#define ZN_LOWERING_OF_PIECES(piece_fn, name)                                                      \
    {                                                                                              \
        .run = zn_lowering_run_all, .free = zn_lowering_free, .piece = piece_fn, .id = name        \
    }
// As many parts as the request has threads, after `at` bytes of the scratch: sets scratch_bytes
// too.
zenith_status zn_lowering_part(zn_lowering *self, const zn_lowering_request *request, size_t at,
                               size_t part_bytes, zn_error *err);
void zn_lowering_free(zn_lowering *self); // `free` of one that owns nothing else
// What `lower` ends with where nothing else is owned: *out is a copy of `made`, a struct that
// begins with a zn_lowering.
zenith_status zn_lowering_keep(const void *made, size_t bytes, zn_lowering **out, zn_error *err);

// One case that the table-driven test runs: shapes of the inputs, and attributes.
typedef struct zn_op_sample {
    const char *name;
    int inputs_count;
    zn_shape inputs[ZN_MAX_INPUTS];
    unsigned parameters; // bit i: input i is a parameter
    const void *attributes;
    bool no_gradient; // though the operator has one: it refuses this case with a sentence
} zn_op_sample;

// Some pixels of a result, or some rows, in f32. A value that is no map is one pixel.
enum { ZN_ROW_INPUTS = 4 };
typedef struct zn_pixels {
    const zn_node *node;
    const struct zn_kernels *kernels;
    const float *inputs[ZN_ROW_INPUTS]; // of a map: as many of its pixels; else the whole value
    float *dst;
    size_t count;
} zn_pixels;

// A pattern: an expression over operators; element 0 is the root. arguments[i] is the index in the
// same array of what input i must match, or ZN_ANY: any node, handed to `build` in the order met,
// or ZN_MAYBE: likewise, where there is such an input. 0 ends them. With ZN_EITHER(index) as
// argument 0, inputs 0 and 1 may be exchanged; they are met as if they were not.
enum { ZN_ANY = -1, ZN_MAYBE = -2, ZN_PATTERN_MAX = 8 };
#define ZN_EITHER(index) ((index) + ZN_PATTERN_MAX)
typedef struct zn_pattern {
    const zn_op *op;
    int arguments[4];
} zn_pattern[ZN_PATTERN_MAX];

// What a match hands to `build`: the matched nodes by pattern index, and the nodes met at ZN_ANY.
typedef struct zn_match {
    zn_node *nodes[ZN_PATTERN_MAX];
    zn_node *any[ZN_PATTERN_MAX * 4];
    int any_count;
} zn_match;

// The first node of `op` among the matched ones; NULL: there is none.
const zn_node *zn_matched(const zn_match *match, const zn_op *op);

// What passes and plans need to know of an operator beyond its shapes.
typedef enum zn_op_trait {
    // Computes in the type of input 0, with parameters as weights; can do so in 8 bits.
    ZN_OP_MATMUL = 1,
    ZN_OP_FOLLOWS = 2, // the result's type and scale are those of input 0 (a copy in another place)
    ZN_OP_FIXED = 4,   // the result's type is what `infer` says, whatever the graph's type
    ZN_OP_BARRIER = 8, // needs every row of its inputs
    // Looks at zn_call.cancel itself, every few milliseconds: a call may be as long as it likes. In
    // planes such an operator gets all its rows in one call, so that it reads its weights once.
    ZN_OP_STOPS = 16,
    ZN_OP_TAKES_ROWS = 32, // takes constants that are read by rows (tensor/row_source.h)
    // Input 1 is the weights of a layer, whatever its rank. Of rank 4 and more it is in any
    // operator.
    ZN_OP_LAYER = 64,
    ZN_OP_TABLE = 128,    // rows of the last input, if it is a parameter, are taken as they are
    ZN_OP_BRANCHES = 256, // adds a branch to another
    ZN_OP_CONVERTS = 512, // the same values in another type
    ZN_OP_GUARDED = 1024  // an infinity shows in its result before it does anywhere else
} zn_op_trait;

// In which type an operator takes an input that is a map.
typedef enum zn_want {
    ZN_WANT_STORED = 0, // as it is stored, whatever that is
    ZN_WANT_FLOAT,      // as it is stored, but no integers
    ZN_WANT_PRODUCT,    // in the type of products (the policy's, with its precision)
    ZN_WANT_MATMUL,     // in 8 bits where the policy has this node computed so, else as products
    ZN_WANT_COPY        // in the type in which the copy will be read
} zn_want;

struct zn_op {
    const char *name;
    const char *summary; // one line for docs/OPERATORS.md
    size_t attributes_size;
    unsigned traits; // zn_op_trait
    // A bit per zn_type that the result can have; ZN_F32 is among them unless ZN_OP_FIXED.
    unsigned result_types;

    // Fills node->desc (shape, and the type: that of input 0 unless the operator says otherwise)
    // from inputs and attributes, or fails with a sentence.
    zenith_status (*infer)(zn_node *node, zn_error *err);

    // See above. NULL: rows [begin, end) of every map input.
    zn_rows (*rows)(const zn_node *node, int input, zn_rows out);

    // In which type each input is taken. NULL: zn_node_wants has the usual rules.
    zn_want (*wants)(const zn_node *node, int input);

    // The specification: plain loops over whole dense tensors of any supported types. NULL: what
    // `row`, `placed_row` or `add_row` says, or an expansion.
    void (*reference)(const zn_node *node, const zn_tensor *inputs, zn_tensor *output);

    // What an operator computes, in f32; src/op/row_lowering.h makes lowerings of it.
    //
    // One row of the result. inputs: of a map, the rows that `rows` asks for, one after the other;
    // else the whole value. dst may be the row of an input only where it is computed element by
    // element.
    void (*row)(const zn_node *node, const float *const *inputs, float *dst);
    // The same where results depend on where they are: row `place`. It may lie outside the map; it
    // is dropped then.
    void (*placed_row)(const zn_node *node, const float *const *inputs, int64_t place, float *dst);
    // Some pixels, each by itself.
    void (*pixels)(const zn_pixels *pixels);
    // Of barriers that add up all rows: adds one row of the maps to the sums, which are zero
    // before; and makes the result of them. values: the inputs that are no maps. finish NULL: the
    // sums are the result; sums NULL: as many as the result has elements.
    void (*add_row)(const zn_node *node, const float *const *inputs, double *sums);
    void (*finish)(const zn_node *node, const float *const *values, const double *sums, float *dst);
    size_t (*sums)(const zn_node *node);

    // NULL: the reference runs on the rows of each call (only where rows is NULL: pointwise).
    zenith_status (*lower)(const zn_lowering_request *request, zn_lowering **out, zn_error *err);

    // Does the lowering take calls of fewer rows, and an input 0 that wraps? Windows between such
    // operators are rings, in which no row is ever moved. NULL: no.
    bool (*rings)(const zn_lowering_request *request);

    // Of a barrier: does it pay to write the result over input 0, which nobody else reads? It has
    // the result's shape and type. NULL: no.
    bool (*in_place)(const zn_node *node);

    // Work for the whole result. NULL: `work` operations, at least one, for each element of it;
    // with `add_row` of input 0.
    double (*flops)(const zn_node *node);
    double work;

    // Of a fused operator: patterns, the larger first, and how a match becomes a node, which gets
    // the type of the root. `expand` builds the same from plain operators: the reference.
    struct {
        const zn_pattern *list;
        int count;
    } patterns;
    // With `accepts`, it is fused when types are known, and only where that pays on this CPU.
    bool (*accepts)(const zn_match *match, const zn_cpu *cpu);
    zn_node *(*build)(zn_graph *graph, const zn_match *match);
    zn_node *(*expand)(zn_graph *graph, const zn_node *node, zn_node *const *inputs);

    // What input `input` gets of the gradient `dy` of the node's result, as a node with the input's
    // elements (see gradient.h); NULL without a failure: nothing is defined for this input. One of
    // `gradient` and `no_gradient`, which says why there is none, is set.
    zn_node *(*gradient)(zn_graph *graph, const zn_node *node, int input, zn_node *dy);
    const char *no_gradient;

    struct {
        const zn_op_sample *list;
        int count;
    } samples;
};

// The rows that `node` needs of input `input`, by its operator's rule.
zn_rows zn_node_rows(const zn_node *node, int input, zn_rows out);
bool zn_node_is_barrier(const zn_node *node);
size_t zn_node_sums(const zn_node *node); // of an operator with `add_row`
// Is it a layer: a product of its first input with weights, a parameter, which are the second?
bool zn_node_is_layer(const zn_node *node);
double zn_node_flops(const zn_node *node);
// In which type `node` takes input `input`: what its operator says, or else by its traits.
zn_want zn_node_wants(const zn_node *node, int input);
// `wants` of operators that take all inputs alike; and of those that multiply inputs 0 and 1, both
// maps.
zn_want zn_wants_stored(const zn_node *node, int input);
zn_want zn_wants_float(const zn_node *node, int input);
zn_want zn_wants_product(const zn_node *node, int input);
zn_want zn_wants_two_factors(const zn_node *node, int input);

// The specification of a node, also of a fused one (by its expansion). Tensors are dense. May fail
// only for want of memory.
zenith_status zn_node_reference(const zn_node *node, const zn_tensor *inputs, zn_tensor *output,
                                zn_error *err);

#endif
