#include "latchkey_glib.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

struct latchkey_glib latchkey_glib;
struct latchkey_libsecret latchkey_libsecret;

#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) VARIADIC(RESULT, NAME, PARAMETERS)
#define VARIADIC(RESULT, NAME, PARAMETERS) \
    if ((*(void **)&found.NAME = dlsym(library, #NAME)) == NULL) return #NAME;

// All functions or none. A library's own dependencies are searched too: GIO's handle leads to GLib, libsecret's to both.
static const char *find_glib(void *library) {
    struct latchkey_glib found;
#include "glib_functions.h"
    latchkey_glib = found;
    return NULL;
}

static const char *find_libsecret(void *library) {
    struct latchkey_libsecret found;
#include "libsecret_functions.h"
    latchkey_libsecret = found;
    return NULL;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int has_glib, has_libsecret;

static const char *find(const char *name, int is_libsecret) {
    if (is_libsecret ? has_libsecret : has_glib) return NULL;
    // Bound at once, like all that the programs call: see bind_functions.c of CProgramMemory. It is never closed: GObject
    // can't be loaded twice.
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return name;
    const char *missing = has_glib ? NULL : find_glib(library);
    if (missing == NULL) has_glib = 1;
    if (missing == NULL && is_libsecret) missing = find_libsecret(library);
    if (missing == NULL && is_libsecret) has_libsecret = 1;
    return missing;
}

static const char *load(const char *name, int is_libsecret) {
    pthread_mutex_lock(&mutex);
    const char *missing = find(name, is_libsecret);
    pthread_mutex_unlock(&mutex);
    return missing;
}

const char *latchkey_glib_load(void) { return load("libgio-2.0.so.0", 0); }

const char *latchkey_libsecret_load(void) { return load("libsecret-1.so.0", 1); }
