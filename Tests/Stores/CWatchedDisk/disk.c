// A disk that is watched and that can fail. A program that this is linked into writes through it, and so do the
// libraries that it uses: symbols of the program come before those of the C library.
//
//   DISK_FOLDER   what counts: changes of files in here; without it nothing does
//   DISK_LOG      where they are written down: "KIND LENGTH OFFSET PATH\n", and the bytes that were written
//   DISK_FAIL     the number of the change that fails, from 1, with the error DISK_ERROR
//   DISK_STICK    no mode can be changed, and nothing renamed without replacing: a stick with FAT, or an NFS
//
// Kinds: C made, W written, T cut to OFFSET, S synced, U removed, and O for what the program says on standard output.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *folder;
static int log_descriptor = -1;
static long fail_at, fail_error = EIO;
static atomic_long count;
static int is_stick;

__attribute__((constructor)) static void start(void) {
    folder = getenv("DISK_FOLDER");
    is_stick = getenv("DISK_STICK") != 0;
    if (getenv("DISK_FAIL")) fail_at = atol(getenv("DISK_FAIL"));
    if (getenv("DISK_ERROR")) fail_error = atol(getenv("DISK_ERROR"));
    const char *log = getenv("DISK_LOG");
    if (log)
        log_descriptor = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void note(char kind, const char *path, const void *bytes, size_t length, off_t offset) {
    char line[PATH_MAX + 64];
    int size = snprintf(line, sizeof line, "%c %zu %lld %s\n", kind, length, (long long)offset, path);
    struct iovec parts[2] = {{line, (size_t)size}, {(void *)bytes, length}};
    if (log_descriptor >= 0 && syscall(SYS_writev, log_descriptor, parts, 2) != (long)(size + length)) abort();
}

static int is_ours(const char *path) { return folder && strncmp(path, folder, strlen(folder)) == 0; }

static int path_of(int descriptor, char *path) {
    if (!folder) return 0;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_ours(path);
}

// Whether this change, which is the next one, fails.
static int fails(void) {
    if (atomic_fetch_add(&count, 1) + 1 != fail_at) return 0;
    errno = (int)fail_error;
    return 1;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off64_t offset) {
    char path[PATH_MAX];
    int ours = path_of(descriptor, path);
    if (ours && fails()) return -1;
    ssize_t done = syscall(SYS_pwrite64, descriptor, bytes, length, offset);
    if (ours && done > 0) note('W', path, bytes, (size_t)done, offset);
    return done;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t offset) {
    return pwrite64(descriptor, bytes, length, offset);
}

ssize_t write(int descriptor, const void *bytes, size_t length) {
    if (descriptor == 1) note('O', "-", bytes, length, 0);
    char path[PATH_MAX];
    int ours = path_of(descriptor, path);
    if (ours && fails()) return -1;
    off_t offset = ours ? lseek(descriptor, 0, SEEK_CUR) : 0;
    ssize_t done = syscall(SYS_write, descriptor, bytes, length);
    if (ours && done > 0) note('W', path, bytes, (size_t)done, offset);
    return done;
}

int ftruncate64(int descriptor, off64_t length) {
    char path[PATH_MAX];
    int ours = path_of(descriptor, path);
    if (ours && fails()) return -1;
    int status = (int)syscall(SYS_ftruncate, descriptor, length);
    if (ours && status == 0) note('T', path, "", 0, length);
    return status;
}

int ftruncate(int descriptor, off_t length) { return ftruncate64(descriptor, length); }

int fdatasync(int descriptor) {
    char path[PATH_MAX];
    int ours = path_of(descriptor, path);
    if (ours && fails()) return -1;
    int status = (int)syscall(SYS_fdatasync, descriptor);
    if (ours && status == 0) note('S', path, "", 0, 0);
    return status;
}

int fsync(int descriptor) { return fdatasync(descriptor); }

int unlink(const char *path) {
    int ours = is_ours(path);
    if (ours && fails()) return -1;
    int status = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    if (ours && status == 0) note('U', path, "", 0, 0);
    return status;
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    int makes = flags & O_CREAT && is_ours(path) && syscall(SYS_faccessat, AT_FDCWD, path, F_OK) != 0;
    if (makes && fails()) return -1;
    int descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (makes && descriptor >= 0) note('C', path, "", 0, 0);
    return descriptor;
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return open64(path, flags, mode);
}

int fchmod(int descriptor, mode_t mode) {
    char path[PATH_MAX];
    if (is_stick && path_of(descriptor, path)) {
        errno = EPERM;
        return -1;
    }
    return (int)syscall(SYS_fchmod, descriptor, mode);
}

// glibc's own calls don't come through here: what does is what it has no function for. Foundation asks for a thread's
// number when the thread ends, after ThreadSanitizer has forgotten the thread.
__attribute__((disable_sanitizer_instrumentation)) long syscall(long number, ...) {
    static long (*next)(long, ...);
    if (!next) next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    if (is_stick && number == SYS_renameat2) {
        errno = EINVAL;
        return -1;
    }
    va_list rest;
    va_start(rest, number);
    long arguments[6];
    for (int index = 0; index < 6; index++) arguments[index] = va_arg(rest, long);
    va_end(rest);
    return next(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}
