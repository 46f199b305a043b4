// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Who works on what, said by files: a lease is a file NAME.lease that only one can make, and that
// its owner touches while it works. One whose owner is dead (a process of this machine that is
// gone) or has not touched it for long is taken over.
//
// In a storage (data/object.h) a lease is an object. Its owner puts it again to touch it, and its
// age is the storage's word.
//
// Leases spare work and nothing else. Two that hold one, because a clock was wrong or both took it
// over at once, make the same bytes and put them in place whole.
#ifndef ZN_DATA_LEASE_H
#define ZN_DATA_LEASE_H

#include "zenith/dataset.h"

#include "src/base/status.h"

typedef enum zn_lease_state {
    ZN_LEASE_HELD, // by another
    ZN_LEASE_TAKEN,
    ZN_LEASE_TAKEN_OVER // from one that is dead, which may have left things behind
} zn_lease_state;

// Times are compared by the clock of the file system that both files lie on. storage: NULL, or that
// the path may be of.
zenith_status zn_lease_take(const zenith_storage *storage, const char *path, double seconds,
                            zn_lease_state *out, zn_error *err);
// By the owner, now and then. A wish: whoever loses a lease makes the same bytes.
void zn_lease_touch(const zenith_storage *storage, const char *path);
// Whether someone who is alive holds it.
zenith_status zn_lease_is_held(const zenith_storage *storage, const char *path, double seconds,
                               bool *out, zn_error *err);

#endif
