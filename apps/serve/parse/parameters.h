// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The parameters of a request as a list of names and values, and values of types. Everything is of
// a stranger: a value that is not wholly of its type is refused.
#ifndef ZN_SERVE_PARSE_PARAMETERS_H
#define ZN_SERVE_PARSE_PARAMETERS_H

#include "apps/serve/http/failure.h"

#include <stddef.h>
#include <stdint.h>

enum { SERVE_PARAMETERS = 32, SERVE_RANK = 5 };

typedef struct serve_parameter {
    const char *name, *value; // borrowed
} serve_parameter;

typedef struct serve_parameters {
    serve_parameter list[SERVE_PARAMETERS];
    size_t count;
    bool too_many;
} serve_parameters;

void serve_parameters_add(serve_parameters *parameters, const char *name, const char *value);
// The first of this name; NULL: there is none.
const char *serve_parameter_get(const serve_parameters *parameters, const char *name);

// The same, which is not there any more afterwards.
const char *serve_parameter_take(serve_parameters *parameters, const char *name);

// Each leaves *out alone where the parameter is not there.
bool serve_parameter_bool(const serve_parameters *parameters, const char *name, bool *out,
                          serve_failure *failure);
bool serve_parameter_number(const serve_parameters *parameters, const char *name, uint32_t min,
                            uint32_t max, uint32_t *out, serve_failure *failure);
// A finite number.
bool serve_parameter_real(const serve_parameters *parameters, const char *name, double *out,
                          serve_failure *failure);
// WIDTHxHEIGHT, both above zero.
bool serve_parameter_size(const serve_parameters *parameters, const char *name, uint32_t *width,
                          uint32_t *height, serve_failure *failure);

typedef struct serve_word {
    const char *word;
    int value;
} serve_word;
bool serve_parameter_word(const serve_parameters *parameters, const char *name,
                          const serve_word *words, int *out, serve_failure *failure);

// "shape", once for each dimension or separated by commas; *rank is 0 where it is not there.
// Dimensions are 1 .. 2^24.
bool serve_parameter_shape(const serve_parameters *parameters, uint32_t shape[SERVE_RANK],
                           int *rank, serve_failure *failure);

// False where there is a parameter that is not one of `known` (ends with NULL).
bool serve_parameters_known(const serve_parameters *parameters, const char *const *known,
                            serve_failure *failure);

#endif
