// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Packed weights: each parameter in the layout a lowering wants, made once and shared by all plans
// of a model, whichever thread compiles them. Parameters that change between runs (training) are
// packed again into the same memory.
#ifndef ZN_GRAPH_PACKS_H
#define ZN_GRAPH_PACKS_H

#include "src/tensor/tensor.h"

typedef struct zn_packs zn_packs;

zenith_status zn_packs_create(zn_packs **out, zn_error *err);
void zn_packs_free(zn_packs *packs);

// Called, under the packs' lock, whenever ZN_PACKS_SPENT bytes more were packed: a set of mapped
// files can then give the pages back that were read for them, so that a large file does not lie in
// memory a second time.
typedef void zn_packs_spent_fn(void *arg);
enum { ZN_PACKS_SPENT = 256 << 20 };
void zn_packs_watch(zn_packs *packs, zn_packs_spent_fn *spent, void *arg);

// Fills `dst` (bytes long) from the parameter; runs under the packs' lock, once per key.
typedef zenith_status zn_pack_fn(void *arg, void *dst, zn_error *err);

// The packed form of `source` (its bytes' address is part of the key) named by `key`; made by
// `make` if it is not there yet, or stale. The result lives as long as the packs.
zenith_status zn_packs_get(zn_packs *packs, const void *source, const void *key, size_t key_size,
                           size_t bytes, zn_pack_fn *make, void *arg, const void **out,
                           zn_error *err);
// The parameters in these bytes have changed: what is packed from them is made again, in place,
// when it is next asked for (zn_plan_refresh asks). Nothing that reads the packs may run meanwhile.
void zn_packs_refresh(zn_packs *packs, const void *begin, size_t bytes);
size_t zn_packs_bytes(const zn_packs *packs);

#endif
