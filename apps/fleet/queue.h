// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A queue of shards on a NATS server (JetStream), for 'zenith dataset publish' and 'zenith dataset
// encode --queue'.
//
//     stream NAME        one message for each shard that is to be done, on the server's disk; an
//                        acknowledged one is gone
//     consumer workers   hands each message to one worker, and to another if the first does not
//                        stir for the lease
//     stream NAME_DEAD   messages that were given up, with the reason
//
// The queue hands out work and nothing else. Whether a shard is done is said by its record, and
// whether all are by 'zenith dataset verify': a queue that lost messages is filled again from the
// records, and one that hands out a shard twice costs a look at its record.
#ifndef ZN_FLEET_QUEUE_H
#define ZN_FLEET_QUEUE_H

#include "apps/cli/terminal/failure.h"
#include "apps/fleet/queue_message.h"

typedef struct cli_queue cli_queue;

// False with *failure filled; also where this program was built without queues. wait: seconds in
// which a server that does not answer may come up.
bool cli_queue_open(const cli_queue_address *address, double wait, cli_queue **out,
                    cli_failure *failure);
void cli_queue_free(cli_queue *queue); // NULL is fine

// --- who fills it -------------------------------------------------------------------------------

// Makes the streams and the consumer where they are not there. lease: seconds.
bool cli_queue_make(cli_queue *queue, double lease, cli_failure *failure);
// Sends one message. One whose id came within the last minutes is dropped by the server.
bool cli_queue_publish(cli_queue *queue, const char *id, const char *text, cli_failure *failure);
// Waits until the server has all of them on its disk: how many it took, and how many it knew.
bool cli_queue_settle(cli_queue *queue, uint64_t *taken, uint64_t *known, cli_failure *failure);

// --- who works on it ----------------------------------------------------------------------------

// Before the first take. *lease is that of the queue.
bool cli_queue_join(cli_queue *queue, double *lease, cli_failure *failure);

typedef enum cli_queue_found {
    CLI_QUEUE_ITEM,
    CLI_QUEUE_NOTHING, // for now: others hold what is left, or the server is away
    CLI_QUEUE_EMPTY,   // everything was acknowledged or given up
    CLI_QUEUE_GONE     // there is no such queue any more
} cli_queue_found;

typedef struct cli_queue_item {
    const char *text; // size bytes, no 0 behind them; valid until the item is given back
    size_t size;
    uint64_t delivered; // how often it was handed out, now included
} cli_queue_item;

// Waits a second at most. The item is held, by a thread that tells the server, until one of the
// calls below.
cli_queue_found cli_queue_take(cli_queue *queue, cli_queue_item *out);
// The shard has its record. False: the server did not hear of it in time, and may hand the shard
// out again.
bool cli_queue_done(cli_queue *queue);
// Somebody shall try it again, after so many seconds.
void cli_queue_later(cli_queue *queue, double seconds);
// Nobody shall: it goes to NAME_DEAD. False: that could not be said; it will be handed out again.
bool cli_queue_bury(cli_queue *queue, const char *reason);
// Whether the connection was lost since the take: the server may have given the shard to another.
bool cli_queue_was_cut_off(cli_queue *queue);

#endif
