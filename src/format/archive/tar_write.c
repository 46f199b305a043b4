// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See tar.h. Reference: POSIX.1-2017, pax, "ustar Interchange Format".
#include "src/base/memory.h"
#include "src/base/os.h"
#include "src/base/sha256.h"
#include "src/base/text.h"
#include "src/format/archive/tar.h"

#include <string.h>

enum { BLOCK = 512, RECORD = 10240, NAME_ROOM = 100 };
static const uint64_t largest = 077777777777; // what eleven octal digits hold: 8 GiB

static void put_octal(uint8_t *field, int digits, uint64_t value)
{
    for (int i = digits - 1; i >= 0; i--, value /= 8) field[i] = (uint8_t)('0' + value % 8);
}

zenith_status zn_tar_write_bytes(zn_tar_writer *tar, const void *data, size_t size, zn_error *err)
{
    if (tar->hash) zn_sha256_add(tar->hash, data, size);
    tar->bytes += size;
    return zn_writer_write(tar->file, data, size, err);
}

static zenith_status write_zeros(zn_tar_writer *tar, size_t size, zn_error *err)
{
    static const uint8_t zeros[BLOCK];
    for (; size > BLOCK; size -= BLOCK) ZN_TRY(zn_tar_write_bytes(tar, zeros, BLOCK, err));
    return size ? zn_tar_write_bytes(tar, zeros, size, err) : ZENITH_OK;
}

static zenith_status write_header(zn_tar_writer *tar, char type, const char *name, uint64_t size,
                                  zn_error *err)
{
    uint8_t header[BLOCK] = {0};
    const size_t length = strlen(name);
    memcpy(header, name, length < NAME_ROOM ? length : NAME_ROOM);
    memcpy(header + 100, "0000644", 7);
    memcpy(header + 108, "0000000", 7); // user
    memcpy(header + 116, "0000000", 7); // group
    put_octal(header + 124, 11, size);
    memcpy(header + 136, "00000000000", 11); // time
    memset(header + 148, ' ', 8);
    header[156] = (uint8_t)type;
    memcpy(header + 257, "ustar", 6);
    memcpy(header + 263, "00", 2);
    uint32_t sum = 0;
    for (int i = 0; i < BLOCK; i++) sum += header[i];
    put_octal(header + 148, 6, sum);
    header[154] = 0;
    tar->padding = (size_t)(zn_round_up((size_t)size, BLOCK) - size);
    return zn_tar_write_bytes(tar, header, BLOCK, err);
}

// "LENGTH path=NAME\n", where LENGTH counts its own digits too.
static zenith_status write_long_name(zn_tar_writer *tar, const char *name, zn_error *err)
{
    char record[ZN_TAR_NAME + 32], digits[8];
    const size_t rest = strlen(" path=\n") + strlen(name);
    size_t length = rest, before;
    do {
        before = length;
        length = rest + zn_text_format(digits, sizeof digits, "%zu", before);
    } while (length != before);
    zn_text_format(record, sizeof record, "%zu path=%s\n", length, name);
    ZN_TRY(write_header(tar, 'x', "././@PaxHeader", length, err));
    ZN_TRY(zn_tar_write_bytes(tar, record, length, err));
    return zn_tar_write_end(tar, err);
}

zenith_status zn_tar_write_member(zn_tar_writer *tar, const char *name, uint64_t size,
                                  zn_error *err)
{
    if (strlen(name) >= ZN_TAR_NAME || size > largest)
        return zn_fail(err, ZENITH_LIMIT,
                       "an archive is written with names of up to %d bytes and files of up to 8 "
                       "GiB",
                       ZN_TAR_NAME - 1);
    if (strlen(name) > NAME_ROOM) ZN_TRY(write_long_name(tar, name, err));
    return write_header(tar, '0', name, size, err);
}

zenith_status zn_tar_write_end(zn_tar_writer *tar, zn_error *err)
{
    return write_zeros(tar, tar->padding, err);
}

zenith_status zn_tar_write_finish(zn_tar_writer *tar, zn_error *err)
{
    const uint64_t end = tar->bytes +
                         2 * BLOCK; // others pad to a whole record, and warn without it
    return write_zeros(tar, (size_t)(zn_round_up((size_t)end, RECORD) - tar->bytes), err);
}
