// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith generate PROMPT -o OUT: pictures from text. The networks and the decoder are opened before
// anything is computed; each picture is then a latent, decoded row by row into its file.
#include "apps/cli/commands/generate/networks.h"
#include "apps/cli/commands/generate/picture_parameters.h"
#include "apps/cli/session/outputs.h"
#include "apps/cli/session/preview.h"
#include "apps/cli/session/report.h"
#include "apps/cli/session/step_line.h"
#include "apps/cli/session/step_preview.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct job {
    const cli_generate_request *asked;
    cli_session *session;
    const cli_outputs *outputs;
    cli_generate_models models;
    cli_step_previews *previews;
    uint32_t done, all; // pictures
    uint32_t passed;    // numbers of names that are there, which the prompt in work passes over
    float *latent;
    cli_failure failure;
};

// One picture on its way.
struct picture {
    struct job *job;
    const cli_prompt *prompt;
    uint32_t index;  // among those of its prompt
    uint32_t number; // among all
    char *output;
    cli_step_line line; // by step_clock
    uint32_t steps;     // that are made
    zenith_generate_facts facts;
    zenith_run_facts decoding;
};

// Of several processes, the first one writes and reports.
static bool is_first(const struct job *job)
{
    return job->models.info.process == 0;
}

static bool open_all(struct job *job)
{
    if (!cli_generate_models_open(job->session, job->asked, &job->models, &job->failure))
        return false;
    if (is_first(job) &&
        !cli_step_previews_open(job->session, job->models.info.latents, job->models.decoder,
                                &job->previews, &job->failure))
        return false;
    job->latent = calloc(cli_generate_values(&job->models), sizeof *job->latent);
    if (job->latent != NULL) return true;
    return cli_fail_text(&job->failure, ZENITH_OUT_OF_MEMORY, "no memory for a latent of %ux%u",
                         (unsigned)job->models.size.width, (unsigned)job->models.size.height);
}

// --- steps --------------------------------------------------------------------------------------

// Without previews, which are no part of a step.
static double step_clock(const struct job *job)
{
    return cli_clock() - cli_step_previews_seconds(job->previews);
}

static int on_step(void *cookie, const zenith_generate_report *report)
{
    struct picture *picture = cookie;
    struct job *job = picture->job;
    const double now = step_clock(job); // before the preview
    const uint64_t pictures = job->all - picture->number - 1;
    picture->steps = report->steps;
    bool shown = job->previews == NULL ||
                 cli_step_preview(job->previews, report->step, report->predicted, &job->failure);
    if (shown)
        cli_step_line_step(&picture->line, report->step, report->steps, pictures * report->steps,
                           now);
    return !shown;
}

static void say_long_prompt(const struct picture *picture)
{
    const zenith_generate_facts *facts = &picture->facts;
    if (facts->tokens <= facts->tokens_read || picture->index > 0) return;
    if (picture->job->session->settings->quiet || !is_first(picture->job)) return;
    cli_say("the prompt has %u tokens, and the model reads the first %u: what comes later does not "
            "count",
            (unsigned)facts->tokens, (unsigned)facts->tokens_read);
}

static bool make_latent(struct picture *picture)
{
    struct job *job = picture->job;
    const cli_settings *settings = job->session->settings;
    const zenith_latent latent = cli_generate_latent(&job->models, job->latent);
    const zenith_latent first = cli_generate_latent(&job->models, job->models.picture);
    picture->facts = (zenith_generate_facts){.size = sizeof picture->facts};
    picture->line.silent = !is_first(job);
    cli_step_line_begin(&picture->line, job->session, picture->number, job->all, step_clock(job));
    const zenith_generate_params params = {.size = sizeof params,
                                           .prompt = picture->prompt->text,
                                           .negative = cli_generate_of(settings)->negative,
                                           .seed = job->asked->seed + picture->index,
                                           .steps = job->models.steps,
                                           .guidance = (float)job->models.guidance,
                                           .dtype = (zenith_dtype)settings->run.dtype,
                                           .max_memory = settings->run.max_memory,
                                           .report = on_step,
                                           .report_cookie = picture,
                                           .cancel = job->session->cancel,
                                           .facts = &picture->facts,
                                           .picture = first.data != NULL ? &first : NULL,
                                           .strength = job->asked->strength,
                                           .held_memory = job->models.room};
    cli_step_line_phase(&picture->line, "reading the prompt");
    zenith_status status = zenith_generate(job->session->context, job->models.generator, &params,
                                           &latent);
    // A preview that failed has said why.
    if (status != ZENITH_OK && job->failure.status != ZENITH_OK) return false;
    if (status != ZENITH_OK) return cli_fail(job->session, &job->failure, status, NULL);
    say_long_prompt(picture);
    return true;
}

