// Loaded into latchkey by a test: ends the process by SIGABRT in the middle of the N-th message to a server, when the
// request, with whatever secret is in it, is in memory.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

ssize_t send(int socket, const void *bytes, size_t byteCount, int flags) {
    static int sent;
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;
    const char *limit = getenv("LATCHKEY_TEST_ABORT_AT");
    if (limit != NULL && strncmp(program_invocation_short_name, "latchkey", 8) == 0 &&
        getpeername(socket, (struct sockaddr *)&peer, &size) == 0 && peer.ss_family != AF_UNIX && ++sent == atoi(limit))
        abort();
    ssize_t (*next)(int, const void *, size_t, int) = dlsym(RTLD_NEXT, "send");
    return next(socket, bytes, byteCount, flags);
}
