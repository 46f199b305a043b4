// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith pull NAME..: fetches published weights into the folder where models are looked for.
#include "apps/cli/options/options.h"
#include "apps/cli/session/outputs.h"
#include "apps/cli/session/published.h"
#include "apps/cli/session/report.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"
#include "apps/net/download.h"
#include "zenith/zenith.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct pull_settings {
    cli_settings shared;
    const char *endpoint;
    bool force;
} pull_settings;

static const pull_settings *own(const cli_settings *settings)
{
    return (const pull_settings *)settings;
}

struct job {
    cli_session *session;
    const char *endpoint;
    char folder[2048];
};

static bool is_known(const char *name)
{
    for (size_t i = 0; zenith_model_name(i) != NULL; i++)
        if (strcmp(zenith_model_name(i), name) == 0) return true;
    return false;
}

static void say_unknown(const char *name)
{
    const char *names[64] = {NULL};
    size_t count = 0;
    for (const cli_published *file = cli_published_files; file->model != NULL && count < 63; file++)
        names[count++] = file->model;
    const char *near = cli_nearest_word(name, names);
    if (near != NULL)
        cli_say("there is no model '%s'; did you mean %s?", name, near);
    else
        cli_say("there is no model '%s'; 'zenith models' lists them", name);
}

// Files whose checksums are not known are named and left to the user.
static void say_pipeline(const char *name, const cli_published_large *files)
{
    cli_say("'zenith pull' cannot fetch %s, since the checksums of its files are not known. They "
            "are published on https://huggingface.co, with their licences:",
            name);
    for (; files->place != NULL; files++) {
        char size[32] = "";
        if (files->size > 0) snprintf(size, sizeof size, ", %.2f GB", (double)files->size * 1e-9);
        cli_say("%s%s%s%s: %s", files->place, files->file != NULL ? " " : "",
                files->file != NULL ? files->file : "", size, files->use);
    }
    cli_say(
        "'hf download REPOSITORY [FILE] --local-dir DIR' of the package huggingface_hub fetches "
        "them, and goes on where it was interrupted");
}

static bool check_names(const cli_settings *settings)
{
    char how[640];
    for (size_t i = 0; i < settings->input_count; i++) {
        const char *name = settings->inputs[i];
        if (cli_published_count(name) > 0) continue;
        if (cli_published_pipeline(name) != NULL) {
            say_pipeline(name, cli_published_pipeline(name));
            return false;
        }
        cli_published_how(name, how, sizeof how);
        if (is_known(name))
            cli_say("'zenith pull' cannot fetch the weights of '%s': %s", name, how);
        else
            say_unknown(name);
        return false;
    }
    return true;
}

static bool choose_folder(struct job *job)
{
    const char *asked = job->session->settings->output;
    const char *models = getenv("ZENITH_MODELS"), *home = getenv("HOME");
    if (asked != NULL)
        snprintf(job->folder, sizeof job->folder, "%s", asked);
    else if (models != NULL && *models != 0)
        snprintf(job->folder, sizeof job->folder, "%s", models);
    else if (home != NULL && *home != 0)
        snprintf(job->folder, sizeof job->folder, "%s/.local/share/zenith", home);
    if (job->folder[0] != 0) return cli_make_folders(job->folder);
    cli_say("where should the weights go? Give -o DIR");
    return false;
}

static const char *choose_endpoint(const cli_settings *settings)
{
    const pull_settings *o = own(settings);
    const char *variable = getenv("ZENITH_ENDPOINT");
    if (o->endpoint != NULL) return o->endpoint;
    return variable != NULL && *variable != 0 ? variable : cli_published_endpoint;
}

static void report(const struct job *job, const cli_published *file, const char *path, bool fetched)
{
    const cli_settings *settings = job->session->settings;
    if (settings->json)
        cli_json_print(json_pack("{s:s, s:s, s:o, s:I, s:s, s:b}", "model", file->model, "file",
                                 file->file, "output", cli_json_text(path), "bytes",
                                 (json_int_t)file->size, "sha256", file->sha256, "fetched",
                                 (int)fetched));
    else if (!settings->quiet)
        cli_say("%s %s, %.1f MB", path, fetched ? "fetched" : "is there already",
                (double)file->size * 1e-6);
}

