// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a fuzzer's target over every file of a folder, so that its corpus is also a plain test:
//   fuzz_NAME tests/fuzz/corpus/NAME
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    // Exactly as long as the file, so that the sanitizers see one byte too many.
    uint8_t *data = size >= 0 ? malloc((size_t)size) : NULL;
    int whole = size == 0 || (data && fread(data, 1, (size_t)size, file) == (size_t)size);
    if (whole) LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    fclose(file);
    return whole;
}

int main(int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    if (!folder) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    int files = 0, read = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[4096];
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        files++;
        read += run_file(path);
    }
    closedir(folder);
    printf("%d files\n", read);
    return files > 0 && read == files ? 0 : 1;
}
