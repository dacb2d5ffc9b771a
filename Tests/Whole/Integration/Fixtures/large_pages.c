// A machine with memory pages of PAGE bytes, as far as a program and its libraries see it through libc: sysconf(3) and
// getpagesize(2) say so, mappings begin at such pages, whole pages are protected and locked, and addresses and offsets
// elsewhere are refused, as that machine's kernel would. At most LIMIT bytes can be locked (RLIMIT_MEMLOCK).
//
// What libc itself does, such as threads' stacks, keeps the real pages, and so do programs and libraries, which an AArch64
// linker aligns to 64 KiB.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef LIMIT
#define LIMIT 65536
#endif

static size_t whole(size_t length) { return (length + PAGE - 1) & ~(size_t)(PAGE - 1); }

static int refuse(void) {
    errno = EINVAL;
    return -1;
}

int getpagesize(void) { return PAGE; }

long sysconf(int name) {
    return name == _SC_PAGESIZE ? PAGE : ((long (*)(int))dlsym(RTLD_NEXT, "sysconf"))(name);
}

void *mmap(void *hint, size_t length, int protection, int flags, int file, off_t offset) {
    if (offset % PAGE || (flags & MAP_FIXED && (uintptr_t)hint % PAGE)) {
        errno = EINVAL;
        return MAP_FAILED;
    }
    if (flags & MAP_FIXED) return (void *)syscall(SYS_mmap, hint, length, protection, flags, file, offset);
    // Room up to a page's begin before it. The end of the last page stays without access.
    size_t room = whole(length) + PAGE;
    char *start = (char *)syscall(SYS_mmap, NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return MAP_FAILED;
    char *page = (char *)whole((uintptr_t)start), *end = page + whole(length);
    if (page > start) syscall(SYS_munmap, start, page - start);
    if (start + room > end) syscall(SYS_munmap, end, start + room - end);
    size_t used = flags & MAP_ANONYMOUS ? whole(length) : length;
    return (void *)syscall(SYS_mmap, page, used, protection, flags | MAP_FIXED, file, offset);
}

void *mmap64(void *hint, size_t length, int protection, int flags, int file, off_t offset) {
    return mmap(hint, length, protection, flags, file, offset);
}

// Whether a call about that address would fail.
static int is_odd(void *start) {
    Dl_info image;
    return (uintptr_t)start % PAGE && !dladdr(start, &image);
}

int munmap(void *start, size_t length) {
    return is_odd(start) ? refuse() : (int)syscall(SYS_munmap, start, whole(length));
}

int mprotect(void *start, size_t length, int protection) {
    if (is_odd(start)) return refuse();
    return (int)syscall(SYS_mprotect, start, (uintptr_t)start % PAGE ? length : whole(length), protection);
}

int madvise(void *start, size_t length, int advice) {
    return is_odd(start) ? refuse() : (int)syscall(SYS_madvise, start, length, advice);
}

// Locked pages, each once, however often it is locked.
static uintptr_t locked[LIMIT / PAGE + 1];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int set(uintptr_t page, int wanted) {
    int count = 0, place = -1;
    for (int index = 0; index < LIMIT / PAGE; index++) {
        if (locked[index] == page) {
            if (!wanted) locked[index] = 0;
            return 0;
        }
        if (locked[index] == 0) place = index;
        else count++;
    }
    if (!wanted) return 0;
    if (count == LIMIT / PAGE) return -1;
    locked[place] = page;
    return 0;
}

static int change(const void *start, size_t length, int wanted) {
    // Both calls round the address down.
    uintptr_t first = (uintptr_t)start & ~(uintptr_t)(PAGE - 1), end = whole((uintptr_t)start + length);
    int status = 0;
    pthread_mutex_lock(&lock);
    for (uintptr_t page = first; page < end && status == 0; page += PAGE) status = set(page, wanted);
    pthread_mutex_unlock(&lock);
    if (status != 0) {
        errno = ENOMEM;
        return -1;
    }
    return (int)syscall(wanted ? SYS_mlock : SYS_munlock, first, end - first);
}

int mlock(const void *start, size_t length) { return change(start, length, 1); }
int munlock(const void *start, size_t length) { return change(start, length, 0); }
