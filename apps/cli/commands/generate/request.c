// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See request.h.
#include "apps/cli/commands/generate/request.h"
#include "apps/cli/commands/generate/picture_parameters.h"
#include "apps/cli/options/values.h"
#include "apps/cli/terminal/terminal.h"
#include "zenith/zenith.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MULTIPLE = CLI_PICTURE_MULTIPLE };
enum { MOST_PROMPTS = 1000000, MOST_LINES_BYTES = 64 << 20 };
static const double usual_strength = 0.6;

// --- prompts ------------------------------------------------------------------------------------

// A whole file, or standard input, to be freed; NULL after a message.
static char *read_lines(const char *path)
{
    size_t room = 0, length = 0, got = 1;
    char *text = NULL;
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    if (file == NULL) {
        cli_say("--prompts %s: %s", path, strerror(errno));
        return NULL;
    }
    while (got > 0 && length <= MOST_LINES_BYTES) {
        if (length + 1 >= room) {
            room = room > 0 ? room * 2 : 1 << 16;
            char *larger = realloc(text, room);
            if (larger == NULL) break;
            text = larger;
        }
        got = fread(text + length, 1, room - length - 1, file);
        length += got;
    }
    const bool whole = got == 0 && !ferror(file);
    if (file != stdin) fclose(file);
    if (whole) {
        text[length] = 0;
        if (strlen(text) == length) return text;
    }
    cli_say("--prompts %s: %s", path,
            whole                       ? "it is no text: there is a zero in it"
            : length > MOST_LINES_BYTES ? "the file is longer than prompts can be"
                                        : "it cannot be read");
    free(text);
    return NULL;
}

// Whether a letter of several bytes may stand in a name: not the signs of Latin-1 (U+0080 to
// U+00BF), nor blanks, dashes, quotes and marks of direction (U+2000 to U+206F, U+3000 to U+303F).
static bool is_for_names(const char *letter)
{
    const unsigned char a = (unsigned char)letter[0], b = (unsigned char)letter[1];
    return a != 0xc2 && !(a == 0xe2 && (b == 0x80 || b == 0x81)) && !(a == 0xe3 && b == 0x80);
}

// Bytes of the letter of UTF-8; 1: it has one, or is none.
static size_t letter_bytes(const char *letter)
{
    const unsigned char c = (unsigned char)letter[0];
    const size_t bytes = c < 0xc2 || c > 0xf4 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    for (size_t i = 1; i < bytes; i++)
        if (((unsigned char)letter[i] & 0xc0) != 0x80) return 1;
    return bytes;
}

