// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The bytes of an object as a stream that is pulled. A connection that breaks is taken up where it
// broke, and an object that has changed meanwhile is a failure.
#ifndef ZN_NET_S3_DOWNLOAD_H
#define ZN_NET_S3_DOWNLOAD_H

#include "apps/net/s3_address.h"
#include "zenith/zenith.h"

struct s3_client;
typedef struct s3_download s3_download;

// etag: of the object that is meant; "": any. ZENITH_NOT_FOUND: it is not there.
zenith_status s3_download_open(struct s3_client *client, const char *path, const char *etag,
                               s3_download **out, char message[S3_MESSAGE]);
// *got is less than `size` only at the end.
zenith_status s3_download_read(s3_download *download, void *dst, size_t size, size_t *got,
                               char message[S3_MESSAGE]);
void s3_download_close(s3_download *download); // NULL is fine

#endif