// --- pictures -----------------------------------------------------------------------------------

static const char *model_name(const struct job *job)
{
    const zenith_generator_info *info = &job->models.info;
    return info->pipeline != NULL ? info->pipeline : info->name;
}

static zenith_status open_target(const struct picture *picture, zenith_target **out)
{
    const struct job *job = picture->job;
    const cli_settings *settings = job->session->settings;
    const cli_generate_settings *own = cli_generate_of(settings);
    const cli_parameters facts = {.prompt = picture->prompt->text,
                                  .negative = own->negative,
                                  .model = model_name(job),
                                  .decoder = job->models.decoder->info.name,
                                  .size = job->models.size,
                                  .seed = {true, job->asked->seed + picture->index},
                                  .steps = job->models.steps,
                                  .guidance = job->models.guidance,
                                  .shift = job->models.info.shift,
                                  .strength = job->models.picture != NULL ? job->asked->strength
                                                                          : 0,
                                  .transparent = own->transparent};
    char *parameters = cli_parameters_text(&facts);
    if (parameters == NULL) return ZENITH_OUT_OF_MEMORY;
    zenith_target_params params = cli_target_params(settings, job->outputs->format);
    params.cut_out = own->transparent;
    params.parameters = parameters;
    zenith_status status = zenith_target_open(job->session->context, picture->output,
                                              job->models.size.width, job->models.size.height,
                                              &params, out);
    free(parameters);
    return status;
}

static zenith_status decode(struct picture *picture, cli_sink *sink)
{
    struct job *job = picture->job;
    const zenith_latent latent = cli_generate_latent(&job->models, job->latent);
    const zenith_image image = {.size = sizeof image,
                                .width = job->models.size.width,
                                .height = job->models.size.height,
                                .rows = cli_sink_rows,
                                .cookie = sink,
                                .restarts = true};
    cli_step_line_phase(&picture->line, "decoding");
    const uint64_t held = cli_generate_make_room(job->session, &job->models,
                                                 picture->facts.weights_bytes);
    zenith_run_params params = cli_session_run_params(job->session, &picture->decoding, held);
    params.progress = NULL; // the line is that of the steps
    zenith_status status = zenith_decode(job->session->context, job->models.decoder->model, &latent,
                                         &image, 1, &params);
    return status == ZENITH_OK ? zenith_target_finish(sink->target) : status;
}

static bool write_picture(struct picture *picture)
{
    struct job *job = picture->job;
    cli_sink sink = {.target = NULL};
    const cli_show how = cli_show_choose(job->session->settings);
    zenith_status status = open_target(picture, &sink.target);
    if (how != CLI_SHOW_NOT)
        sink.preview = cli_preview_open(how, job->models.size.width, job->models.size.height);
    if (how != CLI_SHOW_NOT && sink.preview == NULL) status = ZENITH_OUT_OF_MEMORY;
    if (status == ZENITH_OK) status = decode(picture, &sink);
    if (status == ZENITH_OK && sink.preview != NULL) {
        cli_preview_go_back(sink.preview); // over the last preview
        cli_preview_print(sink.preview, NULL);
    }
    if (status != ZENITH_OK) cli_fail(job->session, &job->failure, status, cli_sink_error(&sink));
    zenith_target_free(sink.target);
    cli_preview_free(sink.preview);
    return status == ZENITH_OK;
}

