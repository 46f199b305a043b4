// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See oip.h.
#include "apps/serve/protocols/oip.h"

#include "apps/serve/parse/json.h"
#include "apps/serve/parse/numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_JSON = 8 << 20, NUMBER_TEXT = 16 };

static const struct {
    const char *name, *torch;
    zenith_number number;
} types[] = {{"FP32", "float32", ZENITH_F32},
             {"FP16", "float16", ZENITH_F16},
             {"BF16", "bfloat16", ZENITH_BF16}};
enum { TYPES = sizeof types / sizeof *types };

static const char *input_name(serve_operation operation)
{
    return operation == SERVE_ENCODE ? "image" : "latent";
}

static const char *output_name(serve_operation operation)
{
    return operation == SERVE_ENCODE ? "latent" : "image";
}

bool serve_oip_split(const char *name, size_t *length, serve_operation *operation)
{
    enum { LENGTH = sizeof "_encoder" - 1 };
    if (*length <= LENGTH) return false;
    const char *end = name + *length - LENGTH;
    const bool encoder = memcmp(end, "_encoder", LENGTH) == 0;
    if (!encoder && memcmp(end, "_decoder", LENGTH) != 0) return false;
    *length -= LENGTH;
    *operation = encoder ? SERVE_ENCODE : SERVE_DECODE;
    return true;
}

// --- requests -----------------------------------------------------------------------------------

// A request on its way through the checks.
typedef struct reading {
    const serve_envelope *envelope;
    serve_operation operation;
    uint8_t *body;
    size_t size, json; // bytes; of the JSON
    const json_t *input;
    char shape[80];
    size_t numbers;
    size_t type; // of `types`
    const char *space;
} reading;

static bool find_json(reading *r, const char *header_length, serve_failure *failure)
{
    uint32_t length = 0;
    serve_parameters one = {0};
    r->json = r->size;
    if (header_length != NULL) {
        static const char name[] = "Inference-Header-Content-Length";
        serve_parameters_add(&one, name, header_length);
        if (!serve_parameter_number(&one, name, 1, UINT32_MAX, &length, failure)) return false;
        if (length > r->size)
            return serve_fail_request(failure, "%s is %u, and the body has %zu bytes", name, length,
                                      r->size);
        r->json = length;
    }
    return r->json <= MOST_JSON ||
           serve_fail_size(
               failure, "the JSON of a request has at most %d bytes: send numbers as binary data",
               MOST_JSON);
}

// The numbers are counted before anything is allocated for them. Sides end at 2^24, so that a
// product with one more dimension cannot pass 2^64 while the count is below 2^40.
static bool read_shape(reading *r, serve_failure *failure)
{
    const json_t *shape = json_object_get(r->input, "shape");
    const size_t rank = json_array_size(shape);
    uint64_t count = 1;
    bool good = rank >= 1 && rank <= SERVE_RANK;
    for (size_t i = 0; good && i < rank; i++) {
        const json_t *side = json_array_get(shape, i);
        const json_int_t n = json_is_integer(side) ? json_integer_value(side) : 0;
        good = n >= 1 && n <= 1 << 24 && count < 1ull << 40;
        count *= good ? (uint64_t)n : 1;
        const size_t length = strlen(r->shape);
        snprintf(r->shape + length, sizeof r->shape - length, "%s%lld", i ? "," : "", (long long)n);
    }
    r->numbers = count;
    return (good && count < 1ull << 40) ||
           serve_fail_request(failure, "the 'shape' of an input is up to %d whole numbers above 0",
                              SERVE_RANK);
}

static bool read_type(reading *r, serve_failure *failure)
{
    const char *name = "";
    if (!serve_json_text(r->input, "datatype", 16, &name, failure)) return false;
    for (r->type = 0; r->type < TYPES; r->type++)
        if (strcmp(types[r->type].name, name) == 0) return true;
    return serve_fail_content(
        failure, "the 'datatype' of an input is FP32, FP16 or BF16, not '%.16s'", name);
}

