// Every function of GLib, GIO, GObject and libsecret that is called: its result, its name, its parameters, and their
// names once more. Whoever includes this says with FUNCTION and VARIADIC what is made of them.

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
FUNCTION(const gchar *, g_variant_get_string, (GVariant *value, gsize *count), (value, count))
FUNCTION(guint32, g_variant_get_uint32, (GVariant *value), (value))
FUNCTION(guint64, g_variant_get_uint64, (GVariant *value), (value))
FUNCTION(GVariant *, g_variant_get_variant, (GVariant *value), (value))
FUNCTION(gboolean, g_variant_is_of_type, (GVariant *value, const GVariantType *type), (value, type))
FUNCTION(GVariant *, g_variant_lookup_value,
    (GVariant *dictionary, const gchar *key, const GVariantType *type), (dictionary, key, type))
FUNCTION(gsize, g_variant_n_children, (GVariant *value), (value))
FUNCTION(GVariant *, g_variant_new_array,
    (const GVariantType *type, GVariant *const *children, gsize count), (type, children, count))
FUNCTION(GVariant *, g_variant_new_boolean, (gboolean value), (value))
FUNCTION(GVariant *, g_variant_new_dict_entry, (GVariant *key, GVariant *value), (key, value))
FUNCTION(GVariant *, g_variant_new_object_path, (const gchar *path), (path))
FUNCTION(GVariant *, g_variant_new_string, (const gchar *text), (text))
FUNCTION(GVariant *, g_variant_new_tuple, (GVariant *const *children, gsize count), (children, count))
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
FUNCTION(void, g_dbus_connection_call,
    (GDBusConnection *connection, const gchar *destination, const gchar *path, const gchar *interface,
        const gchar *method, GVariant *arguments, const GVariantType *reply, GDBusCallFlags flags, gint milliseconds,
        GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data),
    (connection, destination, path, interface, method, arguments, reply, flags, milliseconds, cancellable, callback,
        data))
FUNCTION(GVariant *, g_dbus_connection_call_finish,
    (GDBusConnection *connection, GAsyncResult *result, GError **error), (connection, result, error))
FUNCTION(gboolean, g_dbus_connection_emit_signal,
    (GDBusConnection *connection, const gchar *destination, const gchar *path, const gchar *interface,
        const gchar *signal, GVariant *arguments, GError **error),
    (connection, destination, path, interface, signal, arguments, error))
FUNCTION(const gchar *, g_dbus_connection_get_guid, (GDBusConnection *connection), (connection))
FUNCTION(gboolean, g_dbus_connection_is_closed, (GDBusConnection *connection), (connection))
FUNCTION(void, g_dbus_connection_set_exit_on_close, (GDBusConnection *connection, gboolean exits), (connection, exits))
FUNCTION(guint, g_dbus_connection_signal_subscribe,
    (GDBusConnection *connection, const gchar *sender, const gchar *interface, const gchar *signal, const gchar *path,
        const gchar *first, GDBusSignalFlags flags, GDBusSignalCallback callback, gpointer data,
        GDestroyNotify destroy),
    (connection, sender, interface, signal, path, first, flags, callback, data, destroy))
FUNCTION(void, g_dbus_connection_signal_unsubscribe, (GDBusConnection *connection, guint id), (connection, id))
FUNCTION(gchar *, g_dbus_error_get_remote_error, (const GError *error), (error))
FUNCTION(gchar *, g_dbus_proxy_get_name_owner, (GDBusProxy *proxy), (proxy))

// MARK: - libsecret

FUNCTION(SecretValue *, secret_service_decode_dbus_secret, (SecretService *service, GVariant *value), (service, value))
FUNCTION(GVariant *, secret_service_encode_dbus_secret, (SecretService *service, SecretValue *value), (service, value))
FUNCTION(const gchar *, secret_service_get_session_algorithms, (SecretService *service), (service))
FUNCTION(const gchar *, secret_service_get_session_dbus_path, (SecretService *service), (service))
FUNCTION(GType, secret_service_get_type, (void), ())
FUNCTION(void, secret_service_open,
    (GType type, const gchar *bus_name, SecretServiceFlags flags, GCancellable *cancellable,
        GAsyncReadyCallback callback, gpointer data),
    (type, bus_name, flags, cancellable, callback, data))
FUNCTION(SecretService *, secret_service_open_finish, (GAsyncResult *result, GError **error), (result, error))
FUNCTION(const gchar *, secret_value_get, (SecretValue *value, gsize *count), (value, count))
FUNCTION(const gchar *, secret_value_get_content_type, (SecretValue *value), (value))
FUNCTION(SecretValue *, secret_value_new_full,
    (gchar *bytes, gssize count, const gchar *content_type, GDestroyNotify destroy),
    (bytes, count, content_type, destroy))
FUNCTION(void, secret_value_unref, (gpointer value), (value))

// MARK: - What the benchmarks measure the store against

FUNCTION(gboolean, g_hash_table_insert, (GHashTable *table, gpointer key, gpointer value), (table, key, value))
FUNCTION(GHashTable *, g_hash_table_new_full,
    (GHashFunc hash, GEqualFunc equal, GDestroyNotify destroy_key, GDestroyNotify destroy_value),
    (hash, equal, destroy_key, destroy_value))
FUNCTION(gboolean, g_str_equal, (gconstpointer left, gconstpointer right), (left, right))
FUNCTION(guint, g_str_hash, (gconstpointer text), (text))
FUNCTION(gchar *, g_strdup, (const gchar *text), (text))
FUNCTION(SecretValue *, secret_service_lookup_sync,
    (SecretService *service, const SecretSchema *schema, GHashTable *attributes, GCancellable *cancellable,
        GError **error),
    (service, schema, attributes, cancellable, error))
FUNCTION(gboolean, secret_service_store_sync,
    (SecretService *service, const SecretSchema *schema, GHashTable *attributes, const gchar *collection,
        const gchar *label, SecretValue *value, GCancellable *cancellable, GError **error),
    (service, schema, attributes, collection, label, value, cancellable, error))
FUNCTION(SecretValue *, secret_value_new, (const gchar *bytes, gssize count, const gchar *content_type),
    (bytes, count, content_type))