static void report_picture(const struct picture *picture)
{
    const struct job *job = picture->job;
    const cli_settings *settings = job->session->settings;
    zenith_run_facts all = picture->decoding; // and both networks
    json_t *more = json_pack("{s:o, s:i, s:f, s:s, s:f, s:f, s:f, s:i}", "seed",
                             cli_json_seed(job->asked->seed + picture->index), "steps",
                             (int)picture->steps, "guidance", job->models.guidance, "decoder",
                             job->models.decoder->info.name, "seconds_per_step",
                             cli_step_line_seconds(&picture->line, picture->steps), "prepare_ms",
                             picture->facts.prepare_seconds * 1e3, "decode_ms",
                             picture->decoding.seconds * 1e3, "tokens", (int)picture->facts.tokens);
    const zenith_generate_needs *needs = &job->models.needs;
    json_object_set_new(more, "needs_bytes",
                        json_integer((json_int_t)(needs->transformer_bytes + needs->buffer_bytes)));
    if (job->models.picture != NULL)
        json_object_set_new(more, "strength", json_real(job->asked->strength));
    if (job->previews != NULL)
        json_object_set_new(more, "previews_ms",
                            json_real(cli_step_previews_seconds(job->previews) * 1e3));
    all.dtype = picture->facts.dtype;
    all.seconds += picture->facts.seconds;
    cli_session_report(job->session, &(cli_result){.input = settings->json ? picture->prompt->text
                                                                           : picture->prompt->name,
                                                   .output = picture->output,
                                                   .width = job->models.size.width,
                                                   .height = job->models.size.height,
                                                   .model = model_name(job),
                                                   .facts = &all,
                                                   .started = picture->line.started,
                                                   .more = more});
}

// In a folder by the prompt's name; else all pictures are numbered after -o.
static char *output_of(const struct job *job, size_t prompt, uint32_t index, uint32_t number)
{
    const bool folder = job->outputs->folder;
    const bool several = folder ? job->asked->count > 1 || job->passed > 0 : job->all > 1;
    return cli_outputs_path(job->outputs, folder ? prompt : 0,
                            several ? (int64_t)(folder ? index + job->passed : number) : CLI_UNSET);
}

// A name in a folder is chosen by the program, so what has it already is not lost: the number goes
// on.
static void pass_names(struct job *job, size_t prompt)
{
    job->passed = 0;
    if (!job->outputs->folder || job->session->settings->keep) return;
    for (uint32_t free_names = 0; free_names < job->asked->count;) {
        char *path = output_of(job, prompt, free_names, 0);
        const bool there = path != NULL && access(path, F_OK) == 0;
        free(path);
        job->passed += there ? free_names + 1 : 0;
        free_names = there ? 0 : free_names + 1;
    }
}

static bool make_picture(struct job *job, size_t prompt, uint32_t index)
{
    cli_session *session = job->session;
    struct picture picture = {.job = job,
                              .prompt = &job->asked->prompts[prompt],
                              .index = index,
                              .number = (uint32_t)prompt * job->asked->count + index};
    picture.output = output_of(job, prompt, index, picture.number);
    if (picture.output == NULL) return cli_fail_memory(&job->failure);
    const bool stays = cli_output_stays(session->settings, picture.output);
    cli_step_previews_begin(job->previews, picture.output,
                            job->all > 1 ? (int64_t)picture.number : CLI_UNSET);
    bool done = stays || (make_latent(&picture) && (!is_first(job) || write_picture(&picture)));
    if (stays) session->kept++;
    if (done && !stays && is_first(job)) report_picture(&picture);
    if (done) job->done++;
    free(picture.output);
    return done;
}

// A prompt that fails leaves the others alone, unless they would fail likewise.
static bool make_prompt(struct job *job, size_t prompt)
{
    cli_session *session = job->session;
    bool done = true;
    pass_names(job, prompt);
    for (uint32_t i = 0; done && i < job->asked->count && !cli_interrupted(); i++)
        done = make_picture(job, prompt, i);
    if (done) return true;
    const zenith_status status = job->failure.status;
    cli_session_failed(session, job->asked->prompts[prompt].name, &job->failure);
    job->failure = (cli_failure){.status = ZENITH_OK};
    return status == ZENITH_INVALID_ARGUMENT;
}

