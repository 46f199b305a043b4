// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/task/engine/part_call.h"

#include "src/task/engine/guard.h"

#include <string.h>

typedef struct running {
    const zn_part_call *call;
    zn_ports ports;
    zn_guard guard;
} running;

// Bytes of a row of a port's value; of a vector, of all.
static size_t row_bytes(const zn_port *port)
{
    const zn_shape *shape = &port->desc.shape;
    return (size_t)(shape->rank == 4 ? shape->dim[2] * shape->dim[3] : shape->dim[0]) *
           sizeof(float);
}

static zenith_status read_rows(void *cookie, int input, int64_t row, int64_t count, void *dst,
                               zn_error *err)
{
    const running *r = cookie;
    const size_t bytes = row_bytes(&r->ports.inputs[input]);
    (void)err;
    memcpy(dst, (const uint8_t *)r->call->inputs[input] + (size_t)row * bytes,
           (size_t)count * bytes);
    return ZENITH_OK;
}

static zenith_status write_rows(void *cookie, int output, int64_t row, int64_t count,
                                const void *src, zn_error *err)
{
    const running *r = cookie;
    const size_t bytes = row_bytes(&r->ports.outputs[output]);
    ZN_TRY(zn_guard_check(&r->guard, err));
    memcpy((uint8_t *)r->call->outputs[output] + (size_t)row * bytes, src, (size_t)count * bytes);
    return ZENITH_OK;
}

static void look(void *cookie, const zn_node *node, int64_t row, int64_t count, const void *data)
{
    running *r = cookie;
    (void)row;
    zn_guard_look(&r->guard, node, count, data);
}

zenith_status zn_part_call_run(const zn_part_place *place, const zn_part_call *call, zn_error *err)
{
    const zn_part *part = zn_model_part(call->model, call->part);
    if (!part)
        return zn_fail(err, ZENITH_NOT_FOUND, "the weights of %s have no %s",
                       call->model->variant->name, call->part);
    running r = {.call = call};
    const zn_compile_key key = {.model = call->model,
                                .part = part,
                                .sizes = call->sizes,
                                .dtype = call->dtype,
                                .pixels = ZENITH_F32};
    const zn_compiled *compiled = NULL;
    ZN_TRY(zn_engine_plan(place->engine, place->stream, &key, &place->bound, place->cancel,
                          &compiled, err));
    part->ports(call->model->variant, zn_model_layout(call->model, part), &call->sizes, &r.ports);
    r.guard = (zn_guard){.watched = compiled->watched, .dtype = call->dtype, .team = place->team};
    const zn_run run = {.read = read_rows,
                        .write = write_rows,
                        .cookie = &r,
                        .cancel = place->cancel,
                        .observe = look};
    ZN_TRY(zn_engine_run(place->engine, place->stream, place->team, compiled, &run, err));
    return zn_guard_check(&r.guard, err);
}
