// Every function of GLib, GIO and GObject that is called: its result, its name, its parameters, and their names once
// more. What includes this defines FUNCTION and VARIADIC.

// MARK: - GLib

FUNCTION(void, g_error_free, (GError *error), (error))
FUNCTION(void, g_free, (gpointer memory), (memory))
FUNCTION(const gchar *, g_quark_to_string, (GQuark quark), (quark))

FUNCTION(GMainContext *, g_main_context_new, (void), ())
FUNCTION(gboolean, g_main_context_iteration, (GMainContext *context, gboolean waits), (context, waits))
FUNCTION(void, g_main_context_push_thread_default, (GMainContext *context), (context))
FUNCTION(void, g_main_context_wakeup, (GMainContext *context), (context))
FUNCTION(GSource *, g_timeout_source_new, (guint milliseconds), (milliseconds))
FUNCTION(guint, g_source_attach, (GSource *source, GMainContext *context), (source, context))
FUNCTION(void, g_source_destroy, (GSource *source), (source))
FUNCTION(void, g_source_set_callback,
    (GSource *source, GSourceFunc function, gpointer data, GDestroyNotify destroy), (source, function, data, destroy))
FUNCTION(void, g_source_unref, (GSource *source), (source))

FUNCTION(gboolean, g_variant_get_boolean, (GVariant *value), (value))
FUNCTION(GVariant *, g_variant_get_child_value, (GVariant *value, gsize index), (value, index))
FUNCTION(gconstpointer, g_variant_get_fixed_array,
    (GVariant *value, gsize *count, gsize element_size), (value, count, element_size))
FUNCTION(gsize, g_variant_get_size, (GVariant *value), (value))
FUNCTION(const gchar *, g_variant_get_string, (GVariant *value, gsize *count), (value, count))
FUNCTION(const gchar *, g_variant_get_type_string, (GVariant *value), (value))
FUNCTION(guint32, g_variant_get_uint32, (GVariant *value), (value))
FUNCTION(guint64, g_variant_get_uint64, (GVariant *value), (value))
FUNCTION(GVariant *, g_variant_get_variant, (GVariant *value), (value))
FUNCTION(gboolean, g_variant_is_container, (GVariant *value), (value))
FUNCTION(gboolean, g_variant_is_of_type, (GVariant *value, const GVariantType *type), (value, type))
FUNCTION(GVariant *, g_variant_lookup_value,
    (GVariant *dictionary, const gchar *key, const GVariantType *type), (dictionary, key, type))
FUNCTION(gsize, g_variant_n_children, (GVariant *value), (value))
FUNCTION(GVariant *, g_variant_new_array,
    (const GVariantType *type, GVariant *const *children, gsize count), (type, children, count))
FUNCTION(GVariant *, g_variant_new_boolean, (gboolean value), (value))
FUNCTION(GVariant *, g_variant_new_dict_entry, (GVariant *key, GVariant *value), (key, value))
FUNCTION(GVariant *, g_variant_new_fixed_array,
    (const GVariantType *type, gconstpointer elements, gsize count, gsize element_size),
    (type, elements, count, element_size))
FUNCTION(GVariant *, g_variant_new_from_data,
    (const GVariantType *type, gconstpointer bytes, gsize count, gboolean is_trusted, GDestroyNotify destroy,
        gpointer data),
    (type, bytes, count, is_trusted, destroy, data))
FUNCTION(GVariant *, g_variant_new_handle, (gint32 index), (index))
FUNCTION(GVariant *, g_variant_new_object_path, (const gchar *path), (path))
FUNCTION(GVariant *, g_variant_new_string, (const gchar *text), (text))
FUNCTION(GVariant *, g_variant_new_tuple, (GVariant *const *children, gsize count), (children, count))
FUNCTION(GVariant *, g_variant_new_uint32, (guint32 value), (value))
FUNCTION(GVariant *, g_variant_new_uint64, (guint64 value), (value))
FUNCTION(GVariant *, g_variant_new_variant, (GVariant *value), (value))
FUNCTION(GVariant *, g_variant_ref, (GVariant *value), (value))
FUNCTION(GVariant *, g_variant_take_ref, (GVariant *value), (value))
FUNCTION(void, g_variant_unref, (GVariant *value), (value))

