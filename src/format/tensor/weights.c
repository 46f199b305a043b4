// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A set of weights is an array of the tensors' descriptions, copied from the open files and sorted
// by name, so that finding one is a binary search whatever the number of shards. A source is an
// open file of either kind; what they answer alike is asked by the functions named source_*.
#include "src/format/tensor/weights.h"

#include "src/base/directory.h"
#include "src/base/memory.h"
#include "src/base/sha256.h"
#include "src/base/text.h"
#include "src/format/tensor/stored_weight.h"
#include "src/format/tensor/weights_index.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_SHOWN = 100, NAME_SIZE = 512, MAX_FILES = 4096 };
#define INDEX_TAIL ".safetensors.index.json"
#define FILE_TAIL  ".safetensors"
#define GGUF_TAIL  ".gguf"
#define NOTES_KEY  "_quantization_metadata"

typedef struct member {
    zn_file_tensor tensor; // first, so that what get returns is a member
    const char *own;       // its name in the file, without a prefix
    size_t file;
} member;

typedef struct source {
    const char *path;
    const zn_memory_file *memory; // while it is opened; NULL: a file on disk
    zn_safetensors *file;         // NULL where it is
    zn_gguf *gguf;                // a GGUF file
    zn_json *notes;               // on how modules are quantised, from the file's metadata; or NULL
} source;

struct zn_weights {
    zn_arena arena; // paths and names with a prefix
    source *sources;
    size_t source_count, source_capacity;
    member *members; // sorted by name once open
    size_t count, capacity;
    zn_json *config;
};

// --- one file

static zenith_status source_open(source *from, zn_error *err)
{
    const zn_memory_file *memory = from->memory;
    from->memory = NULL;
    const bool gguf = zn_text_ends_with_nocase(from->path, GGUF_TAIL);
    if (!memory)
        return gguf ? zn_gguf_open(from->path, &from->gguf, err)
                    : zn_safetensors_open(from->path, &from->file, err);
    return gguf ? zn_gguf_open_memory(memory->data, memory->size, from->path, &from->gguf, err)
                : zn_safetensors_open_memory(memory->data, memory->size, from->path, &from->file,
                                             err);
}

// The notes are one JSON text in the metadata.
static zenith_status source_read_notes(source *from, zn_error *err)
{
    const char *text = from->file ? zn_safetensors_metadata(from->file, NOTES_KEY) : NULL;
    if (!text) return ZENITH_OK;
    return zn_json_parse(text, strlen(text), from->path, &from->notes, err);
}

static void source_close(source *from)
{
    zn_safetensors_free(from->file);
    zn_gguf_free(from->gguf);
    zn_json_free(from->notes);
}

static size_t source_count(const source *from)
{
    return from->gguf ? zn_gguf_count(from->gguf) : zn_safetensors_count(from->file);
}

static const zn_file_tensor *source_get(const source *from, size_t index)
{
    return from->gguf ? zn_gguf_get(from->gguf, index) : zn_safetensors_get(from->file, index);
}

static const char *source_metadata(const source *from, const char *key)
{
    if (!from->gguf) return zn_safetensors_metadata(from->file, key);
    const zn_gguf_value *value = zn_gguf_value_find(from->gguf, key);
    return value ? value->text : NULL;
}

static void source_forget(const source *from)
{
    if (from->gguf)
        zn_gguf_forget(from->gguf);
    else
        zn_safetensors_forget(from->file);
}

// --- collecting

// folder (its first `length` bytes) + "/" + name, in the arena; just name when length is 0.
static zenith_status join(zn_weights *weights, const char *folder, size_t length, const char *name,
                          const char **out, zn_error *err)
{
    size_t bytes = length + strlen(name) + 2;
    char *path = zn_arena_alloc(&weights->arena, bytes);
    if (!path) return zn_fail_memory(err, bytes);
    bool slash = length > 0 && folder[length - 1] != '/';
    zn_text_format(path, bytes, "%.*s%s%s", (int)length, folder, slash ? "/" : "", name);
    *out = path;
    return ZENITH_OK;
}

static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

