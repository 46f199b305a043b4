// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See ask.h. diffusers' side is in its utils/remote_utils.py.
#include "apps/serve/protocols/ask.h"

#include "apps/serve/parse/numbers.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum { MOST_PICTURES = 16, TOKEN_PIXELS = 4 };

static const serve_word types[] = {
    {"float32", ZENITH_F32}, {"float16", ZENITH_F16}, {"bfloat16", ZENITH_BF16}, {NULL, 0}};

static bool unprocessable(serve_failure *failure, const char *text)
{
    return serve_fail_content(failure, "%s", text);
}

// --- headers ------------------------------------------------------------------------------------

// Whether a media type is one of `types` (ends with NULL); "image/*" is any picture. What follows
// ';' does not count.
static bool is_type(const char *value, const char *const *among)
{
    const size_t length = strcspn(value, "; \t");
    for (; *among; among++) {
        const size_t wanted = strlen(*among);
        const bool any = (*among)[wanted - 1] == '*';
        if (any ? length >= wanted && strncasecmp(value, *among, wanted - 1) == 0
                : length == wanted && strncasecmp(value, *among, wanted) == 0)
            return true;
    }
    return false;
}

// Bytes by any name; curl's name for --data-binary is the last. JSON, forms and texts are none.
static bool check_content_type(const serve_envelope *envelope, bool picture, serve_failure *failure)
{
    static const char *const bytes[] = {"application/octet-stream",
                                        "tensor/binary",
                                        "application/x-npy",
                                        "application/vnd.safetensors",
                                        "application/x-www-form-urlencoded",
                                        NULL};
    static const char *const pictures[] = {"image/*", NULL};
    const char *type = envelope->content_type;
    if (!type || is_type(type, bytes) || (picture && is_type(type, pictures))) return true;
    return serve_fail(failure, 415, "unsupported_media_type",
                      "the body is taken as %s, not as '%.60s'",
                      picture ? "image/*, tensor/binary or application/octet-stream"
                              : "tensor/binary, application/octet-stream, application/x-npy or "
                                "application/vnd.safetensors",
                      type);
}

static bool accepts(const serve_envelope *envelope, const char *type)
{
    return envelope->accept && strstr(envelope->accept, type) != NULL;
}

// --- tensors ------------------------------------------------------------------------------------

static bool check_picture(const serve_envelope *envelope, uint64_t width, uint64_t height,
                          serve_failure *failure)
{
    const uint64_t factor = envelope->model->factor;
    if (width % factor || height % factor)
        return serve_fail_content(
            failure, "width and height of a picture for %s are multiples of %u, not %llu x %llu",
            envelope->model->name, envelope->model->factor, (unsigned long long)width,
            (unsigned long long)height);
    if (width * height <= envelope->max_pixels) return true;
    return serve_fail_size(failure,
                           "a picture of %llu x %llu is larger than the limit of %llu pixels",
                           (unsigned long long)width, (unsigned long long)height,
                           (unsigned long long)envelope->max_pixels);
}

// [n, tokens, 4 * channels] and the size of the picture: tokens of 2 x 2 pixels of the latent.
static bool unpacked_shape(const serve_envelope *envelope, const uint32_t *shape, serve_ask *ask,
                           serve_failure *failure)
{
    uint32_t width = 0, height = 0;
    const uint32_t side = 2 * envelope->model->factor;
    if (!serve_parameter_number(envelope->parameters, "width", 1, 1 << 24, &width, failure) ||
        !serve_parameter_number(envelope->parameters, "height", 1, 1 << 24, &height, failure))
        return false;
    if (!width || !height)
        return unprocessable(failure, "packed latents need 'height' and 'width'");
    const uint32_t across = width / side, down = height / side;
    if (shape[2] % TOKEN_PIXELS || (uint64_t)across * down != shape[1])
        return serve_fail_content(
            failure, "packed latents of %u x %u pixels have the shape [n, %llu, %u]", width, height,
            (unsigned long long)across * down, envelope->model->latent_channels * TOKEN_PIXELS);
    ask->packed = true;
    ask->count = shape[0];
    ask->channels = shape[2] / TOKEN_PIXELS;
    ask->height = 2 * down;
    ask->width = 2 * across;
    return true;
}

