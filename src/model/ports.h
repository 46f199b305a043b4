// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Ports: what goes into a part of a model and what comes out of it, by name. Kinds of values are
// those of src/op/token/token_ops.h.
#ifndef ZN_MODEL_PORTS_H
#define ZN_MODEL_PORTS_H

#include "src/graph/graph.h"

typedef enum zn_port_kind {
    ZN_PORT_MAP = 0,  // [1, h, w, channels]
    ZN_PORT_SEQUENCE, // [1, tokens, 1, channels]; several: [1, tokens, items, channels]
    ZN_PORT_VECTOR,   // [channels], f32, one for a whole run
    ZN_PORT_SCALAR    // one f32 that the caller sets for each run
} zn_port_kind;

enum { ZN_MOST_PORTS = 8 }; // on either side

typedef struct zn_port {
    const char *name; // "image", "latent", "text", "time"
    zn_port_kind kind;
    zn_desc desc; // f32
    bool pixels;  // a picture in 0 .. 1, which callers may have in bytes
} zn_port;

typedef struct zn_ports {
    zn_port inputs[ZN_MOST_PORTS], outputs[ZN_MOST_PORTS];
    int inputs_count, outputs_count;
} zn_ports;

static inline zn_ports zn_ports_one_to_one(zn_port input, zn_port output)
{
    return (zn_ports){
        .inputs = {input}, .outputs = {output}, .inputs_count = 1, .outputs_count = 1};
}

// Which step of a clip a part computes. Families of video have a network for each: the first step
// has no past, and the next ones read what it left in states (src/graph/states.h).
typedef enum zn_step {
    ZN_STEP_ALONE = 0, // a picture by itself: nothing is kept
    ZN_STEP_FIRST,     // the first pictures of a clip
    ZN_STEP_NEXT       // all that follow
} zn_step;

// What may differ from run to run. A part looks at those that it has, and says in its comment what
// they count; the others are 0. An autoencoder's are those of its latent.
typedef struct zn_sizes {
    int64_t height, width, tokens;
    zn_step step;
    bool own_times; // each token has a timestep of its own: training. Else one for all
    bool masked;    // a map says which tokens are there, the rest is padding: training
    // Several sequences or pictures in one run, which do not see each other, so that weights are
    // read once for all of them: training. 0: one. They lie beside each other, as columns of a map
    // [1, tokens, items, channels].
    int64_t items;
} zn_sizes;

static inline int64_t zn_sizes_items(const zn_sizes *sizes)
{
    return sizes->items > 1 ? sizes->items : 1;
}

bool zn_sizes_equal(const zn_sizes *a, const zn_sizes *b);

zn_port zn_port_map(const char *name, int64_t height, int64_t width, int64_t channels);
zn_port zn_port_picture(const char *name, int64_t height, int64_t width); // three channels
zn_port zn_port_sequence(const char *name, int64_t tokens, int64_t channels);
zn_port zn_port_sequences(const char *name, int64_t tokens, int64_t items, int64_t channels);
zn_port zn_port_vector(const char *name, int64_t channels);
zn_port zn_port_scalar(const char *name);

// The leaf of a graph that an input port is, of this type and scale where it is a picture.
zn_node *zn_port_leaf(zn_graph *graph, const zn_port *port, const zn_desc *pixels);

// The index of the port with this name; -1: there is none.
int zn_port_find(const zn_port *ports, int count, const char *name);

// Fails the graph with a sentence where a node has another shape than its port.
void zn_port_check(zn_graph *graph, const char *part, const zn_port *port, const zn_node *node);

#endif
