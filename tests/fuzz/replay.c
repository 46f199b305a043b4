// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a fuzzer's entry on every file of the folders (or on the files) named as arguments: a corpus
// as a plain test, under any compiler. Each input lies in a block of exactly its size, so that the
// address sanitizer sees a read behind its end.
#include "tests/fuzz/entry.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) return 0;
    long size = ftell(file);
    rewind(file);
    uint8_t *data = size >= 0 ? malloc(size ? (size_t)size : 1) : NULL;
    int good = data && fread(data, 1, (size_t)size, file) == (size_t)size;
    fclose(file);
    if (good) LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    return good;
}

static int replay(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder) return replay_file(path);
    int count = 0;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        char name[1024];
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.') count += replay_file(name);
    }
    closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    int count = 0;
    for (int i = 1; i < argc; i++) count += replay(argv[i]);
    printf("%d inputs\n", count);
    return count > 0 ? 0 : 1; // an empty corpus tests nothing
}
