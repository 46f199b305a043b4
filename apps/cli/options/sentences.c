// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See sentences.h.
#include "apps/cli/options/sentences.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// No word of the library is the beginning of another.
static const struct word {
    const char *library, *program;
} words[] = {
    {"zenith_model_params.name", "--model NAME"},
    {"zenith_model_params.weights", "--weights PATH"},
    {"zenith_model_name", "'zenith models'"},
    {"zenith_inspect", "'zenith inspect'"},
    {"zenith_judge_params.squeezenet", "'zenith eval --squeezenet'"},
    {"fit crop", "--fit crop"},
    {"fit pad", "--fit pad"},
    {"fit resize", "--fit resize"},
    {"the option first_frame", "--first-frame"},
    {"zenith_prune_params.channels", "--channels"},
    {"zenith_prune_params.blocks", "--blocks"},
    {"zenith_prune_params.frequencies", "--frequencies"},
    {"zenith_prune_params.still", "--still"},
    {"zenith_prune_params.multiple", "--multiple"},
    {"zenith_prune_params.config", "--config"},
    {"zenith_train_params.resume", "--resume"},
    {"zenith_code.weights NULL", "--force"},
    {"zenith_generate_params.guidance", "--guidance"},
    {"zenith_generator_params.folder", "--weights DIR"},
    {"zenith_generator_params.transformer", "--transformer PATH"},
    {"zenith_generator_params.text_encoder", "--text-encoder PATH"},
    {"zenith_generator_params.tokenizer", "--tokenizer PATH"},
    {"zenith_generator_params.autoencoder", "--vae PATH"},
};

// Where a config says what options of other commands do.
static const struct word config_words[] = {{"zenith_model_params.name", "\"model\""},
                                           {"zenith_model_params.weights", "\"weights\""}};

static const struct word *find_word(const struct word *list, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(text, list[i].library, strlen(list[i].library)) == 0) return &list[i];
    return NULL;
}

// Only after a space, a bracket or nothing: a path that has such a word in it stays as it is.
static const struct word *word_at(const char *text, char before, bool config)
{
    const struct word *found = NULL;
    if (before != 0 && before != ' ' && before != '(') return NULL;
    if (config) found = find_word(config_words, sizeof config_words / sizeof config_words[0], text);
    return found != NULL ? found : find_word(words, sizeof words / sizeof words[0], text);
}

static void say(const char *sentence, bool config, char *dst, size_t size)
{
    size_t length = 0;
    char before = 0;
    dst[0] = 0;
    while (*sentence != 0 && length + 1 < size) {
        const struct word *word = word_at(sentence, before, config);
        const char *from = word != NULL ? word->program : sentence;
        int count = word != NULL ? (int)strlen(from) : 1;
        length += (size_t)snprintf(dst + length, size - length, "%.*s", count, from);
        before = from[count - 1];
        sentence += word != NULL ? strlen(word->library) : 1;
    }
}

void cli_say_options(const char *sentence, char *dst, size_t size)
{
    say(sentence, false, dst, size);
}

void cli_say_config(const char *sentence, char *dst, size_t size)
{
    say(sentence, true, dst, size);
}
