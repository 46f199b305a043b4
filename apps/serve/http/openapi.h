// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The addresses by OpenAPI 3.1: openapi.json of this folder, which GET /openapi.json answers.
// tests/serve/openapi.py compares it with the table of routes.
#ifndef ZN_SERVE_HTTP_OPENAPI_H
#define ZN_SERVE_HTTP_OPENAPI_H

#include <stddef.h>

extern const unsigned char serve_openapi[]; // no zero at its end
extern const size_t serve_openapi_size;

#endif