// memory: the bytes of `path`; NULL: they are on disk.
static zenith_status add_source(zn_weights *weights, const char *path, const zn_memory_file *memory,
                                zn_error *err)
{
    if (weights->source_count >= MAX_FILES)
        return zn_fail(err, ZENITH_BAD_FILE, "%s: more than %d files of weights", path, MAX_FILES);
    void *array = weights->sources;
    ZN_TRY(zn_array_reserve(&array, &weights->source_capacity, weights->source_count + 1,
                            sizeof(source), err));
    weights->sources = array;
    source *entry = &weights->sources[weights->source_count];
    entry->memory = memory;
    entry->path = zn_arena_text(&weights->arena, path);
    if (!entry->path) return zn_fail_memory(err, strlen(path) + 1);
    ZN_TRY(source_open(entry, err));
    weights->source_count++;
    return source_read_notes(entry, err);
}

// Adds a tensor of the newest source, with a prefix before its name.
static zenith_status add_member(zn_weights *weights, const zn_file_tensor *tensor,
                                const char *prefix, zn_error *err)
{
    void *array = weights->members;
    ZN_TRY(zn_array_reserve(&array, &weights->capacity, weights->count + 1, sizeof(member), err));
    weights->members = array;
    member *entry = &weights->members[weights->count];
    entry->tensor = *tensor;
    entry->own = tensor->name;
    entry->file = weights->source_count - 1;
    if (*prefix) {
        size_t bytes = strlen(prefix) + strlen(tensor->name) + 1;
        char *longer = zn_arena_alloc(&weights->arena, bytes);
        if (!longer) return zn_fail_memory(err, bytes);
        zn_text_format(longer, bytes, "%s%s", prefix, tensor->name);
        entry->tensor.name = longer;
    }
    weights->count++;
    return ZENITH_OK;
}

// A whole file.
static zenith_status add_file(zn_weights *weights, const char *path, const zn_memory_file *memory,
                              const char *prefix, zn_error *err)
{
    ZN_TRY(add_source(weights, path, memory, err));
    const source from = weights->sources[weights->source_count - 1];
    for (size_t i = 0; i < source_count(&from); i++)
        ZN_TRY(add_member(weights, source_get(&from, i), prefix, err));
    return ZENITH_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const member *)a)->tensor.name, ((const member *)b)->tensor.name);
}

static zenith_status sort_members(zn_weights *weights, zn_error *err)
{
    if (weights->count) qsort(weights->members, weights->count, sizeof(member), by_name);
    for (size_t i = 1; i < weights->count; i++) {
        const member *last = &weights->members[i - 1], *next = &weights->members[i];
        if (by_name(last, next) == 0)
            return zn_fail(err, ZENITH_BAD_FILE, "the tensor \"%.*s\" is in both %s and %s",
                           NAME_SHOWN, next->tensor.name, weights->sources[last->file].path,
                           weights->sources[next->file].path);
    }
    return ZENITH_OK;
}

// --- shards

static zenith_status add_shards(zn_weights *weights, const char *index, const char *prefix,
                                const zn_index_entry *entry, size_t count, zn_error *err)
{
    const char *shard = "";
    for (size_t i = 0; i < count; i++) {
        if (strcmp(shard, entry[i].shard) != 0) { // entries are sorted by shard
            shard = entry[i].shard;
            const char *path = NULL;
            ZN_TRY(join(weights, index, folder_length(index), shard, &path, err));
            ZN_TRY(add_source(weights, path, NULL, err));
        }
        const source *from = &weights->sources[weights->source_count - 1];
        const zn_file_tensor *tensor = zn_safetensors_find(from->file, entry[i].tensor);
        if (!tensor)
            return zn_fail(err, ZENITH_BAD_FILE, "%s has no tensor \"%.*s\", which %s puts there",
                           from->path, NAME_SHOWN, entry[i].tensor, index);
        ZN_TRY(add_member(weights, tensor, prefix, err));
    }
    return ZENITH_OK;
}