// Whether a picture of the prompt is to be made: --no-overwrite keeps those that are there.
static bool is_wanted(const struct job *job, size_t prompt)
{
    bool wanted = false;
    for (uint32_t i = 0; i < job->asked->count && !wanted; i++) {
        char *path = output_of(job, prompt, i, (uint32_t)prompt * job->asked->count + i);
        wanted = path != NULL && !cli_output_stays(job->session->settings, path);
        free(path);
    }
    return wanted;
}

// The prompts that follow at once, so that the text model's weights need not come and go for each.
// Whatever fails here fails again for the picture, and is said there.
static void read_ahead(struct job *job, size_t first)
{
    enum { AHEAD = 16 }; // with the negative prompt they are all kept
    const char *texts[AHEAD];
    const cli_settings *settings = job->session->settings;
    const size_t all = job->asked->prompts_count;
    size_t count = 0;
    if (all == 1 || first % AHEAD != 0) return;
    for (size_t i = first; i < all && i < first + AHEAD; i++)
        if (is_wanted(job, i)) texts[count++] = job->asked->prompts[i].text;
    const zenith_generate_params params = {.size = sizeof params,
                                           .dtype = (zenith_dtype)settings->run.dtype,
                                           .max_memory = settings->run.max_memory,
                                           .held_memory = job->models.room,
                                           .cancel = job->session->cancel};
    if (job->session->progress.bar && is_first(job)) cli_status_show("reading prompts");
    (void)!zenith_generator_read(job->session->context, job->models.generator, &params, texts,
                                 count);
}

static void make_pictures(struct job *job)
{
    cli_session *session = job->session;
    bool going = true;
    const double pixels = (double)job->models.size.width * job->models.size.height;
    session->progress.megapixels = pixels * job->all * 1e-6;
    for (size_t i = 0; going && i < job->asked->prompts_count && !cli_interrupted(); i++) {
        read_ahead(job, i);
        going = make_prompt(job, i);
    }
    if (!cli_interrupted()) {
        if (session->failed == 0) cli_session_done(session);
        session->done = job->done;
        return;
    }
    cli_status_clear();
    session->told = true;
    if (!is_first(job)) return;
    cli_say("interrupted, %u of %u pictures done", (unsigned)job->done, (unsigned)job->all);
}

static int make_all(const cli_generate_request *asked, const cli_outputs *outputs)
{
    cli_session session;
    struct job job = {.asked = asked,
                      .session = &session,
                      .outputs = outputs,
                      .all = (uint32_t)asked->prompts_count * asked->count};
    int code = cli_session_open(&session, &asked->own.shared, "generate");
    if (code != CLI_DONE) return code;
    // Networks round to 8 bits as they go; an autoencoder would need a calibration.
    if (session.dtype == ZENITH_DTYPE_INT8) session.dtype = ZENITH_DTYPE_DEFAULT;
    if (open_all(&job))
        make_pictures(&job);
    else
        cli_session_model_failed(&session, &job.failure);
    free(job.latent);
    cli_step_previews_free(job.previews);
    cli_generate_models_free(&job.models);
    return cli_session_close(&session);
}

// Whether the name of a file is given, rather than that of a folder.
static bool names_file(const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    return path != NULL && strchr(slash != NULL ? slash : path, '.') != NULL;
}

// What the picture of --from says counts where the format can have it.
static int check_transparent(const cli_settings *settings, const cli_outputs *outputs,
                             cli_generate_request *asked)
{
    const bool png = strcmp(outputs->format->word, "png") == 0;
    asked->own.transparent = asked->own.transparent && png;
    if (!cli_generate_of(settings)->transparent || png) return CLI_DONE;
    cli_say("--transparent makes PNG files: end the output's name in .png, or give --format png");
    return CLI_USAGE;
}