static bool pull_file(struct job *job, const cli_published *file, cli_failure *failure)
{
    char path[3072], url[4096];
    const cli_settings *settings = job->session->settings;
    size_t slash = strlen(job->endpoint);
    while (slash > 0 && job->endpoint[slash - 1] == '/') slash--;
    snprintf(path, sizeof path, "%s/%s", job->folder, file->file);
    snprintf(url, sizeof url, "%.*s/%s", (int)slash, job->endpoint, file->path);
    if (cli_file_is(path, file->size, file->sha256)) {
        report(job, file, path, false);
        return true;
    }
    if (access(path, F_OK) == 0 && !own(settings)->force)
        return cli_fail_text(failure, ZENITH_INVALID_ARGUMENT,
                             "'%s' is there and is not the published file: add --force to replace "
                             "it, or -o DIR to keep both",
                             path);
    cli_progress *progress = &job->session->progress;
    cli_progress_file(progress, progress->index, file->file);
    cli_progress_call(progress, (double)file->size, 0, 1);
    const cli_download download = {
        .url = url, .path = path, .size = file->size, .sha256 = file->sha256, .progress = progress};
    bool done = cli_download_file(&download, failure);
    cli_progress_call(progress, 0, 0, 1); // what was fetched is said file by file
    cli_status_clear();
    if (done) report(job, file, path, true);
    return done;
}

static void pull_model(struct job *job, size_t index)
{
    cli_session *session = job->session;
    const char *name = session->settings->inputs[index];
    cli_failure failure = {0};
    bool done = true;
    cli_progress_file(&session->progress, index, name);
    for (const cli_published *file = cli_published_files; file->model != NULL && done; file++)
        if (strcmp(file->model, name) == 0) done = pull_file(job, file, &failure);
    if (done)
        cli_session_done(session);
    else
        cli_session_failed(session, name, &failure);
}

// What the user can do instead, in a program without downloading.
static int say_addresses(const cli_settings *settings)
{
    char how[640];
    for (size_t i = 0; i < settings->input_count; i++) {
        cli_published_how(settings->inputs[i], how, sizeof how);
        cli_say("this program was built without downloading: for %s, %s", settings->inputs[i], how);
    }
    return CLI_SOME_FAILED;
}

static int run(const cli_settings *settings)
{
    cli_session session;
    struct job job = {.session = &session, .endpoint = choose_endpoint(settings)};
    if (!check_names(settings)) return CLI_MODEL;
    if (!cli_can_download) return say_addresses(settings);
    int code = cli_session_open(&session, settings, "pull");
    if (code != CLI_DONE) return code;
    session.progress.unit = "MB";
    bool there = choose_folder(&job);
    for (size_t i = 0; there && i < settings->input_count && !cli_interrupted(); i++)
        pull_model(&job, i);
    code = cli_session_close(&session);
    return there ? code : CLI_SOME_FAILED;
}

static const cli_option_group group = CLI_GROUP(
    "Download",
    CLI_OPTION(CLI_TEXT, cli_settings, output, "output", 'o', "DIR",
               "folder for the weights; default: $ZENITH_MODELS, else ~/.local/share/zenith, where "
               "every command looks for them"),
    CLI_OPTION(
        CLI_TEXT, pull_settings, endpoint, "endpoint", 0, "URL",
        "another server with the same paths, such as a mirror; default: $ZENITH_ENDPOINT, else "
        "the place of publication"),
    CLI_FLAG_OPTION(pull_settings, force, "force", 0,
                    "replace files that are not the published ones"));
static const cli_example examples[] = {
    {"zenith pull taesd", "encoder and decoder, 5 MB"},
    {"zenith pull taesdxl taef1 -o weights", "two models into a folder"},
    {"zenith pull taesd --endpoint https://mirror.example.org/taesd", "from a mirror"},
    {NULL, NULL}};

const cli_command cli_command_pull = {
    .name = "pull",
    .arguments = "NAME.. [OPTIONS]",
    .summary = "fetch the published weights of a model",
    .description =
        "Fetches the published weights of models (taesd, taesdxl, taesd3, taef1; MIT licence) over "
        "HTTPS. Interrupted downloads resume. A file appears under its name only when its SHA-256 "
        "is that of the published file. Proxies come from the environment, as for curl. For "
        "z-image-turbo, which makes pictures from text, it says where the files are.",
    .groups = CLI_GROUPS(&group, &cli_group_report),
    .examples = examples,
    .min_inputs = 1,
    .max_inputs = SIZE_MAX,
    .takes = CLI_TAKES_PUBLISHED,
    CLI_SETTINGS(pull_settings),
    .run = run,
};
