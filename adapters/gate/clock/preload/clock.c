/* A server that is started with this library preloaded has our clock: the time, in nanoseconds since 1970, is the number that the
 * file named by LOCKPROOF_CLOCK holds. It stands still until that number changes. How much processor time was used stays true.
 * A thread that waits for another until some time looks at the clock every millisecond. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *now;

__attribute__((constructor)) static void start(void) {
	const char *path = getenv("LOCKPROOF_CLOCK");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0) return;
	void *page = mmap(NULL, sizeof *now, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (page != MAP_FAILED) now = page;
}

int clock_gettime(clockid_t id, struct timespec *t) {
	if (!now || id == CLOCK_PROCESS_CPUTIME_ID || id == CLOCK_THREAD_CPUTIME_ID || id < 0) return syscall(SYS_clock_gettime, id, t);
	int64_t ns = *now;
	t->tv_sec = ns / 1000000000;
	t->tv_nsec = ns % 1000000000;
	return 0;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone) {
	struct timespec s;
	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &s)) return -1;
	t->tv_sec = s.tv_sec;
	t->tv_usec = s.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *out) {
	struct timespec s;
	clock_gettime(CLOCK_REALTIME, &s);
	if (out) *out = s.tv_sec;
	return s.tv_sec;
}

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 30)
/* over reports whether it is that time. */
static int over(const struct timespec *until) {
	int64_t ns = *now;
	int64_t s = ns / 1000000000;
	return s > until->tv_sec || (s == until->tv_sec && ns % 1000000000 >= until->tv_nsec);
}

/* It may return early, as it always may: what is waited for may have come between two looks at the clock. */
int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex, const struct timespec *restrict until) {
	if (!now) return pthread_cond_clockwait(cond, mutex, CLOCK_REALTIME, until);
	struct timespec t = {0, 0};
	int late = over(until);
	if (!late) {
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
		t.tv_nsec += 1000000;
		t.tv_sec += t.tv_nsec / 1000000000;
		t.tv_nsec %= 1000000000;
	}
	int r = pthread_cond_clockwait(cond, mutex, CLOCK_MONOTONIC, &t);
	return r == ETIMEDOUT && !late ? 0 : r;
}
#endif
