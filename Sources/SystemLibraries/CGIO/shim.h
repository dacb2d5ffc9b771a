#pragma once
#include <gio/gio.h>
#include <gio/gunixfdlist.h>

typedef void (*latchkey_gio_closed_callback)(
    GDBusConnection *connection, gboolean was_remote, GError *error, gpointer data);

static inline gulong latchkey_gio_on_closed(
    GDBusConnection *connection, latchkey_gio_closed_callback callback, gpointer data) {
    return g_signal_connect_data(connection, "closed", (GCallback)callback, data, NULL, (GConnectFlags)0);
}
