#include "latchkey_glib.h"

#include <signal.h>
#include <stddef.h>

struct latchkey_glib latchkey_glib;
struct latchkey_libsecret latchkey_libsecret;

#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) #NAME,
#define VARIADIC(RESULT, NAME, PARAMETERS) #NAME,

// GIO's class of sockets makes the process ignore SIGPIPE, and so do the programs that the process starts. GDBus doesn't
// need that: its sockets send without the signal.
static int keep_sigpipe(void) {
    struct sigaction former;
    if (sigaction(SIGPIPE, NULL, &former) != 0) return 0;
    latchkey_glib.g_type_class_ref(latchkey_glib.g_socket_get_type());
    return sigaction(SIGPIPE, &former, NULL) == 0;
}

struct latchkey_loaded latchkey_glib_load(void) {
    static const char *const names[] = {
#include "glib_functions.h"
    };
    static struct latchkey_loader loader = {
        LATCHKEY_GLIB, LATCHKEY_FUNCTIONS(latchkey_glib, names), .start = keep_sigpipe};
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
