// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See interrupt.h.
#include "apps/cli/terminal/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <time.h>

// The first signal asks the run to stop. One that comes a second later finds us stuck, and kills as
// usual; sooner it is the same one, since timeout(1) and others signal a process and its group.
// zenith_cancel_request only stores an atomic flag, which a handler may do.
static volatile sig_atomic_t interrupted;
static _Atomic time_t interrupted_at;
static zenith_cancel *_Atomic cancel_on_signal;

static void on_signal(int number)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (interrupted && now.tv_sec > atomic_load(&interrupted_at) + 1) {
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    if (interrupted) return;
    atomic_store(&interrupted_at, now.tv_sec);
    interrupted = 1;
    zenith_cancel *cancel = atomic_load(&cancel_on_signal);
    if (cancel != NULL) zenith_cancel_request(cancel);
}

// A signal that is ignored stays so: nohup and background jobs of a script ask for that.
static void catch_signal(int number)
{
    struct sigaction before, action = {.sa_handler = on_signal};
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
