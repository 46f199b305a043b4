// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// SIGINT and SIGTERM ask the running call to stop, so that unfinished outputs are removed.
#ifndef ZN_CLI_TERMINAL_INTERRUPT_H
#define ZN_CLI_TERMINAL_INTERRUPT_H

#include "zenith/zenith.h"

// From now on a signal requests `cancel`; NULL: it is only noted.
void cli_interrupt_catch(zenith_cancel *cancel);
void cli_interrupt_forget(void); // before the cancel is freed
bool cli_interrupted(void);

#endif
