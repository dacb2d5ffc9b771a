#include "latchkey_libpq.h"

// It brings OpenSSL along, which can't be unloaded.
#define LIBRARY "libpq.so.5"
#define FUNCTIONS "libpq_functions.h"
#define TABLE latchkey_libpq
#define LOAD latchkey_libpq_load
#include "../Load.h"
