// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// The clock of the server.
#ifndef ZN_SERVE_HTTP_CLOCK_H
#define ZN_SERVE_HTTP_CLOCK_H

double serve_clock(void); // monotonic, seconds

#endif
