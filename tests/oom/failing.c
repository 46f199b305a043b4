// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocations that fail on request, by whom they are made for. This file defines malloc and its
// family over glibc's own, so that every library in the process comes here; the return address
// tells which library asked. Where that is libc itself (fopen, opendir, pthread_create), the stack
// is walked up to the first caller outside of it.
//
// With ZN_TEST_WRAPPED (builds with sanitizers, which own malloc) only aligned_alloc is taken, by
// the linker's --wrap: all allocations of libzenith itself, none of the codecs; leaks are then the
// sanitizer's to find.
#include "tests/fail_in_turn.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <unwind.h>

static atomic_long failing_left = -1; // allocations until the one that fails; below zero: none does
static atomic_long failing_live;      // blocks of those watched that are not freed

void fail_allocation(long after)
{
    atomic_store(&failing_left, after);
}

bool fail_stop(void)
{
    return atomic_exchange(&failing_left, -1) < 0;
}

long fail_live(void)
{
    return atomic_load(&failing_live);
}

static bool failing_now(void)
{
    return atomic_load(&failing_left) >= 0 && atomic_fetch_sub(&failing_left, 1) == 0;
}

#ifdef ZN_TEST_WRAPPED

const char *fail_library(void)
{
    return "libzenith";
}

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return failing_now() ? NULL : __real_aligned_alloc(alignment, size);
}

void fail_watch(const char *const *libraries, size_t count)
{
    (void)libraries;
    (void)count;
}

#else

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

// --- whose code an address is -------------------------------------------------------------------

typedef enum failing_owner { OWNER_OTHER = 0, OWNER_WATCHED, OWNER_LIBC } failing_owner;

typedef struct failing_range {
    uintptr_t begin, end;
    failing_owner owner;
} failing_range;

enum { FAILING_RANGES = 64 };
static failing_range failing_ranges[FAILING_RANGES];
static int failing_ranges_count;

typedef struct failing_names {
    const char *const *libraries;
    size_t count;
} failing_names;

static failing_owner failing_name_owner(const failing_names *names, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < names->count; i++) {
        const char *wanted = names->libraries[i];
        if (*wanted ? strncmp(name, wanted, strlen(wanted)) == 0 : !*name) return OWNER_WATCHED;
    }
    static const char *const libc[] = {"libc.so", "ld-linux", "libpthread", "libstdc++", "libgcc"};
    for (size_t i = 0; i < sizeof libc / sizeof *libc; i++) {
        if (strncmp(name, libc[i], strlen(libc[i])) == 0) return OWNER_LIBC;
    }
    return OWNER_OTHER;
}

static int failing_add_library(struct dl_phdr_info *info, size_t size, void *cookie)
{
    (void)size;
    failing_owner owner = failing_name_owner(cookie, info->dlpi_name);
    for (int i = 0; i < info->dlpi_phnum && owner != OWNER_OTHER; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        if (failing_ranges_count == FAILING_RANGES) abort();
        uintptr_t begin = (uintptr_t)(info->dlpi_addr + part->p_vaddr);
        failing_ranges[failing_ranges_count++] = (failing_range){begin, begin + part->p_memsz,
                                                                 owner};
    }
    return 0;
}

static failing_owner failing_owner_of(uintptr_t address)
{
    for (int i = 0; i < failing_ranges_count; i++) {
        const failing_range *range = &failing_ranges[i];
        if (address >= range->begin && address < range->end) return range->owner;
    }
    return OWNER_OTHER;
}

typedef struct failing_walk {
    uintptr_t from; // the caller in libc: frames before it are this file's
    bool reached;
    failing_owner owner;
} failing_walk;