static bool find_input(reading *r, const json_t *request, serve_failure *failure)
{
    const json_t *inputs = json_object_get(request, "inputs");
    const char *name = "", *wanted = input_name(r->operation);
    r->input = json_array_get(inputs, 0);
    if (json_array_size(inputs) != 1 || !json_is_object(r->input))
        return serve_fail_request(failure, "'inputs' is a list of one tensor, which is called '%s'",
                                  wanted);
    if (!serve_json_text(r->input, "name", 256, &name, failure)) return false;
    if (strcmp(name, wanted) != 0)
        return serve_fail_request(failure, "the input is called '%s', not '%.40s'", wanted, name);
    return read_shape(r, failure) && read_type(r, failure);
}

// The order of numbers is that of the text, however it is nested.
static bool flatten(const json_t *list, size_t most, float *dst, size_t *count)
{
    size_t i;
    json_t *value;
    json_array_foreach(list, i, value)
    {
        if (json_is_array(value) && !flatten(value, most, dst, count)) return false;
        if (json_is_array(value)) continue;
        if (!json_is_number(value) || *count == most) return false;
        dst[(*count)++] = (float)json_number_value(value);
    }
    return true;
}

static bool read_data(const reading *r, const json_t *data, serve_oip *out, serve_failure *failure)
{
    size_t count = 0;
    if (!json_is_array(data))
        return serve_fail_request(failure,
                                  "an input has 'data', a list of numbers, or the parameter "
                                  "'binary_data_size'");
    // A text of so many bytes cannot hold more numbers.
    if (r->numbers > r->json)
        return serve_fail_content(failure, "the shape has %zu numbers, and 'data' fewer",
                                  r->numbers);
    float *numbers = malloc(r->numbers * sizeof *numbers);
    if (numbers == NULL) return serve_fail_memory(failure);
    out->own = numbers;
    if (!flatten(data, r->numbers, numbers, &count) || count != r->numbers)
        return serve_fail_content(failure, "'data' does not hold the %zu numbers of the shape",
                                  r->numbers);
    serve_numbers_narrow(types[r->type].number, numbers, count, numbers);
    out->numbers = numbers;
    out->size = count * serve_number_size(types[r->type].number);
    return true;
}

static bool read_numbers(const reading *r, serve_oip *out, serve_failure *failure)
{
    const json_t *parameters = json_object_get(r->input, "parameters");
    int64_t size = -1;
    const size_t rest = r->size - r->json;
    if (!serve_json_number(parameters, "binary_data_size", 0, INT64_MAX, &size, failure))
        return false;
    if (size < 0 && rest == 0) return read_data(r, json_object_get(r->input, "data"), out, failure);
    if (size < 0 || (uint64_t)size != rest)
        return serve_fail_request(failure,
                                  "'binary_data_size' is %lld, and %zu bytes follow the JSON",
                                  (long long)size, rest);
    memmove(r->body, r->body + r->json, rest); // numbers begin at an address that suits them
    out->numbers = r->body;
    out->size = rest;
    return true;
}

static bool read_output(const reading *r, const json_t *request, serve_oip *out,
                        serve_failure *failure)
{
    const json_t *parameters = json_object_get(request, "parameters");
    const json_t *outputs = json_object_get(request, "outputs");
    const json_t *output = json_array_get(outputs, 0);
    const char *name = output_name(r->operation), *given = name;
    if (!serve_json_bool(parameters, "binary_data_output", &out->binary, failure) ||
        !serve_json_text(output, "name", 256, &given, failure) ||
        !serve_json_bool(json_object_get(output, "parameters"), "binary_data", &out->binary,
                         failure))
        return false;
    if (json_array_size(outputs) > 1 || strcmp(given, name) != 0)
        return serve_fail_request(failure, "the one output is called '%s'", name);
    return true;
}

