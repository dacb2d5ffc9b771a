// Loaded into latchkey by a test: lets a tracer of the same user read what system calls are given.
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int prctl(int option, ...) {
    va_list rest;
    va_start(rest, option);
    unsigned long first = va_arg(rest, unsigned long);
    va_end(rest);
    if (option == PR_SET_DUMPABLE) return 0;
    return (int)syscall(SYS_prctl, option, first, 0, 0, 0);
}
