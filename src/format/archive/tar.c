// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Everything lies in blocks of 512 bytes: a header, then its data, padded. A long name or a pax
// record is a member of its own, before the one that it is about. A block of zeros is the end.
//
//     [header 'x'][records...][header '0'][data......pad][header '0']...[zeros][zeros]
//
// Reference: POSIX.1-2017, pax, "pax Interchange Format" and "ustar Interchange Format"; GNU tar's
// manual, "Basic Tar Format".
#include "src/format/archive/tar.h"

#include "src/base/memory.h"

#include <string.h>

enum { BLOCK = 512 };

// Fields of a header: where and how long.
enum {
    NAME = 0,
    NAME_SIZE = 100,
    SIZE = 124,
    SIZE_SIZE = 12,
    SUM = 148,
    SUM_SIZE = 8,
    TYPE = 156,
    MAGIC = 257,
    PREFIX = 345,
    PREFIX_SIZE = 155,
    SPARSE_MORE = 482,    // of an old sparse file's header: blocks of its map follow
    SPARSE_MORE_MAP = 504 // the same in such a block
};

void zn_tar_begin(zn_tar *tar, const uint8_t *data, size_t size)
{
    *tar = (zn_tar){.data = data, .size = size, .whole = size};
}

static zenith_status fail_at(const zn_tar *tar, const uint8_t *at, const char *what, zn_error *err)
{
    return zn_fail(err, ZENITH_BAD_FILE, "the archive is damaged at byte %llu: %s",
                   (unsigned long long)(tar->before + (uint64_t)(at - tar->data)), what);
}

static zenith_status fail_cut(const zn_tar *tar, uint64_t wanted, zn_error *err)
{
    return zn_fail(
        err, ZENITH_BAD_FILE,
        "the archive is cut off at byte %llu: it should go on to byte %llu at least",
        (unsigned long long)(tar->before + tar->whole),
        (unsigned long long)(wanted > UINT64_MAX - tar->before ? wanted : tar->before + wanted));
}

static bool all_zero(const uint8_t *block)
{
    for (int i = 0; i < BLOCK; i++)
        if (block[i]) return false;
    return true;
}

// Octal digits among spaces, ended by a space, a zero or the field's end.
static bool read_octal(const uint8_t *field, int size, uint64_t *out)
{
    int i = 0;
    uint64_t value = 0;
    while (i < size && field[i] == ' ') i++;
    for (; i < size && field[i] >= '0' && field[i] <= '7'; i++) {
        if (value >> 61) return false;
        value = value * 8 + (uint64_t)(field[i] - '0');
    }
    if (i < size && field[i] != ' ' && field[i] != 0) return false;
    *out = value;
    return true;
}

// GNU writes what octal digits cannot hold in base 256, with the first bit set.
static bool read_number(const uint8_t *field, int size, uint64_t *out)
{
    if (!(field[0] & 0x80)) return read_octal(field, size, out);
    uint64_t value = field[0] & 0x7f; // the next bit is the sign: it makes the number too large
    for (int i = 1; i < size; i++) {
        if (value >> 55) return false;
        value = value << 8 | field[i];
    }
    *out = value;
    return true;
}

// The sum of a header's bytes, its own field taken as spaces; old writers had signed bytes.
static bool sum_is_right(const uint8_t *header)
{
    uint64_t stored;
    int64_t plain = 0, with_signs = 0;
    for (int i = 0; i < BLOCK; i++) {
        int byte = i >= SUM && i < SUM + SUM_SIZE ? ' ' : header[i];
        plain += byte;
        with_signs += byte < 128 ? byte : byte - 256;
    }
    if (!read_octal(header + SUM, SUM_SIZE, &stored)) return false;
    return stored == (uint64_t)plain || (with_signs >= 0 && stored == (uint64_t)with_signs);
}

