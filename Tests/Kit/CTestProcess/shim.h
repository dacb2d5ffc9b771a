#pragma once
#include <errno.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

// glibc's own calls, which its headers hide from Swift's Glibc module; the prototypes are those of the manual pages.
int pipe2(int ends[2], int flags);
int posix_openpt(int flags);
int grantpt(int terminal);
int unlockpt(int terminal);
int ptsname_r(int terminal, char *name, size_t size);
int memfd_create(const char *name, unsigned int flags);
void *memmem(const void *text, size_t textByteCount, const void *piece, size_t pieceByteCount);
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

enum { latchkey_memfd_cloexec = 1, latchkey_spawn_setsid = 0x80, latchkey_set_lease = 1024 };

// Removes a segment of shared memory once no process uses it any more.
static inline int latchkey_remove_segment(int number) { return shmctl(number, IPC_RMID, NULL); }

// A socket that takes datagrams at a path: its descriptor, or -1 with errno.
static inline int latchkey_listen_for_datagrams(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor >= 0 && bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
        int number = errno;
        close(descriptor);
        errno = number;
        return -1;
    }
    return descriptor;
}

// Takes one datagram without waiting: its length, or -1 with errno; the descriptor that came with it, or -1.
static inline ssize_t latchkey_take_datagram(int descriptor, void *bytes, size_t byteCount, int *attached) {
    struct iovec piece = {bytes, byteCount};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message = {0};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control.room;
    *attached = -1;
    ssize_t count = recvmsg(descriptor, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (count < 0) return -1;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
        memcpy(attached, CMSG_DATA(header), sizeof *attached);
    return count;
}

// Where in some memory one of several pieces of eight bytes stands: their numbers in `pieces`, which is sorted, with one for
// each place, and how many places there are. `filter` has 8 KiB: a bit for each piece's hash.
static inline unsigned latchkey_piece_hash(uint64_t piece) { return (unsigned)(piece * 0x9E3779B97F4A7C15u >> 48); }
static inline size_t latchkey_find_pieces(const unsigned char *memory, size_t byteCount, const uint64_t *pieces,
                                          size_t pieceCount, const unsigned char *filter, size_t *found, size_t room) {
    size_t count = 0;
    for (size_t offset = 0; offset + sizeof(uint64_t) <= byteCount; offset++) {
        uint64_t piece;
        memcpy(&piece, memory + offset, sizeof piece);
        if (piece == 0) continue;
        unsigned hash = latchkey_piece_hash(piece);
        if (!(filter[hash >> 3] & 1 << (hash & 7))) continue;
        size_t low = 0, high = pieceCount;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (pieces[middle] < piece) low = middle + 1;
            else high = middle;
        }
        if (low == pieceCount || pieces[low] != piece) continue;
        if (count < room) found[count] = low;
        count++;
    }
    return count;
}