// MARK: - GObject

FUNCTION(gpointer, g_object_ref, (gpointer object), (object))
VARIADIC(void, g_object_set, (gpointer object, const gchar *name, ...))
FUNCTION(void, g_object_unref, (gpointer object), (object))
FUNCTION(gulong, g_signal_connect_data,
    (gpointer instance, const gchar *signal, GCallback handler, gpointer data, GClosureNotify destroy,
        GConnectFlags flags),
    (instance, signal, handler, data, destroy, flags))
FUNCTION(void, g_signal_handler_disconnect, (gpointer instance, gulong handler), (instance, handler))
FUNCTION(gpointer, g_type_class_peek, (GType type), (type))
FUNCTION(gpointer, g_type_class_ref, (GType type), (type))
FUNCTION(void, g_type_query, (GType type, GTypeQuery *query), (type, query))
FUNCTION(GType, g_type_register_static_simple,
    (GType parent, const gchar *name, guint class_size, GClassInitFunc class_init, guint instance_size,
        GInstanceInitFunc instance_init, GTypeFlags flags),
    (parent, name, class_size, class_init, instance_size, instance_init, flags))

// MARK: - GIO

FUNCTION(void, g_bus_get,
    (GBusType type, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data),
    (type, cancellable, callback, data))
FUNCTION(GDBusConnection *, g_bus_get_finish, (GAsyncResult *result, GError **error), (result, error))
FUNCTION(void, g_cancellable_cancel, (GCancellable *cancellable), (cancellable))
FUNCTION(GCancellable *, g_cancellable_new, (void), ())
FUNCTION(guint, g_dbus_connection_add_filter,
    (GDBusConnection *connection, GDBusMessageFilterFunction filter, gpointer data, GDestroyNotify destroy),
    (connection, filter, data, destroy))
FUNCTION(void, g_dbus_connection_call_with_unix_fd_list,
    (GDBusConnection *connection, const gchar *destination, const gchar *path, const gchar *interface,
        const gchar *method, GVariant *arguments, const GVariantType *reply, GDBusCallFlags flags, gint milliseconds,
        GUnixFDList *descriptors, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data),
    (connection, destination, path, interface, method, arguments, reply, flags, milliseconds, descriptors, cancellable,
        callback, data))
FUNCTION(GVariant *, g_dbus_connection_call_with_unix_fd_list_finish,
    (GDBusConnection *connection, GUnixFDList **descriptors, GAsyncResult *result, GError **error),
    (connection, descriptors, result, error))
FUNCTION(gboolean, g_dbus_connection_close_sync,
    (GDBusConnection *connection, GCancellable *cancellable, GError **error), (connection, cancellable, error))
FUNCTION(gboolean, g_dbus_connection_flush_sync,
    (GDBusConnection *connection, GCancellable *cancellable, GError **error), (connection, cancellable, error))
FUNCTION(GIOStream *, g_dbus_connection_get_stream, (GDBusConnection *connection), (connection))
FUNCTION(const gchar *, g_dbus_connection_get_unique_name, (GDBusConnection *connection), (connection))
FUNCTION(gboolean, g_dbus_connection_is_closed, (GDBusConnection *connection), (connection))
FUNCTION(void, g_dbus_connection_new_for_address,
    (const gchar *address, GDBusConnectionFlags flags, GDBusAuthObserver *observer, GCancellable *cancellable,
        GAsyncReadyCallback callback, gpointer data),
    (address, flags, observer, cancellable, callback, data))
FUNCTION(GDBusConnection *, g_dbus_connection_new_for_address_finish, (GAsyncResult *result, GError **error), (result, error))
FUNCTION(void, g_dbus_connection_remove_filter, (GDBusConnection *connection, guint id), (connection, id))
FUNCTION(gboolean, g_dbus_connection_send_message,
    (GDBusConnection *connection, GDBusMessage *message, GDBusSendMessageFlags flags, volatile guint32 *serial,
        GError **error),
    (connection, message, flags, serial, error))
