// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A sub-command is one const struct: what it is called, what it says about itself, its options,
// and its function. The same tables drive parsing, --help, and whatever prints them elsewhere (man
// pages, completion): nothing about an option is written twice.
#ifndef ZN_CLI_COMMAND_H
#define ZN_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CLI_DONE = 0,
    CLI_SOME_FAILED = 1,
    CLI_USAGE = 2,
    CLI_MODEL = 3,
    CLI_MEMORY = 4,
    CLI_INTERRUPTED = 130
};

enum { CLI_USUAL_PORT = 8188 }; // of zenith serve
enum { CLI_UNSET = -1 };        // of choices where "not given" is not the same as the default

typedef struct cli_dimensions {
    uint32_t width, height; // one of them 0: follows from the picture's shape
} cli_dimensions;

typedef struct cli_band_setting {
    int bands; // zenith_bands
    uint32_t rows;
} cli_band_setting;

enum { CLI_MOST_TEXTS = 16 };
typedef struct cli_texts {
    const char *texts[CLI_MOST_TEXTS];
    size_t count;
} cli_texts;

typedef struct cli_seed {
    bool given;
    uint64_t value;
} cli_seed;

// Values of options that tables of several commands share. A command with options of its own has a
// struct that begins with cli_settings, called `shared` (CLI_SETTINGS).
typedef struct cli_run_settings {
    int dtype, threads;
    uint64_t max_memory;
    const char *spill;
    bool no_tune, tune;
    cli_band_setting bands;
} cli_run_settings;

typedef struct cli_source_settings { // pictures in
    int fit;                         // CLI_UNSET: crop, or resize when there is a size
    cli_dimensions size;
    int filter;
    uint8_t background[3];
    bool first_frame;
} cli_source_settings;

typedef struct cli_picture_settings { // pictures out
    const char *format;
    int quality, level;
    bool lossless;
    int show; // cli_show
} cli_picture_settings;

typedef struct cli_sampling_settings {
    cli_seed seed;
    int steps, count; // 0: the usual ones
    const char *previews;
} cli_sampling_settings;

typedef struct cli_settings {
    const char **inputs; // patterns and folders already replaced by what they stand for
    size_t input_count;
    char **expanded;    // owns the names that came from patterns and folders; ends with NULL
    size_t *named_from; // for each input, where the part of its path begins that its output keeps
    bool from_folder;   // an input was a folder
    bool recursive;     // take folders inside folders
    const char *output;
    bool keep; // outputs that are there
    const char *model, *weights;
    bool json, quiet, log, help;
    bool side_by_side; // pictures are computed at once, each on one thread
    cli_run_settings run;
    cli_source_settings source;
    cli_picture_settings picture;
    cli_sampling_settings sampling;
} cli_settings;

#define CLI_SHARED_DEFAULTS                                                                        \
    {                                                                                              \
        .source = {.fit = CLI_UNSET, .background = {255, 255, 255} }                               \
    }

// How --show draws a picture on the terminal.
typedef enum cli_show { CLI_SHOW_NOT = 0, CLI_SHOW_AUTO, CLI_SHOW_KITTY, CLI_SHOW_BLOCKS } cli_show;

typedef enum cli_option_kind {
    CLI_FLAG,       // bool
    CLI_TEXT,       // const char *
    CLI_TEXTS,      // cli_texts, of an option that can be given again
    CLI_INPUT,      // one more input
    CLI_WORD,       // const char *, one of the choices
    CLI_CHOICE,     // int, the value of one of the choices
    CLI_NUMBER,     // int, min .. max
    CLI_SHARE,      // double, between 0 and 1
    CLI_DECIMAL,    // double, min .. max
    CLI_SEED,       // cli_seed
    CLI_BYTES,      // uint64_t, with K, M, G
    CLI_DIMENSIONS, // cli_dimensions
    CLI_COLOUR,     // uint8_t[3]
    CLI_BANDS       // cli_band_setting
} cli_option_kind;

typedef struct cli_choice {
    const char *word;
    int value;
} cli_choice;

typedef struct cli_option {
    const char *name;     // without the dashes
    char letter;          // 0: none
    const char *argument; // as --help shows it; NULL for flags
    const char *help;     // NULL: not shown
    bool optional;        // of a choice: without =VALUE it is the first one
    cli_option_kind kind;
    size_t offset;             // into the command's settings
    const cli_choice *choices; // ends with a NULL word
    int min, max;
} cli_option;

// FIELD: of the struct TYPE. The last arguments are the help, and what else the kind needs.
#define CLI_OPTION(KIND, TYPE, FIELD, NAME, LETTER, ARGUMENT, ...)                                 \
    {                                                                                              \
        .kind = KIND, .offset = offsetof(TYPE, FIELD), .name = NAME, .letter = LETTER,             \
        .argument = ARGUMENT, .help = __VA_ARGS__                                                  \
    }
#define CLI_FLAG_OPTION(TYPE, FIELD, NAME, LETTER, ...)                                            \
    CLI_OPTION(CLI_FLAG, TYPE, FIELD, NAME, LETTER, NULL, __VA_ARGS__)

typedef struct cli_option_group {
    const char *title;
    const cli_option *options; // ends with a NULL name
} cli_option_group;

#define CLI_GROUP(TITLE, ...)                                                                      \
    {                                                                                              \
        TITLE, (const cli_option[])                                                                \
        {                                                                                          \
            __VA_ARGS__,                                                                           \
            {                                                                                      \
                .name = NULL                                                                       \
            }                                                                                      \
        }                                                                                          \
    }

