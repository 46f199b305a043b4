// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See outputs.h.
#include "apps/cli/session/outputs.h"
#include "apps/cli/terminal/terminal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

const cli_format cli_formats_latent[] = {{"safetensors", ".safetensors", ".safetensors "},
                                         {"latent", ".latent", ".latent "},
                                         {"npy", ".npy", ".npy "},
                                         {NULL, NULL, NULL}};
// clang-format off
#define PICTURES                                                                                   \
    {"png", ".png", ".png "},                                                                      \
    {"jpeg", ".jpg", ".jpg .jpeg "},                                                               \
    {"webp", ".webp", ".webp "},                                                                   \
    {"ppm", ".ppm", ".ppm .pnm "}
// clang-format on
const cli_format cli_formats_picture[] = {PICTURES, {NULL, NULL, NULL}};
const cli_format cli_formats_decoded[] = {
    PICTURES, {"npy", ".npy", ".npy "}, {"y4m", ".y4m", ".y4m "}, {NULL, NULL, NULL}};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

// The last dot of the name with what follows, or the closing zero. A leading dot hides a file.
static const char *ending_of(const char *path)
{
    const char *name = base_name(path);
    const char *dot = strrchr(name, '.');
    return dot != NULL && dot != name ? dot : name + strlen(name);
}

static const cli_format *format_by_word(const cli_format *formats, const char *word)
{
    for (; formats->word != NULL; formats++)
        if (strcmp(formats->word, word) == 0) return formats;
    return NULL;
}

static const cli_format *format_by_ending(const cli_format *formats, const char *ending)
{
    size_t length = strlen(ending);
    for (; formats->word != NULL; formats++) {
        for (const char *one = formats->endings; *one != 0; one += strcspn(one, " ") + 1)
            if (strcspn(one, " ") == length && strncasecmp(one, ending, length) == 0)
                return formats;
    }
    return NULL;
}

bool cli_is_folder(const char *path)
{
    struct stat facts;
    return path != NULL && stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

// The input's name under the output folder: its own, after the folders that --recursive went into.
static const char *kept_name(const cli_settings *settings, size_t input)
{
    const char *path = settings->inputs[input];
    if (strcmp(path, "-") == 0) return "stdin";
    return settings->named_from != NULL ? path + settings->named_from[input] : base_name(path);
}

char *cli_outputs_path(const cli_outputs *outputs, size_t input, int64_t index)
{
    char number[24] = "", *path = NULL;
    if (outputs->stream) return strdup("-");
    if (index != CLI_UNSET)
        snprintf(number, sizeof number, "-%0*lld", outputs->digits, (long long)index);
    const char *from = outputs->folder ? kept_name(outputs->settings, input) : outputs->place;
    int stem = (int)(ending_of(from) - from);
    const char *ending = outputs->folder ? outputs->format->ending : ending_of(from);
    size_t length = strlen(outputs->place);
    bool slash = length > 0 && outputs->place[length - 1] == '/';
    int made = outputs->folder ? asprintf(&path, "%s%s%.*s%s%s", outputs->place, slash ? "" : "/",
                                          stem, from, number, ending)
                               : asprintf(&path, "%.*s%s%s", stem, from, number, ending);
    return made < 0 ? NULL : path;
}

void cli_outputs_make_folders(const cli_outputs *outputs, const char *path)
{
    char so_far[PATH_MAX];
    if (!outputs->folder || snprintf(so_far, sizeof so_far, "%s", path) >= PATH_MAX) return;
    for (char *slash = so_far + strlen(outputs->place); (slash = strchr(slash + 1, '/')) != NULL;
         *slash = '/') {
        *slash = 0;
        mkdir(so_far, 0777); // whoever opens the file says what is wrong
    }
}

bool cli_make_folders(const char *path)
{
    char so_far[PATH_MAX];
    if (snprintf(so_far, sizeof so_far, "%s", path) < PATH_MAX)
        for (char *slash = so_far; (slash = strchr(slash + 1, '/')) != NULL; *slash = '/') {
            *slash = 0;
            mkdir(so_far, 0777); // what matters is whether the last one is there
        }
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && cli_is_folder(path))) return true;
    cli_say("cannot make the folder '%s': %s; -o DIR names another one", path, strerror(errno));
    return false;
}

zenith_target_params cli_target_params(const cli_settings *settings, const cli_format *format)
{
    return (zenith_target_params){.size = sizeof(zenith_target_params),
                                  .format = format->word,
                                  .quality = settings->picture.quality,
                                  .level = settings->picture.level,
                                  .lossless = settings->picture.lossless};
}

