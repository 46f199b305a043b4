// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith serve MODEL..: starts apps/serve with what the options say.
#include "apps/serve/serve.h"
#include "apps/cli/commands/generate/networks.h"
#include "apps/cli/commands/generate/picture_parameters.h"
#include "apps/cli/options/sentences.h"
#include "apps/cli/session/published.h"
#include "apps/cli/terminal/terminal.h"

#include <stdarg.h>

typedef struct serve_options {
    cli_settings shared;
    serve_settings serve;
} serve_options;

static const serve_options *own(const cli_settings *settings)
{
    return (const serve_options *)settings;
}

static char *describe(const serve_picture_facts *facts)
{
    const cli_parameters parameters = {.prompt = facts->prompt,
                                       .negative = facts->negative,
                                       .model = facts->model,
                                       .decoder = facts->decoder,
                                       .size = {facts->width, facts->height},
                                       .seed = {true, facts->seed},
                                       .steps = facts->steps,
                                       .guidance = facts->guidance,
                                       .shift = facts->shift,
                                       .strength = facts->strength};
    return cli_parameters_text(&parameters);
}

enum { MOST_BUNDLED = 16 };

// Where no model is named: what comes with the program.
static size_t list_bundled(const char *names[MOST_BUNDLED])
{
    size_t count = 0;
    for (size_t i = 0; cli_shipped_autoencoders[i] != NULL && count < MOST_BUNDLED; i++)
        names[count++] = cli_shipped_autoencoders[i];
    for (size_t i = 0; cli_shipped_pipelines[i].name != NULL && count < MOST_BUNDLED; i++)
        names[count++] = cli_shipped_pipelines[i].name;
    for (size_t i = 0; cli_shipped_diffae[i].name != NULL && count < MOST_BUNDLED; i++)
        names[count++] = cli_shipped_diffae[i].name;
    return count;
}

// The library speaks of its structs.
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    char said[1024], text[1200];
    va_list list;
    va_start(list, format);
    vsnprintf(said, sizeof said, format, list);
    va_end(list);
    cli_say_options(said, text, sizeof text);
    cli_say("%s", text);
}

static int run(const cli_settings *settings)
{
    const char *names[MOST_BUNDLED];
    const size_t bundled = settings->input_count == 0 ? list_bundled(names) : 0;
    serve_settings serve = own(settings)->serve;
    serve.models = bundled > 0 ? names : settings->inputs;
    serve.model_count = bundled > 0 ? bundled : settings->input_count;
    serve.bundled = bundled > 0;
    serve.max_memory = settings->run.max_memory;
    serve.room = cli_generate_room(settings);
    serve.describe = describe;
    serve.say = say;
    return serve_run(&serve);
}

static const cli_option_group listening_group = CLI_GROUP(
    "Listening",
    CLI_OPTION(CLI_TEXT, serve_options, serve.host, "host", 0, "ADDRESS",
               "address to listen on; default: 127.0.0.1, which other machines do not reach"),
    CLI_OPTION(CLI_NUMBER, serve_options, serve.port, "port", 'p', "N",
               "port to listen on; 0: any that is free; default: 8188", .min = 0, .max = 65535),
    CLI_OPTION(
        CLI_TEXT, serve_options, serve.keys, "keys", 0, "FILE",
        "a file with a key in each line; clients show one as 'Authorization: Bearer KEY', or "
        "as the password of the address (http://any:KEY@HOST); in-flight=N and rate=N after a "
        "key are its limits; default: everybody may ask"),
    CLI_FLAG_OPTION(serve_options, serve.no_sdapi, "no-sdapi", 0,
                    "leave out the addresses of AUTOMATIC1111's API, /sdapi/v1"));

static const cli_option_group limits_group = CLI_GROUP(
    "Limits",
    CLI_OPTION(CLI_NUMBER, serve_options, serve.queue, "queue", 0, "N",
               "requests that wait or are computed; more are refused with 429; default: 64",
               .min = 1, .max = 100000),
    CLI_OPTION(CLI_NUMBER, serve_options, serve.queue_seconds, "queue-seconds", 0, "N",
               "estimated seconds of work that wait; more is refused with 429; default: 30",
               .min = 1, .max = 86400),
    CLI_OPTION(CLI_BYTES, serve_options, serve.queue_memory, "queue-memory", 0, "SIZE",
               "bound for bodies and results of all requests, with K, M, G; default: 1G"),
    CLI_OPTION(CLI_BYTES, serve_options, serve.max_body, "max-body", 0, "SIZE",
               "of a request; larger ones are refused with 413; default: 32M"),
    CLI_OPTION(CLI_BYTES, serve_options, serve.max_pixels, "max-pixels", 0, "SIZE",
               "of a picture, with K, M, G; larger ones are refused with 413; default: 16M"),
    CLI_OPTION(CLI_NUMBER, serve_options, serve.jobs, "jobs", 0, "N",
               "jobs that wait or are computed; more are refused with 429; default: 64", .min = 1,
               .max = 100000),
    CLI_OPTION(CLI_NUMBER, serve_options, serve.job_seconds, "job-seconds", 0, "N",
               "how long the answer of a job is kept; default: 600", .min = 1, .max = 86400),
    CLI_OPTION(CLI_BYTES, serve_options, serve.job_memory, "job-memory", 0, "SIZE",
               "bound for the answers of jobs that are kept, with K, M, G; the oldest go; default: "
               "256M"));

