// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See interrupt.h.
#include "apps/cli/interrupt.h"

#include <signal.h>
#include <stdatomic.h>

// The first signal asks the run to stop, so that unfinished outputs are removed; a second one kills
// as usual (SA_RESETHAND). zenith_cancel_request only stores an atomic flag, which a handler may
// do.
static volatile sig_atomic_t interrupted;
static zenith_cancel *_Atomic cancel_on_signal;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
    zenith_cancel *cancel = atomic_load(&cancel_on_signal);
    if (cancel != NULL) zenith_cancel_request(cancel);
}

// A signal that is ignored stays so: nohup and background jobs of a script ask for that.
static void catch_signal(int number)
{
    struct sigaction before, action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

void cli_interrupt_catch(zenith_cancel *cancel)
{
    atomic_store(&cancel_on_signal, cancel);
    catch_signal(SIGINT);
    catch_signal(SIGTERM);
}

void cli_interrupt_forget(void)
{
    atomic_store(&cancel_on_signal, NULL);
}

bool cli_interrupted(void)
{
    return interrupted != 0;
}
