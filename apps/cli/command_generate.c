// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith generate PROMPT -w FOLDER -o OUT: pictures from text. The networks and the decoder are opened before anything
// is computed; each picture is then a latent, decoded row by row into its file.
#include "apps/cli/generate_request.h"
#include "apps/cli/interrupt.h"
#include "apps/cli/outputs.h"
#include "apps/cli/picture_parameters.h"
#include "apps/cli/report.h"
#include "apps/cli/terminal.h"
#include "zenith/experimental.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const double line_seconds = 0.1, plain_seconds = 60;

struct job {
    const cli_generate_request *asked;
    cli_session *session;
    const cli_outputs *outputs;
    zenith_generator *generator;
    zenith_generator_info info;
    const cli_open_model *decoder;
    uint32_t done;
    float *latent;
    cli_failure failure;
};

// One picture on its way.
struct picture {
    struct job *job;
    uint32_t index;
    char *output;
    double started, first_step, last_step; // cli_clock
    double shown;
    zenith_generate_facts facts;
    zenith_run_facts decoding;
};

// --- what it takes ------------------------------------------------------------------------------

static bool fail_decoder(struct job *job, const char *name)
{
    job->failure.model = true;
    return cli_fail_text(&job->failure, ZENITH_INVALID_ARGUMENT,
                         "%s does not decode the latents of %s: take --decoder flux-vae, taef1 or "
                         "zenith-f1-fast",
                         name, job->info.name);
}

static bool open_decoder(struct job *job)
{
    const char *name = job->session->settings->decoder, *weights = NULL;
    // A name that is not known shares no latents with itself: opening it says what was meant.
    if (name != NULL && zenith_models_share_latents(name, name) &&
        !zenith_models_share_latents(name, job->info.latents))
        return fail_decoder(job, name);
    if (name == NULL && job->info.autoencoder == NULL) name = "zenith-f1-fast";
    if (name == NULL) weights = job->info.autoencoder;
    if (!cli_session_model_at(job->session, name, weights, ZENITH_DECODER, &job->decoder,
                              &job->failure))
        return false;
    return zenith_models_share_latents(job->decoder->info.name, job->info.latents) ||
           fail_decoder(job, job->decoder->info.name);
}

// Of several processes, the first one writes and reports.
static bool is_first(const struct job *job)
{
    return job->info.process == 0;
}

static bool open_all(struct job *job)
{
    const zenith_generator_params where = {.size = sizeof where,
                                           .folder = job->session->settings->weights};
    zenith_status status = zenith_generator_open(job->session->context, &where, &job->generator);
    if (status != ZENITH_OK) {
        job->failure.model = true;
        return cli_fail(job->session, &job->failure, status, NULL);
    }
    job->info = (zenith_generator_info){.size = sizeof job->info};
    zenith_generator_get_info(job->generator, &job->info);
    if (is_first(job) && !open_decoder(job)) return false;
    const size_t pixels = (size_t)(job->asked->size.width / job->info.factor) *
                          (job->asked->size.height / job->info.factor);
    job->latent = calloc(pixels * job->info.latent_channels, sizeof *job->latent);
    if (job->latent != NULL) return true;
    return cli_fail_text(&job->failure, ZENITH_OUT_OF_MEMORY, "no memory for a latent of %ux%u",
                         (unsigned)job->asked->size.width, (unsigned)job->asked->size.height);
}

static zenith_latent latent_of(const struct job *job)
{
    return (zenith_latent){.size = sizeof(zenith_latent),
                           .width = job->asked->size.width / job->info.factor,
                           .height = job->asked->size.height / job->info.factor,
                           .channels = job->info.latent_channels,
                           .data = job->latent};
}

// --- steps --------------------------------------------------------------------------------------

// The first step also reads the prompt and packs the weights, so it counts only while there is no other.
static double seconds_per_step(const struct picture *picture, uint32_t step)
{
    return step > 1 ? (picture->last_step - picture->first_step) / (step - 1)
                    : picture->first_step - picture->started;
}

