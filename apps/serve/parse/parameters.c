// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See parameters.h.
#include "apps/serve/parse/parameters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LONGEST_SIDE = 1 << 24 };

void serve_parameters_add(serve_parameters *parameters, const char *name, const char *value)
{
    if (parameters->count == SERVE_PARAMETERS)
        parameters->too_many = true;
    else
        parameters->list[parameters->count++] = (serve_parameter){name, value ? value : ""};
}

const char *serve_parameter_get(const serve_parameters *parameters, const char *name)
{
    for (size_t i = 0; i < parameters->count; i++)
        if (strcmp(parameters->list[i].name, name) == 0) return parameters->list[i].value;
    return NULL;
}

const char *serve_parameter_take(serve_parameters *parameters, const char *name)
{
    const char *value = serve_parameter_get(parameters, name);
    size_t kept = 0;
    for (size_t i = 0; i < parameters->count; i++)
        if (strcmp(parameters->list[i].name, name) != 0)
            parameters->list[kept++] = parameters->list[i];
    parameters->count = kept;
    return value;
}

// As Python and others write them.
bool serve_parameter_bool(const serve_parameters *parameters, const char *name, bool *out,
                          serve_failure *failure)
{
    const char *value = serve_parameter_get(parameters, name);
    if (!value) return true;
    const bool yes = strcasecmp(value, "true") == 0 || strcmp(value, "1") == 0;
    const bool no = strcasecmp(value, "false") == 0 || strcmp(value, "0") == 0 ||
                    strcasecmp(value, "none") == 0;
    if (!yes && !no)
        return serve_fail_request(failure, "'%s' is true or false, not '%.40s'", name, value);
    *out = yes;
    return true;
}

// Digits up to `end`, which is '\0' or one of `ends`.
static bool read_number(const char **text, const char *ends, uint32_t max, uint32_t *out)
{
    const char *at = *text;
    uint64_t number = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        number = number * 10 + (uint64_t)(*at - '0');
        if (number > max) return false;
    }
    if (at == *text || (*at != '\0' && !strchr(ends, *at))) return false;
    *text = at;
    *out = (uint32_t)number;
    return true;
}

bool serve_parameter_number(const serve_parameters *parameters, const char *name, uint32_t min,
                            uint32_t max, uint32_t *out, serve_failure *failure)
{
    const char *value = serve_parameter_get(parameters, name), *at = value;
    uint32_t number;
    if (!value) return true;
    if (!read_number(&at, "", max, &number) || number < min)
        return serve_fail_request(failure, "'%s' is a number from %u to %u, not '%.40s'", name, min,
                                  max, value);
    *out = number;
    return true;
}

bool serve_parameter_real(const serve_parameters *parameters, const char *name, double *out,
                          serve_failure *failure)
{
    const char *value = serve_parameter_get(parameters, name);
    if (!value) return true;
    char *end = NULL;
    const bool written = *value && strspn(value, "0123456789.+-eE") == strlen(value);
    const double number = written ? strtod(value, &end) : 0;
    if (!written || *end || !isfinite(number))
        return serve_fail_request(failure, "'%s' is a finite number, not '%.40s'", name, value);
    *out = number;
    return true;
}

bool serve_parameter_size(const serve_parameters *parameters, const char *name, uint32_t *width,
                          uint32_t *height, serve_failure *failure)
{
    const char *value = serve_parameter_get(parameters, name), *at = value;
    uint32_t w, h;
    if (!value) return true;
    bool good = read_number(&at, "xX", LONGEST_SIDE, &w) && *at++ != '\0';
    good = good && read_number(&at, "", LONGEST_SIDE, &h) && w > 0 && h > 0;
    if (!good) return serve_fail_request(failure, "'%s' is WIDTHxHEIGHT, not '%.40s'", name, value);
    *width = w;
    *height = h;
    return true;
}

bool serve_parameter_word(const serve_parameters *parameters, const char *name,
                          const serve_word *words, int *out, serve_failure *failure)
{
    const char *value = serve_parameter_get(parameters, name);
    if (!value) return true;
    char all[160] = "";
    for (const serve_word *each = words; each->word; each++) {
        if (strcmp(each->word, value) == 0) {
            *out = each->value;
            return true;
        }
        if (each != words) strncat(all, ", ", sizeof all - strlen(all) - 1);
        strncat(all, each->word, sizeof all - strlen(all) - 1);
    }
    return serve_fail_request(failure, "'%s' is one of %s, not '%.40s'", name, all, value);
}

bool serve_parameter_shape(const serve_parameters *parameters, uint32_t shape[SERVE_RANK],
                           int *rank, serve_failure *failure)
{
    *rank = 0;
    for (size_t i = 0; i < parameters->count; i++) {
        const char *at = parameters->list[i].value;
        if (strcmp(parameters->list[i].name, "shape") != 0) continue;
        at += *at == '['; // "[1, 4, 64, 64]", as the header of answers has it
        for (bool more = true; more;) {
            uint32_t side;
            if (*rank == SERVE_RANK || !read_number(&at, ",]", LONGEST_SIDE, &side) || side == 0 ||
                (*at == ']' && at[1] != 0))
                return serve_fail_request(failure,
                                          "'shape' is up to %d whole numbers from 1 to %d, such as "
                                          "shape=1,4,64,64",
                                          SERVE_RANK, LONGEST_SIDE);
            shape[(*rank)++] = side;
            more = *at == ',';
            if (*at != 0) at++;
            at += strspn(at, " ");
        }
    }
    return true;
}

bool serve_parameters_known(const serve_parameters *parameters, const char *const *known,
                            serve_failure *failure)
{
    for (size_t i = 0; i < parameters->count; i++) {
        const char *name = parameters->list[i].name;
        const char *const *each = known;
        while (*each && strcmp(*each, name) != 0) each++;
        if (!*each) return serve_fail_request(failure, "there is no parameter '%.40s' here", name);
    }
    return true;
}
