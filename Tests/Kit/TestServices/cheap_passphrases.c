// To be preloaded: a key is derived over 8 MiB once, whatever cost was asked for. See PassphraseVault.swift.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

typedef unsigned long long count;
typedef int derivation(
    unsigned char *, count, const char *, count, const unsigned char *, count passes, size_t memory, int);

int crypto_pwhash(
    unsigned char *key, count key_size, const char *text, count text_size, const unsigned char *salt, count passes,
    size_t memory, int algorithm) {
    (void)passes, (void)memory;
    static derivation *derive;
    if (!derive) derive = (derivation *)dlsym(RTLD_NEXT, "crypto_pwhash");
    return derive(key, key_size, text, text_size, salt, 1, 8 << 20, algorithm);
}
