#include "latchkey_microhttpd.h"

struct latchkey_microhttpd_functions latchkey_microhttpd;

struct latchkey_loaded latchkey_microhttpd_load(void) {
    static const char *const names[] = {
#define FUNCTION(NAME) #NAME,
#include "microhttpd_functions.h"
    };
    static struct latchkey_loader loader = {
        LATCHKEY_LIBMICROHTTPD, LATCHKEY_FUNCTIONS(latchkey_microhttpd, names)};
    return latchkey_load(&loader);
}
