/* A program that is started with this library preloaded has our clock. The file that LOCKPROOF_CLOCK names begins with the time,
 * in nanoseconds since 1970. Time stands still until that number changes. How much processor time was used stays true.
 *
 * Where the file goes on, it is a client's: it has a row for each thread of its processes. A thread that waits until some time
 * writes that time there, and looks at the clock every millisecond. So whoever writes the clock knows when the client will do
 * something by itself. In a file without rows only one wait is by our clock: that of a thread for another, which databases need. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct row {
	int32_t process, thread; /* 0 where nobody has the row */
	int64_t until;           /* when it stops waiting; 0 while it does not wait for a time */
	int64_t seen;            /* the time when it last looked */
	int64_t turn;            /* how often it has begun to wait */
};

static volatile int64_t *now;
static volatile struct row *rows;
static int many;
static __thread volatile struct row *mine;
static pthread_key_t ends;

static void leave(void *row) { ((volatile struct row *)row)->thread = 0; }

/* enlist finds a row for the thread: the one that it had before it began to run another program, or a free one. */
static void enlist(void) {
	int32_t self = syscall(SYS_gettid);
	for (int i = 0; i < many; i++) {
		if (rows[i].thread == self) {
			mine = &rows[i];
			break;
		}
	}
	for (int i = 0; i < many && !mine; i++) {
		if (__sync_bool_compare_and_swap(&rows[i].thread, 0, self)) mine = &rows[i];
	}
	if (!mine) return;
	mine->until = 0;
	mine->process = getpid();
	pthread_setspecific(ends, (void *)mine);
}

static void forked(void) {
	mine = NULL;
	enlist();
}

