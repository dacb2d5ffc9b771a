#include "latchkey_crypto.h"
#include "latchkey_libpq.h"

struct latchkey_libpq latchkey_libpq;

struct latchkey_loaded latchkey_libpq_load(void) {
    static const char *const names[] = {
#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) #NAME,
#include "libpq_functions.h"
    };
    // It brings OpenSSL along, which is started as we need it.
    static struct latchkey_loader loader = {
        LATCHKEY_LIBPQ, LATCHKEY_FUNCTIONS(latchkey_libpq, names), .before = latchkey_crypto_load};
    return latchkey_load(&loader);
}
