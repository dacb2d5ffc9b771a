#pragma once

// How a C library is loaded when it is first needed. Each has a table of the functions that are called, which its own
// target declares and fills with latchkey_load.

// LatchkeySystem's LoadableLibrary has the same order.
enum latchkey_library {
    LATCHKEY_LIBCRYPTO,
    LATCHKEY_LIBCURL,
    LATCHKEY_LIBMICROHTTPD,
    LATCHKEY_GLIB,
    LATCHKEY_LIBSECRET,
    LATCHKEY_LIBPQ,
};

// The name of the library's file, as ld.so(8) looks for it.
const char *latchkey_library_file(enum latchkey_library library);

// From now on, only these are loaded: a bit for each library. From any thread.
void latchkey_permit_libraries(unsigned libraries);

enum latchkey_outcome {
    LATCHKEY_LOADED,
    LATCHKEY_NOT_PERMITTED,
    // The file, or one that it needs, doesn't exist or can't be loaded.
    LATCHKEY_NO_LIBRARY,
    // The library is too old or too new, and lacks a function.
    LATCHKEY_NO_FUNCTION,
    // LD_LIBRARY_PATH leads to a file or a folder that another user can write.
    LATCHKEY_EXPOSED,
    // The library was built without what we need, or can't start.
    LATCHKEY_UNFIT,
};

struct latchkey_loaded {
    enum latchkey_outcome outcome;
    // Which one failed: this library, or one that has to be loaded before.
    enum latchkey_library library;
    // The file's name, or the function's.
    const char *name;
} __attribute__((swift_attr("@safe")));

// One library: constants, and what latchkey_load writes.
struct latchkey_loader {
    enum latchkey_library library;
    // The functions' names, and as many addresses.
    const char *const *names;
    void **functions;
    unsigned count;
    // What a library may need: another one first, a check of its build, and a start. The last two return 0 on failure.
    struct latchkey_loaded (*before)(void);
    int (*is_fit)(void *library);
    int (*start)(void);
    int is_loaded;
};

// Loads a library, unless that was done. The next call tries again what failed. From any thread.
struct latchkey_loaded latchkey_load(struct latchkey_loader *loader);

// The functions of a loader: the table, and the array of their names.
#define LATCHKEY_FUNCTIONS(TABLE, NAMES) \
    .names = NAMES, .functions = (void **)&TABLE, .count = sizeof NAMES / sizeof *NAMES
