// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See openai.h. Members that say nothing to a pipeline are taken and have no effect: quality,
// style, user, moderation, input_fidelity, and a background that is not transparent.
#include "apps/serve/protocols/openai.h"

#include "apps/serve/parse/base64.h"
#include "apps/serve/parse/multipart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const members[] = {"prompt",
                                      "model",
                                      "n",
                                      "size",
                                      "response_format",
                                      "output_format",
                                      "output_compression",
                                      "stream",
                                      "partial_images",
                                      "seed",
                                      "num_inference_steps",
                                      "guidance",
                                      "guidance_scale",
                                      "negative_prompt",
                                      "strength",
                                      "background",
                                      "quality",
                                      "style",
                                      "user",
                                      "moderation",
                                      "input_fidelity",
                                      NULL};

// --- requests -----------------------------------------------------------------------------------

static bool unprocessable(serve_failure *failure, const char *text)
{
    return serve_fail_content(failure, "%s", text);
}

static bool read_texts(const json_t *object, serve_wish *wish, serve_failure *failure)
{
    const char *prompt = NULL, *negative = NULL, *model = "", *size = "auto";
    if (!serve_json_text(object, "prompt", SERVE_LONGEST_PROMPT, &prompt, failure) ||
        !serve_json_text(object, "negative_prompt", SERVE_LONGEST_PROMPT, &negative, failure) ||
        !serve_json_text(object, "model", sizeof wish->model - 1, &model, failure) ||
        !serve_json_text(object, "size", 24, &size, failure))
        return false;
    snprintf(wish->model, sizeof wish->model, "%s", model);
    return serve_wish_texts(wish, prompt, negative, failure) &&
           (strcmp(size, "auto") == 0 || serve_wish_size(wish, size, failure));
}

static bool read_numbers(const json_t *object, serve_wish *wish, serve_failure *failure)
{
    int64_t count = wish->count, steps = wish->steps, seed = (int64_t)wish->seed, partial = 0;
    if (!serve_json_number(object, "n", 1, SERVE_MOST_PICTURES, &count, failure) ||
        !serve_json_number(object, "num_inference_steps", 1, SERVE_MOST_STEPS, &steps, failure) ||
        !serve_json_number(object, "seed", 0, INT64_MAX, &seed, failure) ||
        !serve_json_number(object, "partial_images", 0, SERVE_MOST_PARTIAL, &partial, failure) ||
        !serve_json_real(object, "guidance_scale", 0, 100, &wish->guidance, failure) ||
        !serve_json_real(object, "guidance", 0, 100, &wish->guidance, failure) ||
        !serve_json_real(object, "strength", 0.001, 1, &wish->strength, failure) ||
        !serve_json_bool(object, "stream", &wish->stream, failure))
        return false;
    wish->count = (uint32_t)count;
    wish->steps = (uint32_t)steps;
    wish->seed = (uint64_t)seed;
    wish->partial = (uint32_t)partial;
    if (partial > 0 && !wish->stream)
        return unprocessable(failure, "'partial_images' go with 'stream': true");
    if (wish->negative != NULL && wish->guidance <= 0)
        return unprocessable(failure,
                             "'negative_prompt' counts only with 'guidance': give one, such as 4");
    return true;
}

static bool read_format(const json_t *object, serve_wish *wish, serve_failure *failure)
{
    static const char *const formats[] = {"png", "jpeg", "webp"};
    const char *answer = "b64_json", *format = "png", *background = "auto";
    int64_t quality = 100;
    if (!serve_json_text(object, "response_format", 24, &answer, failure) ||
        !serve_json_text(object, "output_format", 24, &format, failure) ||
        !serve_json_text(object, "background", 24, &background, failure) ||
        !serve_json_number(object, "output_compression", 0, 100, &quality, failure))
        return false;
    if (strcmp(answer, "b64_json") != 0)
        return unprocessable(failure, "pictures are answered as 'b64_json': this server keeps none "
                                      "that an address could name");
    if (strcmp(background, "transparent") == 0)
        return unprocessable(failure, "pictures have no transparent background here");
    wish->format = NULL;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i], format) == 0) wish->format = formats[i];
    if (wish->format == NULL)
        return serve_fail_request(failure, "'output_format' is one of png, jpeg, webp, not '%.24s'",
                                  format);
    // The quality of JPEG and WebP, where it is said; 0 is the worst there is.
    if (json_is_integer(json_object_get(object, "output_compression")))
        wish->quality = quality > 0 ? (uint32_t)quality : 1;
    return true;
}

static bool read_object(const json_t *object, serve_wish *wish, serve_failure *failure)
{
    return serve_json_known(object, members, failure) && read_texts(object, wish, failure) &&
           read_numbers(object, wish, failure) && read_format(object, wish, failure);
}

bool serve_openai_read(const void *body, size_t size, serve_wish *out, serve_failure *failure)
{
    serve_wish_begin(out);
    json_t *object = serve_json_read(body, size, failure);
    const bool good = object != NULL && read_object(object, out, failure);
    json_decref(object);
    return good;
}

// A field of a form as a member: numbers and truth values as JSON has them, all else as text.
static json_t *field_value(const serve_part *part)
{
    static const char *const numbers[] = {
        "n",        "output_compression",  "stream",   "partial_images", "seed",
        "strength", "num_inference_steps", "guidance", "guidance_scale", NULL};
    const char *const *each = numbers;
    while (*each && strcmp(*each, part->name) != 0) each++;
    json_t *value = *each ? json_loadb((const char *)part->data, part->size, JSON_DECODE_ANY, NULL)
                          : NULL;
    if (json_is_number(value) || json_is_boolean(value)) return value;
    json_decref(value);
    return json_stringn((const char *)part->data, part->size);
}

