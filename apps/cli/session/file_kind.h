// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a file is by its first bytes, for messages about inputs of the wrong kind. The library
// decides what it reads; this only finds better words where it refused.
#ifndef ZN_CLI_SESSION_FILE_KIND_H
#define ZN_CLI_SESSION_FILE_KIND_H

#include "apps/cli/session/session.h"

// After a picture could not be opened: where the file is a picture of a format that Zenith does not
// read, or a latent, *failure says so and what to do. Always false.
bool cli_fail_not_picture(cli_session *session, const char *input, cli_failure *failure);

// The same for a latent that could not be opened and is a picture.
bool cli_fail_not_latent(const char *input, cli_failure *failure);

#endif
