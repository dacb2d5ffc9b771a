// Loaded into latchkey by a test: stops the process where it would end, so that its memory can be searched from outside.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static char *planted;

// Keeps a copy of a file's first bytes on the heap, so that a search that should find something has it.
static void plant(const char *path) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    planted = malloc(4096);
    if (file < 0 || planted == NULL || read(file, planted, 4096) <= 0) abort();
    close(file);
}

__attribute__((destructor)) static void stop_at_end(void) {
    if (strncmp(program_invocation_short_name, "latchkey", 8) != 0) return;
    const char *path = getenv("LATCHKEY_TEST_PLANT");
    if (path != NULL) plant(path);
    // The parent may look now, whoever it is.
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    raise(SIGSTOP);
}