// Reads config.json from the folder (its first `length` bytes) if there is one; of several folders,
// the first one's stays.
static zenith_status read_config(zn_weights *weights, const char *folder, size_t length,
                                 zn_error *err)
{
    const char *path = NULL;
    ZN_TRY(join(weights, folder, length, "config.json", &path, err));
    if (weights->config || !zn_path_is_file(path)) return ZENITH_OK;
    ZN_TRY(zn_json_open(path, &weights->config, err));
    if (!zn_json_is_object(weights->config))
        return zn_fail(err, ZENITH_BAD_FILE, "%s: not a JSON object", path);
    return ZENITH_OK;
}

static zenith_status open_index(zn_weights *weights, const char *path, const char *prefix,
                                zn_error *err)
{
    zn_mapped file = {0};
    zn_index_entry *entries = NULL;
    size_t count = 0;
    ZN_TRY(zn_mapped_open(path, &file, err));
    zenith_status status = zn_weights_index_parse((const char *)file.data, file.size, path,
                                                  &weights->arena, &entries, &count, err);
    zn_mapped_close(&file);
    ZN_TRY(status);
    ZN_TRY(add_shards(weights, path, prefix, entries, count, err));
    return read_config(weights, path, folder_length(path), err);
}

// --- folders

// What a folder holds, by the tails of names.
typedef struct folder_scan {
    zn_weights *weights;
    const char *folder;
    const char *index, *file; // the last one seen
    size_t indexes, files, pickles;
    zn_error *err;
} folder_scan;

static bool is_pickle(const char *name)
{
    static const char *const tails[] = {".pth", ".ckpt", ".pt", ".bin"};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
        if (zn_text_ends_with_nocase(name, tails[i])) return true;
    return false;
}

static zenith_status scan_entry(void *cookie, const char *name)
{
    folder_scan *scan = cookie;
    const char **found = NULL;
    if (zn_text_ends_with(name, INDEX_TAIL)) {
        scan->indexes++;
        found = &scan->index;
    } else if (zn_text_ends_with(name, FILE_TAIL) || zn_text_ends_with_nocase(name, GGUF_TAIL)) {
        scan->files++;
        found = &scan->file;
    } else if (is_pickle(name)) {
        scan->pickles++;
    }
    if (!found) return ZENITH_OK;
    return join(scan->weights, scan->folder, strlen(scan->folder), name, found, scan->err);
}

// Looks for the names that everybody uses; *out stays NULL when there are none.
static zenith_status find_usual(zn_weights *weights, const char *folder, const char **out,
                                zn_error *err)
{
    static const char *const usual[] = {"diffusion_pytorch_model" INDEX_TAIL, "model" INDEX_TAIL,
                                        "diffusion_pytorch_model" FILE_TAIL, "model" FILE_TAIL};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        const char *path = NULL;
        ZN_TRY(join(weights, folder, strlen(folder), usual[i], &path, err));
        if (zn_path_is_file(path)) {
            *out = path;
            return ZENITH_OK;
        }
    }
    return ZENITH_OK;
}

static zenith_status find_only(zn_weights *weights, const char *folder, const char **out,
                               zn_error *err)
{
    folder_scan scan = {.weights = weights, .folder = folder, .err = err};
    ZN_TRY(zn_directory_each(folder, scan_entry, &scan, err));
    if (scan.indexes > 1 || (scan.indexes == 0 && scan.files > 1))
        return zn_fail(err, ZENITH_AMBIGUOUS,
                       "%s holds several files of weights; give the path of the one you mean",
                       folder);
    *out = scan.indexes ? scan.index : scan.file;
    if (*out) return ZENITH_OK;
    if (scan.pickles)
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "%s holds weights only as Python pickles, which are not read because they "
                       "can run code; run tools/convert.py IN OUT.safetensors on them",
                       folder);
    return zn_fail(err, ZENITH_NOT_FOUND, "%s holds no .safetensors or .gguf file", folder);
}

static zenith_status open_folder(zn_weights *weights, const char *folder, const char *prefix,
                                 zn_error *err)
{
    const char *path = NULL;
    ZN_TRY(find_usual(weights, folder, &path, err));
    if (!path) ZN_TRY(find_only(weights, folder, &path, err));
    if (zn_text_ends_with(path, INDEX_TAIL)) return open_index(weights, path, prefix, err);
    ZN_TRY(add_file(weights, path, NULL, prefix, err));
    return read_config(weights, folder, strlen(folder), err);
}

