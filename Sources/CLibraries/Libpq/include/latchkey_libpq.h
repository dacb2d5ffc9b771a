#pragma once

// libpq without its header, and without linking to it: one call loads it, and its functions can be called by their names
// from then on. Before that they lead nowhere.

#include "latchkey_load.h"
#include "libpq_types.h"

// Loads libpq, of PostgreSQL 14 or later.
struct latchkey_loaded latchkey_libpq_load(void);

// Where the functions are. Hidden: another library of the process that looks for libpq must not find anything here.
struct latchkey_libpq {
#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) RESULT(*NAME) PARAMETERS;
#include "libpq_functions.h"
#undef FUNCTION
};
extern struct latchkey_libpq latchkey_libpq __attribute__((visibility("hidden")));

// Static, so that no symbol has the name of one of the library's: a program that links to libpq itself calls libpq.
#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) \
    static inline RESULT NAME PARAMETERS { return latchkey_libpq.NAME ARGUMENTS; }
#include "libpq_functions.h"
#undef FUNCTION