static int on_step(void *cookie, const zenith_generate_report *report)
{
    struct picture *picture = cookie;
    const struct job *job = picture->job;
    const cli_settings *settings = job->session->settings;
    const bool terminal = job->session->progress.bar;
    char line[160], which[40] = "", left[32];
    picture->last_step = cli_clock();
    if (report->step == 1) picture->first_step = picture->last_step;
    if (settings->quiet || settings->json || !is_first(job)) return 0;
    if (picture->last_step - picture->shown < (terminal ? line_seconds : plain_seconds)) return 0;
    picture->shown = picture->last_step;
    const double each = seconds_per_step(picture, report->step);
    const double pictures = job->asked->count - picture->index - 1;
    cli_progress_left(left, sizeof left,
                      each * (report->steps - report->step + pictures * report->steps));
    if (job->asked->count > 1)
        snprintf(which, sizeof which, "picture %u/%u  ", (unsigned)picture->index + 1,
                 (unsigned)job->asked->count);
    snprintf(line, sizeof line, "%sstep %u/%u  %.2f s/step  %s", which, (unsigned)report->step,
             (unsigned)report->steps, each, left);
    if (terminal)
        cli_status_show(line);
    else
        cli_say("%s", line);
    return 0;
}

static bool make_latent(struct picture *picture)
{
    struct job *job = picture->job;
    const cli_settings *settings = job->session->settings;
    const zenith_latent latent = latent_of(job);
    picture->facts = (zenith_generate_facts){.size = sizeof picture->facts};
    picture->shown = picture->started = cli_clock();
    const zenith_generate_params params = {.size = sizeof params,
                                           .prompt = job->asked->prompt,
                                           .negative = settings->negative,
                                           .seed = job->asked->seed + picture->index,
                                           .steps = job->asked->steps,
                                           .guidance = (float)settings->guidance,
                                           .dtype = (zenith_dtype)settings->dtype,
                                           .max_memory = settings->max_memory,
                                           .report = on_step,
                                           .report_cookie = picture,
                                           .cancel = job->session->cancel,
                                           .facts = &picture->facts};
    zenith_status status = zenith_generate(job->session->context, job->generator, &params, &latent);
    if (status != ZENITH_OK) return cli_fail(job->session, &job->failure, status, NULL);
    if (picture->facts.tokens > picture->facts.tokens_read && picture->index == 0 &&
        !settings->quiet && is_first(job))
        cli_say("the prompt has %u tokens, and the model reads the first %u: what comes later does "
                "not count",
                (unsigned)picture->facts.tokens, (unsigned)picture->facts.tokens_read);
    return true;
}

// --- pictures -----------------------------------------------------------------------------------

static zenith_status open_target(const struct picture *picture, zenith_target **out)
{
    const struct job *job = picture->job;
    const cli_settings *settings = job->session->settings;
    const cli_parameters facts = {.prompt = job->asked->prompt,
                                  .negative = settings->negative,
                                  .model = job->info.name,
                                  .decoder = job->decoder->info.name,
                                  .size = job->asked->size,
                                  .seed = {true, job->asked->seed + picture->index},
                                  .steps = job->asked->steps,
                                  .guidance = settings->guidance,
                                  .shift = job->info.shift};
    char *parameters = cli_parameters_text(&facts);
    if (parameters == NULL) return ZENITH_OUT_OF_MEMORY;
    const zenith_target_params params = {.size = sizeof params,
                                         .format = job->outputs->format->word,
                                         .quality = settings->quality,
                                         .level = settings->level,
                                         .lossless = settings->lossless,
                                         .parameters = parameters};
    zenith_status status = zenith_target_open(job->session->context, picture->output,
                                              job->asked->size.width, job->asked->size.height,
                                              &params, out);
    free(parameters);
    return status;
}

static bool write_picture(struct picture *picture)
{
    struct job *job = picture->job;
    zenith_target *target = NULL;
    const zenith_latent latent = latent_of(job);
    zenith_image image = {.size = sizeof image,
                          .width = job->asked->size.width,
                          .height = job->asked->size.height,
                          .rows = zenith_target_rows,
                          .restarts = true};
    zenith_run_params params = cli_session_run_params(job->session, &picture->decoding, 0);
    params.progress = NULL; // the line is that of the steps
    zenith_status status = open_target(picture, &target);
    image.cookie = target;
    if (status == ZENITH_OK)
        status = zenith_decode(job->session->context, job->decoder->model, &latent, &image, 1,
                               &params);
    if (status == ZENITH_OK) status = zenith_target_finish(target);
    if (status != ZENITH_OK)
        cli_fail(job->session, &job->failure, status,
                 target != NULL ? zenith_target_error(target) : NULL);
    zenith_target_free(target);
    return status == ZENITH_OK;
}

