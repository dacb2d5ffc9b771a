#pragma once

// What Linux and glibc have beside POSIX. No header of the system's is included: a type such as stat would belong to Glibc's
// module and to this one, and each build would choose one of the two for all that imports both.

#include <stddef.h>
#include <stdint.h>

// prctl(2) and keyctl(2), as linux/prctl.h and linux/keyctl.h have them; linux.c compares them.
#define PR_SET_PDEATHSIG 1
#define PR_SET_DUMPABLE 4
#define PR_SET_NAME 15
#define PR_SET_NO_NEW_PRIVS 38
#define KEY_SPEC_THREAD_KEYRING -1
#define KEY_SPEC_USER_KEYRING -4
#define KEYCTL_GET_KEYRING_ID 0
#define KEYCTL_SETPERM 5
#define KEYCTL_LINK 8
#define KEYCTL_UNLINK 9
#define KEYCTL_SET_TIMEOUT 15
#define KEYCTL_INVALIDATE 21

// struct ucred of socket(7), SO_PEERCRED, which glibc hides without _GNU_SOURCE.
struct latchkey_peer {
    int process;
    unsigned user;
    unsigned group;
};

// What tells a file from each other that ever had its name: device, inode and time of birth in nanoseconds (statx(2)).
struct latchkey_birth {
    uint64_t device, inode, time;
};

// The system's English words for an errno, whatever the locale, or NULL for a number without any (strerrordesc_np(3)).
const char *latchkey_error_words(int number);

// This process's arguments, a null pointer last.
char **latchkey_arguments(int *count);

int latchkey_prctl(int option, unsigned long argument);

// A process's descriptor (pidfd_open(2)), or -1 with errno.
int latchkey_pidfd_open(int process);

// Renames and never replaces (renameat2(2) with RENAME_NOREPLACE): 0, or -1 with errno.
int latchkey_rename_new(const char *from, const char *to);

// glibc has no functions for keyrings(7): the result, or -1 with errno.
long latchkey_add_key(const char *type, const char *description, const void *payload, size_t byteCount, int keyring);

long latchkey_keyctl(int operation, long first, long second);

long latchkey_keyctl_search(int keyring, const char *type, const char *description);

long latchkey_keyctl_read(long key, void *payload, size_t byteCount);

// A new pseudo-terminal (pty(7)): the controlling end's descriptor and the device's path, or -1 with errno.
int latchkey_open_terminal(char *path, size_t byteCount);

// A socket that sends datagrams and never waits: its descriptor, or -1 with errno.
int latchkey_datagram_socket(void);

// Whether somebody listens at the path: 0, or an errno.
int latchkey_datagram_probe(const char *path);

// Sends one datagram to the path, with a descriptor when it is not -1: 0, or an errno. No signal, no waiting.
int latchkey_datagram_send(int descriptor, const char *path, const void *bytes, size_t byteCount, int attached);

// A file in memory that nobody can change any more (memfd_create(2) with all seals): its descriptor, or -1 with errno.
int latchkey_sealed_file(const char *name, const void *bytes, size_t byteCount);

// A socket that takes messages of this user's programs at the path, which must be free: its descriptor, or -1 with errno.
int latchkey_mailbox_listen(const char *path);

// A connection to such a socket: its descriptor, or -1 with errno.
int latchkey_mailbox_connect(const char *path);

// Whose program is at the other end of a connection: 0, or -1 with errno.
int latchkey_mailbox_peer(int descriptor, struct latchkey_peer *peer);

// Takes a connection: its descriptor, or -1 with errno.
int latchkey_mailbox_accept(int descriptor);

// Sends a whole message; no signal when the other end has gone. 0, or -1 with errno.
int latchkey_mailbox_send(int descriptor, const void *bytes, size_t byteCount);

// The user of the TCP socket with these two ends, from the kernel's table (sock_diag(7)): 0, or a number of errno.
// Addresses in network byte order, of 4 words, the last three 0 for IPv4. ENOENT: there is none that is connected, or this
// kernel doesn't say.
int latchkey_tcp_owner(int family, const uint32_t local[4], uint16_t local_port, const uint32_t remote[4],
    uint16_t remote_port, uint32_t *owner);

// Whether a path is in a file system in memory (statfs(2)): a tmpfs or a ramfs.
int latchkey_is_in_memory(const char *path);

// Whether a file is the root of a mount (statx(2), STATX_ATTR_MOUNT_ROOT), such as a single file that a container gets.
int latchkey_is_mount(const char *path);

// 0, or -1 where there is no file, or none whose birth is known.
int latchkey_birth_of(const char *path, struct latchkey_birth *birth);

// One heap for all threads that come (mallopt(3)).
void latchkey_use_one_heap(void);

// Has free(3) overwrite blocks above the sizes that glibc keeps for each thread (mallopt(3)): 1, or 0 where it can't.
int latchkey_overwrite_large_freed_memory(void);

// POSIX_SPAWN_SETSID (posix_spawn(3)).
#define LATCHKEY_SPAWN_SETSID 0x80

// Closes all descriptors from one on (glibc 2.34).
int latchkey_spawn_add_close_from(void *actions, int from) __asm__("posix_spawn_file_actions_addclosefrom_np");

// Makes the child's process group the terminal's foreground one (glibc 2.35).
int latchkey_spawn_add_foreground(void *actions, int descriptor) __asm__("posix_spawn_file_actions_addtcsetpgrp_np");
