// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Stands in for the server in a program built without libmicrohttpd (ZENITH_SERVE=OFF).
#include "apps/serve/serve.h"

int serve_run(const serve_settings *settings)
{
    settings->say("this program was built without a server (ZENITH_SERVE=OFF)");
    return 1;
}
