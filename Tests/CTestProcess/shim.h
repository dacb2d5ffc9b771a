#pragma once
#include <spawn.h>
#include <stddef.h>

// glibc's own calls, which its headers hide from Swift's Glibc module; the prototypes are those of the manual pages.
int pipe2(int ends[2], int flags);
int posix_openpt(int flags);
int grantpt(int terminal);
int unlockpt(int terminal);
int ptsname_r(int terminal, char *name, size_t size);
int memfd_create(const char *name, unsigned int flags);
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

enum { latchkey_memfd_cloexec = 1, latchkey_spawn_setsid = 0x80 };
