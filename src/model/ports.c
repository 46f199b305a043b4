// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/model/ports.h"

#include <string.h>

bool zn_sizes_equal(const zn_sizes *a, const zn_sizes *b)
{
    return a->height == b->height && a->width == b->width && a->tokens == b->tokens &&
           a->step == b->step && a->own_times == b->own_times && a->masked == b->masked &&
           zn_sizes_items(a) == zn_sizes_items(b);
}

static zn_port make(const char *name, zn_port_kind kind, zn_shape shape)
{
    return (zn_port){.name = name, .kind = kind, .desc = zn_desc_make(ZN_F32, shape)};
}

zn_port zn_port_map(const char *name, int64_t height, int64_t width, int64_t channels)
{
    return make(name, ZN_PORT_MAP, ZN_SHAPE(1, height, width, channels));
}

zn_port zn_port_picture(const char *name, int64_t height, int64_t width)
{
    zn_port port = zn_port_map(name, height, width, 3);
    port.pixels = true;
    return port;
}

zn_port zn_port_sequence(const char *name, int64_t tokens, int64_t channels)
{
    return zn_port_sequences(name, tokens, 1, channels);
}

zn_port zn_port_sequences(const char *name, int64_t tokens, int64_t items, int64_t channels)
{
    return make(name, ZN_PORT_SEQUENCE, ZN_SHAPE(1, tokens, items, channels));
}

zn_port zn_port_vector(const char *name, int64_t channels)
{
    return make(name, ZN_PORT_VECTOR, ZN_SHAPE(channels));
}

zn_port zn_port_scalar(const char *name)
{
    return make(name, ZN_PORT_SCALAR, (zn_shape){.rank = 0});
}

zn_node *zn_port_leaf(zn_graph *graph, const zn_port *port, const zn_desc *pixels)
{
    zn_desc desc = port->desc;
    if (port->kind == ZN_PORT_SCALAR) return zn_graph_scalar(graph, port->name);
    if (port->pixels && pixels) {
        desc.type = pixels->type;
        desc.scale = pixels->scale;
    }
    return zn_graph_input(graph, port->name, desc);
}

int zn_port_find(const zn_port *ports, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(ports[i].name, name) == 0) return i;
    return -1;
}

void zn_port_check(zn_graph *graph, const char *part, const zn_port *port, const zn_node *node)
{
    char wanted[96], found[96];
    if (graph->status != ZENITH_OK) return;
    if (node && zn_shape_equal(&node->desc.shape, &port->desc.shape)) return;
    zn_shape_text(&port->desc.shape, wanted, sizeof wanted);
    if (node) zn_shape_text(&node->desc.shape, found, sizeof found);
    graph->status = zn_fail(graph->err, ZENITH_INVALID_ARGUMENT,
                            "the port '%s' of the %s has the shape %s, not %s", port->name, part,
                            wanted, node ? found : "none");
}
