// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See site.h.
#include "apps/serve/http/site.h"

#include <stdlib.h>
#include <string.h>

// Pictures are made by the page's own code from answers: blob. Workers are files of the page.
const serve_site_header serve_site_headers[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
     "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "
     "frame-ancestors 'none'"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {NULL, NULL}};

static const serve_site_file *find(const char *path)
{
    static const char folder[] = "/page/";
    const char *name = strcmp(path, "/") == 0 ? "index.html" : NULL;
    if (strncmp(path, folder, sizeof folder - 1) == 0) name = path + sizeof folder - 1;
    const serve_site_file *file = serve_site_files;
    while (file->name != NULL && (name == NULL || strcmp(file->name, name) != 0)) file++;
    return file->name != NULL ? file : NULL;
}

// A list of tags may be sent, or "*". A tag has no quote inside, so that a search finds a whole
// one.
static bool is_known(const serve_site_file *file, const char *known)
{
    return known != NULL && (strcmp(known, "*") == 0 || strstr(known, file->etag) != NULL);
}

bool serve_site_answer(const char *path, const char *known, serve_answer *answer,
                       serve_failure *failure)
{
    const serve_site_file *file = find(path);
    if (file == NULL)
        return serve_fail(failure, 404, "not_found", "there is nothing at this address");
    const bool same = is_known(file, known);
    answer->data = same ? NULL : malloc(file->size);
    if (answer->data == NULL && !same) return serve_fail_memory(failure);
    if (!same) memcpy(answer->data, file->data, file->size);
    answer->size = same ? 0 : file->size;
    answer->code = same ? 304 : 200;
    answer->content_type = file->type;
    answer->etag = file->etag;
    return true;
}
