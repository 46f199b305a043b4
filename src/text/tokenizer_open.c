// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Tokenizers by path: which files are there decides how they are read.
#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/text.h"
#include "src/text/tokenizer.h"

#include <string.h>

enum { PATH_MOST = 4096 };

static zn_bytes content_of(const zn_mapped *file)
{
    return (zn_bytes){file->size ? (const char *)file->data : "", file->size};
}

static zenith_status join(char path[PATH_MOST], const char *folder, const char *name, zn_error *err)
{
    if (strlen(folder) + strlen(name) + 2 > PATH_MOST)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "a path of more than %d bytes", PATH_MOST);
    zn_text_format(path, PATH_MOST, "%s/%s", folder, name);
    return ZENITH_OK;
}

typedef zenith_status parse_fn(zn_bytes file, const char *where, zn_tokenizer **out, zn_error *err);

static zenith_status open_file(const char *path, parse_fn *parse, zn_tokenizer **out, zn_error *err)
{
    zn_mapped file = {0};
    ZN_TRY(zn_mapped_open(path, &file, err));
    zenith_status status = parse(content_of(&file), path, out, err);
    zn_mapped_close(&file);
    return status;
}

static zenith_status open_merges(const char *folder, const char *vocabulary, zn_tokenizer **out,
                                 zn_error *err)
{
    char merges[PATH_MOST], config[PATH_MOST];
    zn_mapped files[3] = {{0}};
    zenith_status status;
    ZN_GO(join(merges, folder, "merges.txt", err));
    ZN_GO(join(config, folder, "tokenizer_config.json", err));
    ZN_GO(zn_mapped_open(vocabulary, &files[0], err));
    ZN_GO(zn_mapped_open(merges, &files[1], err));
    if (zn_path_is_file(config)) ZN_GO(zn_mapped_open(config, &files[2], err));
    status = zn_tokenizer_parse_merges(content_of(&files[0]), content_of(&files[1]),
                                       content_of(&files[2]), folder, out, err);
fail:
    for (int i = 0; i < 3; i++) zn_mapped_close(&files[i]);
    return status;
}

static zenith_status open_folder(const char *folder, zn_tokenizer **out, zn_error *err)
{
    char path[PATH_MOST];
    ZN_TRY(join(path, folder, "tokenizer.json", err));
    if (zn_path_is_file(path)) return open_file(path, zn_tokenizer_parse_json, out, err);
    ZN_TRY(join(path, folder, "vocab.json", err));
    if (zn_path_is_file(path)) return open_merges(folder, path, out, err);
    ZN_TRY(join(path, folder, "qwen.tiktoken", err));
    if (zn_path_is_file(path)) return open_file(path, zn_tokenizer_parse_tiktoken, out, err);
    return zn_fail(err, ZENITH_NOT_FOUND,
                   "%s: no tokenizer.json, no vocab.json with merges.txt, no qwen.tiktoken",
                   folder);
}

// vocab.json is read with the files beside it.
static zenith_status open_beside(const char *path, zn_tokenizer **out, zn_error *err)
{
    char folder[PATH_MOST];
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) : 0;
    if (length >= PATH_MOST)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "a path of more than %d bytes", PATH_MOST);
    memcpy(folder, path, length);
    folder[length] = '\0';
    return open_merges(slash ? (length ? folder : "/") : ".", path, out, err);
}

static zenith_status open_gguf(const char *path, zn_tokenizer **out, zn_error *err)
{
    zn_gguf *file = NULL;
    ZN_TRY(zn_gguf_open(path, &file, err));
    zenith_status status = zn_tokenizer_from_gguf(file, path, out, err);
    zn_gguf_free(file);
    return status;
}

zenith_status zn_tokenizer_open(const char *path, zn_tokenizer **out, zn_error *err)
{
    if (zn_path_is_directory(path)) return open_folder(path, out, err);
    if (zn_text_ends_with(path, ".tiktoken"))
        return open_file(path, zn_tokenizer_parse_tiktoken, out, err);
    if (zn_text_ends_with(path, "vocab.json")) return open_beside(path, out, err);
    if (zn_text_ends_with(path, ".json")) return open_file(path, zn_tokenizer_parse_json, out, err);
    if (zn_text_ends_with(path, ".gguf")) return open_gguf(path, out, err);
    return zn_fail(err, ZENITH_UNSUPPORTED,
                   "%s: a tokenizer is a folder, a *.json, *.tiktoken or *.gguf file", path);
}
