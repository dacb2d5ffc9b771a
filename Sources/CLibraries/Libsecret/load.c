#include "latchkey_libsecret.h"

// Its handle leads to GLib's functions, too. GObject can't be loaded twice.
#define LIBRARY "libsecret-1.so.0"
#define FUNCTIONS "libsecret_functions.h"
#define TABLE latchkey_libsecret
#define LOAD latchkey_libsecret_load
#include "../Load.h"