bool cli_output_stays(const cli_settings *settings, const char *path)
{
    struct stat facts;
    return settings->keep && strcmp(path, "-") != 0 && stat(path, &facts) == 0 &&
           S_ISREG(facts.st_mode);
}

// Cuts the path of a folder to the first one that is not there.
static const char *missing_folder(char *path)
{
    struct stat facts;
    for (char *slash = path; (slash = strchr(slash + 1, '/')) != NULL; *slash = '/') {
        *slash = 0;
        if (stat(path, &facts) != 0) break;
    }
    return path;
}

// A file is written beside its target and renamed, so the folder decides; a device, itself.
int cli_output_check(const char *path)
{
    struct stat facts;
    char folder[PATH_MAX];
    size_t length = (size_t)(base_name(path) - path);
    bool there = stat(path, &facts) == 0;
    int wrong = 0;
    if (length >= sizeof folder) return CLI_DONE; // the file's own message is better
    snprintf(folder, sizeof folder, "%.*s", (int)length, path);
    if (there && S_ISDIR(facts.st_mode))
        wrong = EISDIR;
    else if (there && !S_ISREG(facts.st_mode))
        wrong = access(path, W_OK) != 0 ? errno : 0;
    else if (access(length > 0 ? folder : ".", W_OK | X_OK) != 0)
        wrong = errno;
    if (wrong == 0) return CLI_DONE;
    if (wrong == ENOENT && length > 0)
        cli_say("cannot write '%s': there is no folder '%s'", path, missing_folder(folder));
    else
        cli_say("cannot write '%s': %s", path, strerror(wrong));
    return CLI_USAGE;
}

int cli_output_check_folder(const char *path)
{
    size_t length = strlen(path);
    char folder[PATH_MAX];
    if (length >= sizeof folder) return CLI_DONE; // the folder's own message is better
    if (cli_is_folder(path)) {
        if (access(path, W_OK | X_OK) == 0) return CLI_DONE;
        cli_say("cannot write into '%s': %s", path, strerror(errno));
        return CLI_USAGE;
    }
    if (access(path, F_OK) == 0) {
        cli_say("the result needs a folder to go to, and '%s' is a file", path);
        return CLI_USAGE;
    }
    while (length > 1 && path[length - 1] == '/') length--;
    snprintf(folder, sizeof folder, "%.*s", (int)length, path);
    return cli_output_check(folder); // made like a file, inside its parent
}

struct pair {
    char *output;
    const char *input;
};

static int compare_pairs(const void *a, const void *b)
{
    return strcmp(((const struct pair *)a)->output, ((const struct pair *)b)->output);
}

static int check_distinct(struct pair *pairs, size_t count)
{
    qsort(pairs, count, sizeof *pairs, compare_pairs);
    for (size_t i = 1; i < count; i++) {
        if (strcmp(pairs[i - 1].output, pairs[i].output) != 0) continue;
        cli_say("'%s' and '%s' would both be written to '%s'", pairs[i - 1].input, pairs[i].input,
                pairs[i].output);
        return CLI_USAGE;
    }
    return CLI_DONE;
}

static int check_not_input(const struct pair *pair)
{
    struct stat in, out;
    if (strcmp(pair->input, "-") == 0 || stat(pair->output, &out) != 0 || !S_ISREG(out.st_mode) ||
        stat(pair->input, &in) != 0 || in.st_ino != out.st_ino || in.st_dev != out.st_dev)
        return CLI_DONE;
    cli_say("'%s' would be written over its own input", pair->output);
    return CLI_USAGE;
}

static int check_pair(const cli_outputs *outputs, const struct pair *pair)
{
    int code = check_not_input(pair);
    // A folder that is not there yet is made, and making it fails with a sentence of its own.
    bool direct = !outputs->folder ||
                  (cli_is_folder(outputs->place) && !outputs->settings->recursive);
    return code == CLI_DONE && direct ? cli_output_check(pair->output) : code;
}

static int check_paths(const cli_settings *settings, const cli_outputs *outputs)
{
    size_t count = settings->input_count;
    struct pair *pairs = calloc(count, sizeof *pairs);
    int code = pairs == NULL ? CLI_MEMORY : CLI_DONE;
    for (size_t i = 0; i < count && code == CLI_DONE; i++) {
        pairs[i].input = settings->inputs[i];
        pairs[i].output = cli_outputs_path(outputs, i, CLI_UNSET);
        code = pairs[i].output == NULL ? CLI_MEMORY : check_pair(outputs, &pairs[i]);
    }
    if (code == CLI_DONE && outputs->folder) code = check_distinct(pairs, count);
    if (code == CLI_MEMORY) cli_say("out of memory");
    for (size_t i = 0; pairs != NULL && i < count; i++) free(pairs[i].output);
    free(pairs);
    return code;
}

