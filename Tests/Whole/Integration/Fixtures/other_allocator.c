// An allocator of another making, as LD_PRELOAD brings it: it ends the process when it gets back what isn't its own.
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { room = 1 << 30, magic = 0x6c6b6579 };
struct header { size_t count; uint64_t magic; };
static char *arena;
static size_t used;

// Nothing is ever used again.
void *aligned_alloc(size_t alignment, size_t count) {
    char *start = __atomic_load_n(&arena, __ATOMIC_ACQUIRE);
    if (start == NULL) {
        start = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        char *none = NULL;
        if (!__atomic_compare_exchange_n(&arena, &none, start, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) start = none;
    }
    if (alignment < 16) alignment = 16;
    size_t taken = (count + alignment + sizeof(struct header) + 15) & ~(size_t)15;
    size_t offset = __atomic_fetch_add(&used, taken, __ATOMIC_ACQ_REL);
    if (offset + taken > room) { errno = ENOMEM; return NULL; }
    uintptr_t place = ((uintptr_t)start + offset + sizeof(struct header) + alignment - 1) & ~(uintptr_t)(alignment - 1);
    struct header *header = (struct header *)place - 1;
    header->count = count;
    header->magic = magic;
    return (void *)place;
}

#ifdef WITHOUT_SIZES
#define malloc_usable_size own_size
static
#endif
size_t malloc_usable_size(void *memory) {
    if (memory == NULL) return 0;
    struct header *header = (struct header *)memory - 1;
    if (header->magic != magic) {
        (void)!write(2, "not of this allocator\n", 22);
        _exit(99);
    }
    return header->count;
}

void free(void *memory) { (void)malloc_usable_size(memory); }
void *malloc(size_t count) { return aligned_alloc(16, count); }
void *calloc(size_t count, size_t size) { return size != 0 && count > room / size ? NULL : malloc(count * size); }
void *memalign(size_t alignment, size_t count) { return aligned_alloc(alignment, count); }

int posix_memalign(void **place, size_t alignment, size_t count) {
    *place = aligned_alloc(alignment, count);
    return *place == NULL ? ENOMEM : 0;
}

void *realloc(void *memory, size_t count) {
    void *moved = malloc(count);
    size_t old = malloc_usable_size(memory);
    return moved == NULL || memory == NULL ? moved : memcpy(moved, memory, old < count ? old : count);
}
