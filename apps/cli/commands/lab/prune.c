// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith prune PATH -o DIR: a smaller model out of a trained one.
#include "apps/cli/session/outputs.h"
#include "apps/cli/session/report.h"
#include "apps/cli/terminal/terminal.h"
#include "zenith/train.h"
#include "zenith/zenith.h"

#include <stdio.h>

typedef struct prune_settings {
    cli_settings shared;
    int operation; // ZENITH_ENCODER | ZENITH_DECODER
    double channels, still;
    int blocks, multiple, frequencies, batches;
    const char *config;
} prune_settings;

static const prune_settings *own(const cli_settings *settings)
{
    return (const prune_settings *)settings;
}

static const double giga = 1e9;

static void report_json(const cli_settings *settings, const char *model,
                        const zenith_prune_info *info)
{
    cli_json_print(json_pack(
        "{s:o, s:o, s:s, s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f}", "input",
        cli_json_text(settings->inputs[0]), "output", cli_json_text(settings->output), "model",
        model, "encoder", (info->parts & ZENITH_ENCODER) != 0, "decoder",
        (info->parts & ZENITH_DECODER) != 0, "parameters_before",
        (json_int_t)info->parameters_before, "parameters", (json_int_t)info->parameters,
        "channels_before", (json_int_t)info->channels_before, "channels",
        (json_int_t)info->channels, "blocks_before", (json_int_t)info->blocks_before, "blocks",
        (json_int_t)info->blocks, "frequencies_before", (json_int_t)info->frequencies_before,
        "frequencies", (json_int_t)info->frequencies, "gflop_before",
        info->operations_before / giga, "gflop", info->operations / giga));
}

// What there is to leave out: residual blocks and channels inside them, or frequencies of tiles.
static void describe_parts(const zenith_prune_info *info, char *dst, size_t size)
{
    const unsigned side = info->frequencies, whole = info->frequencies_before;
    if (whole > 0)
        snprintf(dst, size, "%ux%u of %ux%u frequencies of each tile", side, side, whole, whole);
    else
        snprintf(dst, size, "%u of %u blocks, %llu of %llu channels inside them",
                 (unsigned)info->blocks, (unsigned)info->blocks_before,
                 (unsigned long long)info->channels, (unsigned long long)info->channels_before);
}

static void report(const cli_settings *settings, const char *model, const zenith_prune_info *info)
{
    if (settings->json) {
        report_json(settings, model, info);
        return;
    }
    if (settings->quiet) return;
    char parts[160];
    describe_parts(info, parts, sizeof parts);
    cli_say("%s -> %s, %s: %s, %llu of %llu parameters, %.2f of %.2f GFLOP at 512x512",
            settings->inputs[0], settings->output, model, parts,
            (unsigned long long)info->parameters, (unsigned long long)info->parameters_before,
            info->operations / giga, info->operations_before / giga);
}

static bool prune(cli_session *session, cli_failure *failure)
{
    const cli_settings *settings = session->settings;
    const prune_settings *o = own(settings);
    const cli_open_model *model;
    zenith_prune_info info = {.size = sizeof info};
    const zenith_prune_params params = {.size = sizeof params,
                                        .output = settings->output,
                                        .parts = (unsigned)o->operation,
                                        .channels = o->channels,
                                        .blocks = (uint32_t)o->blocks,
                                        .multiple = (uint32_t)o->multiple,
                                        .config = o->config,
                                        .batches = (uint32_t)o->batches,
                                        .cancel = session->cancel,
                                        .frequencies = (uint32_t)o->frequencies,
                                        .still = o->still};
    if (!cli_session_model_at(session, settings->model, settings->inputs[0], 0, &model, failure))
        return false;
    zenith_status status = zenith_prune(session->context, model->model, &params, &info);
    if (status != ZENITH_OK) return cli_fail(session, failure, status, NULL);
    report(settings, model->info.name, &info);
    return true;
}

