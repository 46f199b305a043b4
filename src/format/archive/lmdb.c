// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A file is pages of one size. Pages 0 and 1 say where the tables begin; the one with the later
// transaction counts. A table is a tree: branches hold page numbers, leaves hold entries, and a
// value that is too long for a leaf has pages of its own.
//
//     page:  [number 8][pad 2][flags 2][lower 2][upper 2][node offsets, 2 each ...]    [nodes ...]
//     node:  [low 2][high 2][flags 2][bytes of the key 2][key][value, or number of its first page]
//
// low and high are the size of a leaf's value, and with the flags the page number of a branch.
// Reference: the structures MDB_meta, MDB_db, MDB_page and MDB_node of liblmdb 0.9.
#include "src/format/archive/lmdb.h"

#include <string.h>

enum {
    HEADER = 16, // of a page
    NODE = 8,    // of a node, before its key
    PAGE_FLAGS = 10,
    PAGE_LOWER = 12,
    BRANCH = 0x01,
    LEAF = 0x02,
    OVERFLOWN = 0x04,
    NODE_FAR = 0x01 // the value has pages of its own; other flags: a table, or several values
};

// Of pages 0 and 1, behind the header.
enum {
    MAGIC = HEADER,
    VERSION = MAGIC + 4,
    FREE_TABLE = VERSION + 20, // behind an address and the size of the map
    MAIN_TABLE = FREE_TABLE + 48,
    TABLE_ROOT = 40,
    TRANSACTION = MAIN_TABLE + 48 + 8,
    META_SIZE = TRANSACTION + 8
};

static unsigned get16(const uint8_t *p)
{
    return (unsigned)p[0] | (unsigned)p[1] << 8;
}

static uint32_t get32(const uint8_t *p)
{
    return get16(p) | (uint32_t)get16(p + 2) << 16;
}

static uint64_t get64(const uint8_t *p)
{
    return get32(p) | (uint64_t)get32(p + 4) << 32;
}

static zenith_status fail_at(size_t position, const char *what, zn_error *err)
{
    return zn_fail(err, ZENITH_BAD_FILE, "the database is damaged at byte %zu: %s", position, what);
}

bool zn_lmdb_is(const uint8_t *data, size_t size)
{
    return size >= META_SIZE && get32(data + MAGIC) == 0xBEEFC0DE;
}

// The bytes [number * page, + bytes) of the file.
static zenith_status find_pages(const zn_lmdb *lmdb, uint64_t number, size_t bytes, size_t *out,
                                zn_error *err)
{
    if (number >= lmdb->size / lmdb->page || bytes > lmdb->size - (size_t)number * lmdb->page)
        return zn_fail(err, ZENITH_BAD_FILE,
                       "the database is cut off at byte %zu: it should have page %llu", lmdb->size,
                       (unsigned long long)number);
    *out = (size_t)number * lmdb->page;
    return ZENITH_OK;
}

// Puts a page at the end of the path.
static zenith_status enter(zn_lmdb *lmdb, uint64_t number, zn_error *err)
{
    size_t at = 0;
    ZN_TRY(find_pages(lmdb, number, lmdb->page, &at, err));
    const uint8_t *page = lmdb->data + at;
    const unsigned lower = get16(page + PAGE_LOWER), flags = get16(page + PAGE_FLAGS);
    if (lmdb->visits == 0 || lmdb->depth == ZN_LMDB_DEPTH)
        return fail_at(at, "its pages lead in a circle", err);
    if (flags != BRANCH && flags != LEAF)
        return fail_at(at + PAGE_FLAGS, "this should be a page of the table", err);
    if (lower < HEADER || lower > lmdb->page)
        return fail_at(at + PAGE_LOWER, "more nodes than the page has room for", err);
    lmdb->visits--;
    lmdb->path[lmdb->depth].at = at;
    lmdb->path[lmdb->depth].next = 0;
    lmdb->path[lmdb->depth].number = (lower - HEADER) / 2;
    lmdb->depth++;
    return ZENITH_OK;
}

// The later of the two, as far as it is whole.
static const uint8_t *choose_meta(const uint8_t *data, size_t size, size_t page)
{
    if (size - page < META_SIZE || get32(data + page + MAGIC) != 0xBEEFC0DE) return data;
    return get64(data + page + TRANSACTION) > get64(data + TRANSACTION) ? data + page : data;
}

