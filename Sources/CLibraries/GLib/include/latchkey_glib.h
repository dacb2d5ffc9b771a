#pragma once

// GLib, GObject, GIO and libsecret without their headers, and without linking to them: one call loads them, and their
// functions can be called by their names from then on. Before that they lead nowhere.

#include "glib_types.h"
#include "glib_values.h"
#include "latchkey_load.h"

// Loads GLib's libraries, or libsecret with them.
struct latchkey_loaded latchkey_glib_load(void);
struct latchkey_loaded latchkey_libsecret_load(void);

// Where the functions are. Hidden: another library of the process that looks for GLib must not find anything here.
#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) RESULT(*NAME) PARAMETERS;
#define VARIADIC(RESULT, NAME, PARAMETERS) RESULT(*NAME) PARAMETERS;
struct latchkey_glib {
#include "glib_functions.h"
};
struct latchkey_libsecret {
#include "libsecret_functions.h"
};
#undef FUNCTION
#undef VARIADIC
extern struct latchkey_glib latchkey_glib __attribute__((visibility("hidden")));
extern struct latchkey_libsecret latchkey_libsecret __attribute__((visibility("hidden")));

// Static, so that no symbol has the name of one of the libraries': a program that links to GLib itself calls GLib.
#define VARIADIC(RESULT, NAME, PARAMETERS)
#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) \
    static inline RESULT NAME PARAMETERS { return latchkey_glib.NAME ARGUMENTS; }
#include "glib_functions.h"
#undef FUNCTION
#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) \
    static inline RESULT NAME PARAMETERS { return latchkey_libsecret.NAME ARGUMENTS; }
#include "libsecret_functions.h"
#undef FUNCTION
#undef VARIADIC

// MARK: - The service

// A SecretService for sessions and encryption, and nothing else: it keeps no copy of the service's properties, hears none
// of its signals, and doesn't ask the bus to start what the first call starts. Each is a round trip less, and libsecret
// 0.20 crashes on the signal CollectionCreated of a service that has just been restarted (KeePassXC sends it). Only for
// one thread. `secret_service_open_finish` returns the service, without a session.
void latchkey_service_make(GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data);

// MARK: - The end of a connection

typedef void (*latchkey_closed_callback)(
    GDBusConnection *connection, gboolean was_remote, GError *error, gpointer data);

static inline gulong latchkey_connection_on_closed(
    GDBusConnection *connection, latchkey_closed_callback callback, gpointer data, GClosureNotify destroy) {
    return g_signal_connect_data(connection, "closed", (GCallback)callback, data, destroy, G_CONNECT_DEFAULT);
}
