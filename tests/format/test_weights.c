// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Sets of weights from files, shards and folders, and what is refused.
#include "src/format/tensor/weights.h"
#include "src/format/tensor/weights_index.h"
#include "tests/format/crafted.h"

#include <sys/stat.h>

#define TENSOR(name, begin, end)                                                                   \
    "\"" name "\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[" begin "," end "]}"

static const char *folder(const char *name)
{
    const char *path = scratch(name);
    mkdir(path, 0755);
    return path;
}

static void write_tensors(const char *path, const char *header, size_t data)
{
    crafted file = craft_safetensors(header, data);
    write_file(path, file.bytes, file.size);
}

static void write_text(const char *path, const char *text)
{
    write_file(path, text, strlen(text));
}

static zn_weights *open_ok(const char *path)
{
    zn_error err = {{0}};
    zn_weights *weights = NULL;
    zn_test_ok(zn_weights_open(path, &weights, &err), &err);
    return weights;
}

static void open_refused(const char *path, zenith_status expected, const char *fragment)
{
    zn_error err = {{0}};
    zn_weights *weights = NULL;
    zenith_status status = zn_weights_open(path, &weights, &err);
    expect_refusal(path, status, &err, expected, fragment);
    assert_null(weights);
}

// The same four tensors in one file and in two shards: the same set and the same hash.
ZN_TEST(shards_are_one_set)
{
    const char *dir = folder("weights_sharded");
    write_tensors(zn_test_path(dir, "m-1.safetensors"),
                  "{" TENSOR("d", "0", "2") "," TENSOR("a", "2", "4") "}", 4);
    write_tensors(zn_test_path(dir, "m-2.safetensors"),
                  "{" TENSOR("unused", "0", "2") "," TENSOR("b", "2", "4") "}", 4);
    write_text(zn_test_path(dir, "model.safetensors.index.json"),
               "{\"metadata\":{\"total_size\":6},\"weight_map\":{\"a\":\"m-1.safetensors\","
               "\"b\":\"m-2.safetensors\",\"d\":\"m-1.safetensors\"}}");
    write_text(zn_test_path(dir, "config.json"), "{\"scaling_factor\": 0.5, \"shift\": null}");
    zn_weights *shards = open_ok(dir);
    assert_int_equal(zn_weights_count(shards), 3);
    assert_string_equal(zn_weights_get(shards, 0)->name, "a");
    assert_string_equal(zn_weights_get(shards, 2)->name, "d");
    assert_null(zn_weights_find(shards, "unused"));
    const zn_file_tensor *b = zn_weights_find(shards, "b");
    assert_non_null(strstr(zn_weights_file(shards, b), "weights_sharded/m-2.safetensors"));
    double scale;
    zn_error err = {{0}};
    zn_test_ok(zn_json_get_number(zn_weights_config(shards), "scaling_factor", &scale, &err), &err);
    assert_true(scale == 0.5);
    assert_false(zn_json_has(zn_weights_config(shards), "shift"));

    const char *whole = scratch("weights_whole.safetensors");
    write_tensors(whole,
                  "{" TENSOR("b", "2", "4") "," TENSOR("d", "0", "2") "," TENSOR("a", "4", "6") "}",
                  6);
    zn_mapped bytes = {0};
    zn_test_ok(zn_mapped_open(whole, &bytes, &err), &err);
    crafted same;
    same.size = bytes.size;
    memcpy(same.bytes, bytes.data, bytes.size);
    zn_mapped_close(&bytes);
    memcpy(same.bytes + same.size - 2, "\2\3", 2); // "a" has bytes 2 and 3 in the shard
    write_file(whole, same.bytes, same.size);
    zn_weights *one = open_ok(whole);
    char hash_shards[65], hash_one[65];
    zn_weights_sha256(shards, hash_shards);
    zn_weights_sha256(one, hash_one);
    assert_string_equal(hash_shards, hash_one);
    zn_weights_free(one);
    same.bytes[same.size - 1] ^= 1;
    write_file(whole, same.bytes, same.size);
    one = open_ok(whole);
    zn_weights_sha256(one, hash_one);
    assert_string_not_equal(hash_shards, hash_one);
    zn_weights_free(one);
    zn_weights_free(shards);
}