static bool read_request(reading *r, const json_t *request, serve_oip *out, serve_failure *failure)
{
    const char *id = "";
    if (!serve_json_text(request, "id", sizeof out->id - 1, &id, failure) ||
        !serve_json_text(json_object_get(request, "parameters"), "space", 16, &r->space, failure) ||
        !find_input(r, request, failure) || !read_output(r, request, out, failure))
        return false;
    snprintf(out->id, sizeof out->id, "%s", id);
    return read_numbers(r, out, failure);
}

// The same as a request of the server's own protocol.
static bool ask_native(const reading *r, const serve_oip *oip, serve_ask *ask,
                       serve_failure *failure)
{
    serve_parameters parameters = {0};
    serve_envelope envelope = *r->envelope;
    const char *type = types[r->type].torch;
    serve_parameters_add(&parameters, "shape", r->shape);
    serve_parameters_add(&parameters, "dtype", type);
    serve_parameters_add(&parameters, "output_dtype", type);
    serve_parameters_add(&parameters, "format", "raw");
    if (r->space != NULL) serve_parameters_add(&parameters, "space", r->space);
    envelope.parameters = &parameters;
    envelope.content_type = envelope.accept = NULL;
    envelope.body = oip->size;
    return serve_ask_native(&envelope, r->operation, ask, failure);
}

// A result as text is bounded before it is computed.
static bool check_output(const reading *r, const serve_ask *ask, serve_oip *oip,
                         serve_failure *failure)
{
    const zenith_model_info *model = r->envelope->model;
    const uint64_t square = (uint64_t)model->factor * model->factor;
    const uint64_t pixels = (uint64_t)ask->count * ask->height * ask->width;
    const uint64_t numbers = r->operation == SERVE_ENCODE ? pixels / square * model->latent_channels
                                                          : pixels * square * 3;
    oip->bytes = (oip->own ? r->numbers * sizeof(float) : 0) +
                 (oip->binary ? 4096 : numbers * NUMBER_TEXT);
    return oip->binary || numbers <= SERVE_JSON_VALUES ||
           serve_fail_size(failure,
                           "the output has %llu numbers, too many for JSON: ask for binary data",
                           (unsigned long long)numbers);
}

bool serve_oip_ask(const serve_envelope *envelope, void *body, size_t size,
                   const char *header_length, serve_operation operation, serve_oip *out,
                   serve_ask *ask, serve_failure *failure)
{
    reading r = {.envelope = envelope, .operation = operation, .body = body, .size = size};
    *out = (serve_oip){0};
    if (!find_json(&r, header_length, failure)) return false;
    json_t *request = serve_json_read(body, r.json, failure);
    const bool good = request != NULL && read_request(&r, request, out, failure) &&
                      ask_native(&r, out, ask, failure) && check_output(&r, ask, out, failure);
    json_decref(request);
    return good;
}

void serve_oip_free(serve_oip *oip)
{
    free(oip->own);
    *oip = (serve_oip){0};
}

// --- answers ------------------------------------------------------------------------------------

static json_t *part_name(const zenith_model_info *model, serve_operation operation)
{
    return json_sprintf("%s_%s", model->name, operation == SERVE_ENCODE ? "encoder" : "decoder");
}

static void answer_object(serve_answer *answer, json_t *object)
{
    serve_answer_text(answer, "application/json", object != NULL ? json_dumps(object, 0) : NULL);
    json_decref(object);
}

void serve_oip_write_server(serve_answer *answer)
{
    answer_object(answer, json_pack("{s:s, s:s, s:[s]}", "name", "zenith", "version",
                                    zenith_version(), "extensions", "binary_tensor_data"));
}

void serve_oip_write_ready(const zenith_model_info *model, serve_operation operation,
                           serve_answer *answer)
{
    answer_object(answer,
                  json_pack("{s:o, s:b}", "name", part_name(model, operation), "ready", true));
}

static json_t *describe_tensor(const char *name, uint32_t channels)
{
    return json_pack("{s:s, s:s, s:[i, i, i, i]}", "name", name, "datatype", "FP32", "shape", -1,
                     (int)channels, -1, -1);
}

