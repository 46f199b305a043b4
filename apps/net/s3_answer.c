// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See s3_answer.h.
#include "apps/net/s3_answer.h"

#include <curl/curl.h>
#include <expat.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_DEPTH = 16, NAME = 48, MOST_TEXT = 8192, MOST_HEADER = 8192 };

// --- XML ----------------------------------------------------------------------------------------

typedef struct parse {
    XML_Parser parser;
    s3_answer *answer;
    int depth;
    char names[4][NAME]; // of the open elements, from the root; deeper ones say nothing to us
    char text[MOST_TEXT];
    size_t length;
    bool bad, encoded;
} parse;

static void refuse(parse *p)
{
    p->bad = true;
    XML_StopParser(p->parser, XML_FALSE);
}

static bool is_at(const parse *p, int depth, const char *root, const char *name)
{
    return p->depth == depth && strcmp(p->names[0], root) == 0 &&
           strcmp(p->names[depth - 1], name) == 0;
}

static bool in_contents(const parse *p, const char *name)
{
    return is_at(p, 3, "ListBucketResult", name) && strcmp(p->names[1], "Contents") == 0;
}

static s3_entry *add_entry(s3_answer *answer)
{
    if (answer->count == answer->capacity) {
        const size_t capacity = answer->capacity ? 2 * answer->capacity : 256;
        s3_entry *grown = realloc(answer->entries, capacity * sizeof *grown);
        if (grown == NULL) return NULL;
        answer->entries = grown;
        answer->capacity = capacity;
    }
    s3_entry *made = &answer->entries[answer->count++];
    memset(made, 0, sizeof *made);
    return made;
}

static void on_start(void *cookie, const XML_Char *name, const XML_Char **attributes)
{
    parse *p = cookie;
    (void)attributes;
    if (p->depth >= MOST_DEPTH || strlen(name) >= NAME) {
        refuse(p);
        return;
    }
    if (p->depth < 4) memcpy(p->names[p->depth], name, strlen(name) + 1);
    p->depth++;
    p->length = 0;
    if (is_at(p, 2, "ListBucketResult", "Contents") && add_entry(p->answer) == NULL) refuse(p);
}

static void on_text(void *cookie, const XML_Char *text, int length)
{
    parse *p = cookie;
    if (length < 0 || (size_t)length >= MOST_TEXT - p->length) {
        refuse(p);
        return;
    }
    memcpy(p->text + p->length, text, (size_t)length);
    p->length += (size_t)length;
}

static bool copy(const char *text, char *dst, size_t size)
{
    const size_t length = strlen(text);
    if (length >= size) return false;
    memcpy(dst, text, length + 1);
    return true;
}

// Without its quotes.
static bool copy_etag(const char *text, char dst[S3_ETAG])
{
    const size_t length = strlen(text);
    const bool quoted = length >= 2 && text[0] == '"' && text[length - 1] == '"';
    if (length - (quoted ? 2 : 0) >= S3_ETAG) return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 33 || text[i] == 127) return false;
    memcpy(dst, text + quoted, length - (quoted ? 2 : 0));
    dst[length - (quoted ? 2 : 0)] = 0;
    return true;
}

static bool read_size(const char *text, uint64_t *out)
{
    char *end = NULL;
    if (*text < '0' || *text > '9' || strlen(text) > 18) return false;
    *out = strtoull(text, &end, 10);
    return *end == 0;
}

static bool keep(const char *text, char **dst)
{
    if (*dst != NULL) return false; // said twice
    *dst = strdup(text);
    return *dst != NULL;
}

static bool take_entry(parse *p, s3_entry *entry)
{
    if (in_contents(p, "Key")) return keep(p->text, &entry->key);
    if (in_contents(p, "Size")) return read_size(p->text, &entry->bytes);
    if (in_contents(p, "ETag")) return copy_etag(p->text, entry->etag);
    return true;
}

static bool take(parse *p)
{
    s3_answer *a = p->answer;
    if (p->depth == 3 && a->count > 0) return take_entry(p, &a->entries[a->count - 1]);
    if (is_at(p, 2, "ListBucketResult", "IsTruncated"))
        a->truncated = strcmp(p->text, "true") == 0;
    else if (is_at(p, 2, "ListBucketResult", "EncodingType"))
        p->encoded = strcmp(p->text, "url") == 0;
    else if (is_at(p, 2, "ListBucketResult", "NextContinuationToken"))
        return keep(p->text, &a->next);
    else if (is_at(p, 2, "InitiateMultipartUploadResult", "UploadId"))
        return copy(p->text, a->upload, sizeof a->upload);
    else if (is_at(p, 2, "CompleteMultipartUploadResult", "ETag"))
        return copy_etag(p->text, a->etag);
    else if (is_at(p, 2, "Error", "Code"))
        return copy(p->text, a->code, sizeof a->code);
    return true;
}

