/* Shift the wall clock of one process, and leave its monotonic clock alone.
 *
 * Loaded before a program by LD_PRELOAD. The file that THRESHER_TEST_CLOCK names holds the shift in nanoseconds, eight
 * bytes; whoever writes it steps the clock of every process that has it open. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t BILLION = 1000000000;
static const int64_t none = 0;
static const volatile int64_t *shift = &none;

__attribute__((constructor)) static void open_clock(void) {
    const char *path = getenv("THRESHER_TEST_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *memory = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (memory != MAP_FAILED) shift = memory;
}

int clock_gettime(clockid_t clock, struct timespec *told) {
    int failed = syscall(SYS_clock_gettime, clock, told);
    if (failed || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return failed;
    int64_t now = told->tv_sec * BILLION + told->tv_nsec + *shift;
    told->tv_sec = now / BILLION;
    told->tv_nsec = now % BILLION;
    return 0;
}

int gettimeofday(struct timeval *told, void *zone) {
    struct timespec now;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
    told->tv_sec = now.tv_sec;
    told->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *told) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (told) *told = now.tv_sec;
    return now.tv_sec;
}
