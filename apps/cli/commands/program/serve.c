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

#define AT(field) offsetof(cli_settings, field)

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
    const serve_settings serve = {.models = bundled > 0 ? names : settings->inputs,
                                  .model_count = bundled > 0 ? bundled : settings->input_count,
                                  .bundled = bundled > 0,
                                  .weights = settings->weights,
                                  .host = settings->host,
                                  .port = settings->port,
                                  .keys = settings->keys,
                                  .threads = settings->threads,
                                  .streams = settings->streams,
                                  .dtype = settings->dtype,
                                  .batch = settings->serve_batch,
                                  .batch_delay = settings->batch_delay,
                                  .max_memory = settings->max_memory,
                                  .queue = settings->queue,
                                  .queue_seconds = settings->queue_seconds,
                                  .queue_memory = settings->queue_memory,
                                  .max_body = settings->max_body,
                                  .max_pixels = settings->max_pixels,
                                  .jobs = settings->jobs,
                                  .job_seconds = settings->job_seconds,
                                  .job_memory = settings->job_memory,
                                  .quiet = settings->quiet,
                                  .no_sdapi = settings->no_sdapi,
                                  .room = cli_generate_room(settings),
                                  .describe = describe,
                                  .say = say};
    return serve_run(&serve);
}

static const cli_option listening[] = {
    {.name = "host",
     .argument = "ADDRESS",
     .help = "address to listen on; default: 127.0.0.1, which other machines do not reach",
     .kind = CLI_TEXT,
     .offset = AT(host)},
    {.name = "port",
     .letter = 'p',
     .argument = "N",
     .help = "port to listen on; 0: any that is free; default: 8188",
     .kind = CLI_NUMBER,
     .offset = AT(port),
     .min = 0,
     .max = 65535},
    {.name = "keys",
     .argument = "FILE",
     .help = "a file with a key in each line; clients show one as 'Authorization: Bearer KEY', or "
             "as the password of the address (http://any:KEY@HOST); in-flight=N and rate=N after a "
             "key are its limits; default: everybody may ask",
     .kind = CLI_TEXT,
     .offset = AT(keys)},
    {.name = "no-sdapi",
     .help = "leave out the addresses of AUTOMATIC1111's API, /sdapi/v1",
     .kind = CLI_FLAG,
     .offset = AT(no_sdapi)},
    {.name = NULL}};
static const cli_option_group listening_group = {"Listening", listening};

static const cli_option limits[] = {
    {.name = "queue",
     .argument = "N",
     .help = "requests that wait or are computed; more are refused with 429; default: 64",
     .kind = CLI_NUMBER,
     .offset = AT(queue),
     .min = 1,
     .max = 100000},
    {.name = "queue-seconds",
     .argument = "N",
     .help = "estimated seconds of work that wait; more is refused with 429; default: 30",
     .kind = CLI_NUMBER,
     .offset = AT(queue_seconds),
     .min = 1,
     .max = 86400},
    {.name = "queue-memory",
     .argument = "SIZE",
     .help = "bound for bodies and results of all requests, with K, M, G; default: 1G",
     .kind = CLI_BYTES,
     .offset = AT(queue_memory)},
    {.name = "max-body",
     .argument = "SIZE",
     .help = "of a request; larger ones are refused with 413; default: 32M",
     .kind = CLI_BYTES,
     .offset = AT(max_body)},
    {.name = "max-pixels",
     .argument = "SIZE",
     .help = "of a picture, with K, M, G; larger ones are refused with 413; default: 16M",
     .kind = CLI_BYTES,
     .offset = AT(max_pixels)},
    {.name = "jobs",
     .argument = "N",
     .help = "jobs that wait or are computed; more are refused with 429; default: 64",
     .kind = CLI_NUMBER,
     .offset = AT(jobs),
     .min = 1,
     .max = 100000},
    {.name = "job-seconds",
     .argument = "N",
     .help = "how long the answer of a job is kept; default: 600",
     .kind = CLI_NUMBER,
     .offset = AT(job_seconds),
     .min = 1,
     .max = 86400},
    {.name = "job-memory",
     .argument = "SIZE",
     .help = "bound for the answers of jobs that are kept, with K, M, G; the oldest go; default: "
             "256M",
     .kind = CLI_BYTES,
     .offset = AT(job_memory)},
    {.name = NULL}};
static const cli_option_group limits_group = {"Limits", limits};

static const cli_option computing[] = {
    {.name = "weights",
     .letter = 'w',
     .argument = "PATH",
     .help = "where the weights are, as for 'zenith encode'; a model has its own as NAME=PATH",
     .kind = CLI_TEXT,
     .offset = AT(weights)},
    {.name = "dtype",
     .argument = "f32|bf16|int8",
     .help = "type to compute in; default: bf16 where the CPU has AMX, f32 elsewhere",
     .kind = CLI_CHOICE,
     .offset = AT(dtype),
     .choices = cli_choices_dtype},
    {.name = "threads",
     .letter = 't',
     .argument = "N",
     .help = "threads for one picture; default: the physical cores this process may use",
     .kind = CLI_NUMBER,
     .offset = AT(threads),
     .min = 1,
     .max = 1024},
    {.name = "streams",
     .argument = "N",
     .help = "pictures that are computed at once, each on --threads; default: 1",
     .kind = CLI_NUMBER,
     .offset = AT(streams),
     .min = 1,
     .max = 1024},
    {.name = "batch",
     .argument = "N",
     .help = "pictures of one size, up to 512 x 512, that are worked together, each on a thread of "
             "its own; 1: none are; default: as many as pay, measured at the start",
     .kind = CLI_NUMBER,
     .offset = AT(serve_batch),
     .min = 1,
     .max = 64},
    {.name = "batch-delay",
     .argument = "MS",
     .help = "milliseconds that a picture waits for others of its size; default: 0",
     .kind = CLI_NUMBER,
     .offset = AT(batch_delay),
     .min = 0,
     .max = 1000},
    {.name = "max-memory",
     .argument = "SIZE",
     .help = "bound for the working memory, weights and buffers of one picture, with K, M, G; "
             "default: no bound",
     .kind = CLI_BYTES,
     .offset = AT(max_memory)},
    {.name = NULL}};
static const cli_option_group computing_group = {"Computation", computing};

static const cli_option messages[] = {{.name = "quiet",
                                       .letter = 'q',
                                       .help = "do not print a line for each request",
                                       .kind = CLI_FLAG,
                                       .offset = AT(quiet)},
                                      {.name = "help",
                                       .letter = 'h',
                                       .help = "print this text",
                                       .kind = CLI_FLAG,
                                       .offset = AT(help)},
                                      {.name = NULL}};
static const cli_option_group messages_group = {"Messages", messages};
static const cli_option_group *const groups[] = {&listening_group, &limits_group, &computing_group,
                                                 &messages_group, NULL};
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
    .groups = groups,
    .examples = examples,
    .max_inputs = SIZE_MAX,
    .takes = CLI_TAKES_PUBLISHED,
    .run = run,
};