zenith_status zn_lmdb_begin(zn_lmdb *lmdb, const uint8_t *data, size_t size, zn_error *err)
{
    if (!zn_lmdb_is(data, size))
        return zn_fail(err, ZENITH_BAD_FILE, "this is no LMDB database of 64 bits and little end");
    if (get32(data + VERSION) != 1)
        return zn_fail(err, ZENITH_UNSUPPORTED,
                       "this is an LMDB database of version %u, and only version 1 is read",
                       (unsigned)get32(data + VERSION));
    const size_t page = get32(data + FREE_TABLE);
    if (page < 512 || page > 65536 || (page & (page - 1)) || page > size)
        return fail_at(FREE_TABLE, "no size of pages", err);
    *lmdb = (zn_lmdb){.data = data, .size = size, .page = page, .visits = size / page};
    const uint8_t *table = choose_meta(data, size, page) + MAIN_TABLE;
    const uint64_t root = get64(table + TABLE_ROOT);
    return root == UINT64_MAX ? ZENITH_OK : enter(lmdb, root, err); // empty
}

// The next node of the last page in the path; its key lies in the page.
static zenith_status take_node(zn_lmdb *lmdb, size_t *out, zn_error *err)
{
    const int last = lmdb->depth - 1;
    const size_t start = lmdb->path[last].at;
    const size_t pointer = start + HEADER + 2 * (size_t)lmdb->path[last].next++;
    const size_t at = get16(lmdb->data + pointer);
    if (at > lmdb->page - NODE || at + NODE + get16(lmdb->data + start + at + 6) > lmdb->page)
        return fail_at(pointer, "a node that is not in its page", err);
    *out = start + at;
    return ZENITH_OK;
}

static void copy_key(zn_lmdb *lmdb, const uint8_t *key, size_t bytes)
{
    if (bytes > ZN_LMDB_KEY - 1) bytes = ZN_LMDB_KEY - 1;
    for (size_t i = 0; i < bytes; i++)
        lmdb->key[i] = key[i] >= ' ' && key[i] < 0x7f ? (char)key[i] : '?';
    lmdb->key[bytes] = 0;
}

// The entry of a leaf's node; *found is false where it is none of one value.
static zenith_status read_entry(zn_lmdb *lmdb, size_t node, zn_lmdb_entry *out, bool *found,
                                zn_error *err)
{
    const uint8_t *bytes = lmdb->data + node;
    const size_t key = get16(bytes + 6), value = node + NODE + key;
    const size_t page_end = lmdb->path[lmdb->depth - 1].at + lmdb->page;
    const unsigned flags = get16(bytes + 4);
    *found = !(flags & ~(unsigned)NODE_FAR);
    if (!*found) return ZENITH_OK;
    *out = (zn_lmdb_entry){.key = lmdb->key, .offset = value, .size = get32(bytes)};
    if ((flags & NODE_FAR ? 8 : out->size) > page_end - value)
        return fail_at(node, "a value that is not in its page", err);
    if (flags & NODE_FAR) {
        size_t at = 0;
        ZN_TRY(find_pages(lmdb, get64(lmdb->data + value), HEADER + out->size, &at, err));
        if (get16(lmdb->data + at + PAGE_FLAGS) != OVERFLOWN)
            return fail_at(at + PAGE_FLAGS, "this should be the page of a value", err);
        out->offset = at + HEADER;
    }
    copy_key(lmdb, bytes + NODE, key);
    return ZENITH_OK;
}

zenith_status zn_lmdb_next(zn_lmdb *lmdb, zn_lmdb_entry *out, bool *found, zn_error *err)
{
    *found = false;
    while (lmdb->depth && !*found) {
        const int last = lmdb->depth - 1;
        size_t node = 0;
        if (lmdb->path[last].next == lmdb->path[last].number) {
            lmdb->depth--;
            continue;
        }
        ZN_TRY(take_node(lmdb, &node, err));
        if (get16(lmdb->data + lmdb->path[last].at + PAGE_FLAGS) == LEAF)
            ZN_TRY(read_entry(lmdb, node, out, found, err));
        else
            ZN_TRY(enter(lmdb,
                         get32(lmdb->data + node) | (uint64_t)get16(lmdb->data + node + 4) << 32,
                         err));
    }
    return ZENITH_OK;
}
