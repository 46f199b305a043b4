// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Datasets in a storage of the caller's, here one in memory: every call of the storage, and every
// allocation, fails in turn, and what comes out afterwards is whole. What s3:// makes of servers is
// the business of tests/cli/dataset_s3.py.
#include "tests/api/api_files.h"
#include "tests/fail_in_turn.h"
#include "zenith/dataset.h"

#include <stdatomic.h>

enum { PICTURES = 4, MOST = 32 };

typedef struct object {
    char path[128]; // "": none
    uint8_t *data;
    size_t bytes;
    unsigned version;
} object;

typedef struct stream {
    char path[128];
    uint8_t *data; // of its own
    size_t bytes, at;
} stream;

static zenith_model *model;
static object objects[MOST];
static unsigned versions;
static atomic_int open_streams;
static atomic_long calls_left = -1; // until the one that fails; below zero: none does

// --- the storage --------------------------------------------------------------------------------

static bool fails(char *message)
{
    if (calls_left < 0 || atomic_fetch_sub(&calls_left, 1) > 0) return false;
    snprintf(message, 512, "the storage has a bad day");
    return true;
}

static object *find(const char *path)
{
    for (size_t i = 0; i < MOST; i++)
        if (strcmp(objects[i].path, path) == 0) return &objects[i];
    return NULL;
}

static void store(const char *path, const void *data, size_t bytes)
{
    object *to = find(path);
    if (!to) to = find("");
    assert_non_null(to);
    free(to->data);
    to->data = malloc(bytes + 1);
    assert_non_null(to->data);
    memcpy(to->data, data, bytes);
    to->bytes = bytes;
    to->version = ++versions;
    snprintf(to->path, sizeof to->path, "%s", path);
}

static void drop(object *gone)
{
    free(gone->data);
    *gone = (object){.bytes = 0};
}

static void describe(const object *from, zenith_object *out)
{
    out->bytes = from->bytes;
    out->age = 1000; // whoever died has been dead for long
    snprintf(out->etag, sizeof out->etag, "version-%u", from->version);
}

static zenith_status list(void *cookie, const char *where, bool deep, zenith_object_fn *each,
                          void *each_cookie, char *message)
{
    const size_t length = strlen(where);
    assert_ptr_equal(cookie, objects);
    if (fails(message)) return ZENITH_IO;
    for (size_t i = MOST; i-- > 0;) { // in any order
        zenith_object found = {.size = sizeof found, .path = objects[i].path};
        const char *rest = found.path + length;
        if (strncmp(found.path, where, length) != 0 || *rest != '/') continue;
        if (!deep && strchr(rest + 1, '/')) continue;
        describe(&objects[i], &found);
        const zenith_status status = each(each_cookie, &found);
        if (status != ZENITH_OK) return status;
    }
    return ZENITH_OK;
}

static zenith_status look(void *cookie, const char *path, zenith_object *out, char *message)
{
    const object *there = find(path);
    (void)cookie;
    if (fails(message)) return ZENITH_IO;
    if (there) describe(there, out);
    return there ? ZENITH_OK : ZENITH_NOT_FOUND;
}

static stream *open_stream(const char *path)
{
    stream *made = calloc(1, sizeof *made);
    assert_non_null(made);
    snprintf(made->path, sizeof made->path, "%s", path);
    open_streams++;
    return made;
}

static zenith_status read_open(void *cookie, const char *path, const char *etag, void **out,
                               char *message)
{
    const object *there = find(path);
    zenith_object facts;
    (void)cookie;
    if (fails(message)) return ZENITH_IO;
    if (!there) return ZENITH_NOT_FOUND;
    describe(there, &facts);
    assert_true(!*etag || strcmp(etag, facts.etag) == 0);
    stream *made = open_stream(path);
    made->data = malloc(there->bytes + 1);
    assert_non_null(made->data);
    memcpy(made->data, there->data, there->bytes);
    made->bytes = there->bytes;
    *out = made;
    return ZENITH_OK;
}

static zenith_status read_bytes(void *from, void *dst, size_t bytes, size_t *got, char *message)
{
    stream *s = from;
    if (fails(message)) return ZENITH_IO;
    *got = s->bytes - s->at < bytes ? s->bytes - s->at : bytes;
    memcpy(dst, s->data + s->at, *got);
    s->at += *got;
    return ZENITH_OK;
}

static void close_stream(void *gone)
{
    stream *s = gone;
    free(s->data);
    free(s);
    open_streams--;
}

static zenith_status write_open(void *cookie, const char *path, void **out, char *message)
{
    (void)cookie;
    if (fails(message)) return ZENITH_IO;
    *out = open_stream(path);
    return ZENITH_OK;
}

static zenith_status write_bytes(void *to, const void *data, size_t bytes, char *message)
{
    stream *s = to;
    if (fails(message)) return ZENITH_IO;
    uint8_t *grown = realloc(s->data, s->bytes + bytes);
    assert_non_null(grown);
    memcpy(grown + s->bytes, data, bytes);
    s->data = grown;
    s->bytes += bytes;
    return ZENITH_OK;
}

static zenith_status write_close(void *to, bool keep, char *etag, char *message)
{
    stream *s = to;
    zenith_object facts;
    const bool failed = keep && fails(message);
    if (keep && !failed) {
        store(s->path, s->data, s->bytes);
        describe(find(s->path), &facts);
        memcpy(etag, facts.etag, sizeof facts.etag);
    }
    close_stream(s);
    return failed ? ZENITH_IO : ZENITH_OK;
}