static int check_stream(const cli_settings *settings)
{
    if (settings->json) {
        cli_say("--json and the result cannot both go to standard output");
        return CLI_USAGE;
    }
    if (isatty(STDOUT_FILENO)) {
        cli_say("the result is binary and standard output is a terminal: redirect it, or name a "
                "file");
        return CLI_USAGE;
    }
    return CLI_DONE;
}

static int check_standard_input(const cli_settings *settings)
{
    size_t times = 0;
    for (size_t i = 0; i < settings->input_count; i++)
        times += strcmp(settings->inputs[i], "-") == 0;
    if (times < 2) return CLI_DONE;
    cli_say("standard input (-) can be read only once");
    return CLI_USAGE;
}

// An option that the format has no use for was meant for another one.
static int check_picture_options(const cli_settings *settings, const char *format)
{
    const bool jpeg = strcmp(format, "jpeg") == 0, webp = strcmp(format, "webp") == 0;
    const char *wrong = NULL;
    if (settings->picture.quality != 0 && !jpeg && !webp)
        wrong = "--quality is for jpeg and webp";
    else if (settings->picture.level != 0 && strcmp(format, "png") != 0)
        wrong = "--level is for png";
    else if (settings->picture.lossless && jpeg)
        wrong = "--lossless is for webp";
    else if (settings->picture.lossless && settings->picture.quality != 0)
        wrong = "--quality and --lossless exclude each other";
    if (wrong == NULL) return CLI_DONE;
    cli_say("%s, and the result is %s", wrong, format);
    return CLI_USAGE;
}

static int say_no_format(const cli_format *formats, const char *ending)
{
    char endings[128] = "";
    size_t length = 0;
    for (const cli_format *f = formats; f->word != NULL && length < sizeof endings; f++)
        length += (size_t)snprintf(endings + length, sizeof endings - length, "%s%s",
                                   f == formats        ? ""
                                   : f[1].word == NULL ? " or "
                                                       : ", ",
                                   f->ending);
    cli_say("no format is known for '%s': the name can end with %s", ending, endings);
    return CLI_USAGE;
}

static int choose_format(const cli_settings *settings, const cli_format *formats, cli_outputs *out)
{
    const char *ending = out->folder || out->stream ? "" : ending_of(out->place);
    if (settings->picture.format != NULL)
        out->format = format_by_word(formats, settings->picture.format);
    else if (*ending == 0)
        out->format = &formats[0];
    else
        out->format = format_by_ending(formats, ending);
    if (out->format == NULL) return say_no_format(formats, ending);
    return check_picture_options(settings, out->format->word);
}

static int make_folder(const char *path)
{
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && cli_is_folder(path))) return CLI_DONE;
    if (errno == EEXIST)
        cli_say("several inputs need a folder to go to, and '%s' is a file", path);
    else
        cli_say("cannot make the folder '%s': %s", path, strerror(errno));
    return CLI_USAGE;
}

// Several results need a folder; one that is called picture.png was hardly meant.
static int check_not_file_name(const cli_format *formats, const cli_outputs *out)
{
    const char *place = out->place, *ending = ending_of(place);
    if (!out->folder || cli_is_folder(place) || *ending == 0) return CLI_DONE;
    if (place[strlen(place) - 1] == '/' || format_by_ending(formats, ending) == NULL)
        return CLI_DONE;
    cli_say("%s: the results need a folder, and '%s' names a file; for a folder of that name give "
            "-o %s/",
            out->settings->input_count > 1 ? "there are several inputs" : "the input is a folder",
            place, place);
    return CLI_USAGE;
}

int cli_outputs_plan(const cli_settings *settings, const cli_format *formats, cli_outputs *out)
{
    const char *place = settings->output;
    if (place == NULL) {
        cli_say("where should the result go? Give -o PATH");
        return CLI_USAGE;
    }
    bool many = settings->input_count > 1 || settings->from_folder;
    *out = (cli_outputs){.settings = settings, .place = place, .stream = strcmp(place, "-") == 0};
    out->folder = !out->stream && (many || place[strlen(place) - 1] == '/' || cli_is_folder(place));
    if (out->stream && many) {
        cli_say("standard output takes one result; name a folder for several");
        return CLI_USAGE;
    }
    int code = check_standard_input(settings);
    if (code == CLI_DONE && out->stream) code = check_stream(settings);
    if (code == CLI_DONE) code = check_not_file_name(formats, out);
    if (code == CLI_DONE) code = choose_format(settings, formats, out);
    if (code == CLI_DONE && !out->stream) code = check_paths(settings, out);
    if (code == CLI_DONE && out->folder && !cli_is_folder(place)) code = make_folder(place);
    return code;
}
