#define _GNU_SOURCE
#include "latchkey_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/keyctl.h>
#include <linux/netlink.h>
#include <linux/prctl.h>
#include <linux/sock_diag.h>
#include <linux/stat.h>
#include <malloc.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

const char *latchkey_error_words(int number) { return strerrordesc_np(number); }

static int argument_count;
static char **arguments;

// glibc hands constructors what it hands main.
__attribute__((constructor)) static void keep_arguments(int count, char **words) {
    argument_count = count;
    arguments = words;
}

char **latchkey_arguments(int *count) {
    *count = argument_count;
    return arguments;
}

int latchkey_prctl(int option, unsigned long argument) { return prctl(option, argument, 0, 0, 0); }

int latchkey_pidfd_open(int process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int latchkey_rename_new(const char *from, const char *to) {
    return (int)syscall(SYS_renameat2, -100, from, -100, to, 1);
}

long latchkey_add_key(const char *type, const char *description, const void *payload, size_t byteCount,
                                    int keyring) {
    return syscall(SYS_add_key, type, description, payload, byteCount, keyring);
}
long latchkey_keyctl(int operation, long first, long second) {
    return syscall(SYS_keyctl, operation, first, second, 0L, 0L);
}
long latchkey_keyctl_search(int keyring, const char *type, const char *description) {
    return syscall(SYS_keyctl, KEYCTL_SEARCH, keyring, type, description, 0);
}
long latchkey_keyctl_read(long key, void *payload, size_t byteCount) {
    return syscall(SYS_keyctl, KEYCTL_READ, key, payload, byteCount, 0L);
}

// Closes a descriptor after a call that failed: -1 with that call's errno.
static int latchkey_discard(int descriptor) {
    int number = errno;
    close(descriptor);
    errno = number;
    return -1;
}

int latchkey_open_terminal(char *path, size_t byteCount) {
    int descriptor = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (descriptor < 0) return -1;
    if (grantpt(descriptor) == 0 && unlockpt(descriptor) == 0 && ptsname_r(descriptor, path, byteCount) == 0)
        return descriptor;
    return latchkey_discard(descriptor);
}

// A socket's address from its path (unix(7)): 0, or an errno.
static int latchkey_socket_address(const char *path, struct sockaddr_un *address) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address->sun_path) return ENAMETOOLONG;
    strcpy(address->sun_path, path);
    return 0;
}

int latchkey_datagram_socket(void) {
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int room = 8 << 20;
    if (descriptor >= 0) setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    return descriptor;
}

int latchkey_datagram_probe(const char *path) {
    struct sockaddr_un address;
    int number = latchkey_socket_address(path, &address);
    if (number != 0) return number;
    int descriptor = latchkey_datagram_socket();
    if (descriptor < 0) return errno;
    number = connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0 ? 0 : errno;
    close(descriptor);
    return number;
}

int latchkey_datagram_send(int descriptor, const char *path, const void *bytes, size_t byteCount,
                                         int attached) {
    struct sockaddr_un address;
    int number = latchkey_socket_address(path, &address);
    if (number != 0) return number;
    struct iovec piece = {(void *)bytes, byteCount};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message = {0};
    message.msg_name = &address;
    message.msg_namelen = sizeof address;
    if (byteCount > 0) {
        message.msg_iov = &piece;
        message.msg_iovlen = 1;
    }
    if (attached >= 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = &control;
        message.msg_controllen = sizeof control.room;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &attached, sizeof attached);
    }
    while (sendmsg(descriptor, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        if (errno != EINTR) return errno;
    return 0;
}

int latchkey_sealed_file(const char *name, const void *bytes, size_t byteCount) {
    int descriptor = (int)syscall(SYS_memfd_create, name, 3U);
    if (descriptor < 0) return -1;
    for (size_t written = 0; written < byteCount;) {
        ssize_t count = write(descriptor, (const char *)bytes + written, byteCount - written);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return latchkey_discard(descriptor);
        written += (size_t)count;
    }
    return fcntl(descriptor, 1033, 15) == 0 ? descriptor : latchkey_discard(descriptor);
}

// A socket for messages, and the address at the path: its descriptor, or -1 with errno.
static int latchkey_mailbox_socket(const char *path, struct sockaddr_un *address) {
    errno = latchkey_socket_address(path, address);
    return errno == 0 ? socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0) : -1;
}