void serve_oip_write_model(const zenith_model_info *model, serve_operation operation,
                           serve_answer *answer)
{
    const uint32_t latent = model->latent_channels;
    const bool encodes = operation == SERVE_ENCODE;
    answer_object(answer,
                  json_pack("{s:o, s:[s], s:s, s:[o], s:[o]}", "name", part_name(model, operation),
                            "versions", "1", "platform", "zenith", "inputs",
                            describe_tensor(input_name(operation), encodes ? 3 : latent), "outputs",
                            describe_tensor(output_name(operation), encodes ? latent : 3)));
}

// "data" of the output, in few digits that read back as the same float.
static bool write_data(zenith_number number, const uint8_t *data, size_t count, FILE *out)
{
    for (size_t i = 0; i < count; i++) {
        float value;
        serve_numbers_widen(number, data + i * serve_number_size(number), 1, &value);
        if (!isfinite(value)) return false;
        fprintf(out, "%s%.9g", i ? "," : "", (double)value);
    }
    return true;
}

// All but the output's numbers, without the last brackets; a text to be freed.
static char *write_head(const serve_oip *oip, const zenith_model_info *model,
                        serve_operation operation, const char *type, const char *shape)
{
    json_error_t fault;
    json_t *sides = json_loads(shape, 0, &fault);
    json_t *object = json_pack("{s:o, s:s, s:[{s:s, s:s, s:o}]}", "model_name",
                               part_name(model, operation), "model_version", "1", "outputs", "name",
                               output_name(operation), "datatype", type, "shape", sides);
    if (oip->id[0]) json_object_set_new(object, "id", json_string(oip->id));
    char *text = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    return text;
}

// The numbers move behind the JSON.
static bool answer_binary(serve_answer *answer, const char *head, size_t length)
{
    char *larger = realloc(answer->data, answer->size + length);
    if (larger == NULL) return false;
    memmove(larger + length, larger, answer->size);
    memcpy(larger, head, length);
    answer->data = larger;
    answer->size += length;
    answer->inference_header = length;
    answer->content_type = "application/octet-stream";
    return true;
}

static void answer_json(serve_answer *answer, char *text, size_t length)
{
    free(answer->data);
    answer->data = text;
    answer->size = length;
    answer->content_type = "application/json";
}

// The head ends with "}]}" (or "}],"id":..}"): what belongs to the output goes before its first
// "}]".
bool serve_oip_answer(const serve_oip *oip, const zenith_model_info *model,
                      serve_operation operation, serve_answer *answer, serve_failure *failure)
{
    char *text = NULL;
    size_t length = 0, type = 0;
    while (type + 1 < TYPES && strcmp(types[type].torch, answer->dtype) != 0) type++;
    char *head = write_head(oip, model, operation, types[type].name, answer->shape);
    char *end = head != NULL ? strstr(head, "}]") : NULL;
    FILE *out = end != NULL ? open_memstream(&text, &length) : NULL;
    bool good = out != NULL, finite = true;
    if (good) {
        fprintf(out, "%.*s", (int)(end - head), head);
        if (oip->binary)
            fprintf(out, ",\"parameters\":{\"binary_data_size\":%zu}", answer->size);
        else
            fputs(",\"data\":[", out);
        if (!oip->binary)
            finite = write_data(types[type].number, answer->data,
                                answer->size / serve_number_size(types[type].number), out);
        fprintf(out, "%s%s", oip->binary ? "" : "]", end);
        good = fclose(out) == 0;
    }
    free(head);
    if (good && finite && !oip->binary) {
        answer_json(answer, text, length);
        text = NULL;
    } else if (good && finite) {
        good = answer_binary(answer, text, length);
    }
    free(text);
    answer->shape[0] = 0;
    answer->dtype = NULL;
    if (!finite)
        return serve_fail_content(failure,
                                  "the output has numbers that JSON has not: ask for binary data");
    return good || serve_fail_memory(failure);
}
