#pragma once

// The types of GLib and libsecret that glib_functions.h and libsecret_functions.h name. Each may be declared again beside the libraries'
// own headers, which a test does: a type that differs doesn't compile there.

// MARK: - Numbers, and memory that GLib frees

typedef char gchar;
typedef unsigned char guchar;
typedef int gint;
typedef int gint32;
typedef gint gboolean;
typedef unsigned int guint;
typedef unsigned int guint32;
typedef unsigned long guint64;
typedef unsigned long gulong;
typedef unsigned long gsize;
typedef signed long gssize;
typedef void *gpointer;
typedef const void *gconstpointer;
typedef guint32 GQuark;
typedef gsize GType;

// MARK: - What is only pointed at

typedef struct _GAsyncResult GAsyncResult;
typedef struct _GCancellable GCancellable;
typedef struct _GClosure GClosure;
typedef struct _GDBusAuthObserver GDBusAuthObserver;
typedef struct _GDBusConnection GDBusConnection;
typedef struct _GDBusMessage GDBusMessage;
typedef struct _GDBusProxy GDBusProxy;
typedef struct _GError GError;
typedef struct _GHashTable GHashTable;
typedef struct _GIOStream GIOStream;
typedef struct _GMainContext GMainContext;
typedef struct _GObject GObject;
typedef struct _GObjectConstructParam GObjectConstructParam;
typedef struct _GSocket GSocket;
typedef struct _GSocketConnection GSocketConnection;
typedef struct _GSource GSource;
typedef struct _GTypeInstance GTypeInstance;
typedef struct _GTypeQuery GTypeQuery;
typedef struct _GUnixFDList GUnixFDList;
typedef struct _GVariant GVariant;
typedef struct _GVariantType GVariantType;
typedef struct _SecretService SecretService;
typedef struct _SecretValue SecretValue;

// MARK: - Functions that are passed

typedef void (*GAsyncReadyCallback)(GObject *source, GAsyncResult *result, gpointer data);
typedef void (*GCallback)(void);
typedef void (*GClassInitFunc)(gpointer type_class, gpointer data);
typedef void (*GClosureNotify)(gpointer data, GClosure *closure);
typedef GDBusMessage *(*GDBusMessageFilterFunction)(
    GDBusConnection *connection, GDBusMessage *message, gboolean is_incoming, gpointer data);
typedef void (*GDBusSignalCallback)(
    GDBusConnection *connection, const gchar *sender, const gchar *path, const gchar *interface, const gchar *signal,
    GVariant *arguments, gpointer data);
typedef void (*GDestroyNotify)(gpointer data);
typedef gboolean (*GEqualFunc)(gconstpointer left, gconstpointer right);
typedef guint (*GHashFunc)(gconstpointer key);
typedef void (*GInstanceInitFunc)(GTypeInstance *instance, gpointer type_class);
typedef gboolean (*GSourceFunc)(gpointer data);