static int run(const cli_settings *settings)
{
    cli_generate_request asked;
    cli_outputs outputs;
    int code = cli_show_options_agree(settings, false) ? CLI_DONE : CLI_USAGE;
    if (code != CLI_DONE) return code;
    code = cli_generate_request_read(settings, &asked);
    cli_settings naming = asked.own.shared; // a file for several is numbered: planned as one
    naming.input_count = 1;
    naming.from_folder = code == CLI_DONE && asked.prompts_count > 1 &&
                         !names_file(settings->output);
    if (code == CLI_DONE) code = cli_outputs_plan(&naming, cli_formats_picture, &outputs);
    if (code == CLI_DONE) code = check_transparent(settings, &outputs, &asked);
    if (code == CLI_DONE) code = cli_step_previews_check(settings);
    if (code == CLI_DONE) code = make_all(&asked, &outputs);
    cli_generate_request_free(&asked);
    return code;
}

// --- the command --------------------------------------------------------------------------------

static const cli_option_group model_group = CLI_GROUP(
    "Model",
    CLI_OPTION(CLI_TEXT, cli_settings, weights, "weights", 'w', "DIR",
               "folder of the pipeline, or its name where models are searched for, in diffusers' "
               "layout: model_index.json, text_encoder, "
               "tokenizer, transformer, scheduler, and vae if it is there; default: "
               "zenith-words, which comes with the program, or z-image-turbo for what is left of a "
               "model that the next options name, in $ZENITH_MODELS, ./models, "
               "~/.local/share/zenith, or the install "
               "prefix's share/zenith/models"),
    CLI_OPTION(CLI_TEXT, cli_generate_settings, transformer, "transformer", 0, "PATH",
               "the diffusion transformer instead of the pipeline's: a safetensors file as ComfyUI "
               "takes it, a GGUF file, or a folder"),
    CLI_OPTION(CLI_TEXT, cli_generate_settings, text_encoder, "text-encoder", 0, "PATH",
               "likewise the text model"),
    CLI_OPTION(CLI_TEXT, cli_generate_settings, tokenizer, "tokenizer", 0, "PATH",
               "likewise the tokenizer: a folder, or its tokenizer.json; default: that of "
               "--text-encoder, if it has one (GGUF files do), else the pipeline's"),
    CLI_OPTION(CLI_TEXT, cli_generate_settings, vae, "vae", 0, "PATH", "likewise the autoencoder"),
    CLI_OPTION(CLI_DECIMAL, cli_generate_settings, schedule_shift, "shift", 0, "X",
               "of the schedule: more spends more steps on the large forms; default: the "
               "pipeline's, else 3, Z-Image-Turbo's",
               .min = 0, .max = 1000),
    CLI_OPTION(CLI_TEXT, cli_generate_settings, decoder, "decoder", 0, "NAME",
               "model that turns the latent into the picture, such as taef1; default: the "
               "pipeline's own vae, else zenith-f1-fast"));