static int run(const cli_settings *settings)
{
    const prune_settings *o = own(settings);
    cli_session session;
    cli_failure failure = {0};
    if (settings->output == NULL) {
        cli_say("where should the smaller model go? Give -o DIR");
        return CLI_USAGE;
    }
    if (o->channels == 0 && o->blocks == 0 && o->frequencies == 0 && o->still == 0) {
        cli_say("what should be left out? Give --channels SHARE, --blocks N, --frequencies N or "
                "--still CHANGE");
        return CLI_USAGE;
    }
    if (o->blocks != 0 && o->config == NULL) {
        cli_say("which blocks matter least is measured on pictures: give --config FILE, a training "
                "config whose pictures and losses are taken");
        return CLI_USAGE;
    }
    int code = cli_output_check_folder(settings->output);
    if (code != CLI_DONE) return code;
    code = cli_session_open(&session, settings, "prune");
    if (code != CLI_DONE) return code;
    if (prune(&session, &failure))
        cli_session_done(&session);
    else
        cli_session_failed(&session, settings->inputs[0], &failure);
    return cli_session_close(&session);
}

static const cli_choice parts[] = {{"encoder", ZENITH_ENCODER},
                                   {"decoder", ZENITH_DECODER},
                                   {"both", ZENITH_ENCODER | ZENITH_DECODER},
                                   {NULL, 0}};
static const cli_choice sides[] = {{"1", 1}, {"2", 2}, {"4", 4}, {NULL, 0}};
static const cli_option_group group = CLI_GROUP(
    "Pruning",
    CLI_OPTION(CLI_TEXT, cli_settings, output, "output", 'o', "DIR",
               "a folder, which gets NAME_encoder.safetensors and NAME_decoder.safetensors in f32"),
    CLI_OPTION(CLI_TEXT, cli_settings, model, "model", 'm', "NAME",
               "which model these weights are, where names and shapes fit several; 'zenith models' "
               "lists them"),
    CLI_OPTION(CLI_CHOICE, prune_settings, operation, "part", 0, "encoder|decoder|both",
               "what is pruned; default: what --config trains, or what the weights have. The other "
               "part is written as it is",
               .choices = parts),
    CLI_OPTION(CLI_SHARE, prune_settings, channels, "channels", 0, "SHARE",
               "share of the channels inside residual blocks that stays, at least, such as 0.5"),
    CLI_OPTION(
        CLI_NUMBER, prune_settings, multiple, "multiple", 0, "N",
        "channels go in groups of N, and each layer keeps one; default: 32. Fast kernels want "
        "multiples of 32 in bf16, 16 in f32, 64 in int8",
        .min = 1, .max = 1024),
    CLI_OPTION(CLI_NUMBER, prune_settings, blocks, "blocks", 0, "N",
               "leave out the N blocks without which the loss of --config grows least for the "
               "operations that are saved; models of the zenith family",
               .min = 1, .max = 64),
    CLI_OPTION(CLI_CHOICE, prune_settings, frequencies, "frequencies", 0, "1|2|4",
               "keep the N x N lowest of the 8x8 Walsh frequencies of each tile; only 4 has a fast "
               "kernel. zenith_hierarchical, zenith_prune and zenith_soft",
               .choices = sides),
    CLI_OPTION(
        CLI_SHARE, prune_settings, still, "still", 0, "CHANGE",
        "leave blocks out where their map changes by less than this, such as 0.05: decided for "
        "each picture, by cells of about 16x16 pixels; zenith_prune and zenith_soft"),
    CLI_OPTION(CLI_TEXT, prune_settings, config, "config", 0, "FILE",
               "a training config: its pictures and losses say what matters least. Without it the "
               "size of the weights does"),
    CLI_OPTION(CLI_NUMBER, prune_settings, batches, "batches", 0, "N",
               "of --config, by which channels are judged; default: 16", .min = 1, .max = 1000000));
static const cli_example examples[] = {
    {"zenith prune models -o half -m zenith-sd-fast --channels 0.5",
     "half of the channels inside blocks, by the weights"},
    {"zenith prune models -o less -m zenith-sd-fast --blocks 1 --config run.json",
     "without the block that matters least to the losses of run.json"},
    {NULL, NULL}};

const cli_command cli_command_prune = {
    .name = "prune",
    .arguments = "PATH -o DIR [OPTIONS]",
    .summary = "make a smaller, faster model out of a trained one",
    .description =
        "Leaves out the channels inside residual blocks, the blocks, or the high frequencies of "
        "tiles that matter least. Writes the rest as a smaller model that all commands take. The "
        "smaller model's pictures are worse at first: 'zenith train' with \"init\": {\"weights\": "
        "DIR} trains it further. TRAINING.md in share/doc/zenith has more.",
    .groups = CLI_GROUPS(&group, &cli_group_threads, &cli_group_report),
    .examples = examples,
    .min_inputs = 1,
    .max_inputs = 1,
    CLI_SETTINGS(prune_settings),
    .run = run,
};
