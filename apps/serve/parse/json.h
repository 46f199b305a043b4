// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// JSON of a stranger: nesting and the number of values are bounded before jansson sees the text,
// since a value of two bytes costs it some hundred. The getters are those of parameters.h, for the
// members of an object.
#ifndef ZN_SERVE_PARSE_JSON_H
#define ZN_SERVE_PARSE_JSON_H

#include "apps/serve/parse/parameters.h"

#include <jansson.h>

enum { SERVE_JSON_VALUES = 1 << 20, SERVE_JSON_DEPTH = 16 };

// An object, for json_decref; NULL with *failure filled. Names that occur twice are refused.
json_t *serve_json_read(const void *text, size_t size, serve_failure *failure);

// Each leaves *out alone where the member is not there, or null.
bool serve_json_bool(const json_t *object, const char *name, bool *out, serve_failure *failure);
bool serve_json_number(const json_t *object, const char *name, int64_t min, int64_t max,
                       int64_t *out, serve_failure *failure);
bool serve_json_real(const json_t *object, const char *name, double min, double max, double *out,
                     serve_failure *failure);
// UTF-8 without a zero, of at most `longest` bytes; it belongs to the object.
bool serve_json_text(const json_t *object, const char *name, size_t longest, const char **out,
                     serve_failure *failure);
// False where there is a member that is not one of `known` (ends with NULL).
bool serve_json_known(const json_t *object, const char *const *known, serve_failure *failure);

#endif
