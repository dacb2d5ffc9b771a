// Every function of libsecret that is called; see glib_functions.h.

FUNCTION(SecretValue *, secret_service_decode_dbus_secret, (SecretService *service, GVariant *value), (service, value))
FUNCTION(GVariant *, secret_service_encode_dbus_secret, (SecretService *service, SecretValue *value), (service, value))
FUNCTION(void, secret_service_ensure_session,
    (SecretService *service, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data),
    (service, cancellable, callback, data))
FUNCTION(gboolean, secret_service_ensure_session_finish, (SecretService *service, GAsyncResult *result, GError **error),
    (service, result, error))
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
