// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See failure.h.
#include "apps/serve/http/failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// A sentence may hold bytes of a hostile file: what is no UTF-8 or no letter is left out.
static void clean(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++)
        if ((unsigned char)*from >= ' ' && (unsigned char)*from < 127) *to++ = *from;
    *to = 0;
}

// The library's names for what requests call otherwise.
static const struct {
    const char *library, *request;
} words[] = {{"fit crop", "fit=crop"},
             {"fit pad", "fit=pad"},
             {"fit resize", "fit=resize"},
             {"zenith_generate_params.guidance", "guidance"},
             {"zenith_code.weights NULL", "without 'weights'"}};

static void say_words(const char *sentence, char *dst, size_t size)
{
    size_t length = 0;
    while (*sentence != 0 && length + 1 < size) {
        size_t i = 0;
        while (i < sizeof words / sizeof *words &&
               strncmp(sentence, words[i].library, strlen(words[i].library)) != 0)
            i++;
        const bool found = i < sizeof words / sizeof *words;
        const int count = found ? (int)strlen(words[i].request) : 1;
        length += (size_t)snprintf(dst + length, size - length, "%.*s", count,
                                   found ? words[i].request : sentence);
        sentence += found ? strlen(words[i].library) : 1;
    }
    dst[length < size ? length : size - 1] = 0;
}

bool serve_fail(serve_failure *failure, int code, const char *type, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(failure->text, sizeof failure->text, format, list);
    va_end(list);
    clean(failure->text);
    failure->code = code;
    failure->type = type;
    return false;
}

bool serve_fail_status(serve_failure *failure, zenith_status status, const char *sentence)
{
    char text[sizeof failure->text];
    say_words(sentence && *sentence ? sentence : zenith_status_text(status), text, sizeof text);
    switch (status) {
    case ZENITH_BAD_FILE:
        return serve_fail(failure, 400, "invalid_request", "%s", text);
    case ZENITH_LIMIT:
        return serve_fail(failure, 413, "too_large", "%s", text);
    case ZENITH_INVALID_ARGUMENT:
    case ZENITH_UNSUPPORTED:
    case ZENITH_AMBIGUOUS:
    case ZENITH_NOT_FOUND:
    case ZENITH_OVERFLOW:
        return serve_fail(failure, 422, "unprocessable", "%s", text);
    case ZENITH_OUT_OF_MEMORY:
        return serve_fail(failure, 503, "out_of_memory", "%s", text);
    case ZENITH_CANCELLED:
        return serve_fail(failure, 503, "cancelled", "%s", text);
    default:
        return serve_fail(failure, 500, "internal", "%s", text);
    }
}
