// free(3) and realloc(3) that overwrite what they give back. glibc's own M_PERTURB (mallopt(3)) leaves out what goes to a
// thread's cache: everything up to 1,032 bytes. glibc permits that programs replace these functions ("Replacing malloc" in
// its manual), and __libc_free is what it exports for doing so.
#define _GNU_SOURCE
#include "program_memory.h"

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

extern void __libc_free(void *memory);

void free(void *memory) {
    if (memory == NULL) return;
    int number = errno;
    explicit_bzero(memory, malloc_usable_size(memory));
    __libc_free(memory);
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