static size_t field_length(const uint8_t *field, size_t size)
{
    const uint8_t *end = memchr(field, 0, size);
    return end ? (size_t)(end - field) : size;
}

static zenith_status set_name(zn_tar *tar, const uint8_t *text, size_t length, zn_error *err)
{
    if (length >= ZN_TAR_NAME)
        return zn_fail(err, ZENITH_LIMIT,
                       "the archive has a name of %zu bytes at byte %llu; %d are read", length,
                       (unsigned long long)(tar->before + (uint64_t)(text - tar->data)),
                       ZN_TAR_NAME - 1);
    memcpy(tar->name, text, length);
    tar->name[length] = '\0';
    return ZENITH_OK;
}

// The header's own name; ustar's has a folder in front. (GNU uses those bytes for something else.)
static void read_name(zn_tar *tar, const uint8_t *header)
{
    size_t length = 0, name = field_length(header + NAME, NAME_SIZE);
    if (memcmp(header + MAGIC, "ustar", 6) == 0 && header[PREFIX]) {
        length = field_length(header + PREFIX, PREFIX_SIZE);
        memcpy(tar->name, header + PREFIX, length);
        tar->name[length++] = '/';
    }
    memcpy(tar->name + length, header + NAME, name);
    tar->name[length + name] = '\0';
}

static bool read_decimal(const uint8_t *text, size_t length, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || value > (UINT64_MAX - 9) / 10) return false;
        value = value * 10 + (uint64_t)(text[i] - '0');
    }
    *out = value;
    return length > 0;
}

// One record's "key=value".
static zenith_status read_record(zn_tar *tar, const uint8_t *key, size_t length, zn_error *err)
{
    const uint8_t *equals = memchr(key, '=', length);
    if (!equals) return fail_at(tar, key, "a pax record has no '='", err);
    const uint8_t *value = equals + 1;
    size_t key_length = (size_t)(equals - key), value_length = length - key_length - 1;
    if (key_length == 4 && memcmp(key, "path", 4) == 0) {
        ZN_TRY(set_name(tar, value, field_length(value, value_length), err));
        tar->has_name = true;
    } else if (key_length == 4 && memcmp(key, "size", 4) == 0) {
        if (!read_decimal(value, value_length, &tar->file_size))
            return fail_at(tar, value, "a pax size is not a number", err);
        tar->has_size = true;
    }
    return ZENITH_OK;
}

// Records are "LENGTH key=value\n", and LENGTH counts all of that.
static zenith_status read_records(zn_tar *tar, const uint8_t *text, size_t size, zn_error *err)
{
    while (size > 0) {
        const uint8_t *space = memchr(text, ' ', size < 20 ? size : 20);
        size_t digits = space ? (size_t)(space - text) : 0;
        uint64_t length;
        if (!read_decimal(text, digits, &length) || length > size || length < digits + 2 ||
            text[length - 1] != '\n')
            return fail_at(tar, text, "a pax record has a wrong length", err);
        ZN_TRY(read_record(tar, space + 1, (size_t)length - digits - 2, err));
        text += length;
        size -= (size_t)length;
    }
    return ZENITH_OK;
}

// A member that says something about the next one.
static bool is_extension(uint8_t type)
{
    return type == 'L' || type == 'K' || type == 'x' || type == 'g';
}

// The bytes of data behind a header. Links, devices and folders have none, whatever they say.
static zenith_status data_size(const zn_tar *tar, const uint8_t *header, uint64_t *out,
                               zn_error *err)
{
    uint64_t size;
    if (!read_number(header + SIZE, SIZE_SIZE, &size))
        return fail_at(tar, header + SIZE, "a member's size is not a number", err);
    if (tar->has_size && !is_extension(header[TYPE])) size = tar->file_size;
    if (header[TYPE] >= '1' && header[TYPE] <= '6') size = 0;
    if (size > tar->whole - tar->position)
        return fail_cut(tar, size > UINT64_MAX - tar->position ? size : tar->position + size, err);
    *out = size;
    return ZENITH_OK;
}

