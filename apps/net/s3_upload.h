// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// An object that is written from its beginning: at once where it is small, in parts where it is
// not. It is there only after s3_upload_close with `keep`.
#ifndef ZN_NET_S3_UPLOAD_H
#define ZN_NET_S3_UPLOAD_H

#include "apps/net/s3_address.h"
#include "zenith/zenith.h"

struct s3_client;
typedef struct s3_upload s3_upload;

zenith_status s3_upload_open(struct s3_client *client, const char *path, s3_upload **out,
                             char message[S3_MESSAGE]);
zenith_status s3_upload_write(s3_upload *upload, const void *data, size_t size,
                              char message[S3_MESSAGE]);
// Frees it in any case. etag (136 bytes): of the object that is kept.
zenith_status s3_upload_close(s3_upload *upload, bool keep, char *etag, char message[S3_MESSAGE]);

#endif
