// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith tokenizer train TEXT.. -o FOLDER --size N: a byte-level BPE from texts.
#include "apps/cli/session/outputs.h"
#include "apps/cli/session/report.h"
#include "apps/cli/terminal/interrupt.h"
#include "apps/cli/terminal/terminal.h"
#include "zenith/tokenizer.h"

#include <stdlib.h>
#include <string.h>

typedef struct tokenizer_settings {
    cli_settings shared;
    const char *special;
    bool plain;
    int tokens; // 0: not given
} tokenizer_settings;

static const tokenizer_settings *own(const cli_settings *settings)
{
    return (const tokenizer_settings *)settings;
}

// The special tokens of --special, cut at the commas of a copy.
typedef struct special_tokens {
    char *copy;
    const char **names;
    size_t count;
} special_tokens;

static bool cut_special(const char *text, special_tokens *out)
{
    *out = (special_tokens){0};
    if (text == NULL) return true;
    out->copy = strdup(text);
    out->names = calloc(strlen(text) + 1, sizeof *out->names);
    if (out->copy == NULL || out->names == NULL) return false;
    for (char *at = out->copy; at != NULL;) {
        char *comma = strchr(at, ',');
        if (comma != NULL) *comma++ = 0;
        out->names[out->count++] = at;
        at = comma;
    }
    return true;
}

static void free_special(special_tokens *special)
{
    free(special->copy);
    free((void *)special->names);
}

static void report(const cli_settings *settings, const zenith_tokenizer_info *info)
{
    const tokenizer_settings *o = own(settings);
    if (settings->json)
        cli_json_print(
            json_pack("{s:o, s:I, s:I, s:I, s:I}", "output", cli_json_text(settings->output),
                      "tokens", (json_int_t)info->tokens, "texts", (json_int_t)info->texts, "bytes",
                      (json_int_t)info->bytes, "encoded", (json_int_t)info->encoded));
    else if (!settings->quiet)
        cli_say("%s/tokenizer.json: %u tokens from %llu texts, %.1f tokens a text, %.1f bytes a "
                "token",
                settings->output, (unsigned)info->tokens, (unsigned long long)info->texts,
                (double)info->encoded / (double)info->texts,
                (double)info->bytes / (double)info->encoded);
    if (!settings->json && !settings->quiet && info->tokens < (unsigned)o->tokens)
        cli_say("no pair of neighbours occurs twice any more: fewer than the %d tokens of --size",
                o->tokens);
}

static int train(const cli_settings *settings, const special_tokens *special)
{
    const tokenizer_settings *o = own(settings);
    cli_session session;
    cli_failure failure = {0};
    zenith_tokenizer_info info = {.size = sizeof info};
    const int code = cli_session_open(&session, settings, "tokenizer train");
    if (code != CLI_DONE) return code;
    const zenith_tokenizer_params params = {.size = sizeof params,
                                            .sources = settings->inputs,
                                            .count = settings->input_count,
                                            .output = settings->output,
                                            .tokens = (uint32_t)o->tokens,
                                            .special = special->names,
                                            .special_count = special->count,
                                            .plain = o->plain,
                                            .cancel = session.cancel};
    const zenith_status status = zenith_tokenizer_train(session.context, &params, &info);
    session.told = !cli_interrupted(); // all inputs make one output: none failed by itself
    if (status == ZENITH_OK) {
        cli_session_done(&session);
        report(settings, &info);
    } else {
        (void)cli_fail(&session, &failure, status, NULL);
        cli_session_failed(&session, settings->output, &failure);
    }
    return cli_session_close(&session);
}

static int run(const cli_settings *settings)
{
    const tokenizer_settings *o = own(settings);
    special_tokens special;
    if (settings->output == NULL) {
        cli_say("where should the tokenizer go? Give -o FOLDER");
        return CLI_USAGE;
    }
    if (o->tokens == 0) {
        cli_say("how many tokens should there be? Give --size N, such as 4096");
        return CLI_USAGE;
    }
    int code = cli_output_check_folder(settings->output);
    if (code != CLI_DONE) return code;
    if (cut_special(o->special, &special)) {
        code = train(settings, &special);
    } else {
        cli_say("memory ran out");
        code = CLI_MEMORY;
    }
    free_special(&special);
    return code;
}

static const cli_option_group group = CLI_GROUP(
    "Tokenizer",
    CLI_OPTION(CLI_TEXT, cli_settings, output, "output", 'o', "FOLDER",
               "a folder, which gets tokenizer.json"),
    CLI_OPTION(CLI_NUMBER, tokenizer_settings, tokens, "size", 0, "N",
               "how many tokens there shall be: 256 bytes, the special tokens, and merges",
               .min = 256, .max = 262144),
    CLI_OPTION(CLI_TEXT, tokenizer_settings, special, "special", 0, "TOKEN,..",
               "special tokens, with commas between them; they get the last numbers. Default: "
               "<|endoftext|>,<|im_start|>,<|im_end|>, which 'zenith generate' needs"),
    CLI_FLAG_OPTION(
        tokenizer_settings, plain, "plain", 0,
        "count the texts alone. Else the words that 'zenith generate' puts around a prompt "
        "are counted with each text, so that they take few tokens"));
static const cli_example examples[] = {
    {"zenith tokenizer train captions.jsonl -o words/tokenizer --size 4096",
     "from the captions of a training set"},
    {"zenith tokenizer train a.txt b.txt -o own --size 8000 --special '<pad>,<end>' --plain",
     "from the lines of texts, with other special tokens"},
    {NULL, NULL}};

const cli_command cli_tokenizer_train = {
    .name = "tokenizer train",
    .arguments = "TEXT.. -o FOLDER --size N [OPTIONS]",
    .summary = "train a byte-level BPE on texts",
    .description =
        "Makes a tokenizer.json from texts: the most frequent pair of neighbours within words "
        "becomes a token, again and again; of equally frequent pairs that with the smaller "
        "numbers, left before right. Words are split as Qwen's models do it. A file that ends "
        "with .jsonl has an object with \"caption\" or \"captions\" in each line; of any other "
        "file each line is a text. The same texts give the same file.",
    .groups = CLI_GROUPS(&group, &cli_group_report),
    .examples = examples,
    .min_inputs = 1,
    .max_inputs = SIZE_MAX,
    CLI_SETTINGS(tokenizer_settings),
    .run = run,
};
