#include "CAllocations.h"

#include <stdatomic.h>
#include <stddef.h>

// The executable's malloc stands before the C library's; only counting is added.
extern void *__libc_malloc(size_t size);

static atomic_ulong count;

void *malloc(size_t size) {
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    return __libc_malloc(size);
}

unsigned long latchkey_allocation_count(void) { return atomic_load_explicit(&count, memory_order_relaxed); }
