#include "latchkey_glib.h"

struct latchkey_glib latchkey_glib;
struct latchkey_libsecret latchkey_libsecret;

#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) #NAME,
#define VARIADIC(RESULT, NAME, PARAMETERS) #NAME,

struct latchkey_loaded latchkey_glib_load(void) {
    static const char *const names[] = {
#include "glib_functions.h"
    };
    static struct latchkey_loader loader = {LATCHKEY_GLIB, LATCHKEY_FUNCTIONS(latchkey_glib, names)};
    return latchkey_load(&loader);
}

struct latchkey_loaded latchkey_libsecret_load(void) {
    static const char *const names[] = {
#include "libsecret_functions.h"
    };
    static struct latchkey_loader loader = {LATCHKEY_LIBSECRET, LATCHKEY_FUNCTIONS(latchkey_libsecret, names)};
    // It brings GLib along: where both are missing, it is named.
    struct latchkey_loaded result = latchkey_load(&loader);
    return result.outcome == LATCHKEY_LOADED ? latchkey_glib_load() : result;
}
