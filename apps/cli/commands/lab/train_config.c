// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See train_config.h.
#include "apps/cli/commands/lab/train_config.h"
#include "apps/cli/session/outputs.h"
#include "apps/cli/terminal/terminal.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

// Pictures to validate by belong to the config's own pictures.
static bool change_data(json_t *config, const char *source)
{
    json_t *data = json_object_get(config, "data");
    if (json_object_set_new(data, "sources", json_pack("[s]", source)) != 0) {
        cli_say("--data: the config has no \"data\" of pictures");
        return false;
    }
    json_object_del(config, "validation");
    json_object_del(config, "validate_every");
    return true;
}

static bool write_config(const json_t *config, const char *path)
{
    FILE *file = fopen(path, "w");
    bool written = file != NULL && json_dumpf(config, file, JSON_INDENT(1)) == 0;
    if (file != NULL) written &= fclose(file) == 0;
    if (!written) cli_say("cannot write '%s': %s", path, strerror(errno));
    return written;
}

static bool change(json_t *config, const cli_settings *settings, char *path, size_t size)
{
    const cli_train_settings *own = cli_train_of(settings);
    if (own->data != NULL && !change_data(config, own->data)) return false;
    if (settings->output != NULL)
        json_object_set_new(config, "output", json_string(settings->output));
    const char *output = json_string_value(json_object_get(config, "output"));
    if (output == NULL) {
        cli_say("--output DIR is missing: the config does not say where results go");
        return false;
    }
    if (snprintf(path, size, "%s/run.json", output) >= (int)size) {
        cli_say("--output: the path is too long");
        return false;
    }
    return cli_make_folders(output) && write_config(config, path);
}

int cli_train_config(const cli_settings *settings, char *path, size_t size)
{
    const char *given = settings->inputs[0];
    if (cli_train_of(settings)->data == NULL && settings->output == NULL) {
        snprintf(path, size, "%s", given);
        return CLI_DONE;
    }
    json_error_t error;
    json_t *config = json_load_file(given, 0, &error);
    if (config == NULL) cli_say("%s: line %d: %s", given, error.line, error.text);
    const bool done = config != NULL && change(config, settings, path, size);
    json_decref(config);
    return done ? CLI_DONE : CLI_USAGE;
}
