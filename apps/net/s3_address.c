// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See s3_address.h.
#include "apps/net/s3_address.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_TRIES = 8 };

static bool fail(char message[S3_MESSAGE], const char *sentence)
{
    snprintf(message, S3_MESSAGE, "%s", sentence);
    return false;
}

// The first that is set, and not empty; "" where none is.
static const char *environment(const char *first, const char *second)
{
    const char *value = getenv(first);
    if ((value == NULL || *value == 0) && second != NULL) value = getenv(second);
    return value != NULL ? value : "";
}

// A line end in one of these would add headers to a request.
static bool take(const char *value, char *dst, size_t size)
{
    for (const char *at = value; *at != 0; at++)
        if ((unsigned char)*at < 33 || *at == 127) return false;
    return (size_t)snprintf(dst, size, "%s", value) < size;
}

static bool take_endpoint(const char *value, s3_server *out)
{
    if (!take(value, out->endpoint, sizeof out->endpoint)) return false;
    size_t length = strlen(out->endpoint);
    while (length > 0 && out->endpoint[length - 1] == '/') out->endpoint[--length] = 0;
    const bool web = strncmp(value, "http://", 7) == 0 || strncmp(value, "https://", 8) == 0;
    return length == 0 || (web && strpbrk(value, "?#@") == NULL);
}

static bool take_tries(const char *value, s3_server *out)
{
    char *end = NULL;
    const long tries = *value != 0 ? strtol(value, &end, 10) : USUAL_TRIES;
    out->tries = tries >= 1 && tries <= 100 ? (int)tries : 0;
    return out->tries > 0 && (end == NULL || *end == 0);
}

bool s3_server_read(s3_server *out, char message[S3_MESSAGE])
{
    const char *region = environment("AWS_REGION", "AWS_DEFAULT_REGION");
    memset(out, 0, sizeof *out);
    if (!take(*region != 0 ? region : "us-east-1", out->region, sizeof out->region) ||
        strchr(out->region, ':') != NULL || strchr(out->region, '/') != NULL)
        return fail(message, "AWS_REGION is no region such as us-east-1");
    if (!take_endpoint(environment("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"), out))
        return fail(message,
                    "AWS_ENDPOINT_URL_S3 is no address such as https://s3.example.org:9000");
    if (!take_tries(environment("AWS_MAX_ATTEMPTS", NULL), out))
        return fail(message, "AWS_MAX_ATTEMPTS is no number from 1 to 100");
    const char *bundle = environment("AWS_CA_BUNDLE", NULL);
    if ((size_t)snprintf(out->certificates, sizeof out->certificates, "%s", bundle) >=
        sizeof out->certificates)
        return fail(message, "AWS_CA_BUNDLE is too long a path");
    if (!take(environment("AWS_ACCESS_KEY_ID", NULL), out->access, sizeof out->access) ||
        !take(environment("AWS_SECRET_ACCESS_KEY", NULL), out->secret, sizeof out->secret) ||
        !take(environment("AWS_SESSION_TOKEN", NULL), out->token, sizeof out->token))
        return fail(message, "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY or AWS_SESSION_TOKEN has "
                             "spaces or is too long");
    if (out->access[0] == 0 || out->secret[0] == 0)
        return fail(message, "s3:// needs keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY "
                             "in the environment");
    return true;
}

bool s3_path_split(const char *path, char bucket[S3_BUCKET], const char **key,
                   char message[S3_MESSAGE])
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    const char *name = strncmp(path, "s3://", 5) == 0 ? path + 5 : "";
    const size_t length = strcspn(name, "/");
    if (length == 0 || length >= S3_BUCKET || strspn(name, letters) < length || name[0] == '.') {
        snprintf(message, S3_MESSAGE, "'%.300s' names no bucket: expected s3://BUCKET/PREFIX",
                 path);
        return false;
    }
    memcpy(bucket, name, length);
    bucket[length] = 0;
    *key = name + length + (name[length] == '/');
    if (strlen(*key) <= S3_LONGEST_KEY) return true;
    snprintf(message, S3_MESSAGE, "'%.300s..' is longer than the %d bytes that a key may have",
             path, S3_LONGEST_KEY);
    return false;
}

void s3_encode(const char *text, bool slash, char *dst)
{
    static const char digits[] = "0123456789ABCDEF";
    for (; *text != 0; text++) {
        const unsigned char c = (unsigned char)*text;
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || strchr("-._~", c) != NULL ||
                           (slash && c == '/');
        if (plain) {
            *dst++ = (char)c;
            continue;
        }
        *dst++ = '%';
        *dst++ = digits[c >> 4];
        *dst++ = digits[c & 15];
    }
    *dst = 0;
}

char *s3_url(const s3_server *server, const char *bucket, const char *key, const char *query)
{
    const size_t encoded = 3 * strlen(key) + 1;
    const size_t size = sizeof server->endpoint + sizeof server->region + S3_BUCKET + encoded +
                        (query != NULL ? strlen(query) : 0) + 64;
    char *name = malloc(encoded), *url = malloc(size);
    if (name == NULL || url == NULL) {
        free(name);
        free(url);
        return NULL;
    }
    s3_encode(key, true, name);
    const char *mark = query != NULL ? "?" : "", *asked = query != NULL ? query : "";
    if (server->endpoint[0] != 0)
        snprintf(url, size, "%s/%s/%s%s%s", server->endpoint, bucket, name, mark, asked);
    else if (strchr(bucket, '.') != NULL) // a certificate covers one part of a name
        snprintf(url, size, "https://s3.%s.amazonaws.com/%s/%s%s%s", server->region, bucket, name,
                 mark, asked);
    else
        snprintf(url, size, "https://%s.s3.%s.amazonaws.com/%s%s%s", bucket, server->region, name,
                 mark, asked);
    free(name);
    return url;
}
