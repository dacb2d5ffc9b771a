// What spawn.h declares for _GNU_SOURCE alone. This file includes no header: a type such as stat would belong to Glibc's
// module and to this one, and each build would choose one of the two for all that imports LatchkeySystem.
#pragma once

// POSIX_SPAWN_SETSID (posix_spawn(3)).
#define LATCHKEY_SPAWN_SETSID 0x80

// Closes all descriptors from one on (glibc 2.34).
int latchkey_spawn_add_close_from(void *actions, int from) __asm__("posix_spawn_file_actions_addclosefrom_np");

// Makes the child's process group the terminal's foreground one (glibc 2.35).
int latchkey_spawn_add_foreground(void *actions, int descriptor) __asm__("posix_spawn_file_actions_addtcsetpgrp_np");
