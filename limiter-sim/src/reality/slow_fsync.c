/* Loaded before the C library (LD_PRELOAD): as long as the file SLOW_FSYNC_FLAG names is there, an
   fsync does not return. It makes the file SLOW_FSYNC_HELD when it begins to wait. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static void hold(void) {
    const char *flag = getenv("SLOW_FSYNC_FLAG");
    const char *held = getenv("SLOW_FSYNC_HELD");
    if (flag == NULL || held == NULL || access(flag, F_OK) != 0)
        return;
    int file = open(held, O_CREAT | O_WRONLY, 0600);
    if (file >= 0)
        close(file);
    while (access(flag, F_OK) == 0)
        usleep(1000);
}

int fsync(int file) {
    int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    hold();
    return next(file);
}

int fdatasync(int file) {
    int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    hold();
    return next(file);
}
