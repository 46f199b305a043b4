// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See generate_request.h.
#include "apps/cli/generate_request.h"
#include "apps/cli/picture_parameters.h"
#include "apps/cli/terminal.h"
#include "zenith/zenith.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { USUAL_SIDE = 1024, USUAL_STEPS = 8, MULTIPLE = 16 };

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

// Options that are given count more than what the picture says.
static int fill_from_picture(cli_generate_request *request)
{
    cli_settings *settings = &request->settings;
    cli_parameters made;
    request->kept = read_parameters(settings->from);
    if (request->kept == NULL) return CLI_USAGE;
    if (!cli_parameters_parse(request->kept, &made)) {
        cli_say("%s says how it was made in words that are not known here", settings->from);
        return CLI_USAGE;
    }
    if (request->prompt == NULL) request->prompt = made.prompt;
    if (settings->negative == NULL) settings->negative = made.negative;
    if (settings->guidance == 0) settings->guidance = made.guidance;
    if (settings->steps == 0) settings->steps = (int)made.steps;
    if (settings->size.width == 0 && settings->size.height == 0) settings->size = made.size;
    if (!settings->seed.given) settings->seed = made.seed;
    if (made.model[0] != 0 && strcmp(made.model, "z-image") != 0 && !settings->quiet)
        cli_say("%s was made by %s: this will be another picture", settings->from, made.model);
    return CLI_DONE;
}

// --- checks -------------------------------------------------------------------------------------

static int check_size(cli_generate_request *request)
{
    cli_dimensions *size = &request->size;
    *size = request->settings.size;
    if (size->width == 0 && size->height == 0) *size = (cli_dimensions){USUAL_SIDE, USUAL_SIDE};
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

static const char *what_is_wrong(const cli_generate_request *request)
{
    const cli_settings *settings = &request->settings;
    if (request->prompt == NULL)
        return "what shall be in the picture? Give a prompt, or --from PICTURE.png";
    if (settings->weights == NULL)
        return "which pipeline? Give --weights DIR, a folder with a model_index.json such as that "
               "of Z-Image-Turbo";
    if (settings->negative != NULL && settings->negative[0] != 0 && settings->guidance == 0)
        return "--negative counts only with --guidance: give one, such as --guidance 4, or leave "
               "--negative out";
    if (settings->count > 1 && settings->output != NULL && strcmp(settings->output, "-") == 0)
        return "standard output takes one picture: name a file or a folder for --count";
    return NULL;
}

// Seeds that are not given are short enough to be typed.
static int choose_seed(cli_generate_request *request)
{
    uint32_t drawn = 0;
    request->seed = request->settings.seed.value;
    if (request->settings.seed.given) return CLI_DONE;
    if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) {
        cli_say("the system has no random number for a seed: give --seed N");
        return CLI_USAGE;
    }
    request->seed = drawn;
    return CLI_DONE;
}

// --- the prompt as a name -----------------------------------------------------------------------

// Letters and digits, and a dash for whatever is between.
static void name_file(const char *prompt, char dst[CLI_PROMPT_SHOWN + 16])
{
    size_t length = 0;
    for (; *prompt != 0 && length < CLI_PROMPT_SHOWN; prompt++) {
        const unsigned char c = (unsigned char)*prompt, low = (unsigned char)(c | 0x20);
        if ((low >= 'a' && low <= 'z') || (c >= '0' && c <= '9'))
            dst[length++] = (char)c;
        else if (length > 0 && dst[length - 1] != '-')
            dst[length++] = '-';
    }
    while (length > 0 && dst[length - 1] == '-') length--;
    snprintf(dst + length, CLI_PROMPT_SHOWN + 16 - length, "%s.prompt",
             length > 0 ? "" : "picture");
}

// Whole letters of UTF-8.
static void shorten(const char *prompt, char dst[CLI_PROMPT_SHOWN + 4])
{
    size_t length = strlen(prompt);
    const bool whole = length <= CLI_PROMPT_SHOWN;
    if (!whole) length = CLI_PROMPT_SHOWN;
    while (!whole && length > 0 && ((unsigned char)prompt[length] & 0xc0) == 0x80) length--;
    snprintf(dst, CLI_PROMPT_SHOWN + 4, "%.*s%s", (int)length, prompt, whole ? "" : "...");
}

int cli_generate_request_read(const cli_settings *settings, cli_generate_request *out)
{
    *out = (cli_generate_request){.settings = *settings};
    if (settings->input_count > 0) out->prompt = settings->inputs[0];
    int code = settings->from != NULL ? fill_from_picture(out) : CLI_DONE;
    const char *wrong = code == CLI_DONE ? what_is_wrong(out) : NULL;
    if (wrong != NULL) {
        cli_say("%s", wrong);
        code = CLI_USAGE;
    }
    if (code == CLI_DONE) code = check_size(out);
    if (code == CLI_DONE) code = choose_seed(out);
    if (code != CLI_DONE) return code;
    out->steps = out->settings.steps > 0 ? (uint32_t)out->settings.steps : USUAL_STEPS;
    out->count = settings->count > 0 ? (uint32_t)settings->count : 1;
    out->words[0] = out->prompt;
    out->settings.inputs = out->words;
    out->settings.input_count = 1;
    name_file(out->prompt, out->file);
    shorten(out->prompt, out->name);
    return CLI_DONE;
}

void cli_generate_request_free(cli_generate_request *request)
{
    free(request->kept);
}
