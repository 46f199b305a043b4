// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Option tables that several commands share.
#include "apps/cli/command.h"
#include "zenith/zenith.h"

const cli_choice cli_choices_dtype[] = {
    {"f32", ZENITH_DTYPE_F32}, {"bf16", ZENITH_DTYPE_BF16}, {"int8", ZENITH_DTYPE_INT8}, {NULL, 0}};
static const cli_choice fits[] = {{"crop", ZENITH_FIT_CROP},
                                  {"pad", ZENITH_FIT_PAD},
                                  {"resize", ZENITH_FIT_RESIZE},
                                  {"exact", ZENITH_FIT_EXACT},
                                  {NULL, 0}};
const cli_choice cli_choices_filter[] = {
    {"lanczos", ZENITH_LANCZOS}, {"bicubic", ZENITH_BICUBIC}, {NULL, 0}};
const cli_choice cli_choices_picture[] = {
    {"png", 0}, {"jpeg", 0}, {"webp", 0}, {"ppm", 0}, {NULL, 0}};
const cli_choice cli_choices_store[] = {
    {"f32", ZENITH_F32}, {"f16", ZENITH_F16}, {"bf16", ZENITH_BF16}, {NULL, 0}};
static const cli_choice shows[] = {
    {"auto", CLI_SHOW_AUTO}, {"kitty", CLI_SHOW_KITTY}, {"blocks", CLI_SHOW_BLOCKS}, {NULL, 0}};
const cli_choice cli_choices_space[] = {
    {"model", ZENITH_SPACE_MODEL}, {"raw", ZENITH_SPACE_RAW}, {NULL, 0}};

const cli_option_group cli_group_inputs = CLI_GROUP(
    "Input",
    CLI_FLAG_OPTION(cli_settings, recursive, "recursive", 'r',
                    "of a folder, also take the files in its folders; outputs keep these folders"));

const cli_option_group cli_group_output = CLI_GROUP(
    "Output",
    CLI_OPTION(
        CLI_TEXT, cli_settings, output, "output", 'o', "PATH",
        "where the result goes: a file, a folder, or - for standard output. It is a folder if "
        "it ends with '/', exists as one, or the inputs are several or a folder"),
    CLI_FLAG_OPTION(cli_settings, keep, "no-overwrite", 'n',
                    "keep outputs that are there already, and do not compute them again"));

const cli_option_group cli_group_model = CLI_GROUP(
    "Model",
    CLI_OPTION(CLI_TEXT, cli_settings, model, "model", 'm', "NAME",
               "which model, such as taesd; 'zenith models' lists them"),
    CLI_OPTION(CLI_TEXT, cli_settings, weights, "weights", 'w', "PATH",
               "folder with NAME_encoder.safetensors and NAME_decoder.safetensors, a folder in "
               "diffusers' layout, or one safetensors file; default: these two files or a folder "
               "NAME, in $ZENITH_MODELS, ./models, ~/.local/share/zenith, or the install prefix's "
               "share/zenith/models"));

// clang-format off
#define THREADS                                                                                    \
    CLI_OPTION(CLI_NUMBER, cli_settings, run.threads, "threads", 't', "N",                         \
               "threads to compute with; default: the physical cores this process may use, or "    \
               "fewer where its cgroup has a quota of CPU time",                                   \
               .min = 1, .max = 1024)
#define LOG                                                                                        \
    CLI_FLAG_OPTION(cli_settings, log, "log", 0, "show the library's log on standard error")
#define HELP CLI_FLAG_OPTION(cli_settings, help, "help", 'h', "print this text")
// clang-format on

const cli_option_group cli_group_help = CLI_GROUP("Options", HELP);

const cli_option_group cli_group_threads = CLI_GROUP("Computation", THREADS);

