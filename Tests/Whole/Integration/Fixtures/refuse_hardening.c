// Loaded into latchkey by a test: refuses the one measure that LATCHKEY_TEST_REFUSE names, as a sandbox might.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int refuses(const char *name) {
    const char *asked = getenv("LATCHKEY_TEST_REFUSE");
    if (asked == NULL || strcmp(asked, name) != 0) return 0;
    errno = EPERM;
    return 1;
}

int prctl(int option, ...) {
    va_list rest;
    va_start(rest, option);
    unsigned long first = va_arg(rest, unsigned long);
    va_end(rest);
    if (option == PR_SET_DUMPABLE && refuses("dumpable")) return -1;
    if (option == PR_SET_NO_NEW_PRIVS && refuses("privileges")) return -1;
    return (int)syscall(SYS_prctl, option, first, 0, 0, 0);
}

int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit) {
    int (*next)(__rlimit_resource_t, const struct rlimit *) = dlsym(RTLD_NEXT, "setrlimit");
    return resource == RLIMIT_CORE && refuses("core") ? -1 : next(resource, limit);
}

int sigaction(int number, const struct sigaction *new, struct sigaction *old) {
    int (*next)(int, const struct sigaction *, struct sigaction *) = dlsym(RTLD_NEXT, "sigaction");
    return number == SIGQUIT && refuses("backtrace") ? -1 : next(number, new, old);
}

int unsetenv(const char *name) {
    int (*next)(const char *) = dlsym(RTLD_NEXT, "unsetenv");
    return strcmp(name, "SSLKEYLOGFILE") == 0 && refuses("variables") ? -1 : next(name);
}

