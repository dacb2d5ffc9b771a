#include "latchkey_glib.h"

#include <stddef.h>

static GObject *construct(GType type, guint count, GObjectConstructParam *parameters) {
    struct latchkey_object_class *parent = g_type_class_peek(secret_service_get_type());
    GObject *object = parent->constructor(type, count, parameters);
    // SecretService sets its own flags in the same way, while the object is still under construction.
    latchkey_glib.g_object_set(
        object, "g-flags",
        G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES | G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS |
            G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START_AT_CONSTRUCTION,
        NULL);
    return object;
}

static void change_class(gpointer type_class, gpointer data) {
    (void)data;
    ((struct latchkey_object_class *)type_class)->constructor = construct;
}

static GType service_type(void) {
    static GType type;
    if (type == 0) {
        GTypeQuery parent;
        g_type_query(secret_service_get_type(), &parent);
        type = g_type_register_static_simple(
            parent.type, "LatchkeySecretService", parent.class_size, change_class, parent.instance_size, NULL,
            G_TYPE_FLAG_NONE);
    }
    return type;
}

void latchkey_service_make(GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data) {
    secret_service_open(service_type(), NULL, SECRET_SERVICE_NONE, cancellable, callback, data);
}
