#pragma once
#include <fcntl.h>
#include <linux/keyctl.h>
#include <malloc.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int latchkey_prctl(int option, unsigned long argument) { return prctl(option, argument, 0, 0, 0); }

// Renames and never replaces (renameat2(2) with RENAME_NOREPLACE): 0, or -1 with errno.
static inline int latchkey_rename_new(const char *from, const char *to) {
    return (int)syscall(SYS_renameat2, -100, from, -100, to, 1);
}

// glibc has no functions for keyrings(7): the result, or -1 with errno.
static inline long latchkey_add_key(const char *type, const char *description, const void *payload, size_t byteCount,
                                    int keyring) {
    return syscall(SYS_add_key, type, description, payload, byteCount, keyring);
}
static inline long latchkey_keyctl(int operation, long first, long second) {
    return syscall(SYS_keyctl, operation, first, second, 0L, 0L);
}
static inline long latchkey_keyctl_search(int keyring, const char *type, const char *description) {
    return syscall(SYS_keyctl, KEYCTL_SEARCH, keyring, type, description, 0);
}
static inline long latchkey_keyctl_read(long key, void *payload, size_t byteCount) {
    return syscall(SYS_keyctl, KEYCTL_READ, key, payload, byteCount, 0L);
}

// glibc 2.34 and 2.26; their declarations are hidden without _GNU_SOURCE, which a module map can't set for glibc's own.
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
#define LATCHKEY_SPAWN_SETSID 0x80

// A child with /dev/null for its standard descriptors and no other, a session of its own, and the signals' defaults.
static inline int latchkey_spawn_detached(pid_t *child, const char *path, char *const arguments[],
                                          char *const environment[]) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    int number = posix_spawn_file_actions_init(&actions);
    if (number != 0) return number;
    number = posix_spawnattr_init(&attributes);
    if (number != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return number;
    }
    sigfillset(&all);
    sigemptyset(&none);
    number = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (number == 0) number = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (number == 0) number = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    if (number == 0) number = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    if (number == 0) number = posix_spawnattr_setsigdefault(&attributes, &all);
    if (number == 0) number = posix_spawnattr_setsigmask(&attributes, &none);
    if (number == 0)
        number = posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | LATCHKEY_SPAWN_SETSID);
    if (number == 0) number = posix_spawn(child, path, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return number;
}