static bool read_shape(const serve_envelope *envelope, const uint32_t *shape, int rank,
                       serve_ask *ask, serve_failure *failure)
{
    const bool latents = ask->operation == SERVE_DECODE;
    if (rank == 3 && latents) return unpacked_shape(envelope, shape, ask, failure);
    if (rank == 5 && shape[2] != 1)
        return unprocessable(failure, "of video only single frames are taken: [n, c, 1, h, w]");
    if (rank != 4 && rank != 5)
        return unprocessable(failure, latents
                                          ? "the shape of latents is [n, c, h, w], [n, c, 1, h, "
                                            "w] or, packed, [n, tokens, c]"
                                          : "the shape of pictures is [n, 3, h, w]");
    ask->clip = rank == 5;
    ask->count = shape[0];
    ask->channels = shape[1];
    ask->height = shape[rank - 2];
    ask->width = shape[rank - 1];
    return true;
}

// The body as numbers of 'shape' and 'dtype'.
static bool read_tensor(const serve_envelope *envelope, const uint32_t *shape, int rank,
                        serve_ask *ask, serve_failure *failure)
{
    const zenith_model_info *model = envelope->model;
    const bool latents = ask->operation == SERVE_DECODE;
    int number = ZENITH_F32;
    ask->tensor = true;
    if (!serve_parameter_word(envelope->parameters, "dtype", types, &number, failure) ||
        !read_shape(envelope, shape, rank, ask, failure))
        return false;
    ask->number = (zenith_number)number;
    if (ask->count > MOST_PICTURES)
        return serve_fail_content(failure, "a request has at most %d pictures", MOST_PICTURES);
    const uint32_t channels = latents ? model->latent_channels : 3;
    if (ask->channels != channels)
        return serve_fail_content(failure, "%s of %s have %u channels, not %u",
                                  latents ? "latents" : "pictures", model->name, channels,
                                  ask->channels);
    const uint64_t factor = latents ? model->factor : 1;
    if (!check_picture(envelope, ask->width * factor, ask->height * factor, failure)) return false;
    // At most 16 pictures of max_pixels: far below 2^64.
    const uint64_t bytes = (uint64_t)ask->count * channels * ask->height * ask->width *
                           serve_number_size(ask->number);
    if (bytes == envelope->body) return true;
    return serve_fail_content(failure, "shape and dtype make %llu bytes, and the body has %llu",
                              (unsigned long long)bytes, (unsigned long long)envelope->body);
}

// Pictures are turned upright, their colours made sRGB, and cropped to multiples of the model's
// factor.
static void usual_source(const serve_envelope *envelope, serve_ask *ask)
{
    ask->source = (zenith_source_params){.size = sizeof ask->source,
                                         .fit = ZENITH_FIT_CROP,
                                         .multiple = envelope->model->factor,
                                         .background = {255, 255, 255},
                                         .max_pixels = envelope->max_pixels,
                                         .max_memory = envelope->max_memory};
}

static bool begin(const serve_envelope *envelope, serve_operation operation, serve_ask *ask,
                  serve_failure *failure)
{
    const unsigned part = operation == SERVE_DECODE   ? ZENITH_DECODER
                          : operation == SERVE_ENCODE ? ZENITH_ENCODER
                                                      : ZENITH_ENCODER | ZENITH_DECODER;
    *ask = (serve_ask){.operation = operation, .count = 1, .out_number = ZENITH_F32};
    usual_source(envelope, ask);
    if ((envelope->model->parts & part) != part)
        return serve_fail_content(failure, "the weights of %s have no %s", envelope->model->name,
                                  part & ~envelope->model->parts & ZENITH_ENCODER ? "encoder"
                                                                                  : "decoder");
    if (envelope->parameters->too_many)
        return serve_fail_request(failure, "a request has at most %d parameters", SERVE_PARAMETERS);
    if (envelope->body == 0) return serve_fail_request(failure, "the body is empty");
    return true;
}

