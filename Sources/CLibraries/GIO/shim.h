#pragma once
#include <gio/gio.h>

// Of gio/gunixfdlist.h, which is in a folder of its own: pkg-config names that along with a flag that SwiftPM warns of.
GUnixFDList *g_unix_fd_list_new(void);
gint g_unix_fd_list_append(GUnixFDList *list, gint descriptor, GError **error);
gint g_unix_fd_list_get(GUnixFDList *list, gint index, GError **error);
gint g_unix_fd_list_get_length(GUnixFDList *list);

typedef void (*latchkey_gio_closed_callback)(
    GDBusConnection *connection, gboolean was_remote, GError *error, gpointer data);

static inline gulong latchkey_gio_on_closed(
    GDBusConnection *connection, latchkey_gio_closed_callback callback, gpointer data) {
    return g_signal_connect_data(connection, "closed", (GCallback)callback, data, NULL, (GConnectFlags)0);
}
