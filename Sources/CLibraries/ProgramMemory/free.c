// free(3) and realloc(3) that overwrite what they give back. glibc's own M_PERTURB (mallopt(3)) leaves out what goes to a
// thread's cache: everything up to 1,032 bytes. A block is freed by the allocator that it came from: glibc, or one that
// LD_PRELOAD or ld.so.preload puts before it (jemalloc, mimalloc, tcmalloc, glibc's checker).
#define _GNU_SOURCE
#include "program_memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZER_ALLOCATES
#endif
#endif

#ifdef SANITIZER_ALLOCATES
int latchkey_freed_memory_is_overwritten(void) { return ENOTSUP; }
#else

// The version of glibc's functions. Its checker (libc_malloc_debug.so.0) hides them from a look-up without one, and
// allocators of another making have none.
#if defined(__x86_64__)
#define VERSION "GLIBC_2.2.5"
#else
#define VERSION "GLIBC_2.17"
#endif

// The allocator that malloc(3) is bound to in this process.
static struct {
    void (*free)(void *);
    void *(*realloc)(void *, size_t);
    size_t (*usable_size)(void *);
    int is_looking, is_known;
} next;

// The object that an address is in, told by its program headers. dladdr(3) would look for the function's name, too,
// among all of the object.
struct place {
    ElfW(Addr) address;
    const void *object;
};

static int note_object(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    struct place *place = context;
    for (unsigned index = 0; index < info->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[index];
        if (part->p_type != PT_LOAD || place->address - info->dlpi_addr - part->p_vaddr >= part->p_memsz) continue;
        place->object = info->dlpi_phdr;
        return 1;
    }
    return 0;
}

static const void *object_of(const void *function) {
    struct place place = {.address = (ElfW(Addr))function};
    dl_iterate_phdr(note_object, &place);
    return place.object;
}

// - Parameter object: where the function has to be, or NULL for the next one.
static void *find(const char *name, const void *object) {
    void *function = dlvsym(RTLD_NEXT, name, VERSION);
    if (function != NULL && (object == NULL || object_of(function) == object)) return function;
    function = dlsym(RTLD_NEXT, name);
    return function != NULL && (object == NULL || object_of(function) == object) ? function : NULL;
}

// While there is one thread.
__attribute__((constructor)) static void find_next(void) {
    if (next.is_known || next.is_looking) return;
    next.is_looking = 1;
    const void *object = object_of((void *)malloc);
    if (object == NULL) abort();
    // A program that counts its own allocations has a malloc beside this file, which calls the next one.
    if (object == object_of((void *)find_next)) object = NULL;
    next.free = (void (*)(void *))find("free", object);
    next.realloc = (void *(*)(void *, size_t))find("realloc", object);
    next.usable_size = (size_t (*)(void *))find("malloc_usable_size", object);
    if (next.free == NULL || next.realloc == NULL || next.usable_size == NULL) {
        static const char text[] = "latchkey: error: the preloaded allocator has no free, realloc or malloc_usable_size\n"
                                   "latchkey: hint: run latchkey without it: LD_PRELOAD, /etc/ld.so.preload\n";
        (void)!write(2, text, sizeof text - 1);
        _exit(70);
    }
    next.is_looking = 0;
    next.is_known = 1;
}

int latchkey_freed_memory_is_overwritten(void) { return 0; }

void free(void *memory) {
    if (memory == NULL) return;
    int number = errno;
    find_next();
    // What dlsym(3) itself frees while it looks is kept.
    if (next.is_known) {
        explicit_bzero(memory, next.usable_size(memory));
        next.free(memory);
    }
    errno = number;
}

void *realloc(void *memory, size_t count) {
    if (memory == NULL) return malloc(count);
    if (count == 0) {
        free(memory);
        return NULL;
    }
    find_next();
    size_t room = next.usable_size(memory);
    // tcmalloc doesn't know before its own start.
    if (room == 0) return next.realloc(memory, count);
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
