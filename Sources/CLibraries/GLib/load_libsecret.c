#include "latchkey_glib.h"

#define LIBRARY "libsecret-1.so.0"
#define FUNCTIONS "libsecret_functions.h"
#define TABLE latchkey_libsecret
#define LOAD load_libsecret
static const char *LOAD(void);
#include "../Load.h"

// It brings GLib along: where both are missing, it is named.
const char *latchkey_libsecret_load(void) {
    const char *missing = load_libsecret();
    return missing == NULL ? latchkey_glib_load() : missing;
}