__attribute__((constructor)) static void start(void) {
	const char *path = getenv("LOCKPROOF_CLOCK");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	struct stat file;
	if (fd < 0) return;
	void *page = fstat(fd, &file) ? MAP_FAILED : mmap(NULL, file.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (page == MAP_FAILED) return;
	now = page;
	many = (file.st_size - sizeof *now) / sizeof(struct row);
	if (many == 0) return;
	rows = (volatile struct row *)(now + 1);
	pthread_key_create(&ends, leave);
	pthread_atfork(NULL, NULL, forked);
	enlist();
}

/* ---- the time ---- */

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

/* ---- waits until some time ---- */

static int64_t in(const struct timespec *t) { return t->tv_sec * INT64_C(1000000000) + t->tv_nsec; }

/* soon is how long a thread waits before it looks at the clock again. */
static const struct timespec soon = {0, 1000000};

/* later is when that is over, by a clock that goes on. */
static struct timespec later(void) {
	struct timespec t;
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	t.tv_nsec += soon.tv_nsec;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static void begin(int64_t until) {
	if (!mine) enlist();
	if (!mine) return;
	mine->turn++;
	mine->seen = *now;
	__atomic_store_n(&mine->until, until, __ATOMIC_RELEASE);
}

/* over reports whether it is that time, and notes that the thread has looked. */
static int over(int64_t until) {
	int64_t t = *now;
	if (mine) __atomic_store_n(&mine->seen, t, __ATOMIC_RELEASE);
	return t >= until;
}

static void end(void) {
	if (mine) __atomic_store_n(&mine->until, 0, __ATOMIC_RELEASE);
}

#define REAL(type, name, ...) \
	static type (*real)(__VA_ARGS__); \
	if (!real) *(void **)&real = dlsym(RTLD_NEXT, name)

/* WAIT repeats a call, which waits a millisecond at most, until it comes to something or it is that time. */
#define WAIT(until_, r, call, nothing) do { \
	int64_t until = until_; \
	begin(until); \
	do { r = call; } while ((nothing) && !over(until)); \
	end(); \
} while (0)

int epoll_pwait(int fd, struct epoll_event *events, int most, int ms, const sigset_t *mask) {
	REAL(int, "epoll_pwait", int, struct epoll_event *, int, int, const sigset_t *);
	if (!many || ms <= 0) return real(fd, events, most, ms, mask);
	int r;
	WAIT(*now + ms * INT64_C(1000000), r, real(fd, events, most, 1, mask), r == 0);
	return r;
}

int epoll_wait(int fd, struct epoll_event *events, int most, int ms) { return epoll_pwait(fd, events, most, ms, NULL); }

int ppoll(struct pollfd *files, nfds_t n, const struct timespec *within, const sigset_t *mask) {
	REAL(int, "ppoll", struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
	if (!many || !within || in(within) <= 0) return real(files, n, within, mask);
	int r;
	WAIT(*now + in(within), r, real(files, n, &soon, mask), r == 0);
	return r;
}

int poll(struct pollfd *files, nfds_t n, int ms) {
	struct timespec within = {ms / 1000, ms % 1000 * 1000000};
	return ppoll(files, n, ms < 0 ? NULL : &within, NULL);
}

int pselect(int n, fd_set *restrict in_, fd_set *restrict out, fd_set *restrict odd, const struct timespec *restrict within, const sigset_t *restrict mask) {
	REAL(int, "pselect", int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *);
	if (!many || !within || in(within) <= 0) return real(n, in_, out, odd, within, mask);
	fd_set sets[3];
	fd_set *wanted[3] = {in_, out, odd}, *have[3] = {NULL, NULL, NULL};
	int r;
	begin(*now + in(within));
	int64_t until = *now + in(within);
	do {
		for (int i = 0; i < 3; i++) {
			if (wanted[i]) sets[i] = *wanted[i], have[i] = &sets[i];
		}
		r = real(n, have[0], have[1], have[2], &soon, mask);
	} while (r == 0 && !over(until));
	end();
	for (int i = 0; i < 3; i++) {
		if (wanted[i] && r >= 0) *wanted[i] = sets[i];
	}
	return r;
}

int select(int n, fd_set *restrict in_, fd_set *restrict out, fd_set *restrict odd, struct timeval *restrict within) {
	struct timespec t = {0, 0};
	if (within) t.tv_sec = within->tv_sec, t.tv_nsec = within->tv_usec * 1000;
	return pselect(n, in_, out, odd, within ? &t : NULL, NULL);
}

int clock_nanosleep(clockid_t id, int flags, const struct timespec *until_, struct timespec *left) {
	REAL(int, "clock_nanosleep", clockid_t, int, const struct timespec *, struct timespec *);
	if (!many || id == CLOCK_PROCESS_CPUTIME_ID || id == CLOCK_THREAD_CPUTIME_ID || id < 0) return real(id, flags, until_, left);
	int r;
	WAIT(in(until_) + (flags & TIMER_ABSTIME ? 0 : *now), r, real(CLOCK_MONOTONIC, 0, &soon, NULL), r == 0);
	if (r && left && !(flags & TIMER_ABSTIME)) *left = *until_;
	return r;
}

int nanosleep(const struct timespec *within, struct timespec *left) {
	int r = clock_nanosleep(CLOCK_MONOTONIC, 0, within, left);
	if (r) errno = r;
	return r ? -1 : 0;
}

int usleep(useconds_t us) {
	struct timespec t = {us / 1000000, us % 1000000 * 1000};
	return nanosleep(&t, NULL);
}

unsigned sleep(unsigned s) {
	struct timespec t = {s, 0};
	return nanosleep(&t, NULL) ? s : 0;
}

/* ---- what a client has not received yet ----
 *
 * Whoever sends it something sees by the acknowledgement that it has come. That is delayed by 40 ms where nothing goes back, unless
 * the socket is told to be quick, and the kernel forgets that when the client sends. */

static char tcp[1 << 12]; /* whether a file is a socket that was connected */

static void quick(int fd) {
	int saved = errno, on = 1;
	if (fd >= 0 && fd < (int)sizeof tcp && tcp[fd]) setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
	errno = saved;
}

int connect(int fd, const struct sockaddr *to, socklen_t size) {
	REAL(int, "connect", int, const struct sockaddr *, socklen_t);
	int r = real(fd, to, size);
	if (many && fd >= 0 && fd < (int)sizeof tcp) tcp[fd] = to->sa_family == AF_INET || to->sa_family == AF_INET6;
	quick(fd);
	return r;
}

ssize_t write(int fd, const void *bytes, size_t n) {
	REAL(ssize_t, "write", int, const void *, size_t);
	ssize_t r = real(fd, bytes, n);
	quick(fd);
	return r;
}

ssize_t writev(int fd, const struct iovec *parts, int n) {
	REAL(ssize_t, "writev", int, const struct iovec *, int);
	ssize_t r = real(fd, parts, n);
	quick(fd);
	return r;
}

ssize_t send(int fd, const void *bytes, size_t n, int flags) {
	REAL(ssize_t, "send", int, const void *, size_t, int);
	ssize_t r = real(fd, bytes, n, flags);
	quick(fd);
	return r;
}

ssize_t sendto(int fd, const void *bytes, size_t n, int flags, const struct sockaddr *to, socklen_t size) {
	REAL(ssize_t, "sendto", int, const void *, size_t, int, const struct sockaddr *, socklen_t);
	ssize_t r = real(fd, bytes, n, flags, to, size);
	quick(fd);
	return r;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
	REAL(ssize_t, "sendmsg", int, const struct msghdr *, int);
	ssize_t r = real(fd, message, flags);
	quick(fd);
	return r;
}

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 30)
/* A thread that waits for another may continue early, as it always may: what it waits for may have come between two looks. It then
 * asks again with the same time, which is the same turn. */
static int cond(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until_) {
	REAL(int, "pthread_cond_clockwait", pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
	static __thread int64_t early;
	int64_t until = in(until_);
	if (many) begin(until);
	if (mine && early == until) mine->turn--;
	int late = over(until);
	struct timespec t = {0, 0};
	if (!late) t = later();
	int r = real(cond, mutex, CLOCK_MONOTONIC, &t);
	end();
	early = r == ETIMEDOUT && !late ? until : 0;
	return early ? 0 : r;
}

int pthread_cond_clockwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict mutex, clockid_t id, const struct timespec *restrict until) {
	REAL(int, "pthread_cond_clockwait", pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
	return now ? cond(c, mutex, until) : real(c, mutex, id, until);
}

int pthread_cond_timedwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict mutex, const struct timespec *restrict until) {
	REAL(int, "pthread_cond_timedwait", pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
	return now ? cond(c, mutex, until) : real(c, mutex, until);
}

int sem_clockwait(sem_t *restrict s, clockid_t id, const struct timespec *restrict until_) {
	REAL(int, "sem_clockwait", sem_t *, clockid_t, const struct timespec *);
	if (!many) return real(s, id, until_);
	int r;
	struct timespec t;
	WAIT(in(until_), r, (t = later(), real(s, CLOCK_MONOTONIC, &t)), r && errno == ETIMEDOUT);
	return r;
}

int sem_timedwait(sem_t *restrict s, const struct timespec *restrict until) {
	REAL(int, "sem_timedwait", sem_t *, const struct timespec *);
	return many ? sem_clockwait(s, CLOCK_REALTIME, until) : real(s, until);
}
#endif
