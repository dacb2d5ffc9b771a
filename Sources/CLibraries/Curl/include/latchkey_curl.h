#pragma once

// libcurl, without linking to it: one call loads it, and its functions can be called by their names in a table from
// then on. Before that they lead nowhere.

// Its macros would be in the way of the table's members.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <openssl/ssl.h>

#include "latchkey_load.h"

// libcurl's own header says of what type each function is.
struct latchkey_curl_functions {
#define FUNCTION(NAME) __typeof__(NAME) *NAME;
#include "curl_functions.h"
#undef FUNCTION
};

// Written once, when it is loaded. Hidden: another library of the process that looks for libcurl must not find anything
// here.
extern struct latchkey_curl_functions latchkey_curl
    __attribute__((visibility("hidden"), swift_name("curl"), swift_attr("nonisolated(unsafe)")));

// Loads libcurl and starts it. Only a libcurl with OpenSSL 3 is taken: no other one could be hardened.
struct latchkey_loaded latchkey_curl_load(void);

// The option setters are variadic, which Swift can't call.
static inline CURLcode latchkey_easy_set_long(CURL *handle, CURLoption option, long value) {
    return latchkey_curl.curl_easy_setopt(handle, option, value);
}
static inline CURLcode latchkey_easy_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return latchkey_curl.curl_easy_setopt(handle, option, value);
}
static inline CURLcode latchkey_easy_set_pointer(CURL *handle, CURLoption option, const void *value) {
    return latchkey_curl.curl_easy_setopt(handle, option, value);
}
static inline CURLcode latchkey_easy_set_write(CURL *handle, CURLoption option, curl_write_callback callback) {
    return latchkey_curl.curl_easy_setopt(handle, option, callback);
}
static inline CURLcode latchkey_easy_set_open_socket(CURL *handle, curl_opensocket_callback callback) {
    return latchkey_curl.curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, callback);
}
static inline CURLcode latchkey_easy_get_long(CURL *handle, CURLINFO info, long *value) {
    return latchkey_curl.curl_easy_getinfo(handle, info, value);
}
static inline CURLcode latchkey_easy_get_pointer(CURL *handle, CURLINFO info, void **value) {
    return latchkey_curl.curl_easy_getinfo(handle, info, value);
}
static inline CURLMcode latchkey_multi_set_long(CURLM *handle, CURLMoption option, long value) {
    return latchkey_curl.curl_multi_setopt(handle, option, value);
}

// CURLMsg holds a union; this gives the one case there is. Returns 0 when there is no message.
static inline int latchkey_multi_next_done(CURLM *multi, CURL **handle, CURLcode *result) {
    int left = 0;
    CURLMsg *message;
    while ((message = latchkey_curl.curl_multi_info_read(multi, &left))) {
        if (message->msg == CURLMSG_DONE) {
            *handle = message->easy_handle;
            *result = message->data.result;
            return 1;
        }
    }
    return 0;
}

static inline int latchkey_curl_has_bundle(void) {
    curl_version_info_data *information = latchkey_curl.curl_version_info(CURLVERSION_NOW);
    return information && information->cainfo;
}

// SSLKEYLOGFILE makes libcurl write session keys to a file: off. Decrypted records are overwritten once read.
static inline CURLcode latchkey_tls_context(CURL *handle, void *context, void *user) {
    (void)handle;
    (void)user;
    latchkey_curl.SSL_CTX_set_keylog_callback((SSL_CTX *)context, NULL);
    latchkey_curl.SSL_CTX_set_options((SSL_CTX *)context, SSL_OP_CLEANSE_PLAINTEXT);
    return CURLE_OK;
}
static inline CURLcode latchkey_easy_harden_tls(CURL *handle) {
    return latchkey_curl.curl_easy_setopt(handle, CURLOPT_SSL_CTX_FUNCTION, latchkey_tls_context);
}