// A text where it is beyond the integers of jansson.
static json_t *json_seed(uint64_t seed)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, seed);
    return seed <= INT64_MAX ? json_integer((json_int_t)seed) : json_string(text);
}

static void report_picture(const struct picture *picture)
{
    const struct job *job = picture->job;
    const cli_settings *settings = job->session->settings;
    zenith_run_facts all = picture->decoding; // and both networks
    json_t *more = json_pack(
        "{s:o, s:i, s:f, s:s, s:f, s:f, s:i}", "seed", json_seed(job->asked->seed + picture->index),
        "steps", (int)job->asked->steps, "guidance", settings->guidance, "decoder",
        job->decoder->info.name, "seconds_per_step", seconds_per_step(picture, job->asked->steps),
        "decode_ms", picture->decoding.seconds * 1e3, "tokens", (int)picture->facts.tokens);
    all.dtype = picture->facts.dtype;
    all.seconds += picture->facts.seconds;
    cli_session_report(
        job->session, &(cli_result){.input = settings->json ? job->asked->prompt : job->asked->name,
                                    .output = picture->output,
                                    .width = job->asked->size.width,
                                    .height = job->asked->size.height,
                                    .model = job->info.name,
                                    .facts = &all,
                                    .started = picture->started,
                                    .more = more});
}

static bool make_picture(struct job *job, uint32_t index)
{
    struct picture picture = {.job = job, .index = index};
    cli_session *session = job->session;
    picture.output = cli_outputs_path(job->outputs, 0,
                                      job->asked->count > 1 ? (int64_t)index : CLI_UNSET);
    if (picture.output == NULL)
        return cli_fail_text(&job->failure, ZENITH_OUT_OF_MEMORY, "out of memory");
    const bool stays = cli_output_stays(session->settings, picture.output);
    bool done = stays || (make_latent(&picture) && (!is_first(job) || write_picture(&picture)));
    if (stays) session->kept++;
    if (done && !stays && is_first(job)) report_picture(&picture);
    if (done) job->done++;
    free(picture.output);
    return done;
}

static void make_pictures(struct job *job)
{
    cli_session *session = job->session;
    bool done = true;
    const double pixels = (double)job->asked->size.width * job->asked->size.height;
    session->progress.megapixels = pixels * job->asked->count * 1e-6;
    for (uint32_t i = 0; done && i < job->asked->count && !cli_interrupted(); i++)
        done = make_picture(job, i);
    if (!done)
        cli_session_failed(session, job->asked->name, &job->failure);
    else if (!cli_interrupted())
        cli_session_done(session);
    if (done) session->done = job->done;
    if (!cli_interrupted()) return;
    cli_status_clear();
    session->told = true;
    if (!is_first(job)) return;
    cli_say("interrupted, %u of %u pictures done", (unsigned)job->done,
            (unsigned)job->asked->count);
}

static int make_all(const cli_generate_request *asked, const cli_outputs *outputs)
{
    cli_session session;
    struct job job = {.asked = asked, .session = &session, .outputs = outputs};
    int code = cli_session_open(&session, &asked->settings, "generate");
    if (code != CLI_DONE) return code;
    if (open_all(&job))
        make_pictures(&job);
    else
        cli_session_model_failed(&session, &job.failure);
    free(job.latent);
    zenith_generator_free(job.generator);
    return cli_session_close(&session);
}

static int run(const cli_settings *settings)
{
    cli_generate_request asked;
    cli_outputs outputs;
    int code = cli_generate_request_read(settings, &asked);
    const char *file = asked.file;
    cli_settings naming = asked.settings; // outputs in a folder get the prompt's name
    naming.inputs = &file;
    if (code == CLI_DONE) code = cli_outputs_plan(&naming, cli_formats_picture, &outputs);
    if (code == CLI_DONE) code = make_all(&asked, &outputs);
    cli_generate_request_free(&asked);
    return code;
}

// --- the command --------------------------------------------------------------------------------

