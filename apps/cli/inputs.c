// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See inputs.h.
#include "apps/cli/inputs.h"
#include "apps/cli/terminal.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

struct names {
    char **list; // ends with NULL
    size_t count, room;
};

// Takes the name over.
static bool add_name(struct names *names, char *name)
{
    if (name == NULL) return false;
    if (names->count + 1 >= names->room) {
        size_t room = names->room * 2 + 16;
        char **larger = realloc(names->list, room * sizeof *larger);
        if (larger == NULL) {
            free(name);
            return false;
        }
        names->list = larger;
        names->room = room;
    }
    names->list[names->count++] = name;
    names->list[names->count] = NULL;
    return true;
}

static bool has_ending(const char *name, const char *endings)
{
    const char *dot = strrchr(name, '.');
    if (dot == NULL || dot == name) return false;
    size_t length = strlen(dot);
    for (; *endings != 0; endings += strcspn(endings, " ") + 1)
        if (strcspn(endings, " ") == length && strncasecmp(endings, dot, length) == 0) return true;
    return false;
}

static bool is_kind(const char *path, mode_t kind)
{
    struct stat facts;
    return stat(path, &facts) == 0 && (facts.st_mode & S_IFMT) == kind;
}

static int no_memory(void)
{
    cli_say("out of memory");
    return CLI_MEMORY;
}

static int nothing_in(const char *input, const char *endings)
{
    cli_say("'%s' stands for no file; of a folder those are taken that end with %.*s", input,
            (int)strlen(endings) - 1, endings);
    return CLI_USAGE;
}

static int add_folder(struct names *names, const char *folder, const char *endings)
{
    struct dirent **entries = NULL;
    size_t length = strlen(folder);
    bool room = true;
    int count = scandir(folder, &entries, NULL, alphasort);
    if (count < 0) {
        cli_say("cannot read the folder '%s': %s", folder, strerror(errno));
        return CLI_USAGE;
    }
    for (int i = 0; i < count; i++) {
        char *path = NULL;
        const char *slash = length > 0 && folder[length - 1] == '/' ? "" : "/";
        bool wanted = room && entries[i]->d_name[0] != '.' &&
                      has_ending(entries[i]->d_name, endings);
        if (wanted && asprintf(&path, "%s%s%s", folder, slash, entries[i]->d_name) < 0) {
            path = NULL;
            room = false;
        }
        if (path != NULL && is_kind(path, S_IFREG))
            room = add_name(names, path);
        else
            free(path);
        free(entries[i]);
    }
    free(entries);
    return room ? CLI_DONE : no_memory();
}

static int add_pattern(struct names *names, const char *pattern, const char *endings)
{
    glob_t found = {0};
    int code = CLI_DONE, result = glob(pattern, 0, NULL, &found);
    if (result == GLOB_NOSPACE) code = no_memory();
    for (size_t i = 0; code == CLI_DONE && i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i];
        if (is_kind(path, S_IFDIR))
            code = add_folder(names, path, endings);
        else if (!add_name(names, strdup(path)))
            code = no_memory();
    }
    globfree(&found);
    return code;
}

static int add_input(struct names *names, const char *input, const char *endings)
{
    struct stat facts;
    size_t before = names->count;
    bool folder = is_kind(input, S_IFDIR);
    if (!folder && (strpbrk(input, "*?[") == NULL || stat(input, &facts) == 0))
        return add_name(names, strdup(input)) ? CLI_DONE : no_memory();
    int code = folder ? add_folder(names, input, endings) : add_pattern(names, input, endings);
    return code == CLI_DONE && names->count == before ? nothing_in(input, endings) : code;
}

int cli_inputs_expand(const cli_command *command, cli_settings *settings)
{
    struct names names = {0};
    int code = CLI_DONE;
    if (command->endings == NULL) return CLI_DONE;
    for (size_t i = 0; i < settings->input_count && code == CLI_DONE; i++)
        code = add_input(&names, settings->inputs[i], command->endings);
    settings->expanded = names.list; // freed with the settings, whatever the code
    if (code != CLI_DONE) return code;
    const char **inputs = realloc(settings->inputs, (names.count + 1) * sizeof *inputs);
    if (inputs == NULL) return no_memory();
    for (size_t i = 0; i < names.count; i++) inputs[i] = names.list[i];
    settings->inputs = inputs;
    settings->input_count = names.count;
    return CLI_DONE;
}
