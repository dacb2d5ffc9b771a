#define _GNU_SOURCE
#include "latchkey_load.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static _Atomic unsigned permitted = ~0U;

void latchkey_permit_libraries(unsigned libraries) { permitted = libraries; }

const char *latchkey_library_file(enum latchkey_library library) {
    static const char *const files[] = {
        [LATCHKEY_LIBCRYPTO] = "libcrypto.so.3",
        [LATCHKEY_LIBCURL] = "libcurl.so.4",
        [LATCHKEY_LIBMICROHTTPD] = "libmicrohttpd.so.12",
        // GIO's handle leads to GLib and GObject, too.
        [LATCHKEY_GLIB] = "libgio-2.0.so.0",
        [LATCHKEY_LIBSECRET] = "libsecret-1.so.0",
        [LATCHKEY_LIBPQ] = "libpq.so.5",
    };
    return files[library];
}

static int others_can_write(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0) return 0;
    return (status.st_uid != 0 && status.st_uid != geteuid()) || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

// Whether another user can put something else in a folder's place, or in one above it. Of what is in a folder with the
// sticky bit nobody else can rename anything.
static int others_can_replace(const char *folder) {
    char path[PATH_MAX];
    if (realpath(folder, path) == NULL) return 0;
    for (char *end = strrchr(path, '/'); end != NULL; end = strrchr(path, '/')) {
        struct stat status;
        end[end == path] = 0;
        if (stat(path, &status) != 0) return 1;
        if ((status.st_uid != 0 && status.st_uid != geteuid()) ||
            ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (status.st_mode & S_ISVTX) == 0))
            return 1;
        if (end == path) break;
    }
    return 0;
}

// Whether another user can write where ld.so(8) looks in a folder for libraries of a processor's own.
static int others_can_write_below(const char *folder) {
    char pattern[PATH_MAX + 32];
    glob_t found = {0};
    snprintf(pattern, sizeof pattern, "%s/glibc-hwcaps/*", folder);
    int is_exposed = glob(pattern, GLOB_NOSORT, NULL, &found) == GLOB_NOSPACE;
    for (size_t index = 0; index < found.gl_pathc && !is_exposed; index++) {
        is_exposed = others_can_write(found.gl_pathv[index]);
    }
    globfree(&found);
    *strrchr(pattern, '/') = 0;
    return is_exposed || others_can_write(pattern);
}

// Whether another user can change what LD_LIBRARY_PATH leads to. Each of its folders counts, because ld.so(8) looks in
// all of them for what the library needs, and in their subfolders for a processor's own.
static int is_exposed(const char *file) {
    const char *folder = getenv("LD_LIBRARY_PATH");
    if (folder == NULL || *folder == 0) return 0;
    // ld.so(8) replaces tokens such as $ORIGIN; the others have a meaning in a pattern.
    if (strpbrk(folder, "$*?[\\") != NULL) return 1;
    for (size_t count;; folder += count + 1) {
        count = strcspn(folder, ":;");
        char path[PATH_MAX], target[PATH_MAX];
        // An empty name is the working directory.
        int length = snprintf(path, sizeof path, "%.*s", count == 0 ? 1 : (int)count, count == 0 ? "." : folder);
        if (length >= (int)sizeof path || others_can_write(path) || others_can_replace(path)) return 1;
        if (others_can_write_below(path)) return 1;
        snprintf(path + length, sizeof path - (size_t)length, "/%s", file);
        if (realpath(path, target) != NULL) {
            if (others_can_write(target)) return 1;
            *strrchr(target, '/') = 0;
            if (others_can_write(target)) return 1;
        }
        if (folder[count] == 0) return 0;
    }
}

static struct latchkey_loaded load(struct latchkey_loader *loader) {
    struct latchkey_loaded result = {LATCHKEY_LOADED, loader->library, latchkey_library_file(loader->library)};
    if (loader->before != NULL) {
        struct latchkey_loaded before = loader->before();
        if (before.outcome != LATCHKEY_LOADED) return before;
    }
    if (is_exposed(result.name)) {
        result.outcome = LATCHKEY_EXPOSED;
        return result;
    }
    // Bound at once, like all that the programs call: see bind_functions.c of CLatchkeyProgramMemory. Never closed, as
    // neither GObject nor OpenSSL can be loaded twice.
    void *library = dlopen(result.name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        result.outcome = LATCHKEY_NO_LIBRARY;
        return result;
    }
    if (loader->is_fit != NULL && !loader->is_fit(library)) {
        result.outcome = LATCHKEY_UNFIT;
        return result;
    }
    // All or none: nothing is called before this has returned.
    for (unsigned index = 0; index < loader->count; index++) {
        // The library's own dependencies are searched as well.
        loader->functions[index] = dlsym(library, loader->names[index]);
        if (loader->functions[index] == NULL) {
            result.outcome = LATCHKEY_NO_FUNCTION;
            result.name = loader->names[index];
            return result;
        }
    }
    if (loader->start != NULL && !loader->start()) result.outcome = LATCHKEY_UNFIT;
    return result;
}

struct latchkey_loaded latchkey_load(struct latchkey_loader *loader) {
    // One library may load another.
    static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    struct latchkey_loaded result = {LATCHKEY_LOADED, loader->library, NULL};
    if ((permitted & 1U << loader->library) == 0) {
        result.outcome = LATCHKEY_NOT_PERMITTED;
        result.name = latchkey_library_file(loader->library);
        return result;
    }
    if (__atomic_load_n(&loader->is_loaded, __ATOMIC_ACQUIRE)) return result;
    pthread_mutex_lock(&mutex);
    if (!loader->is_loaded) {
        result = load(loader);
        __atomic_store_n(&loader->is_loaded, result.outcome == LATCHKEY_LOADED, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&mutex);
    return result;
}