// --- spaces -------------------------------------------------------------------------------------

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fabs(b) + 1e-9;
}

static bool check_raw(const zenith_model_info *model, const char *instead, serve_failure *failure)
{
    if (model->has_raw) return true;
    return serve_fail_content(failure,
                              "latents of %s are scaled by each channel, which the server does: %s",
                              model->name, instead);
}

// The factors of the request: as the model's own they are its space; others are applied here.
static bool remote_space(const serve_envelope *envelope, const char *instead, serve_ask *ask,
                         serve_failure *failure)
{
    const serve_parameters *parameters = envelope->parameters;
    const zenith_model_info *model = envelope->model;
    bool server = false;
    double scale = 0, shift = 0;
    if (!serve_parameter_bool(parameters, "do_scaling", &server, failure) ||
        !serve_parameter_real(parameters, "scaling_factor", &scale, failure) ||
        !serve_parameter_real(parameters, "shift_factor", &shift, failure))
        return false;
    const bool scaled = serve_parameter_get(parameters, "scaling_factor") != NULL;
    if (!scaled && serve_parameter_get(parameters, "shift_factor") == NULL) {
        ask->space = server ? SERVE_SPACE_MODEL : SERVE_SPACE_RAW;
        return server || check_raw(model, instead, failure);
    }
    if (!scaled) scale = 1;
    if (fabs(scale) < 1e-6 || fabs(scale) > 1e6 || fabs(shift) > 1e6)
        return unprocessable(failure, "'scaling_factor' or 'shift_factor' is no factor of a model");
    if (!check_raw(model, instead, failure)) return false;
    ask->space = SERVE_SPACE_OWN;
    ask->scale = scale;
    ask->shift = shift;
    if (near(scale, (double)model->scale) && near(shift, (double)model->shift))
        ask->space = SERVE_SPACE_MODEL;
    return true;
}

// --- diffusers ----------------------------------------------------------------------------------

static bool remote_output(const serve_envelope *envelope, serve_ask *ask, serve_failure *failure)
{
    enum { PIL, PT, MP4 };
    static const serve_word outputs[] = {{"pil", PIL}, {"pt", PT}, {"mp4", MP4}, {NULL, 0}};
    static const serve_word formats[] = {{"jpg", 0}, {"jpeg", 0}, {"png", 1}, {NULL, 0}};
    const serve_parameters *parameters = envelope->parameters;
    bool partial = false;
    int output = PIL, format = 0;
    if (!serve_parameter_word(parameters, "output_type", outputs, &output, failure) ||
        !serve_parameter_word(parameters, "image_format", formats, &format, failure) ||
        !serve_parameter_bool(parameters, "partial_postprocess", &partial, failure))
        return false;
    if (output == MP4) return unprocessable(failure, "this server makes pictures, and no mp4");
    ask->out_number = ask->number;
    ask->format = format ? "png" : "jpeg";
    ask->output = SERVE_OUT_PICTURE;
    if (output == PT) ask->output = partial ? SERVE_OUT_BYTES : SERVE_OUT_SIGNED;
    // With a processor diffusers asks for numbers, and makes pictures of them itself.
    if (output == PIL && accepts(envelope, "tensor/binary")) ask->output = SERVE_OUT_UNIT;
    if (ask->output == SERVE_OUT_PICTURE && ask->count != 1)
        return unprocessable(failure,
                             "one picture fits in an answer: use output_type pt for several");
    return true;
}

bool serve_ask_remote(const serve_envelope *envelope, serve_operation operation, serve_ask *out,
                      serve_failure *failure)
{
    uint32_t shape[SERVE_RANK];
    int rank;
    if (!begin(envelope, operation, out, failure) ||
        !check_content_type(envelope, operation == SERVE_ENCODE, failure) ||
        !serve_parameter_shape(envelope->parameters, shape, &rank, failure))
        return false;
    if (rank > 0 && !read_tensor(envelope, shape, rank, out, failure)) return false;
    if (operation == SERVE_ENCODE) {
        out->output = SERVE_OUT_LATENT;
        out->out_number = out->tensor ? out->number : ZENITH_F32;
        return remote_space(envelope, "add ?do_scaling=true to the address", out, failure);
    }
    if (rank == 0) return unprocessable(failure, "the 'shape' of the latents is missing");
    return remote_space(envelope, "use do_scaling without a scaling_factor", out, failure) &&
           remote_output(envelope, out, failure);
}

