// Loaded into latchkey by a test: stops the process where it would end, so that its memory can be searched from outside.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { room = 64 };
static char *planted;
static sem_t is_planted;

static void read_file(const char *path, char *bytes) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || read(file, bytes, room) <= 0) abort();
    close(file);
}

// Leaves eight bytes of a file, in an order of their own, on the stack of a thread that then waits.
static void *plant_on_stack(void *path) {
    char bytes[room], piece[4 * room] = {0};
    read_file(path, bytes);
    for (int index = 0; index < 8; index++) ((volatile char *)piece)[room + index] = bytes[16 + index];
    explicit_bzero(bytes, sizeof bytes);
    sem_post(&is_planted);
    for (;;) pause();
    return piece;
}

// Keeps or leaves a copy of a file's bytes, so that a search that should find something has it.
static void plant(const char *place, const char *path) {
    if (strcmp(place, "heap") == 0) {
        planted = malloc(room);
        read_file(path, planted);
    } else if (strcmp(place, "freed") == 0) {
        // What free(3) gets is gone: pieces of this size went to the thread's cache as they were.
        char *freed = malloc(room);
        read_file(path, freed);
        free(freed);
    } else {
        pthread_t thread;
        sem_init(&is_planted, 0, 0);
        if (pthread_create(&thread, NULL, plant_on_stack, (void *)path) != 0) abort();
        while (sem_wait(&is_planted) != 0) {}
    }
}

__attribute__((destructor)) static void stop_at_end(void) {
    if (strncmp(program_invocation_short_name, "latchkey", 8) != 0) return;
    const char *place = getenv("LATCHKEY_TEST_PLANT_PLACE"), *path = getenv("LATCHKEY_TEST_PLANT");
    if (place != NULL && path != NULL) plant(place, path);
    // The parent may look now, whoever it is.
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    raise(SIGSTOP);
}