// Letters and digits, of any script, and a dash for whatever is between.
static void name_file(const char *prompt, char *dst, size_t size)
{
    size_t length = 0, bytes;
    for (const char *at = prompt; *at != 0; at += bytes) {
        const unsigned char c = (unsigned char)*at, low = (unsigned char)(c | 0x20);
        bytes = letter_bytes(at);
        const bool kept = bytes == 1 ? (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9')
                                     : is_for_names(at);
        if (length + bytes > CLI_PROMPT_SHOWN) break;
        if (kept) {
            memcpy(dst + length, at, bytes);
            length += bytes;
        } else if (length > 0 && dst[length - 1] != '-') {
            dst[length++] = '-';
        }
    }
    while (length > 0 && dst[length - 1] == '-') length--;
    snprintf(dst + length, size - length, "%s.prompt", length > 0 ? "" : "picture");
}

// Whole letters of UTF-8, of the first line.
static void shorten(const char *prompt, char dst[CLI_PROMPT_SHOWN + 4])
{
    size_t length = strlen(prompt);
    const bool whole = length <= CLI_PROMPT_SHOWN;
    if (!whole) length = CLI_PROMPT_SHOWN;
    while (!whole && length > 0 && ((unsigned char)prompt[length] & 0xc0) == 0x80) length--;
    snprintf(dst, CLI_PROMPT_SHOWN + 4, "%.*s%s", (int)length, prompt, whole ? "" : "...");
}

// Files of several prompts are numbered: their beginnings may be the same.
static bool add_prompt(cli_generate_request *request, const char *text)
{
    const size_t count = request->prompts_count + 1;
    cli_prompt *larger = realloc(request->prompts, count * sizeof *larger);
    if (larger == NULL) {
        cli_say("out of memory");
        return false;
    }
    request->prompts = larger;
    cli_prompt *prompt = &larger[request->prompts_count];
    *prompt = (cli_prompt){.text = text};
    int number = request->lines != NULL
                     ? snprintf(prompt->file, sizeof prompt->file, "%04zu-", count)
                     : 0;
    name_file(text, prompt->file + number, sizeof prompt->file - (size_t)number);
    shorten(text, prompt->name);
    request->prompts_count = count;
    return true;
}

static int read_prompts(cli_generate_request *request)
{
    const cli_settings *settings = &request->own.shared;
    const cli_generate_settings *own = cli_generate_of(settings);
    if (settings->input_count > 0 && own->prompts != NULL) {
        cli_say("give a prompt or --prompts FILE, not both");
        return CLI_USAGE;
    }
    if (settings->input_count > 0)
        return add_prompt(request, settings->inputs[0]) ? CLI_DONE : CLI_MEMORY;
    if (own->prompts == NULL) return CLI_DONE;
    request->lines = read_lines(own->prompts);
    if (request->lines == NULL) return CLI_USAGE;
    for (char *line = request->lines, *next; line != NULL; line = next) {
        next = strchr(line, '\n');
        if (next != NULL) *next++ = 0;
        line[strcspn(line, "\r")] = 0;
        if (line[strspn(line, " \t")] == 0) continue;
        if (request->prompts_count == MOST_PROMPTS || !add_prompt(request, line)) return CLI_USAGE;
    }
    if (request->prompts_count > 0) return CLI_DONE;
    cli_say("%s has no prompt in it: one stands in each line", own->prompts);
    return CLI_USAGE;
}

// --- the picture of --from ----------------------------------------------------------------------

// The text that a PNG keeps, to be freed; NULL after a message.
static char *read_parameters(const char *path)
{
    const zenith_context_params machine = {.size = sizeof machine, .threads = 1};
    zenith_context *context = NULL;
    zenith_source *source = NULL;
    zenith_source_info info = {.size = sizeof info};
    char *text = NULL;
    zenith_status status = zenith_context_create(&machine, &context);
    if (status == ZENITH_OK) status = zenith_source_open(context, path, NULL, &source);
    zenith_source_get_info(source, &info);
    if (status != ZENITH_OK)
        cli_say("--from %s: %s", path,
                context != NULL ? zenith_context_error(context) : zenith_status_text(status));
    else if (info.parameters == NULL)
        cli_say(
            "%s does not say how it was made: --from takes PNG files with a text \"parameters\"",
            path);
    else if ((text = strdup(info.parameters)) == NULL)
        cli_say("out of memory");
    zenith_source_free(source);
    zenith_context_free(context);
    return text;
}

// What PNG texts of Zenith call its pipelines; "": the text does not say.
static bool is_ours(const char *model)
{
    static const char *const names[] = {"", "z-image", "z-image-turbo", "zenith-words"};
    bool ours = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ours = ours || strcmp(model, names[i]) == 0;
    return ours;
}

// Options that are given count more than what the picture says.
static int fill_from_picture(cli_generate_request *request)
{
    cli_generate_settings *own = &request->own;
    cli_settings *settings = &own->shared;
    cli_parameters made;
    request->kept = read_parameters(own->from);
    if (request->kept == NULL) return CLI_USAGE;
    if (!cli_parameters_parse(request->kept, &made)) {
        cli_say("%s says how it was made in words that are not known here", own->from);
        return CLI_USAGE;
    }
    if (request->prompts_count == 0 && !add_prompt(request, made.prompt)) return CLI_MEMORY;
    if (own->negative == NULL) own->negative = made.negative;
    if (own->guidance == CLI_UNSET) own->guidance = made.guidance;
    // A negative prompt goes with guidance: without it, that of the picture does not count.
    if (own->guidance == 0 && own->negative == made.negative) own->negative = NULL;
    if (own->strength == CLI_UNSET && made.strength > 0) own->strength = made.strength;
    if (settings->sampling.steps == 0) settings->sampling.steps = (int)made.steps;
    own->transparent = own->transparent || made.transparent;
    if (settings->source.size.width == 0 && settings->source.size.height == 0)
        settings->source.size = made.size;
    if (!settings->sampling.seed.given) settings->sampling.seed = made.seed;
    if (made.strength > 0 && own->image == NULL && !settings->quiet)
        cli_say("%s was made from another picture: without --image it will be another one",
                own->from);
    if (!is_ours(made.model) && !settings->quiet)
        cli_say("%s was made by %s: this will be another picture", own->from, made.model);
    return CLI_DONE;
}

// --- checks -------------------------------------------------------------------------------------

static int check_size(cli_generate_request *request)
{
    cli_dimensions *size = &request->size;
    *size = request->own.shared.source.size;
    if (size->width == 0 && size->height == 0) return CLI_DONE;
    if (size->width == 0 || size->height == 0) {
        cli_say("--size needs both sides here, such as --size 512x512");
        return CLI_USAGE;
    }
    if (size->width % MULTIPLE == 0 && size->height % MULTIPLE == 0) return CLI_DONE;
    cli_say("--size %ux%u: both sides must be multiples of %d, such as %ux%u",
            (unsigned)size->width, (unsigned)size->height, MULTIPLE,
            (unsigned)(size->width + MULTIPLE - 1) / MULTIPLE * MULTIPLE,
            (unsigned)(size->height + MULTIPLE - 1) / MULTIPLE * MULTIPLE);
    return CLI_USAGE;
}

static bool is_one_stream(const cli_settings *settings)
{
    return settings->output != NULL && strcmp(settings->output, "-") == 0;
}

static const char *what_is_wrong(const cli_generate_request *request)
{
    const cli_settings *settings = &request->own.shared;
    const cli_generate_settings *own = cli_generate_of(settings);
    if (request->prompts_count == 0)
        return "what shall be in the picture? Give a prompt, --prompts FILE, or --from PICTURE.png";
    if (own->negative != NULL && own->negative[0] != 0 && own->guidance <= 0)
        return "--negative counts only with --guidance: give one, such as --guidance 4, or leave "
               "--negative out";
    if ((settings->sampling.count > 1 || request->prompts_count > 1) && is_one_stream(settings))
        return "standard output takes one picture: name a file or a folder for several";
    if (own->image == NULL && own->strength != CLI_UNSET && own->from == NULL)
        return "--strength says how much of a picture is made anew: it needs --image FILE";
    if (own->image != NULL && own->strength == 0)
        return "--strength 0 would leave the picture as it is: give more than 0";
    if (own->image != NULL && strcmp(own->image, "-") == 0 && settings->source.size.width == 0 &&
        settings->source.size.height == 0)
        return "a picture from standard input is read once: give --size WxH";
    if (own->image != NULL && strcmp(own->image, "-") == 0 && own->prompts != NULL &&
        strcmp(own->prompts, "-") == 0)
        return "standard input (-) can be read only once";
    return NULL;
}

// Where outputs look for the names of inputs.
static int list_files(cli_generate_request *request)
{
    request->files = calloc(request->prompts_count, sizeof *request->files);
    if (request->files == NULL) {
        cli_say("out of memory");
        return CLI_MEMORY;
    }
    for (size_t i = 0; i < request->prompts_count; i++)
        request->files[i] = request->prompts[i].file;
    request->own.shared.inputs = request->files;
    request->own.shared.input_count = request->prompts_count;
    return CLI_DONE;
}

int cli_generate_request_read(const cli_settings *settings, cli_generate_request *out)
{
    *out = (cli_generate_request){.own = *cli_generate_of(settings)};
    int code = read_prompts(out);
    if (code == CLI_DONE && cli_generate_of(settings)->from != NULL) code = fill_from_picture(out);
    const char *wrong = code == CLI_DONE ? what_is_wrong(out) : NULL;
    if (wrong != NULL) {
        cli_say("%s", wrong);
        code = CLI_USAGE;
    }
    if (code == CLI_DONE) code = check_size(out);
    if (code == CLI_DONE && !cli_seed_choose(&out->own.shared.sampling.seed, &out->seed))
        code = CLI_USAGE;
    if (code == CLI_DONE) code = list_files(out);
    if (code != CLI_DONE) return code;
    const cli_generate_settings *filled = &out->own;
    out->steps = (uint32_t)filled->shared.sampling.steps;
    out->count = settings->sampling.count > 0 ? (uint32_t)settings->sampling.count : 1;
    out->strength = filled->strength == CLI_UNSET ? usual_strength : filled->strength;
    return CLI_DONE;
}

void cli_generate_request_free(cli_generate_request *request)
{
    free(request->kept);
    free(request->lines);
    free(request->prompts);
    free(request->files);
}