int latchkey_mailbox_listen(const char *path) {
    struct sockaddr_un address;
    int descriptor = latchkey_mailbox_socket(path, &address);
    if (descriptor < 0) return -1;
    // The mode is the socket's own when it is bound, less the umask; nobody else may connect at any moment.
    if (fchmod(descriptor, 0600) == 0 && bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0 &&
        chmod(path, 0600) == 0 && listen(descriptor, 16) == 0)
        return descriptor;
    return latchkey_discard(descriptor);
}

int latchkey_mailbox_connect(const char *path) {
    struct sockaddr_un address;
    int descriptor = latchkey_mailbox_socket(path, &address);
    if (descriptor < 0) return -1;
    struct timeval patience = {5, 0};
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    return latchkey_discard(descriptor);
}

int latchkey_mailbox_peer(int descriptor, struct latchkey_peer *peer) {
    socklen_t length = sizeof *peer;
    return getsockopt(descriptor, SOL_SOCKET, 17, peer, &length);
}

int latchkey_mailbox_accept(int descriptor) {
    struct timeval patience = {5, 0};
    int connection = accept(descriptor, 0, 0);
    if (connection < 0) return -1;
    fcntl(connection, F_SETFD, FD_CLOEXEC);
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    return connection;
}

int latchkey_mailbox_send(int descriptor, const void *bytes, size_t byteCount) {
    return send(descriptor, bytes, byteCount, MSG_NOSIGNAL) == (ssize_t)byteCount ? 0 : -1;
}

int latchkey_tcp_owner(int family, const uint32_t local[4], uint16_t local_port, const uint32_t remote[4],
                                     uint16_t remote_port, uint32_t *owner) {
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 body;
    } request = {
        .head = {.nlmsg_len = sizeof request, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
        .body = {.sdiag_family = (uint8_t)family, .sdiag_protocol = IPPROTO_TCP, .idiag_states = ~0U},
    };
    request.body.id.idiag_sport = htons(local_port);
    request.body.id.idiag_dport = htons(remote_port);
    memcpy(request.body.id.idiag_src, local, sizeof request.body.id.idiag_src);
    memcpy(request.body.id.idiag_dst, remote, sizeof request.body.id.idiag_dst);
    request.body.id.idiag_cookie[0] = request.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    union {
        struct nlmsghdr head;
        char bytes[1024];
    } answer;
    int descriptor = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (descriptor < 0) return errno;
    // The kernel answers before send(2) returns.
    ssize_t count = send(descriptor, &request, sizeof request, 0);
    if (count >= 0) count = recv(descriptor, &answer, sizeof answer, MSG_DONTWAIT);
    int number = count < 0 ? errno : 0;
    close(descriptor);
    if (number != 0) return number;
    if (!NLMSG_OK(&answer.head, (size_t)count) || answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY
        || answer.head.nlmsg_len < NLMSG_LENGTH(sizeof(struct inet_diag_msg)))
        return ENOENT;
    const struct inet_diag_msg *found = (const struct inet_diag_msg *)NLMSG_DATA(&answer.head);
    // Where nothing is connected it may find a socket that listens there, and a closed one has lost its owner.
    if (found->idiag_state != 1 || found->id.idiag_sport != request.body.id.idiag_sport
        || found->id.idiag_dport != request.body.id.idiag_dport)
        return ENOENT;
    *owner = found->idiag_uid;
    return 0;
}

int latchkey_is_in_memory(const char *path) {
    struct statfs status;
    if (statfs(path, &status) != 0) return 0;
    return status.f_type == 0x01021994 || (unsigned long)status.f_type == 0x858458f6UL;
}

int latchkey_is_mount(const char *path) {
    struct statx status;
    if (syscall(SYS_statx, AT_FDCWD, path, 0x100 /* AT_SYMLINK_NOFOLLOW */, STATX_INO, &status) != 0) return 0;
    return (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

int latchkey_birth_of(const char *path, struct latchkey_birth *birth) {
    struct statx status;
    if (syscall(SYS_statx, AT_FDCWD, path, 0x100 /* AT_SYMLINK_NOFOLLOW */, STATX_INO | STATX_BTIME, &status) != 0)
        return -1;
    if ((status.stx_mask & STATX_BTIME) == 0 || (status.stx_mask & STATX_INO) == 0) return -1;
    birth->device = (uint64_t)status.stx_dev_major << 32 | status.stx_dev_minor;
    birth->inode = status.stx_ino;
    birth->time = (uint64_t)status.stx_btime.tv_sec * 1000000000 + status.stx_btime.tv_nsec;
    return 0;
}

void latchkey_use_one_heap(void) {
    mallopt(M_ARENA_MAX, 1);
}

int latchkey_overwrite_large_freed_memory(void) { return mallopt(M_PERTURB, 0xA5); }