ZN_TEST(read_checks_the_shape)
{
    const char *path = scratch("weights_shape.safetensors");
    write_tensors(path, "{" TENSOR("t", "0", "2") "}", 2);
    zn_weights *weights = open_ok(path);
    zn_shape right = ZN_SHAPE(2), wrong = ZN_SHAPE(2, 3);
    float value[2] = {7, 7};
    zn_error err = {{0}};
    zn_test_ok(zn_weights_read_f32(weights, "t", &right, value, &err), &err);
    assert_true(value[0] == 0 && value[1] == 1);
    zn_test_ok(zn_weights_read_f32(weights, "t", NULL, value, &err), &err);
    zenith_status status = zn_weights_read_f32(weights, "t", &wrong, value, &err);
    expect_refusal("shape", status, &err, ZENITH_BAD_FILE,
                   "weights_shape.safetensors: tensor \"t\" has the shape [2] where [2, 3]");
    err.text[0] = '\0';
    status = zn_weights_read_f32(weights, "x", &right, value, &err);
    expect_refusal("missing", status, &err, ZENITH_NOT_FOUND,
                   "weights_shape.safetensors has no tensor \"x\"");
    zn_weights_free(weights);
}

ZN_TEST(files_merge_under_prefixes)
{
    char paths[2][512];
    snprintf(paths[0], sizeof paths[0], "%s", scratch("weights_enc.safetensors"));
    snprintf(paths[1], sizeof paths[1], "%s", scratch("weights_dec.safetensors"));
    write_tensors(paths[0], "{" TENSOR("0", "0", "2") ",\"__metadata__\":{\"k\":\"enc\"}}", 2);
    write_tensors(paths[1], "{" TENSOR("0", "0", "2") ",\"__metadata__\":{\"j\":\"dec\"}}", 2);
    const char *const list[] = {paths[0], paths[1]};
    const char *const prefixes[] = {"encoder.", "decoder."};
    zn_error err = {{0}};
    zn_weights *weights = NULL;
    zn_test_ok(zn_weights_open_parts(list, prefixes, 2, &weights, &err), &err);
    assert_int_equal(zn_weights_count(weights), 2);
    assert_string_equal(zn_weights_get(weights, 0)->name, "decoder.0");
    assert_string_equal(zn_weights_file(weights, zn_weights_find(weights, "encoder.0")), paths[0]);
    assert_string_equal(zn_weights_metadata(weights, "j"), "dec");
    assert_null(zn_weights_metadata(weights, "x"));
    assert_null(zn_weights_config(weights));
    zn_weights_free(weights);
    weights = NULL;
    zenith_status status = zn_weights_open_parts(list, NULL, 2, &weights, &err);
    expect_refusal("clash", status, &err, ZENITH_BAD_FILE, "the tensor \"0\" is in both");
    assert_null(weights);
}

