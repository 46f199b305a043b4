// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the message of a queue, and as its address. A message that is read names a file of a
// folder, and is written as a text that says the same.
#include "apps/fleet/queue_message.h"

#include <stdlib.h>
#include <string.h>

static void check_message(const char *text, size_t size)
{
    cli_queue_message first, second;
    char again[CLI_QUEUE_MESSAGE];
    if (!cli_queue_message_read(text, size, &first)) return;
    if (strchr(first.shard, '/') || first.shard[0] == '.' || first.shard[0] == 0) abort();
    if (first.count > 0 && (first.index >= first.count || first.pictures == 0)) abort();
    if (!cli_queue_message_write(&first, again)) abort();
    if (!cli_queue_message_read(again, strlen(again), &second)) abort();
    if (strcmp(first.shard, second.shard) != 0 || first.index != second.index ||
        first.count != second.count || first.pictures != second.pictures)
        abort();
}

static void check_address(const char *text)
{
    cli_queue_address address;
    if (!cli_queue_address_read(text, &address)) return;
    if (strncmp(address.server, "nats://", 7) != 0 || address.server[7] == 0) abort();
    if (strchr(address.shown, '@') || address.name[0] == 0 || strpbrk(address.name, ". *>"))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text) abort();
    memcpy(text, data, size);
    text[size] = 0;
    check_message(text, size);
    check_address(text);
    free(text);
    return 0;
}