// --- the server's own ---------------------------------------------------------------------------

enum { PNG, JPEG, WEBP, NPY, RAW, FILE_OF_LATENT };

static bool native_picture(const serve_envelope *envelope, serve_ask *ask, serve_failure *failure)
{
    static const serve_word formats[] = {{"png", PNG}, {"jpeg", JPEG}, {"webp", WEBP},
                                         {"npy", NPY}, {"raw", RAW},   {NULL, 0}};
    static const serve_word numbers[] = {{"uint8", ZENITH_U8},
                                         {"float32", ZENITH_F32},
                                         {"float16", ZENITH_F16},
                                         {"bfloat16", ZENITH_BF16},
                                         {NULL, 0}};
    static const char *const names[] = {[PNG] = "png", [JPEG] = "jpeg", [WEBP] = "webp"};
    const serve_parameters *parameters = envelope->parameters;
    int format = accepts(envelope, "image/jpeg")          ? JPEG
                 : accepts(envelope, "image/webp")        ? WEBP
                 : accepts(envelope, "application/x-npy") ? NPY
                 : accepts(envelope, "tensor/binary")     ? RAW
                                                          : PNG;
    int number = ZENITH_U8;
    if (!serve_parameter_word(parameters, "format", formats, &format, failure) ||
        !serve_parameter_number(parameters, "quality", 1, 100, &ask->quality, failure) ||
        !serve_parameter_word(parameters, "output_dtype", numbers, &number, failure))
        return false;
    ask->out_number = (zenith_number)number;
    ask->output = format == NPY              ? SERVE_OUT_NPY
                  : format != RAW            ? SERVE_OUT_PICTURE
                  : number == (int)ZENITH_U8 ? SERVE_OUT_BYTES
                                             : SERVE_OUT_SIGNED;
    if (ask->output == SERVE_OUT_PICTURE) ask->format = names[format];
    if (ask->operation == SERVE_RECONSTRUCT && ask->output != SERVE_OUT_PICTURE)
        return unprocessable(failure, "a reconstruction is answered as png, jpeg or webp");
    return true;
}

static bool native_latent(const serve_envelope *envelope, serve_ask *ask, serve_failure *failure)
{
    static const serve_word formats[] = {
        {"safetensors", FILE_OF_LATENT}, {"npy", NPY}, {"raw", RAW}, {NULL, 0}};
    int format = accepts(envelope, "application/x-npy") ? NPY
                 : accepts(envelope, "tensor/binary")   ? RAW
                                                        : FILE_OF_LATENT;
    int number = ZENITH_F32;
    if (!serve_parameter_word(envelope->parameters, "format", formats, &format, failure) ||
        !serve_parameter_word(envelope->parameters, "output_dtype", types, &number, failure))
        return false;
    ask->out_number = (zenith_number)number;
    ask->output = format == NPY ? SERVE_OUT_NPY : format == RAW ? SERVE_OUT_LATENT : SERVE_OUT_FILE;
    if (ask->output == SERVE_OUT_NPY && number != (int)ZENITH_F32)
        return unprocessable(failure, "npy holds float32 here");
    if (ask->output != SERVE_OUT_LATENT && ask->count > 1)
        return unprocessable(failure, "several latents are answered with format=raw");
    return true;
}

