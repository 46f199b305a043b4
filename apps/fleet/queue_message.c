// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See queue_message.h.
#include "apps/fleet/queue_message.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

// A name is that of a file in a folder: it leads nowhere else, and is printed as it is.
static bool name_is_plain(const char *name)
{
    const size_t length = strlen(name);
    if (length == 0 || length >= CLI_QUEUE_SHARD || name[0] == '.') return false;
    for (const char *at = name; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f || *at == '/' || *at == '\\') return false;
    return strcmp(name, "_zenith") != 0;
}

static bool is_sound(const cli_queue_message *message)
{
    char name[24];
    if (!name_is_plain(message->shard)) return false;
    if (message->count == 0) return message->index == 0 && message->pictures == 0;
    snprintf(name, sizeof name, "%06u", message->index);
    return message->index < message->count && message->pictures > 0 &&
           strcmp(name, message->shard) == 0;
}

static bool in_range(json_int_t value)
{
    return value >= 0 && value <= INT_MAX;
}

bool cli_queue_message_read(const char *text, size_t size, cli_queue_message *out)
{
    const char *shard = NULL;
    json_int_t version = 0, index = 0, count = 0, pictures = 0;
    if (size >= CLI_QUEUE_MESSAGE) return false;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    bool good = root != NULL &&
                json_unpack_ex(root, NULL, JSON_STRICT, "{s:I, s:s, s?I, s?I, s?I}", "v", &version,
                               "shard", &shard, "index", &index, "count", &count, "pictures",
                               &pictures) == 0 &&
                version == 1 && in_range(index) && in_range(count) && in_range(pictures) &&
                strlen(shard) < CLI_QUEUE_SHARD;
    if (good) {
        *out = (cli_queue_message){
            .index = (uint32_t)index, .count = (uint32_t)count, .pictures = (uint32_t)pictures};
        snprintf(out->shard, sizeof out->shard, "%s", shard);
        good = is_sound(out);
    }
    json_decref(root);
    return good;
}

bool cli_queue_message_write(const cli_queue_message *message, char text[CLI_QUEUE_MESSAGE])
{
    if (!is_sound(message)) return false;
    json_t *root = json_pack("{s:i, s:s}", "v", 1, "shard", message->shard);
    if (root != NULL && message->count > 0) {
        json_object_set_new(root, "index", json_integer(message->index));
        json_object_set_new(root, "count", json_integer(message->count));
        json_object_set_new(root, "pictures", json_integer(message->pictures));
    }
    const size_t size = root == NULL ? 0 : json_dumpb(root, text, CLI_QUEUE_MESSAGE - 1, 0);
    json_decref(root);
    if (size == 0 || size >= CLI_QUEUE_MESSAGE) return false;
    text[size] = 0;
    return true;
}

// Of streams and subjects.
static bool take_name(const char *text, cli_queue_address *out)
{
    const char *const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const size_t length = strspn(text, letters);
    if (length == 0 || text[length] != 0 || length > sizeof out->name - 8) return false;
    snprintf(out->name, sizeof out->name, "%s", text);
    return true;
}

bool cli_queue_address_read(const char *text, cli_queue_address *out)
{
    static const char scheme[] = "nats://";
    *out = (cli_queue_address){.name = "zenith"};
    if (strncmp(text, scheme, sizeof scheme - 1) != 0) return false;
    const char *host = text + sizeof scheme - 1;
    const size_t length = strcspn(host, "/");
    if (length == 0 || length + sizeof scheme > sizeof out->server) return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)host[i] <= ' ' || host[i] == 0x7f || host[i] == ',') return false;
    snprintf(out->server, sizeof out->server, "%s%.*s", scheme, (int)length, host);
    const char *at = strrchr(out->server, '@');
    snprintf(out->shown, sizeof out->shown, "%s%s", scheme,
             at != NULL ? at + 1 : out->server + sizeof scheme - 1);
    return host[length] == 0 || host[length + 1] == 0 || take_name(host + length + 1, out);
}
