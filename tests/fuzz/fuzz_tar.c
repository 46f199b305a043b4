// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a tar archive: it ends, and every member lies inside the bytes, behind the one
// before.
#include "src/format/archive/tar.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    zn_tar tar;
    zn_error err = {{0}};
    size_t behind = 0;
    zn_tar_begin(&tar, data, size);
    while (true) {
        zn_tar_member member = {0};
        bool found = true;
        if (zn_tar_next(&tar, &member, &found, &err) != ZENITH_OK) {
            if (!*err.text) __builtin_trap();
            return 0;
        }
        if (!found) return 0;
        if (member.offset <= behind || member.offset > size || member.size > size - member.offset)
            __builtin_trap();
        if (strlen(member.name) >= ZN_TAR_NAME) __builtin_trap();
        behind = member.offset + member.size;
    }
}
