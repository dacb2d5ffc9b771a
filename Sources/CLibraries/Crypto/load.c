#include "latchkey_crypto.h"

struct latchkey_crypto_functions latchkey_crypto;

// Without the exit handler, a thread that is in the middle of a handshake can't fall over when the process exits.
static int start(void) { return latchkey_crypto.OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); }

struct latchkey_loaded latchkey_crypto_load(void) {
    static const char *const names[] = {
#define FUNCTION(NAME) #NAME,
#include "crypto_functions.h"
    };
    static struct latchkey_loader loader = {
        LATCHKEY_LIBCRYPTO, LATCHKEY_FUNCTIONS(latchkey_crypto, names), .start = start};
    return latchkey_load(&loader);
}
