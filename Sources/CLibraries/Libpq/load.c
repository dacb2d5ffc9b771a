#include "latchkey_libpq.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#define LIBRARY "libpq.so.5"

struct latchkey_libpq latchkey_libpq;

// All functions or none.
static const char *find_functions(void *library) {
    struct latchkey_libpq found;
#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) \
    if ((*(void **)&found.NAME = dlsym(library, #NAME)) == NULL) return #NAME;
#include "libpq_functions.h"
#undef FUNCTION
    latchkey_libpq = found;
    return NULL;
}

static const char *load(void) {
    // Bound at once, like all that the programs call: see bind_functions.c of CProgramMemory.
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    // It is never closed: OpenSSL, which it brings along, can't be unloaded.
    return library == NULL ? LIBRARY : find_functions(library);
}

const char *latchkey_libpq_load(void) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static int is_loaded;
    const char *missing = NULL;
    pthread_mutex_lock(&mutex);
    if (!is_loaded) missing = load();
    is_loaded = missing == NULL;
    pthread_mutex_unlock(&mutex);
    return missing;
}
