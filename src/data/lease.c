// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// A lease's text is "HOST PID\n".
#include "src/data/lease.h"

#include "src/base/memory.h"
#include "src/base/text.h"
#include "src/data/object.h"

#include <stdlib.h>
#include <string.h>

enum { HOST = 128, TEXT = HOST + 32, PATH_ROOM = 64 };

static void make_text(char text[TEXT])
{
    char host[HOST];
    zn_host_name(host, sizeof host);
    for (char *at = host; *at; at++)
        if (*at == ' ') *at = '_';
    zn_text_format(text, TEXT, "%s %llu\n", host[0] ? host : "-",
                   (unsigned long long)zn_process_id());
}

// What a lease says; "" where it is gone or says nothing yet.
static zenith_status read_text(const zenith_storage *storage, const char *path, char text[TEXT],
                               zn_error *err)
{
    zn_object_reader *input = NULL;
    size_t got = 0;
    text[0] = '\0';
    zenith_status status = zn_object_reader_open(storage, path, "", &input, NULL);
    if (status == ZENITH_NOT_FOUND) return ZENITH_OK;
    if (status == ZENITH_OK) status = zn_object_reader_read(input, text, TEXT - 1, &got, err);
    text[got] = '\0';
    zn_object_reader_close(input);
    return status == ZENITH_OK ? status : zn_fail(err, status, "cannot read the lease '%s'", path);
}

// A process of this machine that is no more.
static bool owner_is_dead(const char *text)
{
    char ours[TEXT];
    make_text(ours);
    const char *space = strrchr(text, ' ');
    const char *own = strrchr(ours, ' ');
    if (!space || !own || space - text != own - ours) return false;
    if (strncmp(text, ours, (size_t)(own - ours)) != 0) return false;
    return !zn_process_is_running(strtoull(space + 1, NULL, 10));
}

// What time it is for the file system that the lease lies on: that of a file that was touched now.
static zenith_status ask_clock(const char *lease, int64_t *out, zn_error *err)
{
    char host[HOST];
    zn_file_facts facts;
    bool made = false;
    zn_host_name(host, sizeof host);
    const size_t size = strlen(lease) + HOST + PATH_ROOM;
    char *path = zn_alloc(size);
    if (!path) return zn_fail_memory(err, size);
    zn_text_format(path, size, "%s.clock-%s-%llu", lease, host,
                   (unsigned long long)zn_process_id());
    zenith_status status = zn_file_create(path, "", 0, &made, err);
    if (status == ZENITH_OK) status = zn_file_touch(path, err);
    if (status == ZENITH_OK) status = zn_file_get_facts(path, &facts, err);
    if (status == ZENITH_OK) *out = facts.changed;
    (void)zn_file_remove(path, NULL);
    zn_free(path);
    return status;
}

// Of an object whose age nobody tells: 0, so that it is held.
static zenith_status age_of(const zenith_storage *storage, const char *path, double *out,
                            zn_error *err)
{
    zenith_object object;
    zn_file_facts lease;
    int64_t now = 0;
    if (zn_object_is_stored(storage, path)) {
        ZN_TRY(zn_object_look(storage, path, &object, err));
        *out = object.age > 0 ? object.age : 0;
        return ZENITH_OK;
    }
    ZN_TRY(zn_file_get_facts(path, &lease, err));
    ZN_TRY(ask_clock(path, &now, err));
    *out = (double)(now - lease.changed) * 1e-9;
    return ZENITH_OK;
}

zenith_status zn_lease_is_held(const zenith_storage *storage, const char *path, double seconds,
                               bool *out, zn_error *err)
{
    char text[TEXT];
    double age = 0;
    zn_error why = {0};
    ZN_TRY(read_text(storage, path, text, err));
    *out = false;
    if (owner_is_dead(text)) return ZENITH_OK;
    const zenith_status status = age_of(storage, path, &age, &why);
    if (status == ZENITH_NOT_FOUND) return ZENITH_OK; // it is gone
    if (status != ZENITH_OK) return zn_fail(err, status, "%s", why.text);
    *out = age <= seconds;
    return ZENITH_OK;
}

zenith_status zn_lease_take(const zenith_storage *storage, const char *path, double seconds,
                            zn_lease_state *out, zn_error *err)
{
    char text[TEXT];
    bool made = false, held = true;
    make_text(text);
    ZN_TRY(zn_object_create(storage, path, text, strlen(text), &made, err));
    *out = made ? ZN_LEASE_TAKEN : ZN_LEASE_HELD;
    if (made) return ZENITH_OK;
    ZN_TRY(zn_lease_is_held(storage, path, seconds, &held, err));
    if (held) return ZENITH_OK;
    ZN_TRY(zn_object_remove(storage, path, err));
    ZN_TRY(zn_object_create(storage, path, text, strlen(text), &made, err));
    if (made) *out = ZN_LEASE_TAKEN_OVER;
    return ZENITH_OK;
}

void zn_lease_touch(const zenith_storage *storage, const char *path)
{
    char text[TEXT];
    zn_error unheard;
    bool made = false;
    if (!zn_object_is_stored(storage, path)) {
        (void)zn_file_touch(path, NULL);
        return;
    }
    make_text(text);
    (void)storage->put(storage->cookie, path, text, strlen(text), true, &made, unheard.text);
}
