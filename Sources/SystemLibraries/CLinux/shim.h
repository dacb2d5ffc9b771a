#pragma once
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int latchkey_prctl(int option, unsigned long argument) { return prctl(option, argument, 0, 0, 0); }

// Renames and never replaces (renameat2(2) with RENAME_NOREPLACE): 0, or -1 with errno.
static inline int latchkey_rename_new(const char *from, const char *to) {
    return (int)syscall(SYS_renameat2, -100, from, -100, to, 1);
}