static zenith_status put(void *cookie, const char *path, const void *data, size_t bytes,
                         bool replace, bool *made, char *message)
{
    (void)cookie;
    if (fails(message)) return ZENITH_IO;
    *made = replace || !find(path);
    if (*made) store(path, data, bytes);
    return ZENITH_OK;
}

static zenith_status remove_object(void *cookie, const char *path, char *message)
{
    object *there = find(path);
    (void)cookie;
    if (fails(message)) return ZENITH_IO;
    if (there) drop(there);
    return ZENITH_OK;
}

static zenith_storage storage = {.size = sizeof storage,
                                 .scheme = "mem://",
                                 .cookie = objects,
                                 .list = list,
                                 .look = look,
                                 .read_open = read_open,
                                 .read = read_bytes,
                                 .read_close = close_stream,
                                 .write_open = write_open,
                                 .write = write_bytes,
                                 .write_close = write_close,
                                 .put = put,
                                 .remove = remove_object};

// --- tests --------------------------------------------------------------------------------------

static void clear(const char *where)
{
    for (size_t i = 0; i < MOST; i++)
        if (objects[i].path[0] && strncmp(objects[i].path, where, strlen(where)) == 0)
            drop(&objects[i]);
}

ZN_TEST_SETUP(setup)
{
    if (api_setup(state) != 0) return -1;
    for (uint32_t i = 0; i < PICTURES; i++) {
        char path[64];
        size_t size, start;
        uint8_t *picture = make_ppm(16 + 8 * i, 24, &size, &start);
        snprintf(path, sizeof path, "mem://in/%s%u.ppm", i == 1 ? "a/" : "", (unsigned)i);
        store(path, picture, size);
        free(picture);
    }
    const zenith_model_params params = {
        .size = sizeof params,
        .name = "taesd",
        .weights = zn_test_path(zn_test_source(), "tests/golden/tiny_diffusers")};
    return zenith_model_open(context, &params, &model) == ZENITH_OK ? 0 : -1;
}

ZN_TEST_TEARDOWN(teardown)
{
    clear("mem://");
    zenith_model_free(model);
    return api_teardown(state);
}

static zenith_dataset_params usual(void)
{
    return (zenith_dataset_params){.size = sizeof(zenith_dataset_params),
                                   .input = "mem://in",
                                   .output = "mem://out",
                                   .shard_pictures = 2,
                                   .storage = &storage};
}

static zenith_status encode(zenith_dataset_info *info)
{
    const zenith_dataset_params params = usual();
    *info = (zenith_dataset_info){.size = sizeof *info};
    const zenith_status status = zenith_dataset_encode(context, model, &params, info);
    assert_int_equal(open_streams, 0);
    return status;
}

static void check_whole(void)
{
    char *text = NULL;
    const zenith_dataset_look_params params = {.size = sizeof params,
                                               .input = "mem://in",
                                               .output = "mem://out",
                                               .verify = true,
                                               .storage = &storage};
    api_ok(zenith_dataset_look(context, &params, &text));
    if (!strstr(text, "\"faults\":[]") || !strstr(text, "\"done\":2")) fail_msg("%s", text);
    zenith_text_free(text);
    assert_int_equal(open_streams, 0);
}

ZN_TEST(half_a_storage_is_refused)
{
    zenith_dataset_params params = usual();
    zenith_storage half = storage;
    half.put = NULL;
    params.storage = &half;
    api_fails(zenith_dataset_encode(context, model, &params, NULL), ZENITH_INVALID_ARGUMENT,
              "all functions");
    params = usual();
    params.output = "mem://in/";
    api_fails(zenith_dataset_encode(context, model, &params, NULL), ZENITH_INVALID_ARGUMENT,
              "the same folder");
    params.input = "mem://nothing";
    api_fails(zenith_dataset_encode(context, model, &params, NULL), ZENITH_NOT_FOUND,
              "no picture and no tar archive");
}

ZN_TEST(calls_that_fail_lose_nothing)
{
    zenith_dataset_info info;
    long after = 0;
    for (bool failed = true; failed; after++) {
        clear("mem://out");
        calls_left = after;
        const zenith_status status = encode(&info);
        failed = calls_left < 0;
        calls_left = -1;
        if (status != ZENITH_OK && !strstr(zenith_context_error(context), "bad day"))
            fail_msg("call %ld: %s", after, zenith_context_error(context));
        assert_true(status == ZENITH_OK || failed);
        if (status == ZENITH_OK && info.done < 2) fail_msg("call %ld: not all is done", after);
        api_ok(encode(&info));
        assert_int_equal(info.done + info.done_before, 2);
        check_whole();
        for (size_t i = 0; i < MOST; i++)
            if (strstr(objects[i].path, ".lease")) fail_msg("call %ld left a lease", after);
    }
    assert_true(after > 30); // calls that were made to fail
}

static zenith_status encode_anew(zn_error *err)
{
    zenith_dataset_info info;
    clear("mem://out");
    const zenith_status status = encode(&info);
    if (status == ZENITH_OK) assert_int_equal(info.pictures, PICTURES);
    snprintf(err->text, sizeof err->text, "%s", zenith_context_error(context));
    return status;
}

ZN_TEST(memory_that_runs_out_loses_nothing)
{
    zn_error err = {{0}};
    assert_int_equal(encode_anew(&err), ZENITH_OK); // plans are made
    fail_in_turn(encode_anew, ZENITH_OK, 50);
    check_whole();
}