ZN_TEST(folders_are_searched)
{
    const char *dir = folder("weights_folder");
    char kept[512];
    snprintf(kept, sizeof kept, "%s", dir);
    open_refused(kept, ZENITH_NOT_FOUND, "holds no .safetensors or .gguf file");
    write_text(zn_test_path(kept, "model.bin"), "x");
    open_refused(kept, ZENITH_UNSUPPORTED, "tools/convert.py IN OUT.safetensors");
    const char *header = "{" TENSOR("t", "0", "2") "}";
    write_tensors(zn_test_path(kept, "odd.fp16.safetensors"), header, 2);
    zn_weights_free(open_ok(kept)); // the only one
    write_tensors(zn_test_path(kept, "other.safetensors"), header, 2);
    open_refused(kept, ZENITH_AMBIGUOUS, "several");
    write_tensors(zn_test_path(kept, "model.safetensors"), header, 2);
    zn_weights *weights = open_ok(kept); // the usual name wins
    assert_non_null(strstr(zn_weights_file(weights, zn_weights_get(weights, 0)),
                           "weights_folder/model.safetensors"));
    zn_weights_free(weights);
    write_text(zn_test_path(kept, "config.json"), "[]");
    open_refused(kept, ZENITH_BAD_FILE, "config.json: not a JSON object");
    static const char *const made[] = {"config.json", "model.safetensors", "other.safetensors",
                                       "odd.fp16.safetensors", "model.bin"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) remove(zn_test_path(kept, made[i]));
}

ZN_TEST(other_formats_say_what_to_do)
{
    open_refused("some/model.pth", ZENITH_UNSUPPORTED, "tools/convert.py IN OUT.safetensors");
    open_refused("model.CKPT", ZENITH_UNSUPPORTED, "pickles");
    open_refused("model.gguf", ZENITH_NOT_FOUND, "model.gguf");
    open_refused("none.safetensors", ZENITH_NOT_FOUND, "none.safetensors");
    open_refused("none.safetensors.index.json", ZENITH_NOT_FOUND, "none.safetensors.index.json");
}

static const struct broken {
    const char *text;
    const char *fragment;
} broken[] = {
    {"", "broken JSON"},
    {"[]", "not a JSON object"},
    {"{}", "\"weight_map\" must be an object but is absent"},
    {"{\"weight_map\":[]}", "must be an object but is an array"},
    {"{\"weight_map\":{}}", "is empty"},
    {"{\"weight_map\":{\"a\":1}}", "tensor \"a\" is not a string"},
    {"{\"weight_map\":{\"a\":\"\"}}", "is not the name of a .safetensors file"},
    {"{\"weight_map\":{\"a\":\"../x.safetensors\"}}", "\"../x.safetensors\" is not the name"},
    {"{\"weight_map\":{\"a\":\"/etc/x.safetensors\"}}", "in the same folder"},
    {"{\"weight_map\":{\"a\":\"x\\\\y.safetensors\"}}", "in the same folder"},
    {"{\"weight_map\":{\"a\":\"C:x.safetensors\"}}", "in the same folder"},
    {"{\"weight_map\":{\"a\":\"..safetensors\"}}", "in the same folder"},
    {"{\"weight_map\":{\"a\":\"x\\n.safetensors\"}}", "in the same folder"},
    {"{\"weight_map\":{\"a\":\"x.bin\"}}", "in the same folder"},
    {"{\"weight_map\":{\"a\":\"x.safetensors\",\"a\":\"y.safetensors\"}}", "duplicate"},
};

ZN_TEST(broken_indexes_are_refused)
{
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        zn_arena arena = {0};
        zn_index_entry *entries = NULL;
        size_t count;
        zn_error err = {{0}};
        zenith_status status = zn_weights_index_parse(broken[i].text, strlen(broken[i].text), "i",
                                                      &arena, &entries, &count, &err);
        expect_refusal(broken[i].text, status, &err, ZENITH_BAD_FILE, broken[i].fragment);
        zn_arena_free(&arena);
    }
    const char *dir = folder("weights_lying");
    write_tensors(zn_test_path(dir, "s.safetensors"), "{" TENSOR("t", "0", "2") "}", 2);
    const char *index = zn_test_path(dir, "x.safetensors.index.json");
    write_text(index, "{\"weight_map\":{\"u\":\"s.safetensors\"}}");
    open_refused(index, ZENITH_BAD_FILE, "has no tensor \"u\", which");
    write_text(index, "{\"weight_map\":{\"u\":\"gone.safetensors\"}}");
    open_refused(index, ZENITH_NOT_FOUND, "weights_lying/gone.safetensors");
}
