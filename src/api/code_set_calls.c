// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Codes of many pictures in one file: zenith/diffae.h. While they are made, what is new lies in
// pieces in the folder PATH.parts, each a file of the same kind: a run that was killed has lost a
// piece at most. The whole file is written at the end, and the pieces go.
#include "src/api/code_file.h"
#include "src/api/context.h"
#include "src/base/directory.h"
#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/format/latent/code_set.h"
#include "src/model/diffae/diffae.h"
#include "src/model/locate.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 256 }; // codes: some seconds of an encoder's work

typedef struct row {
    const char *name;
    const float *code;
} row;

struct zenith_code_set {
    const zn_model *model;
    char path[ZN_PATH_SIZE], parts[ZN_PATH_SIZE];
    zn_code_set all;     // rows of the result
    zn_code_set fresh;   // those of them that no piece has yet
    zn_code_set *pieces; // of the run that is continued, and its result
    size_t pieces_count, capacity;
    row *known; // their rows, by name
    size_t known_count;
    uint64_t next; // number of the next piece
};

// --- pieces -------------------------------------------------------------------------------------

static zenith_status piece_path(const zenith_code_set *set, const char *name,
                                char path[ZN_PATH_SIZE], zn_error *err)
{
    if (zn_text_format(path, ZN_PATH_SIZE, "%s/%s", set->parts, name) + 1 < ZN_PATH_SIZE)
        return ZENITH_OK;
    return zn_fail(err, ZENITH_LIMIT, "the path '%s' is too long", set->path);
}

static zenith_status write_set(const char *path, zn_code_set *set, zn_error *err)
{
    zn_writer *file = NULL;
    ZN_TRY(zn_code_set_measure(set, err));
    ZN_TRY(zn_writer_open(path, &file, err));
    zenith_status status = zn_code_set_write(file, set, err);
    if (status == ZENITH_OK) return zn_writer_commit(file, err);
    zn_writer_discard(file);
    return status;
}

// A set of the model and size, without rows.
static void empty(zn_code_set *set)
{
    zn_code_set none = {.width = set->width, .height = set->height, .numbers = set->numbers};
    memcpy(none.weights, set->weights, sizeof none.weights);
    zn_code_set_free(set);
    *set = none;
}

static zenith_status write_piece(zenith_code_set *set, zn_error *err)
{
    char name[32], path[ZN_PATH_SIZE];
    if (set->fresh.count == 0) return ZENITH_OK;
    zn_text_format(name, sizeof name, "%08llu.safetensors", (unsigned long long)set->next);
    ZN_TRY(piece_path(set, name, path, err));
    ZN_TRY(zn_directory_make(set->parts, err));
    ZN_TRY(write_set(path, &set->fresh, err));
    set->next++;
    empty(&set->fresh);
    return ZENITH_OK;
}

// Rows of a file, if it is of these weights and this size.
static zenith_status take_file(zenith_code_set *set, const char *path, zn_error *err)
{
    zn_code_set read;
    ZN_TRY(zn_array_reserve((void **)&set->pieces, &set->capacity, set->pieces_count + 1,
                            sizeof *set->pieces, err));
    ZN_TRY(zn_code_set_open(path, &read, err));
    const bool same = strcmp(read.weights, set->all.weights) == 0 && read.names &&
                      read.width == set->all.width && read.height == set->all.height &&
                      read.numbers == set->all.numbers;
    if (same)
        set->pieces[set->pieces_count++] = read;
    else
        zn_code_set_free(&read);
    return same ? ZENITH_OK
                : zn_fail(err, ZENITH_INVALID_ARGUMENT,
                          "%s has codes of other weights or another image size, so it cannot be "
                          "resumed: start again without resuming, or choose another name",
                          path);
}

typedef struct listing {
    zenith_code_set *set;
    bool takes; // or removes
    zn_error *err;
} listing;

static zenith_status each_piece(void *cookie, const char *name)
{
    const listing *l = cookie;
    zenith_code_set *set = l->set;
    char path[ZN_PATH_SIZE];
    if (name[0] == '.' || !zn_text_ends_with(name, ".safetensors")) return ZENITH_OK;
    ZN_TRY(piece_path(set, name, path, l->err));
    if (!l->takes) return zn_file_remove(path, l->err);
    const uint64_t number = strtoull(name, NULL, 10);
    if (number >= set->next) set->next = number + 1;
    return take_file(set, path, l->err);
}

static zenith_status visit_pieces(zenith_code_set *set, bool takes, zn_error *err)
{
    listing l = {set, takes, err};
    if (!zn_path_is_directory(set->parts)) return ZENITH_OK;
    return zn_directory_each(set->parts, each_piece, &l, err);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const row *)a)->name, ((const row *)b)->name);
}

static zenith_status index_pieces(zenith_code_set *set, zn_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < set->pieces_count; i++) count += set->pieces[i].count;
    set->known = zn_alloc(count * sizeof *set->known);
    if (!set->known) return zn_fail_memory(err, count * sizeof *set->known);
    for (size_t i = 0; i < set->pieces_count; i++) {
        const zn_code_set *piece = &set->pieces[i];
        for (size_t k = 0; k < piece->count; k++)
            set->known[set->known_count++] = (row){zn_code_set_name(piece, k),
                                                   piece->codes + k * piece->numbers};
    }
    qsort(set->known, set->known_count, sizeof *set->known, by_name);
    return ZENITH_OK;
}