static bool read_field(const serve_part *part, json_t *object, serve_wish *wish,
                       serve_failure *failure)
{
    if (strcmp(part->name, "mask") == 0)
        return unprocessable(failure, "there are no masks here: the whole picture is made anew");
    if (strcmp(part->name, "image") == 0 || strcmp(part->name, "image[]") == 0) {
        if (wish->image != NULL) return unprocessable(failure, "one 'image' is edited");
        wish->image = part->data;
        wish->image_size = part->size;
        return true;
    }
    if (part->size > SERVE_LONGEST_PROMPT)
        return serve_fail_request(failure, "'%s' is too long", part->name);
    return json_object_set_new(object, part->name, field_value(part)) == 0 ||
           serve_fail_request(failure, "'%s' is no text in UTF-8", part->name);
}

bool serve_openai_read_edit(const char *content_type, const void *body, size_t size,
                            serve_wish *out, serve_failure *failure)
{
    serve_parts parts;
    json_t *object = json_object();
    serve_wish_begin(out);
    bool good = object != NULL && serve_multipart_read(content_type, body, size, &parts, failure);
    for (size_t i = 0; good && i < parts.count; i++)
        good = read_field(&parts.list[i], object, out, failure);
    good = good && read_object(object, out, failure);
    json_decref(object);
    if (good && (out->image == NULL || out->image_size == 0))
        return serve_fail_request(failure, "the form has no 'image'");
    return good;
}

// --- answers ------------------------------------------------------------------------------------

// What a picture's object has besides its file.
static json_t *describe(const serve_wish *wish)
{
    return json_pack("{s:o, s:s, s:s, s:s}", "size",
                     json_sprintf("%ux%u", wish->width, wish->height), "quality", "auto",
                     "background", "opaque", "output_format", wish->format);
}

static json_t *seed_value(uint64_t seed)
{
    return json_integer((json_int_t)(seed & INT64_MAX));
}

// "event: NAME", and its object; both have the name. The object is taken over.
static char *event_text(const char *name, json_t *object)
{
    char *text = NULL;
    json_object_set_new(object, "type", json_string(name));
    char *data = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    if (data != NULL && asprintf(&text, "event: %s\ndata: %s\n\n", name, data) < 0) text = NULL;
    free(data);
    return text;
}

static json_t *event_object(const serve_generation *generation, const serve_event *event)
{
    char *file = serve_base64_write(event->data, event->size);
    json_t *object = file != NULL ? describe(serve_generation_wish(generation)) : NULL;
    json_object_set_new(object, "b64_json", file != NULL ? json_string(file) : NULL);
    json_object_set_new(object, "created_at", json_integer((json_int_t)time(NULL)));
    json_object_set_new(object, "seed", seed_value(event->seed));
    json_object_set_new(object, "index", json_integer((json_int_t)event->index));
    if (event->preview)
        json_object_set_new(object, "partial_image_index",
                            json_integer((json_int_t)event->partial));
    free(file);
    return object;
}

void serve_openai_event(serve_generation *generation, const serve_event *event)
{
    char name[48];
    const bool edit = serve_generation_kind(generation) == SERVE_KIND_EDIT;
    if (!serve_generation_wish(generation)->stream) return;
    snprintf(name, sizeof name, "image_%s.%s", edit ? "edit" : "generation",
             event->preview ? "partial_image" : "completed");
    serve_generation_say(generation, event_text(name, event_object(generation, event)), false);
}

void serve_openai_keep(serve_generation *generation, const serve_event *event)
{
    if (!event->preview) return;
    serve_generation_keep(generation, event_text("preview", event_object(generation, event)));
}

void serve_openai_end(serve_generation *generation, const serve_failure *failure)
{
    char *text = NULL;
    if (failure != NULL)
        text = event_text("error", json_pack("{s:{s:s, s:i, s:s}}", "error", "type", failure->type,
                                             "code", failure->code, "message", failure->text));
    serve_generation_say(generation, text, true);
}

// Written by hand around the files: as values of JSON they would be copied twice more.
bool serve_openai_answer(const serve_generation *generation, serve_answer *answer,
                         serve_failure *failure)
{
    const serve_wish *wish = serve_generation_wish(generation);
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    bool good = out != NULL;
    if (good)
        fprintf(out,
                "{\"created\": %lld, \"background\": \"opaque\", \"output_format\": \"%s\", "
                "\"quality\": \"auto\", \"size\": \"%ux%u\", \"data\": [",
                (long long)time(NULL), wish->format, wish->width, wish->height);
    for (uint32_t i = 0; good && i < serve_generation_made(generation); i++) {
        size_t size;
        const void *picture = serve_generation_picture(generation, i, &size);
        char *file = serve_base64_write(picture, size);
        good = file != NULL;
        if (good)
            fprintf(out, "%s{\"b64_json\": \"%s\", \"seed\": %llu}", i ? ", " : "", file,
                    (unsigned long long)(wish->seed + i));
        free(file);
    }
    if (good) fputs("]}", out);
    if (out != NULL && fclose(out) != 0) good = false;
    if (good) serve_answer_text(answer, "application/json", text);
    if (!good) free(text);
    return good || serve_fail_memory(failure);
}
