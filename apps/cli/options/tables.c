// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Option tables that several commands share.
#include "apps/cli/command.h"
#include "zenith/zenith.h"

#define AT(field) offsetof(cli_settings, field)

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

static const cli_option inputs[] = {
    {.name = "recursive",
     .letter = 'r',
     .help = "of a folder, also take the files in its folders; outputs keep these folders",
     .kind = CLI_FLAG,
     .offset = AT(recursive)},
    {.name = NULL}};
const cli_option_group cli_group_inputs = {"Input", inputs};

static const cli_option output[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "PATH",
     .help = "where the result goes: a file, a folder, or - for standard output. It is a folder if "
             "it ends with '/', exists as one, or the inputs are several or a folder",
     .kind = CLI_TEXT,
     .offset = AT(output)},
    {.name = "no-overwrite",
     .letter = 'n',
     .help = "keep outputs that are there already, and do not compute them again",
     .kind = CLI_FLAG,
     .offset = AT(keep)},
    {.name = NULL}};
const cli_option_group cli_group_output = {"Output", output};

static const cli_option model[] = {
    {.name = "model",
     .letter = 'm',
     .argument = "NAME",
     .help = "which model, such as taesd; 'zenith models' lists them",
     .kind = CLI_TEXT,
     .offset = AT(model)},
    {.name = "weights",
     .letter = 'w',
     .argument = "PATH",
     .help = "folder with NAME_encoder.safetensors and NAME_decoder.safetensors, a folder in "
             "diffusers' layout, or one safetensors file; default: these two files or a folder "
             "NAME, in $ZENITH_MODELS, ./models, ~/.local/share/zenith, or the install prefix's "
             "share/zenith/models",
     .kind = CLI_TEXT,
     .offset = AT(weights)},
    {.name = NULL}};
const cli_option_group cli_group_model = {"Model", model};

// clang-format off
#define THREADS                                                                                    \
    {.name = "threads",                                                                            \
     .letter = 't',                                                                                \
     .argument = "N",                                                                              \
     .help = "threads to compute with; default: the physical cores this process may use, or "      \
             "fewer where its cgroup has a quota of CPU time",                                     \
     .kind = CLI_NUMBER,                                                                           \
     .offset = AT(threads),                                                                        \
     .min = 1,                                                                                     \
     .max = 1024}
#define LOG                                                                                        \
    {.name = "log",                                                                                \
     .help = "show the library's log on standard error",                                           \
     .kind = CLI_FLAG,                                                                             \
     .offset = AT(log)}
#define HELP                                                                                       \
    {.name = "help",                                                                               \
     .letter = 'h',                                                                                \
     .help = "print this text",                                                                    \
     .kind = CLI_FLAG,                                                                             \
     .offset = AT(help)}
// clang-format on

static const cli_option help[] = {HELP, {.name = NULL}};
const cli_option_group cli_group_help = {"Options", help};

static const cli_option threads[] = {THREADS, {.name = NULL}};
const cli_option_group cli_group_threads = {"Computation", threads};

static const cli_option run[] = {
    {.name = "dtype",
     .argument = "f32|bf16|int8",
     .help = "type to compute in; default: bf16 where the CPU has AMX, f32 elsewhere. int8 "
             "needs a calibration",
     .kind = CLI_CHOICE,
     .offset = AT(dtype),
     .choices = cli_choices_dtype},
    THREADS,
    {.name = "max-memory",
     .argument = "SIZE",
     .help = "bound for working memory, weights and buffers together, in bytes or with K, M, G "
             "(powers of 1024). The result has the same bits; default: no bound",
     .kind = CLI_BYTES,
     .offset = AT(max_memory)},
    {.name = "spill",
     .argument = "DIR",
     .help = "folder for a file of what --max-memory has no room for, where that is cheaper than "
             "computing it again. The file has no name and is gone afterwards. The result has the "
             "same bits; default: no file",
     .kind = CLI_TEXT,
     .offset = AT(spill)},
    {.name = "bands",
     .argument = "auto|off|N",
     .help = "rows of the latent computed at a time: chosen by --max-memory (auto), all of them "
             "(off), or N. The result has the same bits; default: auto",
     .kind = CLI_BANDS,
     .offset = AT(bands)},
    {.name = "no-tune",
     .help = "do not measure which of a few plans is the fastest. Else the first eight pictures of "
             "a size are computed by one plan after another, and their times kept in zenith/"
             "plans.json in $XDG_CACHE_HOME or ~/.cache, or in the file that $ZENITH_TUNE names "
             "(empty: none). The result has the same bits",
     .kind = CLI_FLAG,
     .offset = AT(no_tune)},
    {.name = NULL}};
