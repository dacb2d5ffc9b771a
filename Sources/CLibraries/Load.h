// How a library is loaded when it is first needed. The file that includes this says as LIBRARY which one, as FUNCTIONS
// which header lists its functions, as TABLE what the table of their places is called, and as LOAD the function that loads.

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

struct TABLE TABLE;

// All functions or none. A library's own dependencies are searched as well.
static const char *find_functions(void *library) {
    struct TABLE found;
#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) VARIADIC(RESULT, NAME, PARAMETERS)
#define VARIADIC(RESULT, NAME, PARAMETERS) \
    if ((*(void **)&found.NAME = dlsym(library, #NAME)) == NULL) return #NAME;
#include FUNCTIONS
#undef FUNCTION
#undef VARIADIC
    TABLE = found;
    return NULL;
}

static const char *load(void) {
    // Bound at once, like all that the programs call: see bind_functions.c of CLatchkeyProgramMemory. It is never closed.
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    return library == NULL ? LIBRARY : find_functions(library);
}

const char *LOAD(void) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static int is_loaded;
    const char *missing = NULL;
    pthread_mutex_lock(&mutex);
    if (!is_loaded) missing = load();
    is_loaded = missing == NULL;
    pthread_mutex_unlock(&mutex);
    return missing;
}
