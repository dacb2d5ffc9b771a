// free(3) and realloc(3) that overwrite what they give back. glibc's own M_PERTURB (mallopt(3)) leaves out what goes to a
// thread's cache: everything up to 1,032 bytes. The memory is given back to whose it is: glibc, or an allocator that
// LD_PRELOAD or ld.so.preload puts before it.
#define _GNU_SOURCE
#include "program_memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZER_ALLOCATES
#endif
#endif

#ifdef SANITIZER_ALLOCATES
int latchkey_freed_memory_is_overwritten(void) { return ENOTSUP; }
#else
int latchkey_freed_memory_is_overwritten(void) { return 0; }

void free(void *memory) {
    static void (*next)(void *);
    static int is_looking;
    // What dlsym(3) itself frees while it looks is kept.
    if (memory == NULL || is_looking) return;
    int number = errno;
    if (next == NULL) {
        is_looking = 1;
        next = (void (*)(void *))dlsym(RTLD_NEXT, "free");
        is_looking = 0;
    }
    explicit_bzero(memory, malloc_usable_size(memory));
    next(memory);
    errno = number;
}

void *realloc(void *memory, size_t count) {
    if (memory == NULL) return malloc(count);
    if (count == 0) {
        free(memory);
        return NULL;
    }
    size_t room = malloc_usable_size(memory);
    if (count <= room && count >= room / 2) {
        explicit_bzero((char *)memory + count, room - count);
        return memory;
    }
    void *moved = malloc(count);
    if (moved == NULL) return NULL;
    memcpy(moved, memory, count < room ? count : room);
    free(memory);
    return moved;
}
#endif
