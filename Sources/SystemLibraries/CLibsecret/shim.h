#pragma once
// The calls by D-Bus path, which spare the round trips of object proxies, and the session's encoding of secrets are
// exported and unchanged since libsecret 0.18, and still called unstable.
#define SECRET_API_SUBJECT_TO_CHANGE
#include <libsecret/secret.h>

// Swift imports no casting macros, and libsecret's type has the name of our module: its objects pass as gpointer.

// A SecretService that opens sessions and encrypts, and nothing else: it keeps no copy of the service's properties, hears
// none of its signals, and doesn't ask the bus to start what the first call starts. Each is a round trip less, and
// libsecret 0.20 crashes on the signal CollectionCreated of a service that has just been restarted (KeePassXC sends it).

static inline GObject *latchkey_service_construct(GType type, guint count, GObjectConstructParam *parameters) {
    GObjectClass *parent = (GObjectClass *)g_type_class_peek(SECRET_TYPE_SERVICE);
    GObject *object = parent->constructor(type, count, parameters);
    // SecretService sets its own flags in the same way, while the object is still under construction.
    g_object_set(object, "g-flags",
        G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES | G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS
            | G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START_AT_CONSTRUCTION, NULL);
    return object;
}

static inline void latchkey_service_class(gpointer service_class, gpointer data) {
    ((GObjectClass *)service_class)->constructor = latchkey_service_construct;
}

static inline GType latchkey_service_type(void) {
    static gsize type = 0;
    if (g_once_init_enter(&type)) {
        GTypeQuery parent;
        g_type_query(SECRET_TYPE_SERVICE, &parent);
        g_once_init_leave(&type, g_type_register_static_simple(
            parent.type, "LatchkeySecretService", parent.class_size, latchkey_service_class, parent.instance_size,
            NULL, G_TYPE_FLAG_NONE));
    }
    return type;
}

static inline void latchkey_service_open(GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data) {
    secret_service_open(latchkey_service_type(), NULL, SECRET_SERVICE_OPEN_SESSION, cancellable, callback, data);
}

static inline gpointer latchkey_service_open_finish(GAsyncResult *result, GError **error) {
    return secret_service_open_finish(result, error);
}

static inline GDBusConnection *latchkey_service_connection(gpointer service) {
    return g_dbus_proxy_get_connection(G_DBUS_PROXY(service));
}

static inline gchar *latchkey_service_owner(gpointer service) {
    return g_dbus_proxy_get_name_owner(G_DBUS_PROXY(service));
}

static inline const gchar *latchkey_service_session_path(gpointer service) {
    return secret_service_get_session_dbus_path(SECRET_SERVICE(service));
}

static inline const gchar *latchkey_service_session_algorithms(gpointer service) {
    return secret_service_get_session_algorithms(SECRET_SERVICE(service));
}

static inline GVariant *latchkey_service_encode(gpointer service, SecretValue *value) {
    return secret_service_encode_dbus_secret(SECRET_SERVICE(service), value);
}

static inline SecretValue *latchkey_service_decode(gpointer service, GVariant *value) {
    return secret_service_decode_dbus_secret(SECRET_SERVICE(service), value);
}

typedef void (*latchkey_closed_callback)(GDBusConnection *, gboolean, GError *, gpointer);

static inline gulong latchkey_connection_on_closed(
    GDBusConnection *connection, latchkey_closed_callback callback, gpointer data, GClosureNotify free_data) {
    return g_signal_connect_data(connection, "closed", G_CALLBACK(callback), data, free_data, 0);
}

static inline void latchkey_connection_forget(GDBusConnection *connection, gulong handler) {
    g_signal_handler_disconnect(connection, handler);
}
