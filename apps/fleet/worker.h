// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A worker of 'zenith dataset encode --queue': takes shards from a queue, one after the other,
// until all were acknowledged.
#ifndef ZN_FLEET_WORKER_H
#define ZN_FLEET_WORKER_H

#include "apps/cli/session/session.h"
#include "zenith/dataset.h"

// One shard of the input, for zenith_dataset_encode.
typedef struct cli_dataset_part {
    const char *input;
    uint32_t partition, partitions; // 0 of 0: all of `input`, which is one archive
    double lease;                   // seconds, where no option says
} cli_dataset_part;

typedef struct cli_fleet_worker {
    cli_session *session;
    const char *queue, *metrics; // addresses; metrics NULL: nobody asks
    const char *model;           // for the metrics
    uint32_t pictures;           // of a shard that is cut from a folder
    // Does one part; *info is what that call did, *read the bytes of its input.
    zenith_status (*encode)(void *cookie, const cli_dataset_part *part, zenith_dataset_info *info,
                            uint64_t *read);
    void *cookie;
    zenith_dataset_info *sum; // of all calls
} cli_fleet_worker;

// What goes with --queue and --metrics, each of which may be NULL. False after a message.
bool cli_fleet_options_agree(const char *queue, const char *metrics, const char *partition);
// After SIGTERM or SIGINT it ends the shard in hand, and takes no other. ZENITH_OK: the queue is
// empty, or it was told to stop. Otherwise *failure says why it stopped.
zenith_status cli_fleet_run(const cli_fleet_worker *worker, cli_failure *failure);

#endif
