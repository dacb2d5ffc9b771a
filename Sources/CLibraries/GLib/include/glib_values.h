#pragma once

#include "glib_types.h"

// The constants and the structures of GLib and libsecret that are used, and no others: an enumeration here has fewer
// cases than there. A test compares the numbers, sizes and places with the libraries' own headers.

typedef enum { G_BUS_TYPE_SESSION = 2 } GBusType;
typedef enum { G_CONNECT_DEFAULT = 0 } GConnectFlags;
typedef enum { G_DBUS_CALL_FLAGS_NONE = 0 } GDBusCallFlags;
typedef enum { G_DBUS_CAPABILITY_FLAGS_UNIX_FD_PASSING = 1 << 0 } GDBusCapabilityFlags;
typedef enum {
    G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT = 1 << 0,
    G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION = 1 << 3,
} GDBusConnectionFlags;
typedef enum { G_DBUS_MESSAGE_FLAGS_NO_REPLY_EXPECTED = 1 << 0 } GDBusMessageFlags;
typedef enum { G_DBUS_MESSAGE_TYPE_METHOD_CALL = 1, G_DBUS_MESSAGE_TYPE_SIGNAL = 4 } GDBusMessageType;
typedef enum {
    G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES = 1 << 0,
    G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS = 1 << 1,
    G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START_AT_CONSTRUCTION = 1 << 4,
} GDBusProxyFlags;
typedef enum { G_DBUS_SEND_MESSAGE_FLAGS_NONE = 0 } GDBusSendMessageFlags;
typedef enum { G_DBUS_SIGNAL_FLAGS_NONE = 0 } GDBusSignalFlags;
typedef enum { G_TYPE_FLAG_NONE = 0 } GTypeFlags;
typedef enum { SECRET_SERVICE_NONE = 0 } SecretServiceFlags;

// Only pointed at; the structure there has no name.
typedef struct latchkey_schema SecretSchema;

struct _GError {
    GQuark domain;
    gint code;
    gchar *message;
};

struct _GTypeQuery {
    GType type;
    const gchar *type_name;
    guint class_size;
    guint instance_size;
};

typedef GObject *(*latchkey_constructor)(GType type, guint count, GObjectConstructParam *parameters);

// How a GObjectClass begins.
struct latchkey_object_class {
    GType type;
    gpointer construct_properties;
    latchkey_constructor constructor;
};