static const cli_option_group group = CLI_GROUP(
    "Picture",
    CLI_OPTION(CLI_DIMENSIONS, cli_settings, source.size, "size", 's', "WxH",
               "of the picture, multiples of 16; default: what the model was made for (Z-Image: "
               "1024x1024), or "
               "that of --image"),
    CLI_OPTION(
        CLI_SEED, cli_settings, sampling.seed, "seed", 0, "N",
        "the noise that the picture begins with is torch's for this seed, on a CPU; the next "
        "picture of --count takes the next seed. Default: a random one, which the PNG file "
        "and --json name"),
    CLI_OPTION(CLI_NUMBER, cli_settings, sampling.steps, "steps", 0, "N",
               "how often the transformer is asked; default: the pipeline's, else 8", .min = 1,
               .max = 1000),
    CLI_OPTION(CLI_NUMBER, cli_settings, sampling.count, "count", 0, "N",
               "pictures to make, numbered NAME-0, NAME-1 and so on; default: 1", .min = 1,
               .max = 1000000),
    CLI_OPTION(
        CLI_DECIMAL, cli_generate_settings, guidance, "guidance", 0, "X",
        "how much more the prompt counts than --negative, as diffusers has it (other programs' "
        "CFG scale less 1); each step then takes twice as long. Default: the pipeline's, else "
        "0, none, which is right for Z-Image-Turbo",
        .min = 0, .max = 1000),
    CLI_OPTION(CLI_TEXT, cli_generate_settings, negative, "negative", 0, "TEXT",
               "what shall not be in the picture; needs --guidance"),
    CLI_OPTION(CLI_TEXT, cli_generate_settings, prompts, "prompts", 0, "FILE",
               "instead of PROMPT: one in each line, or - for standard input. In a folder, the "
               "pictures are numbered by their lines; each prompt begins with the same seed"),
    CLI_OPTION(CLI_TEXT, cli_generate_settings, image, "image", 'i', "FILE",
               "begin with this picture instead of with noise alone; it is scaled and cropped to "
               "--size, or to its own size in multiples of 16"),
    CLI_OPTION(
        CLI_DECIMAL, cli_generate_settings, strength, "strength", 0, "X",
        "how much of --image is made anew, up to 1: all of it. Of 8 steps, 0.6 makes the last "
        "5; default: 0.6",
        .min = 0, .max = 1),
    CLI_OPTION(
        CLI_TEXT, cli_settings, sampling.previews, "previews", 0, "PATH",
        "after each step, write the picture that it leads to, by a small decoder: into a "
        "folder as NAME-STEP.png, or into files STEM-STEP.ENDING. --show draws it. The result "
        "has the same bits"),
    CLI_OPTION(
        CLI_TEXT, cli_generate_settings, from, "from", 0, "FILE",
        "repeat a picture: prompt, seed, size and the rest are those that this PNG file keeps, "
        "but for what is given here"),
    CLI_FLAG_OPTION(
        cli_generate_settings, transparent, "transparent", 0,
        "png: the white ground of a drawing becomes transparent, as far as it reaches the border"),
    CLI_PICTURE_FORMAT);
static const cli_example examples[] = {
    {"zenith generate \"glossy emoji of a red apple\" -o apple.png",
     "a small drawing, by the model that comes along"},
    {"zenith generate \"ink emoji of a house\" -o ink.png -i house.png --strength 0.6",
     "your own small drawing in another style"},
    {"zenith generate \"a red apple\" -w Z-Image-Turbo -o apple.png", "a picture of 1024x1024"},
    {"zenith generate \"a red apple\" -w Z-Image-Turbo -o a.png -s 512x512 --seed 7",
     "a smaller one, the same every time"},
    {"zenith generate \"a red apple\" -w Z-Image-Turbo -o apples/ --count 4",
     "four of them, with seeds one after the other"},
    {"zenith generate --from apples/a-red-apple-2.png -w Z-Image-Turbo -o again.png",
     "one of them again"},
    {"zenith generate \"in oil\" -w Z-Image-Turbo -o oil.png -i apple.png",
     "a picture made from another one"},
    {"zenith generate \"a red apple\" -w Z-Image-Turbo -o apple.png --show",
     "look on while it comes about"},
    {"zenith generate --prompts fruits.txt -w Z-Image-Turbo -o fruits/",
     "a picture for each line of a file"},
    {"zenith generate cat --transformer dit.gguf --text-encoder qwen3.gguf -o a.png",
     "from files by themselves"},
    {NULL, NULL}};

const cli_command cli_command_generate = {
    .name = "generate",
    .arguments = "PROMPT -o OUT [-w DIR] [OPTIONS]",
    .summary = "make pictures from text",
    .description =
        "Makes pictures of what the prompt says, by Z-Image's networks or by a small model of "
        "drawings that comes with the program. A PNG file keeps prompt, "
        "seed and the rest as a text \"parameters\", where other programs look for them. "
        "In a folder, pictures are named by the "
        "prompt, with a number where the name is taken. Processes of mpirun make each picture "
        "together, if this program has MPI.",
    .groups = CLI_GROUPS(&cli_group_output, &model_group, &group, &cli_group_picture,
                         &cli_group_show, &cli_group_networks, &cli_group_report),
    .examples = examples,
    .max_inputs = 1,
    .takes = CLI_TAKES_WORDS,
    CLI_SETTINGS_WITH(cli_generate_settings, .guidance = CLI_UNSET, .strength = CLI_UNSET),
    .run = run,
};
