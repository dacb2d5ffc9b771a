#pragma once

// libmicrohttpd, loaded in the same way as libcurl: see latchkey_curl.h.

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include <microhttpd.h>

#include "latchkey_load.h"

struct latchkey_microhttpd_functions {
#define FUNCTION(NAME) __typeof__(NAME) *NAME;
#include "microhttpd_functions.h"
#undef FUNCTION
};
extern struct latchkey_microhttpd_functions latchkey_microhttpd
    __attribute__((visibility("hidden"), swift_name("microHTTPD"), swift_attr("nonisolated(unsafe)")));

struct latchkey_loaded latchkey_microhttpd_load(void);

// Starts a daemon on one thread of its own. Variadic, which Swift can't call; no flag asks for messages on stderr.
static inline struct MHD_Daemon *latchkey_daemon_start(
    int tls, MHD_AcceptPolicyCallback accept, void *accept_context, MHD_AccessHandlerCallback handle,
    void *handle_context, struct MHD_OptionItem *options) {
    unsigned int flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;
    return latchkey_microhttpd.MHD_start_daemon(
        flags | (tls ? MHD_USE_TLS : 0), 0, accept, accept_context, handle, handle_context, MHD_OPTION_ARRAY, options,
        MHD_OPTION_END);
}

// Function pointers don't fit Swift's idea of a data pointer.
static inline struct MHD_OptionItem latchkey_option_completed(MHD_RequestCompletedCallback callback, void *context) {
    struct MHD_OptionItem item = {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)callback, context};
    return item;
}
static inline struct MHD_OptionItem latchkey_option_target(
    void *(*callback)(void *, const char *, struct MHD_Connection *), void *context) {
    struct MHD_OptionItem item = {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)callback, context};
    return item;
}

static inline const struct sockaddr *latchkey_peer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        latchkey_microhttpd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

// The library keeps its own copy of a header's value until the response goes: this overwrites it.
static inline void latchkey_response_wipe(struct MHD_Response *response, const char *name) {
    const char *value = latchkey_microhttpd.MHD_get_response_header(response, name);
    if (value) explicit_bzero((char *)value, strlen(value));
}
