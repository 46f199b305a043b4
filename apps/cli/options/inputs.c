// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See inputs.h.
#include "apps/cli/options/inputs.h"
#include "apps/cli/terminal/terminal.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

struct names {
    char **list;  // ends with NULL
    size_t *from; // for each, where the part of its path begins that its output keeps
    size_t count, room;
    bool recursive, folder; // folder: one of the inputs was one
};

static bool grow(struct names *names)
{
    size_t room = names->room * 2 + 16;
    char **list = realloc(names->list, room * sizeof *list);
    if (list == NULL) return false;
    names->list = list;
    list[names->count] = NULL;
    size_t *from = realloc(names->from, room * sizeof *from);
    if (from == NULL) return false;
    names->from = from;
    names->room = room;
    return true;
}

// Takes the name over.
static bool add_name(struct names *names, char *name, size_t from)
{
    if (name == NULL || (names->count + 1 >= names->room && !grow(names))) {
        free(name);
        return false;
    }
    names->from[names->count] = from;
    names->list[names->count++] = name;
    names->list[names->count] = NULL;
    return true;
}

static bool add_file(struct names *names, const char *path)
{
    const char *slash = strrchr(path, '/');
    return add_name(names, strdup(path), slash != NULL ? (size_t)(slash + 1 - path) : 0);
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

static int nothing_in(const struct names *names, const char *input, const char *endings)
{
    if (is_kind(input, S_IFDIR))
        cli_say("the folder '%s' has no files that end with %.*s%s", input,
                (int)strlen(endings) - 1, endings,
                names->recursive ? "" : "; --recursive looks in its folders too");
    else
        cli_say("the pattern '%s' matches nothing", input);
    return CLI_USAGE;
}

static int add_folder(struct names *names, const char *folder, size_t from, const char *endings);

// One entry of a folder: a file that is wanted, or, with --recursive, a folder. Takes the path
// over.
static int add_entry(struct names *names, char *path, size_t from, const char *endings)
{
    int code = CLI_DONE;
    if (is_kind(path, S_IFREG) && has_ending(path, endings))
        return add_name(names, path, from) ? CLI_DONE : no_memory();
    if (names->recursive && is_kind(path, S_IFDIR)) code = add_folder(names, path, from, endings);
    free(path);
    return code;
}

// from: letters of `folder` that outputs leave out of their names; 0: all of it.
static int add_folder(struct names *names, const char *folder, size_t from, const char *endings)
{
    struct dirent **entries = NULL;
    size_t length = strlen(folder);
    const char *slash = length > 0 && folder[length - 1] == '/' ? "" : "/";
    int code = CLI_DONE, count = scandir(folder, &entries, NULL, alphasort);
    if (count < 0) {
        cli_say("cannot read the folder '%s': %s", folder, strerror(errno));
        return CLI_USAGE;
    }
    if (from == 0) from = length + strlen(slash);
    for (int i = 0; i < count; i++) {
        char *path = NULL;
        bool hidden = entries[i]->d_name[0] == '.';
        if (code == CLI_DONE && !hidden) {
            code = asprintf(&path, "%s%s%s", folder, slash, entries[i]->d_name) < 0
                       ? no_memory()
                       : add_entry(names, path, from, endings);
        }
        free(entries[i]);
    }
    free(entries);
    return code;
}

static int add_pattern(struct names *names, const char *pattern, const char *endings)
{
    glob_t found = {0};
    int code = CLI_DONE, result = glob(pattern, 0, NULL, &found);
    if (result == GLOB_NOSPACE) code = no_memory();
    for (size_t i = 0; code == CLI_DONE && i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i];
        if (is_kind(path, S_IFDIR))
            code = add_folder(names, path, 0, endings);
        else if (!add_file(names, path))
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
    names->folder = names->folder || folder;
    if (!folder && (strpbrk(input, "*?[") == NULL || stat(input, &facts) == 0))
        return add_file(names, input) ? CLI_DONE : no_memory();
    int code = folder ? add_folder(names, input, 0, endings) : add_pattern(names, input, endings);
    return code == CLI_DONE && names->count == before ? nothing_in(names, input, endings) : code;
}

int cli_inputs_expand(const cli_command *command, cli_settings *settings)
{
    struct names names = {.recursive = settings->recursive};
    int code = CLI_DONE;
    if (command->endings == NULL) return CLI_DONE;
    for (size_t i = 0; i < settings->input_count && code == CLI_DONE; i++)
        code = add_input(&names, settings->inputs[i], command->endings);
    settings->expanded = names.list; // freed with the settings, whatever the code
    settings->named_from = names.from;
    settings->from_folder = names.folder;
    if (code != CLI_DONE) return code;
    const char **inputs = realloc(settings->inputs, (names.count + 1) * sizeof *inputs);
    if (inputs == NULL) return no_memory();
    for (size_t i = 0; i < names.count; i++) inputs[i] = names.list[i];
    settings->inputs = inputs;
    settings->input_count = names.count;
    return CLI_DONE;
}