FUNCTION(void, g_dbus_connection_set_exit_on_close, (GDBusConnection *connection, gboolean exits), (connection, exits))
FUNCTION(guint, g_dbus_connection_signal_subscribe,
    (GDBusConnection *connection, const gchar *sender, const gchar *interface, const gchar *signal, const gchar *path,
        const gchar *first, GDBusSignalFlags flags, GDBusSignalCallback callback, gpointer data,
        GDestroyNotify destroy),
    (connection, sender, interface, signal, path, first, flags, callback, data, destroy))
FUNCTION(void, g_dbus_connection_signal_unsubscribe, (GDBusConnection *connection, guint id), (connection, id))
FUNCTION(gchar *, g_dbus_error_encode_gerror, (const GError *error), (error))
FUNCTION(gchar *, g_dbus_error_get_remote_error, (const GError *error), (error))
FUNCTION(GVariant *, g_dbus_message_get_body, (GDBusMessage *message), (message))
FUNCTION(GDBusMessageFlags, g_dbus_message_get_flags, (GDBusMessage *message), (message))
FUNCTION(const gchar *, g_dbus_message_get_interface, (GDBusMessage *message), (message))
FUNCTION(const gchar *, g_dbus_message_get_member, (GDBusMessage *message), (message))
FUNCTION(GDBusMessageType, g_dbus_message_get_message_type, (GDBusMessage *message), (message))
FUNCTION(const gchar *, g_dbus_message_get_path, (GDBusMessage *message), (message))
FUNCTION(const gchar *, g_dbus_message_get_sender, (GDBusMessage *message), (message))
FUNCTION(GUnixFDList *, g_dbus_message_get_unix_fd_list, (GDBusMessage *message), (message))
FUNCTION(GDBusMessage *, g_dbus_message_new_method_error_literal,
    (GDBusMessage *call, const gchar *name, const gchar *text), (call, name, text))
FUNCTION(GDBusMessage *, g_dbus_message_new_method_reply, (GDBusMessage *call), (call))
FUNCTION(GDBusMessage *, g_dbus_message_new_signal,
    (const gchar *path, const gchar *interface, const gchar *signal), (path, interface, signal))
FUNCTION(void, g_dbus_message_set_body, (GDBusMessage *message, GVariant *body), (message, body))
FUNCTION(void, g_dbus_message_set_destination, (GDBusMessage *message, const gchar *name), (message, name))
FUNCTION(guchar *, g_dbus_message_to_blob,
    (GDBusMessage *message, gsize *size, GDBusCapabilityFlags capabilities, GError **error),
    (message, size, capabilities, error))
FUNCTION(gchar *, g_dbus_proxy_get_name_owner, (GDBusProxy *proxy), (proxy))
FUNCTION(GType, g_socket_get_type, (void), ())
FUNCTION(gint, g_unix_fd_list_append, (GUnixFDList *list, gint descriptor, GError **error), (list, descriptor, error))
FUNCTION(gint, g_unix_fd_list_get, (GUnixFDList *list, gint index, GError **error), (list, index, error))
FUNCTION(gint, g_unix_fd_list_get_length, (GUnixFDList *list), (list))
FUNCTION(GUnixFDList *, g_unix_fd_list_new, (void), ())

// MARK: - What the benchmarks measure the store against

FUNCTION(gboolean, g_hash_table_insert, (GHashTable *table, gpointer key, gpointer value), (table, key, value))
FUNCTION(GHashTable *, g_hash_table_new_full,
    (GHashFunc hash, GEqualFunc equal, GDestroyNotify destroy_key, GDestroyNotify destroy_value),
    (hash, equal, destroy_key, destroy_value))
FUNCTION(GSocket *, g_socket_connection_get_socket, (GSocketConnection *connection), (connection))
FUNCTION(int, g_socket_get_fd, (GSocket *socket), (socket))
FUNCTION(gboolean, g_str_equal, (gconstpointer left, gconstpointer right), (left, right))
FUNCTION(guint, g_str_hash, (gconstpointer text), (text))
FUNCTION(gchar *, g_strdup, (const gchar *text), (text))
