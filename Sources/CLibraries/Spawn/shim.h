// What spawn.h declares for _GNU_SOURCE alone. No header is included: what Glibc's module has would have two modules then,
// and everything that imports LatchkeySystem would see one or the other, whichever is loaded first.
#pragma once

// POSIX_SPAWN_SETSID (posix_spawn(3)).
#define LATCHKEY_SPAWN_SETSID 0x80

// Makes the child's process group the terminal's foreground one (glibc 2.35).
int latchkey_spawn_add_foreground(void *actions, int descriptor) __asm__("posix_spawn_file_actions_addtcsetpgrp_np");
