#pragma once
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>
#include <openssl/rsa.h>

// A signature with a key that is built for it. EVP_PKEY_fromdata builds the whole curve anew for each key, which takes as
// long as signing; EC_KEY takes a curve that is there. It is deprecated, and in all of OpenSSL 3.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static inline ECDSA_SIG *latchkey_ecdsa_sign(const EC_GROUP *group, const BIGNUM *scalar, const unsigned char *digest,
                                             int count) {
    ECDSA_SIG *signature = NULL;
    EC_KEY *key = EC_KEY_new();
    if (key && EC_KEY_set_group(key, group) && EC_KEY_set_private_key(key, scalar)) {
        signature = ECDSA_do_sign(digest, count, key);
    }
    EC_KEY_free(key);
    return signature;
}
#pragma GCC diagnostic pop