static const cli_option_group computing_group = CLI_GROUP(
    "Computation",
    CLI_OPTION(CLI_TEXT, serve_options, serve.weights, "weights", 'w', "PATH",
               "where the weights are, as for 'zenith encode'; a model has its own as NAME=PATH"),
    CLI_OPTION(CLI_CHOICE, serve_options, serve.dtype, "dtype", 0, "f32|bf16|int8",
               "type to compute in; default: bf16 where the CPU has AMX, f32 elsewhere",
               .choices = cli_choices_dtype),
    CLI_OPTION(CLI_NUMBER, serve_options, serve.threads, "threads", 't', "N",
               "threads for one picture; default: the physical cores this process may use",
               .min = 1, .max = 1024),
    CLI_OPTION(CLI_NUMBER, serve_options, serve.streams, "streams", 0, "N",
               "pictures that are computed at once, each on --threads; default: 1", .min = 1,
               .max = 1024),
    CLI_OPTION(
        CLI_NUMBER, serve_options, serve.batch, "batch", 0, "N",
        "pictures of one size, up to 512 x 512, that are worked together, each on a thread of "
        "its own; 1: none are; default: as many as pay, measured at the start",
        .min = 1, .max = 64),
    CLI_OPTION(CLI_NUMBER, serve_options, serve.batch_delay, "batch-delay", 0, "MS",
               "milliseconds that a picture waits for others of its size; default: 0", .min = 0,
               .max = 1000),
    CLI_OPTION(CLI_BYTES, cli_settings, run.max_memory, "max-memory", 0, "SIZE",
               "bound for the working memory, weights and buffers of one picture, with K, M, G; "
               "default: no bound"));

static const cli_option_group messages_group = CLI_GROUP(
    "Messages",
    CLI_FLAG_OPTION(serve_options, serve.quiet, "quiet", 'q',
                    "do not print a line for each request"),
    CLI_FLAG_OPTION(cli_settings, help, "help", 'h', "print this text"));
static const cli_example examples[] = {
    {"zenith serve", "the models that come with the program, for this machine"},
    {"zenith serve taesd", "one model"},
    {"zenith serve taesd taef1=weights/taef1 --port 9000", "two, one with weights of its own"},
    {"zenith serve Z-Image-Turbo", "a pipeline's folder: pictures from text"},
    {"zenith serve zenith-avatars64", "a diffusion autoencoder: codes, edits, new pictures"},
    {"zenith serve zenith-sd-fast --host 0.0.0.0 --keys keys.txt", "for others, with keys"},
    {NULL, NULL}};

const cli_command cli_command_serve = {
    .name = "serve",
    .arguments = "[MODEL..] [OPTIONS]",
    .summary = "serve models over HTTP, as diffusers' remote VAE, OpenAI's images and more",
    .description =
        "Serves autoencoders over HTTP, and pipelines that make pictures from text; without a "
        "MODEL, those that come with the program. "
        "/remote/MODEL/decode and /remote/MODEL/encode speak the "
        "protocol of diffusers' remote_decode and remote_encode; /v2/models/MODEL_decoder/infer "
        "is the Open Inference Protocol; /v1/images/generations and /v1/images/edits are OpenAI's, "
        "for a MODEL that is the folder of a pipeline, and /sdapi/v1/txt2img is AUTOMATIC1111's; "
        "/v1/encode, /v1/decode and "
        "/v1/reconstruct take pictures and latents as files or numbers; /v1/diffae is 'zenith "
        "diffae' for a diffusion autoencoder; /v1/jobs keeps the answer of any of them; /health, "
        "/v1/models and "
        "/metrics are for operators. Pictures have the bytes that 'zenith decode' and 'zenith "
        "generate' write. SIGTERM "
        "answers what was accepted, and ends; SIGHUP opens the files of models again. "
        "SERVER.md in share/doc/zenith is the manual.",
    .groups = CLI_GROUPS(&listening_group, &limits_group, &computing_group, &messages_group),
    .examples = examples,
    .max_inputs = SIZE_MAX,
    .takes = CLI_TAKES_PUBLISHED,
    CLI_SETTINGS_WITH(serve_options, .serve.port = CLI_USUAL_PORT),
    .run = run,
};