static _Unwind_Reason_Code failing_step(struct _Unwind_Context *context, void *cookie)
{
    failing_walk *walk = cookie;
    uintptr_t at = (uintptr_t)_Unwind_GetIP(context);
    if (at == walk->from) walk->reached = true;
    if (!walk->reached) return _URC_NO_REASON;
    walk->owner = failing_owner_of(at);
    return walk->owner == OWNER_LIBC ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static _Thread_local bool failing_inside; // the walk, or this file's own call, allocates

static bool failing_is_watched(void *caller)
{
    failing_owner owner = failing_owner_of((uintptr_t)caller);
    if (owner != OWNER_LIBC || failing_inside) return owner == OWNER_WATCHED;
    failing_walk walk = {.from = (uintptr_t)caller};
    failing_inside = true;
    _Unwind_Backtrace(failing_step, &walk);
    failing_inside = false;
    return walk.owner == OWNER_WATCHED;
}

void fail_watch(const char *const *libraries, size_t count)
{
    failing_names names = {libraries, count};
    failing_walk warm_up = {.from = 0}; // the unwinder's first use allocates
    failing_ranges_count = 0;
    _Unwind_Backtrace(failing_step, &warm_up);
    dl_iterate_phdr(failing_add_library, &names);
}

// --- the blocks that are live -------------------------------------------------------------------

// Watched blocks by address, open addressing; 1 marks a place that was left. What libc holds for a
// watched caller is not here: it keeps thread stacks for later.
enum { FAILING_PLACES = 1 << 16 };
static uintptr_t failing_blocks[FAILING_PLACES];
static atomic_flag failing_lock = ATOMIC_FLAG_INIT;

static size_t failing_hash(uintptr_t block)
{
    return (size_t)(((uint64_t)block >> 4) * 0x9e3779b97f4a7c15u >> 48) % FAILING_PLACES;
}

static void failing_note(void *block, void *caller)
{
    if (!block || failing_owner_of((uintptr_t)caller) != OWNER_WATCHED) return;
    while (atomic_flag_test_and_set(&failing_lock)) continue;
    size_t at = failing_hash((uintptr_t)block), tried = 0;
    for (; failing_blocks[at] > 1; at = (at + 1) % FAILING_PLACES) {
        if (++tried == FAILING_PLACES) abort();
    }
    failing_blocks[at] = (uintptr_t)block;
    atomic_fetch_add(&failing_live, 1);
    atomic_flag_clear(&failing_lock);
}

static void failing_forget(void *block)
{
    if (!block || failing_ranges_count == 0) return;
    while (atomic_flag_test_and_set(&failing_lock)) continue;
    for (size_t at = failing_hash((uintptr_t)block), tried = 0; failing_blocks[at];
         at = (at + 1) % FAILING_PLACES) {
        if (failing_blocks[at] == (uintptr_t)block) {
            failing_blocks[at] = 1;
            atomic_fetch_sub(&failing_live, 1);
            break;
        }
        if (++tried == FAILING_PLACES) break;
    }
    atomic_flag_clear(&failing_lock);
}

// --- the allocator of the process ---------------------------------------------------------------

// The libraries must find these definitions, though programs of ours are built with hidden names.
#pragma GCC visibility push(default)

static _Atomic(void *) failing_caller; // of the allocation that failed last

const char *fail_library(void)
{
    Dl_info info = {0};
    dladdr(atomic_load(&failing_caller), &info);
    return info.dli_fname ? info.dli_fname : "?";
}

static bool failing_refuses(void *caller)
{
    if (atomic_load_explicit(&failing_left, memory_order_relaxed) < 0) return false;
    if (failing_ranges_count == 0 || !failing_is_watched(caller) || !failing_now()) return false;
    atomic_store(&failing_caller, caller);
    errno = ENOMEM;
    return true;
}

#define FAILING_CALLER __builtin_extract_return_addr(__builtin_return_address(0))

void *malloc(size_t size)
{
    void *caller = FAILING_CALLER;
    if (failing_refuses(caller)) return NULL;
    void *block = __libc_malloc(size);
    failing_note(block, caller);
    return block;
}

void *calloc(size_t count, size_t size)
{
    void *caller = FAILING_CALLER;
    if (failing_refuses(caller)) return NULL;
    void *block = __libc_calloc(count, size);
    failing_note(block, caller);
    return block;
}

void *realloc(void *old, size_t size)
{
    void *caller = FAILING_CALLER;
    if (failing_refuses(caller)) return NULL;
    failing_forget(old);
    void *block = __libc_realloc(old, size);
    failing_note(block ? block : old, caller);
    return block;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    void *caller = FAILING_CALLER;
    if (failing_ranges_count == 0 ? failing_now() : failing_refuses(caller)) return NULL;
    void *block = __libc_memalign(alignment, size);
    failing_note(block, caller);
    return block;
}

void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size)
{
    void *caller = FAILING_CALLER;
    if (failing_refuses(caller)) return NULL;
    void *block = __libc_memalign(alignment, size);
    failing_note(block, caller);
    return block;
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *caller = FAILING_CALLER;
    if (failing_refuses(caller)) return ENOMEM;
    void *block = __libc_memalign(alignment, size);
    if (!block) return ENOMEM;
    failing_note(block, caller);
    *out = block;
    return 0;
}

void free(void *block)
{
    failing_forget(block);
    __libc_free(block);
}

#pragma GCC visibility pop

#endif
