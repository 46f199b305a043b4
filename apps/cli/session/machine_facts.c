// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See machine_facts.h. What is not there reads as zero: these are facts to print, not to rely on.
#include "apps/cli/session/machine_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The value of the first line "key : value" or "key: value" into dst; false where there is none.
static bool read_value(const char *path, const char *key, char *dst, size_t size)
{
    char line[8192]; // flags of x86 CPUs take some 2000 letters
    FILE *file = fopen(path, "r");
    bool found = false;
    if (file == NULL) return false;
    while (!found && fgets(line, sizeof line, file) != NULL) {
        size_t length = strlen(key);
        if (strncmp(line, key, length) != 0 || strchr("\t :", line[length]) == NULL) continue;
        const char *value = strchr(line, ':');
        if (value == NULL) continue;
        value += 1 + strspn(value + 1, " \t");
        snprintf(dst, size, "%.*s", (int)strcspn(value, "\n"), value);
        found = true;
    }
    fclose(file);
    return found;
}

static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (; *text != 0; text += strcspn(text, " "), text += strspn(text, " "))
        if (strcspn(text, " ") == length && strncmp(text, word, length) == 0) return true;
    return false;
}

static void read_cpu(cli_machine_facts *out)
{
    char flags[8192] = "";
    read_value("/proc/cpuinfo", "model name", out->cpu, sizeof out->cpu);
    read_value("/proc/cpuinfo", "flags", flags, sizeof flags);
    out->avx2 = has_word(flags, "avx2") && has_word(flags, "fma");
    out->avx512 = has_word(flags, "avx512f") && has_word(flags, "avx512bw");
    out->avx512_bf16 = has_word(flags, "avx512_bf16");
    out->avx512_vnni = has_word(flags, "avx512_vnni");
    out->amx = has_word(flags, "amx_tile") && has_word(flags, "amx_bf16");
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    out->online = online > 0 ? (int)online : 0;
    char path[64];
    do snprintf(path, sizeof path, "/sys/devices/system/node/node%d", out->nodes);
    while (access(path, F_OK) == 0 && ++out->nodes < 1024);
}

static uint64_t read_kilobytes(const char *key)
{
    char value[64];
    if (!read_value("/proc/meminfo", key, value, sizeof value)) return 0;
    return strtoull(value, NULL, 10) * 1024;
}

// A number of bytes in a file; 0 where it says "max", or more than any machine has.
static uint64_t read_limit(const char *path)
{
    unsigned long long value = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL) return 0;
    if (fscanf(file, "%llu", &value) != 1 || value >= 1ull << 60) value = 0;
    fclose(file);
    return value;
}

// The smallest limit of our cgroup (version 2) and those above it; version 1 has one for memory.
static uint64_t memory_limit(void)
{
    char line[2048] = "", path[4096];
    uint64_t least = read_limit("/sys/fs/cgroup/memory/memory.limit_in_bytes");
    FILE *file = fopen("/proc/self/cgroup", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "0::/", 4) == 0) break;
    if (file != NULL) fclose(file);
    if (strncmp(line, "0::/", 4) != 0) return least;
    line[strcspn(line, "\n")] = 0;
    char *group = line + 3, *slash;
    do {
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", group);
        uint64_t limit = read_limit(path);
        if (limit != 0 && (least == 0 || limit < least)) least = limit;
        slash = strrchr(group, '/');
        if (slash != NULL) *slash = 0;
    } while (slash != NULL);
    return least;
}

void cli_machine_facts_read(cli_machine_facts *out)
{
    *out = (cli_machine_facts){0};
    read_cpu(out);
    out->memory = read_kilobytes("MemTotal");
    out->available = read_kilobytes("MemAvailable");
    out->limit = memory_limit();
    if (getloadavg(&out->load, 1) != 1) out->load = 0;
}
