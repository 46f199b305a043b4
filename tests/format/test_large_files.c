// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Offsets and sizes above 2^32: safetensors, GGUF, npy and tar files of more than 4 GiB, which are
// sparse and so take no disk. What lies beyond is found and read, and the process stays small.
#include "src/format/archive/tar.h"
#include "src/format/archive/tar_stream.h"
#include "src/format/tensor/gguf.h"
#include "src/format/tensor/npy.h"
#include "src/format/tensor/weights.h"
#include "tests/format/craft_gguf.h"
#include "tests/format/craft_tar.h"
#include "tests/format/crafted.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#define LARGE UINT64_C(0x140000000) // 5 GiB
enum { NUMBERS = 4 };
static const float numbers[NUMBERS] = {1.5f, -2, 0.25f, 3e30f};

// Some bytes of a file; what lies between them is zero.
typedef struct piece {
    uint64_t offset;
    const void *data;
    size_t size;
} piece;

static const char *write_sparse(const char *name, const piece *pieces, size_t count, uint64_t size)
{
    const char *path = scratch(name);
    const int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, (off_t)size), 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pwrite(file, pieces[i].data, pieces[i].size, (off_t)pieces[i].offset),
                         (ssize_t)pieces[i].size);
    assert_int_equal(close(file), 0);
    return path;
}