static void on_end(void *cookie, const XML_Char *name)
{
    parse *p = cookie;
    (void)name;
    p->text[p->length] = 0;
    if (p->depth <= 4 && !take(p)) refuse(p);
    p->depth--;
    p->length = 0;
}

static void on_doctype(void *cookie, const XML_Char *name, const XML_Char *system,
                       const XML_Char *public, int internal)
{
    (void)name, (void)system, (void)public, (void)internal;
    refuse(cookie);
}

static int digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// "%2B" and "+" in place. False: a zero is among the bytes, or it is no such text.
static bool decode(char *text)
{
    char *to = text;
    for (const char *at = text; *at != 0; at++) {
        int byte = *at == '+' ? ' ' : (unsigned char)*at;
        if (*at == '%') {
            const int high = digit(at[1]), low = high < 0 ? -1 : digit(at[2]);
            if (low < 0) return false;
            byte = 16 * high + low;
            at += 2;
        }
        if (byte == 0) return false;
        *to++ = (char)byte;
    }
    *to = 0;
    return true;
}

static bool finish(const parse *p)
{
    s3_answer *a = p->answer;
    for (size_t i = 0; i < a->count; i++) {
        s3_entry *entry = &a->entries[i];
        if (entry->key == NULL || (p->encoded && !decode(entry->key))) return false;
        if (entry->key[0] == 0) return false;
    }
    return !a->truncated || (a->next != NULL && a->next[0] != 0);
}

bool s3_answer_parse(const char *xml, size_t size, s3_answer *out)
{
    memset(out, 0, sizeof *out);
    parse *p = calloc(1, sizeof *p);
    if (p == NULL) return false;
    p->answer = out;
    p->parser = XML_ParserCreate(NULL);
    bool good = p->parser != NULL && size <= INT32_MAX;
    if (good) {
        XML_SetUserData(p->parser, p);
        XML_SetElementHandler(p->parser, on_start, on_end);
        XML_SetCharacterDataHandler(p->parser, on_text);
        XML_SetStartDoctypeDeclHandler(p->parser, on_doctype);
        good = XML_Parse(p->parser, xml, (int)size, 1) == XML_STATUS_OK && !p->bad && finish(p);
    }
    if (p->parser != NULL) XML_ParserFree(p->parser);
    free(p);
    return good;
}

void s3_answer_free(s3_answer *answer)
{
    for (size_t i = 0; i < answer->count; i++) free(answer->entries[i].key);
    free(answer->entries);
    free(answer->next);
    memset(answer, 0, sizeof *answer);
}

// --- headers ------------------------------------------------------------------------------------

void s3_headers_begin(s3_headers *headers)
{
    memset(headers, 0, sizeof *headers);
    headers->age = headers->retry_after = -1;
    headers->date = headers->modified = -1;
}

static void read_range(s3_headers *headers, const char *value)
{
    uint64_t begin = 0;
    char number[24];
    const char *at = strncasecmp(value, "bytes ", 6) == 0 ? value + 6 : "";
    const size_t length = strspn(at, "0123456789");
    if (length == 0 || length >= sizeof number || at[length] != '-') return;
    memcpy(number, at, length);
    number[length] = 0;
    headers->has_range = read_size(number, &begin);
    headers->range_begin = begin;
}

static void read_value(s3_headers *headers, const char *name, const char *value)
{
    uint64_t seconds = 0;
    if (strcasecmp(name, "ETag") == 0)
        (void)copy_etag(value, headers->etag);
    else if (strcasecmp(name, "x-amz-bucket-region") == 0)
        (void)copy(value, headers->region, sizeof headers->region);
    else if (strcasecmp(name, "Retry-After") == 0)
        headers->retry_after = read_size(value, &seconds) && seconds < 3600 ? (double)seconds : -1;
    else if (strcasecmp(name, "Content-Range") == 0)
        read_range(headers, value);
    else if (strcasecmp(name, "Date") == 0)
        headers->date = curl_getdate(value, NULL);
    else if (strcasecmp(name, "Last-Modified") == 0)
        headers->modified = curl_getdate(value, NULL);
    if (headers->date >= 0 && headers->modified >= 0)
        headers->age = headers->date > headers->modified
                           ? (double)(headers->date - headers->modified)
                           : 0;
}

void s3_headers_add(s3_headers *headers, const char *line, size_t size)
{
    char text[MOST_HEADER];
    if (size >= 5 && strncasecmp(line, "HTTP/", 5) == 0) s3_headers_begin(headers); // after "100"
    if (size >= sizeof text || memchr(line, 0, size) != NULL) return;
    memcpy(text, line, size);
    text[size] = 0;
    char *colon = strchr(text, ':');
    if (colon == NULL) return;
    *colon = 0;
    char *value = colon + 1 + strspn(colon + 1, " \t");
    size_t length = strlen(value);
    while (length > 0 && strchr(" \t\r\n", value[length - 1]) != NULL) value[--length] = 0;
    read_value(headers, text, value);
}
