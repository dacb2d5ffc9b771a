#include "latchkey_crypto.h"
#include "latchkey_curl.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

struct latchkey_curl_functions latchkey_curl;

static int is_fit(void *library) {
    __typeof__(curl_version_info) *version_info = (__typeof__(version_info))dlsym(library, "curl_version_info");
    // Without it the function is what is missing.
    if (version_info == NULL) return 1;
    const char *tls = version_info(CURLVERSION_NOW)->ssl_version;
    return tls != NULL && strncmp(tls, "OpenSSL/3.", strlen("OpenSSL/3.")) == 0;
}

// libcurl's memory holds requests and responses. These hooks overwrite each block before it goes back to the heap.
static void wipe_and_free(void *block) {
    if (block) explicit_bzero(block, malloc_usable_size(block));
    free(block);
}
static void *wipe_and_realloc(void *block, size_t size) {
    if (!block) return malloc(size);
    void *larger = malloc(size);
    if (!larger) return NULL;
    size_t old = malloc_usable_size(block);
    memcpy(larger, block, old < size ? old : size);
    wipe_and_free(block);
    return larger;
}

// The hooks only take when no other code in the process started libcurl before.
static int start(void) {
    return latchkey_curl.curl_global_init_mem(
               CURL_GLOBAL_DEFAULT, malloc, wipe_and_free, wipe_and_realloc, strdup, calloc) == CURLE_OK;
}

struct latchkey_loaded latchkey_curl_load(void) {
    static const char *const names[] = {
#define FUNCTION(NAME) #NAME,
#include "curl_functions.h"
    };
    // libcrypto first, which is started as we need it.
    static struct latchkey_loader loader = {
        LATCHKEY_LIBCURL, LATCHKEY_FUNCTIONS(latchkey_curl, names),
        .before = latchkey_crypto_load, .is_fit = is_fit, .start = start};
    return latchkey_load(&loader);
}