static int64_t most_resident(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

// A large tensor whose last byte is 7, and the numbers after it.
static void check_tensors(const char *path)
{
    zn_error err = {{0}};
    zn_weights *weights = NULL;
    float read[NUMBERS] = {0};
    zn_test_ok(zn_weights_open(path, &weights, &err), &err);
    const zn_file_tensor *large = zn_weights_find(weights, "large");
    assert_non_null(large);
    assert_true(large->bytes == LARGE);
    assert_int_equal(large->data[0], 0);
    assert_int_equal(large->data[LARGE - 1], 7);
    assert_true(zn_weights_find(weights, "small")->data >= large->data + LARGE);
    zn_test_ok(zn_weights_read_f32(weights, "small", NULL, read, &err), &err);
    assert_memory_equal(read, numbers, sizeof numbers);
    zn_weights_free(weights);
    assert_int_equal(unlink(path), 0);
}

ZN_TEST(safetensors)
{
    char header[512];
    const uint8_t seven = 7;
    snprintf(header, sizeof header,
             "{\"large\":{\"dtype\":\"U8\",\"shape\":[5,1073741824],\"data_offsets\":[0,%llu]},"
             "\"small\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[%llu,%llu]}}",
             (unsigned long long)LARGE, (unsigned long long)LARGE,
             (unsigned long long)(LARGE + sizeof numbers));
    const crafted head = craft_safetensors(header, 0);
    const piece pieces[] = {{0, head.bytes, head.size},
                            {head.size + LARGE - 1, &seven, 1},
                            {head.size + LARGE, numbers, sizeof numbers}};
    const uint64_t whole = head.size + LARGE + sizeof numbers;
    check_tensors(write_sparse("large.safetensors", pieces, 3, whole));

    zn_error err = {{0}};
    zn_weights *weights = NULL;
    const char *path = write_sparse("large.safetensors", pieces, 2, whole - 1);
    expect_refusal("a byte is missing", zn_weights_open(path, &weights, &err), &err,
                   ZENITH_BAD_FILE, "which has only 5368709135: the file is cut short");
    assert_int_equal(unlink(path), 0);
}

ZN_TEST(gguf)
{
    enum { F32 = 0, I8 = 24, ALIGNMENT = 32 };
    const uint8_t seven = 7;
    crafted head = craft_gguf(2, 0);
    put_tensor(&head, "large", 2, (const uint64_t[]){1 << 20, LARGE >> 20}, I8, 0);
    put_tensor(&head, "small", 1, (const uint64_t[]){NUMBERS}, F32, LARGE);
    put_data(&head, ALIGNMENT, 0);
    const piece pieces[] = {{0, head.bytes, head.size},
                            {head.size + LARGE - 1, &seven, 1},
                            {head.size + LARGE, numbers, sizeof numbers}};
    check_tensors(write_sparse("large.gguf", pieces, 3, head.size + LARGE + sizeof numbers));
}

ZN_TEST(npy)
{
    zn_error err = {{0}};
    zn_npy array;
    zn_mapped file;
    uint8_t head[ZN_NPY_HEADER];
    size_t size = 0;
    const zn_shape shape = ZN_SHAPE(LARGE / sizeof *numbers + NUMBERS);
    zn_test_ok(zn_npy_make_header(ZN_F32, &shape, head, &size, &err), &err);
    const piece pieces[] = {{0, head, size}, {size + LARGE, numbers, sizeof numbers}};
    const char *path = write_sparse("large.npy", pieces, 2, size + LARGE + sizeof numbers);
    zn_test_ok(zn_mapped_open(path, &file, &err), &err);
    zn_test_ok(zn_npy_parse(file.data, file.size, path, &array, &err), &err);
    assert_true(array.bytes == LARGE + sizeof numbers);
    assert_memory_equal(array.data + LARGE, numbers, sizeof numbers);
    expect_refusal("a byte is missing", zn_npy_parse(file.data, file.size - 1, path, &array, &err),
                   &err, ZENITH_BAD_FILE, "");
    zn_mapped_close(&file);
    assert_int_equal(unlink(path), 0);
}

// --- tar ----------------------------------------------------------------------------------------

// A member of 5 GiB, whose size is in octal digits, or of 9 GiB, for which there are too few
// digits; then a small one.
typedef struct archive {
    crafted_tar first, second;
    piece pieces[3];
    uint64_t large, size, at; // at: what a stream has given
} archive;

static void make_archive(archive *a, bool binary)
{
    static const uint8_t seven = 7;
    *a = (archive){.large = binary ? UINT64_C(9) << 30 : LARGE};
    tar_add(&a->first, '0', "large", NULL, 0);
    tar_octal(a->first.header + 124, 12, binary ? 0 : a->large);
    for (int i = 0; binary && i < 12; i++)
        a->first.header[135 - i] = (uint8_t)(i < 8 ? a->large >> 8 * i : i == 11 ? 0x80 : 0);
    tar_sign(&a->first);
    tar_add(&a->second, '0', "small", "after it", 8);
    tar_end(&a->second);
    a->pieces[0] = (piece){0, a->first.bytes, TAR_BLOCK};
    a->pieces[1] = (piece){TAR_BLOCK + a->large - 1, &seven, 1};
    a->pieces[2] = (piece){TAR_BLOCK + a->large, a->second.bytes, a->second.size};
    a->size = TAR_BLOCK + a->large + a->second.size;
}

static void next_member(zn_tar *tar, const char *name, uint64_t size, zn_tar_member *out)
{
    zn_error err = {{0}};
    bool found = false;
    zn_test_ok(zn_tar_next(tar, out, &found, &err), &err);
    assert_true(found);
    assert_string_equal(out->name, name);
    assert_true(out->size == size);
}

ZN_TEST(tar_in_a_file)
{
    static archive a;
    static zn_tar tar;
    for (int binary = 0; binary < 2; binary++) {
        zn_error err = {{0}};
        zn_mapped file;
        zn_tar_member member;
        make_archive(&a, binary);
        const char *path = write_sparse("large.tar", a.pieces, 3, a.size);
        zn_test_ok(zn_mapped_open(path, &file, &err), &err);
        zn_tar_begin(&tar, file.data, file.size);
        next_member(&tar, "large", a.large, &member);
        assert_int_equal(file.data[member.offset + member.size - 1], 7);
        next_member(&tar, "small", 8, &member);
        assert_memory_equal(file.data + member.offset, "after it", 8);
        zn_mapped_close(&file);
        assert_int_equal(unlink(path), 0);
    }
}

// Gives the archive's bytes; zeros are left as they are in `dst`, which nobody looks at.
static zenith_status give(void *cookie, void *dst, size_t size, size_t *got, zn_error *err)
{
    archive *a = cookie;
    (void)err;
    *got = a->size - a->at < size ? (size_t)(a->size - a->at) : size;
    for (int i = 0; i < 3; i++) {
        const piece *p = &a->pieces[i];
        const uint64_t begin = a->at > p->offset ? a->at : p->offset;
        const uint64_t end = a->at + *got < p->offset + p->size ? a->at + *got
                                                                : p->offset + p->size;
        if (begin < end)
            memcpy((uint8_t *)dst + (begin - a->at), (const uint8_t *)p->data + (begin - p->offset),
                   (size_t)(end - begin));
    }
    a->at += *got;
    return ZENITH_OK;
}

ZN_TEST(tar_from_a_stream)
{
    static archive a;
    for (int binary = 0; binary < 2; binary++) {
        zn_error err = {{0}};
        zn_tar_stream *stream = NULL;
        const char *name = NULL;
        uint64_t size = 0;
        bool found = false;
        char text[9] = "";
        make_archive(&a, binary);
        zn_test_ok(zn_tar_stream_open(give, &a, a.size, &stream, &err), &err);
        zn_test_ok(zn_tar_stream_next(stream, &name, &size, &found, &err), &err);
        assert_true(found && size == a.large);
        assert_string_equal(name, "large");
        zn_test_ok(zn_tar_stream_next(stream, &name, &size, &found, &err), &err);
        assert_true(found && size == 8);
        assert_string_equal(name, "small");
        zn_test_ok(zn_tar_stream_read(stream, text, 8, &err), &err);
        assert_string_equal(text, "after it");
        zn_tar_stream_free(stream);
    }
}

// Files are mapped, and only the pages that are accessed are read.
ZN_TEST(memory_stays_small)
{
    const int64_t kilobytes = 1 << 18;
    assert_true(most_resident() < kilobytes);
}
