// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a queue says about a shard, as JSON text, and where a queue is. Both are other people's
// words: a message names a shard of the folder that the worker was given, and no path.
//
//     {"v": 1, "shard": "00042"}                                IN/00042.tar
//     {"v": 1, "shard": "000042", "index": 42, "count": 100,
//      "pictures": 5000}                                        cut from a folder of pictures
#ifndef ZN_FLEET_QUEUE_MESSAGE_H
#define ZN_FLEET_QUEUE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLI_QUEUE_SHARD = 201, CLI_QUEUE_MESSAGE = 1024 }; // bytes of a name with its end; of a text

typedef struct cli_queue_message {
    char shard[CLI_QUEUE_SHARD];
    uint32_t index, count; // of shards that are cut from a folder; count 0: it is an archive
    uint32_t pictures;     // of such a shard
} cli_queue_message;

// False: it is none.
bool cli_queue_message_read(const char *text, size_t size, cli_queue_message *out);
// False: the shard has a name that no message may have.
bool cli_queue_message_write(const cli_queue_message *message, char text[CLI_QUEUE_MESSAGE]);

typedef struct cli_queue_address {
    char server[512]; // nats://[USER:PASSWORD@]HOST:PORT
    char shown[512];  // without the password
    char name[64];
} cli_queue_address;

// nats://[USER:PASSWORD@]HOST:PORT[/NAME]; the usual name is "zenith". False: it is none.
bool cli_queue_address_read(const char *text, cli_queue_address *out);

#endif
