#pragma once

// For executables alone: what is linked here replaces free(3) and realloc(3) for the whole process.

// Binds every function of every loaded object now, as LD_BIND_NOW does (ld.so(8)). A call that is bound when it is first
// made saves all vector registers on the stack, with what the last copy moved through them. Objects that are loaded later
// (dlopen(3)) are not covered: libsecret and GLib are bound as they are loaded. To be called while there is one thread. Returns 0 or an errno.
int latchkey_bind_functions(void);

// Whether this process overwrites what it frees: 0, or ENOTSUP where a sanitizer's allocator is in its place.
int latchkey_freed_memory_is_overwritten(void);