// --- opening

static zenith_status refuse_format(const char *path, zn_error *err)
{
    if (is_pickle(path))
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "%s: Python pickles are not read because they can run code; run "
                       "tools/convert.py IN OUT.safetensors first",
                       path);
    return ZENITH_OK;
}

static zenith_status open_path(zn_weights *weights, const char *path, const char *prefix,
                               zn_error *err)
{
    if (zn_path_is_directory(path)) return open_folder(weights, path, prefix, err);
    ZN_TRY(refuse_format(path, err));
    if (zn_text_ends_with(path, ".index.json")) return open_index(weights, path, prefix, err);
    return add_file(weights, path, NULL, prefix, err);
}

static zenith_status take_object(zn_weights *weights, const char *text, size_t size,
                                 const char *path, zn_error *err)
{
    ZN_TRY(zn_json_parse(text, size, path, &weights->config, err));
    if (zn_json_is_object(weights->config)) return ZENITH_OK;
    return zn_fail(err, ZENITH_BAD_FILE, "%s: not a JSON object", path);
}

static zenith_status open_memory(zn_weights *weights, const zn_memory_file *file,
                                 const char *prefix, zn_error *err)
{
    const char *slash = strrchr(file->name, '/');
    const char *name = slash ? slash + 1 : file->name;
    if (zn_text_ends_with(name, ".index.json")) return ZENITH_OK;
    if (strcmp(name, "config.json") == 0)
        return weights->config
                   ? ZENITH_OK
                   : take_object(weights, (const char *)file->data, file->size, name, err);
    ZN_TRY(refuse_format(name, err));
    return add_file(weights, name, file, prefix, err);
}

// The text of config.json that a file carries.
static zenith_status take_config(zn_weights *weights, zn_error *err)
{
    const char *text = zn_weights_metadata(weights, ZN_WEIGHTS_CONFIG);
    if (weights->config || !text) return ZENITH_OK;
    return take_object(weights, text, strlen(text), ZN_WEIGHTS_CONFIG, err);
}

zenith_status zn_weights_open(const char *path, zn_weights **out, zn_error *err)
{
    return zn_weights_open_parts(&path, NULL, 1, out, err);
}

// From paths, or from files in memory where those are NULL.
static zenith_status open_set(const char *const *paths, const zn_memory_file *files,
                              const char *const *prefixes, size_t count, zn_weights **out,
                              zn_error *err)
{
    zenith_status status;
    zn_weights *weights = zn_alloc_zero(sizeof *weights);
    if (!weights) return zn_fail_memory(err, sizeof *weights);
    for (size_t i = 0; i < count; i++) {
        const char *prefix = prefixes ? prefixes[i] : "";
        ZN_GO(paths ? open_path(weights, paths[i], prefix, err)
                    : open_memory(weights, &files[i], prefix, err));
    }
    ZN_GO(sort_members(weights, err));
    ZN_GO(take_config(weights, err));
    *out = weights;
    return ZENITH_OK;
fail:
    zn_weights_free(weights);
    return status;
}

zenith_status zn_weights_open_parts(const char *const *paths, const char *const *prefixes,
                                    size_t count, zn_weights **out, zn_error *err)
{
    return open_set(paths, NULL, prefixes, count, out, err);
}

zenith_status zn_weights_open_files(const zn_memory_file *files, const char *const *prefixes,
                                    size_t count, zn_weights **out, zn_error *err)
{
    return open_set(NULL, files, prefixes, count, out, err);
}

void zn_weights_free(zn_weights *weights)
{
    if (!weights) return;
    for (size_t i = 0; i < weights->source_count; i++) source_close(&weights->sources[i]);
    zn_free(weights->sources);
    zn_free(weights->members);
    zn_json_free(weights->config);
    zn_arena_free(&weights->arena);
    zn_free(weights);
}

void zn_weights_forget(const zn_weights *weights)
{
    for (size_t i = 0; i < weights->source_count; i++) source_forget(&weights->sources[i]);
}

// --- what an open set answers

size_t zn_weights_count(const zn_weights *weights)
{
    return weights->count;
}

