#include "latchkey_glib.h"

// It is never closed: GObject can't be loaded twice. GIO's handle leads to GLib and GObject, too.
#define LIBRARY "libgio-2.0.so.0"
#define FUNCTIONS "glib_functions.h"
#define TABLE latchkey_glib
#define LOAD latchkey_glib_load
#include "../Load.h"
