// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the objects of s3:// are: the server and the keys, from the environment that other programs
// use too, and addresses.
#ifndef ZN_NET_S3_ADDRESS_H
#define ZN_NET_S3_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

enum { S3_MESSAGE = 512, S3_LONGEST_KEY = 1024, S3_BUCKET = 64 };

// access, secret and token are never shown.
typedef struct s3_server {
    char endpoint[512]; // without a slash at its end; "": Amazon's, of the region
    char region[64];
    char access[256], secret[256], token[4096];
    int tries;               // of a request
    char certificates[1024]; // a file of those to trust; "": the system's
} s3_server;

// AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, AWS_REGION or AWS_DEFAULT_REGION, AWS_ACCESS_KEY_ID,
// AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_MAX_ATTEMPTS, AWS_CA_BUNDLE. False with a sentence.
bool s3_server_read(s3_server *out, char message[S3_MESSAGE]);

// "s3://BUCKET/KEY"; key "" where there is none. *key points into the path.
bool s3_path_split(const char *path, char bucket[S3_BUCKET], const char **key,
                   char message[S3_MESSAGE]);

// Every byte but A-Z a-z 0-9 - . _ ~ as %XX, as the signature wants it; slash: also "/" stays. Room
// for three times the text and one.
void s3_encode(const char *text, bool slash, char *dst);

// The address of a key ("": of the bucket) with a query, which is encoded and sorted already, or
// NULL. Of Amazon's servers the bucket is in the host's name, of others in the path. The caller's
// by free; NULL: no memory.
char *s3_url(const s3_server *server, const char *bucket, const char *key, const char *query);

#endif