const cli_option_group cli_group_run = CLI_GROUP(
    "Computation",
    CLI_OPTION(CLI_CHOICE, cli_settings, run.dtype, "dtype", 0, "f32|bf16|int8",
               "type to compute in; default: bf16 where the CPU has AMX, f32 elsewhere. int8 "
               "needs a calibration",
               .choices = cli_choices_dtype),
    THREADS,
    CLI_OPTION(CLI_BYTES, cli_settings, run.max_memory, "max-memory", 0, "SIZE",
               "bound for working memory, weights and buffers together, in bytes or with K, M, G "
               "(powers of 1024). The result has the same bits; default: no bound"),
    CLI_OPTION(
        CLI_TEXT, cli_settings, run.spill, "spill", 0, "DIR",
        "folder for a file of what --max-memory has no room for, where that is cheaper than "
        "computing it again. The file has no name and is gone afterwards. The result has the "
        "same bits; default: no file"),
    CLI_OPTION(CLI_BANDS, cli_settings, run.bands, "bands", 0, "auto|off|N",
               "rows of the latent computed at a time: chosen by --max-memory (auto), all of them "
               "(off), or N. The result has the same bits; default: auto"),
    CLI_FLAG_OPTION(
        cli_settings, run.no_tune, "no-tune", 0,
        "do not measure which of a few plans is the fastest. Else the first eight pictures of "
        "a size are computed by one plan after another, and their times kept in zenith/"
        "plans.json in $XDG_CACHE_HOME or ~/.cache, or in the file that $ZENITH_TUNE names "
        "(empty: none). The result has the same bits"));

const cli_option_group cli_group_networks = CLI_GROUP(
    "Computation",
    CLI_OPTION(
        CLI_CHOICE, cli_settings, run.dtype, "dtype", 0, "f32|bf16|int8",
        "type to compute in; default: bf16 where the CPU has AMX; elsewhere int8 for weights "
        "of 8 or 4 bits, else f32. int8 is the fastest without AMX; the autoencoder computes "
        "in its usual type",
        .choices = cli_choices_dtype),
    THREADS,
    CLI_OPTION(
        CLI_BYTES, cli_settings, run.max_memory, "max-memory", 0, "SIZE",
        "bound for working memory and packed weights, in bytes or with K, M, G (powers of "
        "1024): weights of networks that are not at work go where there is no room for them. "
        "The result has the same bits; default: no bound"),
    CLI_OPTION(
        CLI_TEXT, cli_settings, run.spill, "spill", 0, "DIR",
        "folder for a file of what --max-memory has no room for in the decoder. The file has "
        "no name and is gone afterwards. The result has the same bits; default: no file"));

const cli_option_group cli_group_report = CLI_GROUP(
    "Messages",
    CLI_FLAG_OPTION(cli_settings, json, "json", 0,
                    "print the facts of each input as one JSON object per line on standard output"),
    CLI_FLAG_OPTION(cli_settings, quiet, "quiet", 'q', "print results and errors only"), LOG, HELP);

const cli_option_group cli_group_facts = CLI_GROUP(
    "Messages",
    CLI_FLAG_OPTION(cli_settings, json, "json", 0,
                    "print the facts as one JSON object on standard output"),
    LOG, HELP);

const cli_option_group cli_group_show = CLI_GROUP(
    "Terminal",
    CLI_OPTION(
        CLI_CHOICE, cli_settings, picture.show, "show", 0, "auto|kitty|blocks",
        "draw the picture on the terminal: by kitty's graphics protocol where the terminal has "
        "it, else in coloured half blocks. Without a value (auto) only if standard output is "
        "a terminal",
        .optional = true, .choices = shows));

const cli_option_group cli_group_source = CLI_GROUP(
    "Pictures in",
    CLI_OPTION(
        CLI_CHOICE, cli_settings, source.fit, "fit", 0, "crop|pad|resize|exact",
        "how a picture whose sides are not multiples of the model's factor (8) gets them: the "
        "middle is used (crop), edge pixels are repeated at right and bottom (pad), it is "
        "scaled and cropped to --size (resize), or it is refused (exact); default: crop",
        .choices = fits),
    CLI_OPTION(CLI_DIMENSIONS, cli_settings, source.size, "size", 's', "WxH",
               "scale and crop to this size; Wx or xH keeps the shape"),
    CLI_SCALING_OPTIONS);

const cli_option_group cli_group_picture = CLI_GROUP(
    "Pictures out",
    CLI_OPTION(CLI_NUMBER, cli_settings, picture.quality, "quality", 0, "N",
               "of jpeg and webp, 1 to 100; default: 95", .min = 1, .max = 100),
    CLI_OPTION(CLI_NUMBER, cli_settings, picture.level, "level", 0, "N",
               "of png: how hard to compress, 1 (fast) to 9 (small); default: 1", .min = 1,
               .max = 9),
    CLI_FLAG_OPTION(cli_settings, picture.lossless, "lossless", 0, "webp without loss"));
