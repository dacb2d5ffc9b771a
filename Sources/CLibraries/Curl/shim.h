#pragma once
#include <curl/curl.h>
#include <malloc.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

// The option setters are variadic, which Swift can't call. The parentheses keep curl's type-checking macros away.
static inline CURLcode latchkey_easy_set_long(CURL *handle, CURLoption option, long value) {
    return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode latchkey_easy_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode latchkey_easy_set_pointer(CURL *handle, CURLoption option, const void *value) {
    return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode latchkey_easy_set_write(CURL *handle, CURLoption option, curl_write_callback callback) {
    return (curl_easy_setopt)(handle, option, callback);
}
static inline CURLcode latchkey_easy_set_open_socket(CURL *handle, curl_opensocket_callback callback) {
    return (curl_easy_setopt)(handle, CURLOPT_OPENSOCKETFUNCTION, callback);
}
static inline CURLcode latchkey_easy_get_long(CURL *handle, CURLINFO info, long *value) {
    return (curl_easy_getinfo)(handle, info, value);
}
static inline CURLcode latchkey_easy_get_pointer(CURL *handle, CURLINFO info, void **value) {
    return (curl_easy_getinfo)(handle, info, value);
}
static inline CURLMcode latchkey_multi_set_long(CURLM *handle, CURLMoption option, long value) {
    return (curl_multi_setopt)(handle, option, value);
}

// CURLMsg holds a union; this gives the one case there is. Returns 0 when there is no message.
static inline int latchkey_multi_next_done(CURLM *multi, CURL **handle, CURLcode *result) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg == CURLMSG_DONE) {
            *handle = message->easy_handle;
            *result = message->data.result;
            return 1;
        }
    }
    return 0;
}

// libcurl's memory holds requests and responses. These hooks overwrite each block before it goes back to the heap.
static inline void latchkey_curl_free(void *block) {
    if (block) explicit_bzero(block, malloc_usable_size(block));
    free(block);
}
static inline void *latchkey_curl_realloc(void *block, size_t size) {
    if (!block) return malloc(size);
    void *larger = malloc(size);
    if (!larger) return NULL;
    size_t old = malloc_usable_size(block);
    memcpy(larger, block, old < size ? old : size);
    latchkey_curl_free(block);
    return larger;
}
static inline CURLcode latchkey_curl_start(void) {
    // Without the exit handler, a thread that is in the middle of a handshake can't fall over when the process exits.
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
    return curl_global_init_mem(
        CURL_GLOBAL_DEFAULT, malloc, latchkey_curl_free, latchkey_curl_realloc, strdup, calloc);
}

static inline int latchkey_curl_has_bundle(void) {
    curl_version_info_data *information = curl_version_info(CURLVERSION_NOW);
    return information && information->cainfo;
}

// SSLKEYLOGFILE makes libcurl write session keys to a file: off. Decrypted records are overwritten once read.
static inline CURLcode latchkey_tls_context(CURL *handle, void *context, void *user) {
    (void)handle;
    (void)user;
    SSL_CTX_set_keylog_callback((SSL_CTX *)context, NULL);
    SSL_CTX_set_options((SSL_CTX *)context, SSL_OP_CLEANSE_PLAINTEXT);
    return CURLE_OK;
}
static inline CURLcode latchkey_easy_harden_tls(CURL *handle) {
    return (curl_easy_setopt)(handle, CURLOPT_SSL_CTX_FUNCTION, latchkey_tls_context);
}