static bool native_source(const serve_envelope *envelope, serve_ask *ask, serve_failure *failure)
{
    static const serve_word fits[] = {{"crop", ZENITH_FIT_CROP},
                                      {"pad", ZENITH_FIT_PAD},
                                      {"resize", ZENITH_FIT_RESIZE},
                                      {"exact", ZENITH_FIT_EXACT},
                                      {NULL, 0}};
    static const serve_word filters[] = {
        {"lanczos", ZENITH_LANCZOS}, {"bicubic", ZENITH_BICUBIC}, {NULL, 0}};
    const serve_parameters *parameters = envelope->parameters;
    zenith_source_params *source = &ask->source;
    int filter = ZENITH_LANCZOS, fit = ZENITH_FIT_CROP;
    if (!serve_parameter_size(parameters, "size", &source->width, &source->height, failure))
        return false;
    if (source->width) fit = ZENITH_FIT_RESIZE;
    if (!serve_parameter_word(parameters, "fit", fits, &fit, failure) ||
        !serve_parameter_word(parameters, "filter", filters, &filter, failure))
        return false;
    source->fit = (zenith_fit)fit;
    source->filter = (zenith_filter)filter;
    if ((fit == ZENITH_FIT_RESIZE) != (source->width != 0))
        return unprocessable(failure, "'size' goes with fit=resize, and that with 'size'");
    return !source->width || check_picture(envelope, source->width, source->height, failure);
}

static bool native_space(const serve_envelope *envelope, serve_ask *ask, serve_failure *failure)
{
    static const serve_word spaces[] = {
        {"model", SERVE_SPACE_MODEL}, {"raw", SERVE_SPACE_RAW}, {NULL, 0}};
    int space = ask->operation == SERVE_DECODE && !ask->tensor ? SERVE_SPACE_OF_FILE
                                                               : SERVE_SPACE_MODEL;
    if (!serve_parameter_word(envelope->parameters, "space", spaces, &space, failure)) return false;
    ask->space = (serve_space)space;
    return space != SERVE_SPACE_RAW || check_raw(envelope->model, "use space=model", failure);
}

static bool native_compute(const serve_envelope *envelope, serve_ask *ask, serve_failure *failure)
{
    static const serve_word words[] = {{"f32", ZENITH_DTYPE_F32},
                                       {"bf16", ZENITH_DTYPE_BF16},
                                       {"int8", ZENITH_DTYPE_INT8},
                                       {NULL, 0}};
    int compute = ZENITH_DTYPE_DEFAULT;
    if (!serve_parameter_word(envelope->parameters, "compute", words, &compute, failure))
        return false;
    ask->compute = (zenith_dtype)compute;
    return compute == ZENITH_DTYPE_DEFAULT || envelope->types >> compute & 1u ||
           unprocessable(failure, "the model is not computed in this type here: /v1/models lists "
                                  "its types");
}

bool serve_ask_native(const serve_envelope *envelope, serve_operation operation, serve_ask *out,
                      serve_failure *failure)
{
    static const char *const known[SERVE_OPERATIONS][16] = {
        {"model", "shape", "dtype", "size", "fit", "filter", "space", "format", "output_dtype",
         "compute", NULL},
        {"model", "shape", "dtype", "width", "height", "space", "format", "quality", "output_dtype",
         "compute", NULL},
        {"model", "size", "fit", "filter", "format", "quality", "compute", NULL}};
    uint32_t shape[SERVE_RANK];
    int rank;
    const bool picture = operation != SERVE_DECODE;
    if (!begin(envelope, operation, out, failure) ||
        !serve_parameters_known(envelope->parameters, known[operation], failure) ||
        !check_content_type(envelope, picture, failure) ||
        !serve_parameter_shape(envelope->parameters, shape, &rank, failure))
        return false;
    if (rank > 0 && !read_tensor(envelope, shape, rank, out, failure)) return false;
    if (picture && !native_source(envelope, out, failure)) return false;
    if (!native_space(envelope, out, failure) || !native_compute(envelope, out, failure))
        return false;
    if (operation == SERVE_ENCODE) return native_latent(envelope, out, failure);
    if (!native_picture(envelope, out, failure)) return false;
    const bool one = out->output == SERVE_OUT_PICTURE || out->output == SERVE_OUT_NPY;
    return !one || out->count == 1 ||
           unprocessable(failure, "several pictures are answered with format=raw");
}