typedef struct cli_example {
    const char *command;
    const char *what;
} cli_example;

// What arguments that are not options are, for completion.
typedef enum cli_takes {
    CLI_TAKES_FILES = 0,
    CLI_TAKES_PUBLISHED,
    CLI_TAKES_COMMANDS,
    CLI_TAKES_WORDS // whatever a person writes
} cli_takes;

typedef struct cli_command {
    const char *name;                      // of a command of a command both: "diffae encode"
    const char *arguments;                 // of the usage line, after the name
    const char *summary;                   // one line for the list of commands
    const char *description;               // paragraphs separated by "\n"
    const cli_option_group *const *groups; // ends with NULL
    const cli_example *examples;           // ends with a NULL command
    size_t min_inputs, max_inputs;         // of arguments that are not options
    cli_takes takes;
    const char *endings;                       // of files taken from a folder; NULL: none are
    const struct cli_command *const *commands; // its own, which ends with NULL; NULL: it has none
    size_t size;                               // of its settings; 0: cli_settings alone
    const cli_settings *defaults;              // NULL: CLI_SHARED_DEFAULTS
    // Returns the exit code. NULL: it has commands of its own, which are listed where none is
    // named.
    int (*run)(const cli_settings *settings);
} cli_command;

// For the table of a command.
#define CLI_GROUPS(...)                                                                            \
    (const cli_option_group *const[])                                                              \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
// That its settings are a TYPE; and values of its own that are not 0 where they are not given.
#define CLI_SETTINGS(TYPE)                                                                         \
    .size = sizeof(TYPE), .defaults = &(const TYPE){.shared = CLI_SHARED_DEFAULTS}.shared
#define CLI_SETTINGS_WITH(TYPE, ...)                                                               \
    .size = sizeof(TYPE),                                                                          \
    .defaults = &(const TYPE){.shared = CLI_SHARED_DEFAULTS, __VA_ARGS__}.shared

extern const cli_command *const cli_commands[]; // ends with NULL
// By the words that name it, of which a command of a command has two; *used of them are taken. NULL
// after a message. A command with others of its own is found where no second word is there.
const cli_command *cli_command_find(const char *const *words, size_t count, size_t *used);
// The last word of its name.
const char *cli_command_word(const cli_command *command);

extern const cli_command cli_command_encode, cli_command_decode, cli_command_reconstruct,
    cli_command_inspect, cli_command_calibrate, cli_command_models, cli_command_pull,
    cli_command_convert, cli_command_train, cli_command_prune, cli_command_eval, cli_command_bench,
    cli_command_doctor, cli_command_generate, cli_command_diffae, cli_command_tokenizer,
    cli_command_dataset, cli_command_serve, cli_command_help;
extern const cli_command cli_diffae_encode, cli_diffae_decode, cli_diffae_edit,
    cli_diffae_interpolate, cli_diffae_sample, cli_diffae_features, cli_diffae_classify,
    cli_diffae_join;
extern const cli_command cli_tokenizer_train;
extern const cli_command cli_dataset_encode, cli_dataset_retry, cli_dataset_verify,
    cli_dataset_status, cli_dataset_stats, cli_dataset_publish;

// Groups that several commands share.
extern const cli_option_group cli_group_help;     // -h alone
extern const cli_option_group cli_group_inputs;   // which files
extern const cli_option_group cli_group_output;   // -o
extern const cli_option_group cli_group_model;    // which model, and where it lies
extern const cli_option_group cli_group_run;      // how it is computed
extern const cli_option_group cli_group_networks; // how several networks are
extern const cli_option_group cli_group_threads;  // only on how many threads
extern const cli_option_group cli_group_report;   // what is printed of inputs
extern const cli_option_group cli_group_facts;    // what is printed of one thing
extern const cli_option_group cli_group_show;     // on the terminal
extern const cli_option_group cli_group_source;   // how pictures are read
extern const cli_option_group cli_group_picture;  // how pictures are written

extern const cli_choice cli_choices_space[], cli_choices_store[], cli_choices_dtype[],
    cli_choices_filter[], cli_choices_picture[];

// Options that stand in tables of several commands.
// clang-format off
#define CLI_SCALING_OPTIONS                                                                        \
    CLI_OPTION(CLI_CHOICE, cli_settings, source.filter, "filter", 0, "lanczos|bicubic",            \
               "how to scale; default: lanczos", .choices = cli_choices_filter),                   \
    CLI_OPTION(CLI_COLOUR, cli_settings, source.background, "background", 0, "RRGGBB",             \
               "colour under transparent pixels; default: FFFFFF"),                                \
    CLI_FLAG_OPTION(cli_settings, source.first_frame, "first-frame", 0,                            \
                    "take the first frame of an animation, which is refused otherwise")
#define CLI_PICTURE_FORMAT_OF(text)                                                                \
    CLI_OPTION(CLI_WORD, cli_settings, picture.format, "format", 'f', "png|jpeg|webp|ppm", (text), \
               .choices = cli_choices_picture)
#define CLI_PICTURE_FORMAT \
    CLI_PICTURE_FORMAT_OF("of the picture; default: by the ending of -o, else png")
// clang-format on

// Endings of files, with a space after each.
#define CLI_ENDINGS_PICTURE ".jpg .jpeg .png .webp .ppm .pgm .pnm "
#define CLI_ENDINGS_LATENT  ".safetensors .latent .npy "

#endif
