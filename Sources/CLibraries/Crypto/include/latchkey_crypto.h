#pragma once

// OpenSSL's libcrypto, loaded in the same way as libcurl: see latchkey_curl.h.

// EC_KEY is deprecated, and in all of OpenSSL 3.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "latchkey_load.h"

struct latchkey_crypto_functions {
#define FUNCTION(NAME) __typeof__(NAME) *NAME;
#include "crypto_functions.h"
#undef FUNCTION
};
extern struct latchkey_crypto_functions latchkey_crypto
    __attribute__((visibility("hidden"), swift_name("crypto"), swift_attr("nonisolated(unsafe)")));

// Loads libcrypto and starts it. To be called before anything else that starts it, such as libcurl or libpq.
struct latchkey_loaded latchkey_crypto_load(void);

// A signature with a key that is built for it. EVP_PKEY_fromdata builds the whole curve anew for each key, which takes
// as long as signing; EC_KEY takes a curve that is there.
static inline ECDSA_SIG *latchkey_ecdsa_sign(const EC_GROUP *group, const BIGNUM *scalar, const unsigned char *digest,
                                             int count) {
    ECDSA_SIG *signature = NULL;
    EC_KEY *key = latchkey_crypto.EC_KEY_new();
    if (key && latchkey_crypto.EC_KEY_set_group(key, group) && latchkey_crypto.EC_KEY_set_private_key(key, scalar)) {
        signature = latchkey_crypto.ECDSA_do_sign(digest, count, key);
    }
    latchkey_crypto.EC_KEY_free(key);
    return signature;
}
