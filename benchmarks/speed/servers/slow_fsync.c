/* Adds FSYNC_DELAY_US to each fsync and fdatasync, as a disk that is not this machine's would: LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static void wait_for_disk(void)
{
    const char *text = getenv("FSYNC_DELAY_US");
    usleep(text ? (useconds_t)atoi(text) : 5000);
}

int fsync(int file)
{
    static int (*next)(int);
    if (!next)
        next = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    wait_for_disk();
    return next(file);
}

int fdatasync(int file)
{
    static int (*next)(int);
    if (!next)
        next = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    wait_for_disk();
    return next(file);
}