bool zn_tar_map_follows(const uint8_t *block, bool is_header)
{
    if (is_header) return block[TYPE] == 'S' && block[SPARSE_MORE];
    return block[SPARSE_MORE_MAP];
}

// Old sparse files have blocks of their map between header and data.
static zenith_status pass_sparse_map(zn_tar *tar, const uint8_t *header, zn_error *err)
{
    bool more = zn_tar_map_follows(header, true);
    while (more) {
        if (tar->size - tar->position < BLOCK) return fail_cut(tar, tar->position + BLOCK, err);
        more = zn_tar_map_follows(tar->data + tar->position, false);
        tar->position += BLOCK;
    }
    return ZENITH_OK;
}

uint64_t zn_tar_looked_at(const uint8_t *header)
{
    uint64_t size;
    const bool looks = header[TYPE] == 'L' || header[TYPE] == 'x';
    if (!looks || !sum_is_right(header) || !read_number(header + SIZE, SIZE_SIZE, &size)) return 0;
    return size;
}

// The header at the position, which moves behind it; NULL at the end of the archive.
static zenith_status read_header(zn_tar *tar, const uint8_t **out, zn_error *err)
{
    size_t at = tar->position;
    if (at > tar->size || tar->size - at < BLOCK) return fail_cut(tar, at + BLOCK, err);
    const uint8_t *header = tar->data + at;
    if (all_zero(header)) {
        *out = NULL;
        return ZENITH_OK;
    }
    if (!sum_is_right(header)) {
        bool zipped = at == 0 && header[0] == 0x1f && header[1] == 0x8b;
        return zipped ? zn_fail(err, ZENITH_UNSUPPORTED,
                                "the archive is compressed; uncompress it first (gunzip)")
                      : fail_at(tar, header, "this is not a tar header (its sum is wrong)", err);
    }
    tar->position = at + BLOCK;
    *out = header;
    return ZENITH_OK;
}

// What a header's data says: a file's is the file, that of some others is about the next one.
static zenith_status read_member(zn_tar *tar, const uint8_t *header, zn_tar_member *member,
                                 bool *is_file, zn_error *err)
{
    uint64_t size = 0;
    const uint8_t type = header[TYPE];
    ZN_TRY(pass_sparse_map(tar, header, err));
    ZN_TRY(data_size(tar, header, &size, err));
    const uint8_t *data = tar->data + tar->position;
    *member = (zn_tar_member){tar->name, tar->position, (size_t)size};
    tar->position += zn_round_up((size_t)size, BLOCK); // may lie behind the end, by less than BLOCK
    *is_file = type == '0' || type == 0 || type == '7';
    if (type == 'L') {
        tar->has_name = true;
        return set_name(tar, data, size ? field_length(data, (size_t)size) : 0, err);
    }
    if (type == 'x') return read_records(tar, data, (size_t)size, err);
    if (*is_file && !tar->has_name) read_name(tar, header);
    if (!is_extension(type)) tar->has_name = tar->has_size = false; // it was for this member
    return ZENITH_OK;
}

zenith_status zn_tar_step(zn_tar *tar, zn_tar_member *out, bool *is_file, bool *end, zn_error *err)
{
    const uint8_t *header = NULL;
    *is_file = false;
    ZN_TRY(read_header(tar, &header, err));
    *end = !header;
    return header ? read_member(tar, header, out, is_file, err) : ZENITH_OK;
}

zenith_status zn_tar_next(zn_tar *tar, zn_tar_member *out, bool *found, zn_error *err)
{
    bool is_file = false, end = false;
    zn_tar_member member = {0};
    while (!is_file && !end) ZN_TRY(zn_tar_step(tar, &member, &is_file, &end, err));
    if (is_file) *out = member;
    *found = is_file;
    return ZENITH_OK;
}
