// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/nn/scope.h"

#include "src/base/text.h"

const char *zn_scope_name(const zn_scope *scope, const char *name, const char *tail,
                          char dst[ZN_NAME_SIZE])
{
    zn_text_format(dst, ZN_NAME_SIZE, "%s%s%s", scope->prefix, name, tail);
    return dst;
}

zn_node *zn_scope_parameter(const zn_scope *scope, const char *name, const char *tail,
                            zn_shape shape)
{
    if (scope->graph->status != ZENITH_OK) return NULL;
    char full[ZN_NAME_SIZE];
    zn_scope_name(scope, name, tail, full);
    return scope->parameter(scope->cookie, scope->graph, full, &shape);
}

zn_node *zn_scope_part(const zn_scope *scope, const char *name, const char *tail, zn_shape shape,
                       zn_cut cut)
{
    if (!scope->share) return zn_scope_parameter(scope, name, tail, shape);
    if (scope->graph->status != ZENITH_OK) return NULL;
    char full[ZN_NAME_SIZE];
    zn_scope_name(scope, name, tail, full);
    return scope->part(scope->cookie, scope->graph, full, &shape, &cut);
}
