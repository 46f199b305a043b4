// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// JSON, read and written by jansson behind a few calls that fail with a sentence. What comes from
// outside is bounded before jansson sees it: bytes, nesting and the number of values, since a value
// of two bytes ("{}") costs jansson some 400 bytes of memory. Keys that occur twice are refused
// (two readers would see two different files), and so is anything after the document.
//
// A document is owned by whoever parsed it; everything the getters hand out is borrowed from it.
#ifndef ZN_BASE_JSON_H
#define ZN_BASE_JSON_H

#include "src/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZN_JSON_MAX_BYTES  ((size_t)100 * 1000 * 1000)
#define ZN_JSON_MAX_DEPTH  64
#define ZN_JSON_MAX_VALUES ((size_t)1 << 20)

typedef struct json_t zn_json; // jansson's own value: code that builds JSON may use jansson on it

// `where` names the text in messages (a path). Numbers and strings alone are documents too.
zenith_status zn_json_parse(const char *text, size_t size, const char *where, zn_json **out,
                            zn_error *err);
zenith_status zn_json_open(const char *path, zn_json **out, zn_error *err);
void zn_json_free(zn_json *value); // NULL is fine

// The document as text: one line, keys in byte order, floats in 17 digits. *out is the caller's, by
// zn_free, with a closing zero that *size does not count. `size` may be NULL.
zenith_status zn_json_dump(const zn_json *value, char **out, size_t *size, zn_error *err);

// A list of texts in UTF-8, and a copy of an object (NULL: an empty one) in which a key has another
// value. *out is the caller's; `value` stays its owner's.
zenith_status zn_json_texts(const char *const *texts, size_t count, zn_json **out, zn_error *err);
zenith_status zn_json_replaced(const zn_json *object, const char *key, const zn_json *value,
                               zn_json **out, zn_error *err);

// The shortest decimal number that reads back as the same float, whatever the locale. Fails for
// NaN and infinities, which JSON has not.
zenith_status zn_json_float_text(float value, char dst[32], zn_error *err);

// True when the object has the key and its value is not null (checkpoints write "shift": null).
bool zn_json_has(const zn_json *object, const char *key);

// The value of a key, which must be there and be of that type: ZENITH_BAD_FILE and a sentence with
// the key's name otherwise. Integers must lie within [min, max]; a number may be an integer too.
zenith_status zn_json_get_text(const zn_json *object, const char *key, const char **out,
                               zn_error *err);
zenith_status zn_json_get_integer(const zn_json *object, const char *key, int64_t min, int64_t max,
                                  int64_t *out, zn_error *err);
zenith_status zn_json_get_number(const zn_json *object, const char *key, double *out,
                                 zn_error *err);
zenith_status zn_json_get_flag(const zn_json *object, const char *key, bool *out, zn_error *err);
zenith_status zn_json_get_array(const zn_json *object, const char *key, const zn_json **out,
                                zn_error *err);
zenith_status zn_json_get_object(const zn_json *object, const char *key, const zn_json **out,
                                 zn_error *err);

bool zn_json_is_object(const zn_json *value);
bool zn_json_is_array(const zn_json *value);
size_t zn_json_size(const zn_json *value); // members of an array or object, else 0

// The value itself: false when it is of another type. NULL is of no type.
bool zn_json_as_text(const zn_json *value, const char **out);
bool zn_json_as_integer(const zn_json *value, int64_t *out);
bool zn_json_as_number(const zn_json *value, double *out);

const zn_json *zn_json_at(const zn_json *array, size_t index);       // NULL past the end
const zn_json *zn_json_find(const zn_json *object, const char *key); // NULL: it has none such

// Calls each(key, value) for the members of an object in the order of the text; stops at the first
// status that is not OK and returns it.
zenith_status zn_json_each(const zn_json *object,
                           zenith_status (*each)(void *cookie, const char *key,
                                                 const zn_json *value, zn_error *err),
                           void *cookie, zn_error *err);

#endif
