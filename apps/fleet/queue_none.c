// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Stands in for queue_nats.c in a program built without libnats (ZENITH_QUEUE=OFF). No queue is
// ever opened.
#include "apps/fleet/queue.h"

bool cli_queue_open(const cli_queue_address *address, double wait, cli_queue **out,
                    cli_failure *failure)
{
    (void)wait, (void)out;
    return cli_fail_text(failure, ZENITH_UNSUPPORTED,
                         "this program was built without queues (ZENITH_QUEUE=OFF), and cannot ask "
                         "%s: --partition I/N shares the work without one",
                         address->shown);
}

void cli_queue_free(cli_queue *queue)
{
    (void)queue;
}

bool cli_queue_make(cli_queue *queue, double lease, cli_failure *failure)
{
    (void)queue, (void)lease, (void)failure;
    return false;
}

bool cli_queue_publish(cli_queue *queue, const char *id, const char *text, cli_failure *failure)
{
    (void)queue, (void)id, (void)text, (void)failure;
    return false;
}

bool cli_queue_settle(cli_queue *queue, uint64_t *taken, uint64_t *known, cli_failure *failure)
{
    (void)queue, (void)taken, (void)known, (void)failure;
    return false;
}

bool cli_queue_join(cli_queue *queue, double *lease, cli_failure *failure)
{
    (void)queue, (void)lease, (void)failure;
    return false;
}

cli_queue_found cli_queue_take(cli_queue *queue, cli_queue_item *out)
{
    (void)queue, (void)out;
    return CLI_QUEUE_GONE;
}

bool cli_queue_done(cli_queue *queue)
{
    (void)queue;
    return false;
}

void cli_queue_later(cli_queue *queue, double seconds)
{
    (void)queue, (void)seconds;
}

bool cli_queue_bury(cli_queue *queue, const char *reason)
{
    (void)queue, (void)reason;
    return false;
}

bool cli_queue_was_cut_off(cli_queue *queue)
{
    (void)queue;
    return false;
}