static const cli_option model[] = {
    {.name = "weights",
     .letter = 'w',
     .argument = "DIR",
     .help = "folder of the pipeline in diffusers' layout: model_index.json, text_encoder, "
             "tokenizer, transformer, scheduler, and vae if it is there",
     .kind = CLI_TEXT,
     .offset = offsetof(cli_settings, weights)},
    {.name = "decoder",
     .argument = "NAME",
     .help = "model that turns the latent into the picture, such as taef1; default: the folder's "
             "own vae, else zenith-f1-fast",
     .kind = CLI_TEXT,
     .offset = offsetof(cli_settings, decoder)},
    {.name = NULL}};
static const cli_option_group model_group = {"Model", model};

static const cli_choice formats[] = {{"png", 0}, {"jpeg", 0}, {"webp", 0}, {"ppm", 0}, {NULL, 0}};
static const cli_option options[] = {
    {.name = "size",
     .letter = 's',
     .argument = "WxH",
     .help = "of the picture, multiples of 16; default: 1024x1024",
     .kind = CLI_DIMENSIONS,
     .offset = offsetof(cli_settings, size)},
    {.name = "seed",
     .argument = "N",
     .help = "the noise that the picture begins with is torch's for this seed, on a CPU; the next "
             "picture of --count takes the next seed. Default: a random one, which the PNG file "
             "and --json name",
     .kind = CLI_SEED,
     .offset = offsetof(cli_settings, seed)},
    {.name = "steps",
     .argument = "N",
     .help = "how often the transformer is asked; default: 8",
     .kind = CLI_NUMBER,
     .offset = offsetof(cli_settings, steps),
     .min = 1,
     .max = 1000},
    {.name = "count",
     .argument = "N",
     .help = "pictures to make, numbered NAME-0, NAME-1 and so on; default: 1",
     .kind = CLI_NUMBER,
     .offset = offsetof(cli_settings, count),
     .min = 1,
     .max = 1000000},
    {.name = "guidance",
     .argument = "X",
     .help =
         "how much more the prompt counts than --negative, as diffusers has it (other programs' "
         "CFG scale less 1); each step then takes twice as long. Default: 0, none, which is "
         "right for Z-Image-Turbo",
     .kind = CLI_DECIMAL,
     .offset = offsetof(cli_settings, guidance),
     .min = 0,
     .max = 1000},
    {.name = "negative",
     .argument = "TEXT",
     .help = "what shall not be in the picture; needs --guidance",
     .kind = CLI_TEXT,
     .offset = offsetof(cli_settings, negative)},
    {.name = "from",
     .argument = "FILE",
     .help =
         "repeat a picture: prompt, seed, size and the rest are those that this PNG file keeps, "
         "but for what is given here",
     .kind = CLI_TEXT,
     .offset = offsetof(cli_settings, from)},
    {.name = "format",
     .letter = 'f',
     .argument = "png|jpeg|webp|ppm",
     .help = "of the picture; default: by the ending of -o, else png",
     .kind = CLI_WORD,
     .offset = offsetof(cli_settings, format),
     .choices = formats},
    {.name = NULL}};
static const cli_option_group group = {"Picture", options};
static const cli_option_group *const groups[] = {
    &cli_group_output,   &model_group,      &group, &cli_group_picture,
    &cli_group_networks, &cli_group_report, NULL};
static const cli_example examples[] = {
    {"zenith generate \"a red apple\" -w Z-Image-Turbo -o apple.png", "a picture of 1024x1024"},
    {"zenith generate \"a red apple\" -w Z-Image-Turbo -o a.png -s 512x512 --seed 7",
     "a smaller one, the same every time"},
    {"zenith generate \"a red apple\" -w Z-Image-Turbo -o apples/ --count 4",
     "four of them, with seeds one after the other"},
    {"zenith generate --from apples/a-red-apple-2.png -w Z-Image-Turbo -o again.png",
     "one of them again"},
    {NULL, NULL}};

const cli_command cli_command_generate = {
    .name = "generate",
    .arguments = "PROMPT -w DIR -o OUT [OPTIONS]",
    .summary = "make pictures from text",
    .description =
        "Makes pictures of what the prompt says, by Z-Image's networks. A PNG file keeps prompt, "
        "seed and the rest as a text \"parameters\", where other programs look for them. "
        "In a folder, pictures are named by the "
        "prompt. Processes of mpirun make each picture together, if this program has MPI.",
    .groups = groups,
    .examples = examples,
    .max_inputs = 1,
    .takes = CLI_TAKES_WORDS,
    .run = run,
};