// --- opening ------------------------------------------------------------------------------------

static zenith_status prepare(zenith_code_set *set, const char *path,
                             const zenith_code_set_params *params, zn_error *err)
{
    const zn_diffae_shape shape = zn_diffae_facts_of(set->model).shape;
    zn_code_set *all = &set->all;
    *all = (zn_code_set){.width = params->width ? params->width : (uint32_t)shape.size,
                         .height = params->height ? params->height : (uint32_t)shape.size,
                         .numbers = (size_t)shape.code};
    zn_text_format(all->weights, sizeof all->weights, "%s", zn_model_sha256(set->model));
    set->fresh = *all;
    if (zn_text_format(set->parts, sizeof set->parts, "%s.parts", path) + 1 >= sizeof set->parts)
        return zn_fail(err, ZENITH_LIMIT, "the path '%s' is too long", path);
    zn_text_format(set->path, sizeof set->path, "%s", path);
    if (!params->resume) return visit_pieces(set, false, err);
    ZN_TRY(visit_pieces(set, true, err));
    if (zn_path_is_file(path)) ZN_TRY(take_file(set, path, err));
    return index_pieces(set, err);
}

static zenith_status open_set(const char *path, const zenith_model *model,
                              const zenith_code_set_params *theirs, zenith_code_set **out,
                              zn_error *err)
{
    zenith_code_set_params params;
    const zn_model *inner = NULL;
    if (!path || !out)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "the path or the place for the set is NULL");
    ZN_TRY(zn_caller_struct_in(theirs, ZN_SIZE_UP_TO(zenith_code_set_params, resume), &params,
                               sizeof params, err));
    ZN_TRY(zn_diffae_of(model, &inner, err));
    zenith_code_set *set = zn_alloc_zero(sizeof *set);
    if (!set) return zn_fail_memory(err, sizeof *set);
    set->model = inner;
    zenith_status status = prepare(set, path, &params, err);
    if (status == ZENITH_OK)
        *out = set;
    else
        zenith_code_set_free(set);
    return status;
}

zenith_status zenith_code_set_open(zenith_context *context, const char *path,
                                   const zenith_model *model, const zenith_code_set_params *params,
                                   zenith_code_set **out)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, open_set(path, model, params, out, &context->error));
}

void zenith_code_set_free(zenith_code_set *set)
{
    if (!set) return;
    zn_code_set_free(&set->all);
    zn_code_set_free(&set->fresh);
    for (size_t i = 0; i < set->pieces_count; i++) zn_code_set_free(&set->pieces[i]);
    zn_free(set->pieces);
    zn_free(set->known);
    zn_free(set);
}

// --- rows ---------------------------------------------------------------------------------------

static zenith_status add(zenith_code_set *set, const char *name, const zenith_code *theirs,
                         zn_error *err)
{
    zenith_code code;
    if (!set || !name)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "the set or the picture's name is NULL");
    if (!theirs) return zn_code_set_add_failed(&set->all, name, err);
    ZN_TRY(zn_code_in(set->model, theirs, 0, &code, err));
    ZN_TRY(zn_code_set_add(&set->all, name, code.code, err));
    ZN_TRY(zn_code_set_add(&set->fresh, name, code.code, err));
    return set->fresh.count < PIECE ? ZENITH_OK : write_piece(set, err);
}

zenith_status zenith_code_set_add(zenith_context *context, zenith_code_set *set, const char *name,
                                  const zenith_code *code)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, add(set, name, code, &context->error));
}

static zenith_status reuse(zenith_code_set *set, const char *name, bool *done, zn_error *err)
{
    if (!set || !name || !done)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT,
                       "the set, the picture's name or the place for the answer is NULL");
    const row wanted = {name, NULL};
    const row *found = set->known_count > 0
                           ? bsearch(&wanted, set->known, set->known_count, sizeof wanted, by_name)
                           : NULL;
    *done = found != NULL;
    return found ? zn_code_set_add(&set->all, name, found->code, err) : ZENITH_OK;
}

zenith_status zenith_code_set_reuse(zenith_context *context, zenith_code_set *set, const char *name,
                                    bool *done)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, reuse(set, name, done, &context->error));
}

static zenith_status finish(zenith_code_set *set, bool whole, zn_error *err)
{
    if (!set) return zn_fail(err, ZENITH_INVALID_ARGUMENT, "the set is NULL");
    if (!whole) return write_piece(set, err);
    if (set->all.count == 0)
        return zn_fail(err, ZENITH_INVALID_ARGUMENT, "there are no codes to write");
    ZN_TRY(write_set(set->path, &set->all, err));
    ZN_TRY(visit_pieces(set, false, err));
    return zn_directory_remove(set->parts, err);
}

zenith_status zenith_code_set_finish(zenith_context *context, zenith_code_set *set, bool whole)
{
    ZN_TRY(zn_context_enter(context));
    return zn_context_leave(context, finish(set, whole, &context->error));
}