const zn_file_tensor *zn_weights_get(const zn_weights *weights, size_t index)
{
    return &weights->members[index].tensor;
}

const zn_file_tensor *zn_weights_find(const zn_weights *weights, const char *name)
{
    member key = {.tensor = {.name = name}};
    if (weights->count == 0) return NULL;
    const member *found = bsearch(&key, weights->members, weights->count, sizeof key, by_name);
    return found ? &found->tensor : NULL;
}

const char *zn_weights_file(const zn_weights *weights, const zn_file_tensor *tensor)
{
    return weights->sources[((const member *)tensor)->file].path;
}

const char *zn_weights_metadata(const zn_weights *weights, const char *key)
{
    const char *value = NULL;
    for (size_t i = 0; i < weights->source_count && !value; i++)
        value = source_metadata(&weights->sources[i], key);
    return value;
}

const zn_gguf *zn_weights_gguf(const zn_weights *weights)
{
    const zn_gguf *file = NULL;
    for (size_t i = 0; i < weights->source_count && !file; i++) file = weights->sources[i].gguf;
    return file;
}

const zn_json *zn_weights_config(const zn_weights *weights)
{
    return weights->config;
}

const zn_json *zn_weights_note(const zn_weights *weights, const zn_file_tensor *tensor)
{
    static const char tail[] = ".weight";
    const member *entry = (const member *)tensor;
    const zn_json *notes = weights->sources[entry->file].notes, *layers = NULL, *note = NULL;
    char module[NAME_SIZE];
    const size_t length = strlen(entry->own);
    if (!notes || length >= sizeof module || !zn_text_ends_with(entry->own, tail)) return NULL;
    zn_text_format(module, sizeof module, "%.*s", (int)(length - strlen(tail)), entry->own);
    if (zn_json_get_object(notes, "layers", &layers, NULL) != ZENITH_OK ||
        zn_json_get_object(layers, module, &note, NULL) != ZENITH_OK)
        return NULL;
    return note;
}

static zenith_status missing(const zn_weights *weights, const char *name, zn_error *err)
{
    const char *where = weights->source_count ? weights->sources[0].path : "the set of weights";
    if (weights->source_count > 1)
        return zn_fail(err, ZENITH_NOT_FOUND, "%s and %zu more files have no tensor \"%.*s\"",
                       where, weights->source_count - 1, NAME_SHOWN, name);
    return zn_fail(err, ZENITH_NOT_FOUND, "%s has no tensor \"%.*s\"", where, NAME_SHOWN, name);
}

zenith_status zn_weights_read_f32(const zn_weights *weights, const char *name,
                                  const zn_shape *expected, float *dst, zn_error *err)
{
    zn_stored_weight weight;
    const zn_file_tensor *tensor = zn_weights_find(weights, name);
    if (!tensor) return missing(weights, name, err);
    ZN_TRY(zn_stored_weight_of(weights, tensor, expected, &weight, err));
    zn_stored_weight_read(&weight, 0, weight.rows, dst);
    return ZENITH_OK;
}

static void hash_number(zn_sha256 *hash, uint64_t value)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(value >> (8 * i));
    zn_sha256_add(hash, bytes, sizeof bytes);
}

// Texts go in with their closing zero and numbers as eight bytes, so that no two different sets
// make the same stream.
void zn_weights_sha256(const zn_weights *weights, char hex[65])
{
    zn_sha256 hash;
    zn_sha256_begin(&hash);
    for (size_t i = 0; i < weights->count; i++) {
        const zn_file_tensor *tensor = &weights->members[i].tensor;
        zn_sha256_add(&hash, tensor->name, strlen(tensor->name) + 1);
        zn_sha256_add(&hash, tensor->dtype, strlen(tensor->dtype) + 1);
        hash_number(&hash, (uint64_t)tensor->shape.rank);
        for (int d = 0; d < tensor->shape.rank; d++)
            hash_number(&hash, (uint64_t)tensor->shape.dim[d]);
        hash_number(&hash, tensor->bytes);
        zn_sha256_add(&hash, tensor->data, tensor->bytes);
    }
    zn_sha256_end(&hash, hex);
}
