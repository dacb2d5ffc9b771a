#pragma once
#include <spawn.h>

// glibc's own calls, which its headers hide from Swift's Glibc module; the prototypes are those of the manual pages.
int pipe2(int ends[2], int flags);
int memfd_create(const char *name, unsigned int flags);
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
int posix_openpt(int flags);
int grantpt(int descriptor);
int unlockpt(int descriptor);
int ptsname_r(int descriptor, char *name, unsigned long size);

enum { latchkey_memfd_cloexec = 1, latchkey_spawn_setsid = 0x80 };
