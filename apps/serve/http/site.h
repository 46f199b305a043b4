// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The page at "/" and what it loads from "/page/": the files of apps/serve/page, which
// cmake/embed.cmake puts into the program. A browser keeps them and asks whether they are still the
// same (ETag).
#ifndef ZN_SERVE_HTTP_SITE_H
#define ZN_SERVE_HTTP_SITE_H

#include "apps/serve/http/answer.h"

typedef struct serve_site_file {
    const char *name; // in the folder; NULL ends the table
    const char *type; // of its content
    const char *etag; // of its bytes, in quotes
    const unsigned char *data;
    size_t size;
} serve_site_file;
extern const serve_site_file serve_site_files[];

// What answers with these files say besides: a browser loads nothing from elsewhere and runs no
// code but theirs.
typedef struct serve_site_header {
    const char *name, *value;
} serve_site_header;
extern const serve_site_header serve_site_headers[]; // ends with NULL

// The file at a path, or 304 where `known` (If-None-Match, or NULL) has it already. false: there is
// none.
bool serve_site_answer(const char *path, const char *known, serve_answer *answer,
                       serve_failure *failure);

#endif
