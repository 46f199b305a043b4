// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See wish.h. Defaults are those of `zenith generate`.
#include "apps/serve/protocols/wish.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { USUAL_SIDE = 1024 };

void serve_wish_begin(serve_wish *wish)
{
    uint32_t seed = 0;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed) seed = 0;
    *wish = (serve_wish){
        .count = 1, .seed = seed, .guidance = -1, .strength = 0.6, .format = "png"};
}

void serve_wish_free(serve_wish *wish)
{
    free(wish->prompt);
    free(wish->negative);
    free(wish->own);
    *wish = (serve_wish){0};
}

bool serve_wish_texts(serve_wish *wish, const char *prompt, const char *negative,
                      serve_failure *failure)
{
    if (prompt == NULL || prompt[strspn(prompt, " \t\r\n")] == 0)
        return serve_fail_request(failure,
                                  "'prompt' says what shall be in the picture: it is missing");
    const bool without = negative == NULL || negative[0] == 0;
    wish->prompt = strdup(prompt);
    wish->negative = without ? NULL : strdup(negative);
    if (wish->prompt == NULL || (!without && wish->negative == NULL))
        return serve_fail_memory(failure);
    return true;
}

bool serve_wish_size(serve_wish *wish, const char *text, serve_failure *failure)
{
    serve_parameters one = {0};
    serve_parameters_add(&one, "size", text);
    return serve_parameter_size(&one, "size", &wish->width, &wish->height, failure);
}

static uint32_t rounded(uint32_t side, uint32_t multiple)
{
    const uint64_t near = ((uint64_t)side + multiple / 2) / multiple * multiple;
    return near > 0 ? (uint32_t)near : multiple;
}

bool serve_wish_settle(serve_wish *wish, const zenith_generator_info *info,
                       const uint32_t turned[2], uint64_t max_pixels, serve_failure *failure)
{
    const uint32_t multiple = info->multiple, side = info->side > 0 ? info->side : USUAL_SIDE;
    if (wish->steps == 0) wish->steps = info->steps;
    if (wish->guidance < 0) wish->guidance = info->guidance;
    if (wish->width == 0) {
        wish->width = turned[0] ? rounded(turned[0], multiple) : side;
        wish->height = turned[0] ? rounded(turned[1], multiple) : side;
    }
    if (wish->width % multiple || wish->height % multiple)
        return serve_fail_content(failure, "width and height are multiples of %u, such as %ux%u",
                                  multiple, rounded(wish->width, multiple),
                                  rounded(wish->height, multiple));
    if ((uint64_t)wish->width * wish->height > max_pixels)
        return serve_fail_size(failure,
                               "a picture of %u x %u is larger than the limit of %llu pixels",
                               wish->width, wish->height, (unsigned long long)max_pixels);
    return true;
}
