#include "latchkey_libsecret.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#define LIBRARY "libsecret-1.so.0"

struct latchkey_libsecret latchkey_libsecret;

// All functions or none. A library's own dependencies are searched too, so libsecret's handle leads to GLib's.
static const char *find_functions(void *library) {
    struct latchkey_libsecret found;
#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) VARIADIC(RESULT, NAME, PARAMETERS)
#define VARIADIC(RESULT, NAME, PARAMETERS) \
    if ((*(void **)&found.NAME = dlsym(library, #NAME)) == NULL) return #NAME;
#include "libsecret_functions.h"
#undef FUNCTION
#undef VARIADIC
    latchkey_libsecret = found;
    return NULL;
}

static const char *load(void) {
    // Bound at once, like all that the programs call: see bind_functions.c of CProgramMemory.
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    // It is never closed: GObject can't be loaded twice.
    return library == NULL ? LIBRARY : find_functions(library);
}

const char *latchkey_libsecret_load(void) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static int is_loaded;
    const char *missing = NULL;
    pthread_mutex_lock(&mutex);
    if (!is_loaded) missing = load();
    is_loaded = missing == NULL;
    pthread_mutex_unlock(&mutex);
    return missing;
}