const cli_option_group cli_group_run = {"Computation", run};

static const cli_option networks[] = {
    {.name = "dtype",
     .argument = "f32|bf16|int8",
     .help = "type to compute in; default: bf16 where the CPU has AMX; elsewhere int8 for weights "
             "of 8 or 4 bits, else f32. int8 is the fastest without AMX; the autoencoder computes "
             "in its usual type",
     .kind = CLI_CHOICE,
     .offset = AT(dtype),
     .choices = cli_choices_dtype},
    THREADS,
    {.name = "max-memory",
     .argument = "SIZE",
     .help = "bound for working memory and packed weights, in bytes or with K, M, G (powers of "
             "1024): weights of networks that are not at work go where there is no room for them. "
             "The result has the same bits; default: no bound",
     .kind = CLI_BYTES,
     .offset = AT(max_memory)},
    {.name = "spill",
     .argument = "DIR",
     .help = "folder for a file of what --max-memory has no room for in the decoder. The file has "
             "no name and is gone afterwards. The result has the same bits; default: no file",
     .kind = CLI_TEXT,
     .offset = AT(spill)},
    {.name = NULL}};
const cli_option_group cli_group_networks = {"Computation", networks};

static const cli_option report[] = {
    {.name = "json",
     .help = "print the facts of each input as one JSON object per line on standard output",
     .kind = CLI_FLAG,
     .offset = AT(json)},
    {.name = "quiet",
     .letter = 'q',
     .help = "print results and errors only",
     .kind = CLI_FLAG,
     .offset = AT(quiet)},
    LOG,
    HELP,
    {.name = NULL}};
const cli_option_group cli_group_report = {"Messages", report};

static const cli_option facts[] = {{.name = "json",
                                    .help = "print the facts as one JSON object on standard output",
                                    .kind = CLI_FLAG,
                                    .offset = AT(json)},
                                   LOG,
                                   HELP,
                                   {.name = NULL}};
const cli_option_group cli_group_facts = {"Messages", facts};

static const cli_option show[] = {
    {.name = "show",
     .argument = "auto|kitty|blocks",
     .help =
         "draw the picture on the terminal: by kitty's graphics protocol where the terminal has "
         "it, else in coloured half blocks. Without a value (auto) only if standard output is "
         "a terminal",
     .optional = true,
     .kind = CLI_CHOICE,
     .offset = AT(show),
     .choices = shows},
    {.name = NULL}};
const cli_option_group cli_group_show = {"Terminal", show};

static const cli_option source[] = {
    {.name = "fit",
     .argument = "crop|pad|resize|exact",
     .help = "how a picture whose sides are not multiples of the model's factor (8) gets them: the "
             "middle is used (crop), edge pixels are repeated at right and bottom (pad), it is "
             "scaled and cropped to --size (resize), or it is refused (exact); default: crop",
     .kind = CLI_CHOICE,
     .offset = AT(fit),
     .choices = fits},
    {.name = "size",
     .letter = 's',
     .argument = "WxH",
     .help = "scale and crop to this size; Wx or xH keeps the shape",
     .kind = CLI_DIMENSIONS,
     .offset = AT(size)},
    CLI_SCALING_OPTIONS,
    {.name = NULL}};
const cli_option_group cli_group_source = {"Pictures in", source};

static const cli_option picture[] = {
    {.name = "quality",
     .argument = "N",
     .help = "of jpeg and webp, 1 to 100; default: 95",
     .kind = CLI_NUMBER,
     .offset = AT(quality),
     .min = 1,
     .max = 100},
    {.name = "level",
     .argument = "N",
     .help = "of png: how hard to compress, 1 (fast) to 9 (small); default: 1",
     .kind = CLI_NUMBER,
     .offset = AT(level),
     .min = 1,
     .max = 9},
    {.name = "lossless", .help = "webp without loss", .kind = CLI_FLAG, .offset = AT(lossless)},
    {.name = NULL}};
const cli_option_group cli_group_picture = {"Pictures out", picture};
