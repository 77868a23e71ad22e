/* Waiting for time and for descriptors, with POSIX's results where wasi-libc has others. */
#include "wasibox_posix.h"

#undef clock_nanosleep
#undef select
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <wasi/api.h>

/* wasi-libc says ENOTSUP whatever happened; a signal is EINTR. */
int wasibox_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                            struct timespec *rest)
{
    enum { MILLIARD = 1000000000 };
    (void)rest; /* nobody asks for it: CPython waits for a point in time */
    if (time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec >= MILLIARD)
        return EINVAL;
    uint64_t seconds = (uint64_t)time->tv_sec;
    __wasi_subscription_t wanted = {
        .u.tag = __WASI_EVENTTYPE_CLOCK,
        .u.u.clock.id = clock == CLOCK_MONOTONIC ? __WASI_CLOCKID_MONOTONIC
                                                 : __WASI_CLOCKID_REALTIME,
        .u.u.clock.timeout = seconds > UINT64_MAX / MILLIARD - 1
            ? UINT64_MAX
            : seconds * MILLIARD + (uint64_t)time->tv_nsec,
        .u.u.clock.flags = flags & TIMER_ABSTIME
            ? __WASI_SUBCLOCKFLAGS_SUBSCRIPTION_CLOCK_ABSTIME
            : 0,
    };
    __wasi_event_t event;
    size_t count;
    __wasi_errno_t error = __wasi_poll_oneoff(&wanted, &event, 1, &count);
    return error != 0 ? error : event.error;
}

/* wasi-libc's leaves out descriptors whose other end is closed; a read or write of those does
 * not block, which is what select(2) tells. */
int wasibox_select(int count, fd_set *reads, fd_set *writes, fd_set *others, struct timeval *time)
{
    struct pollfd *list = calloc((size_t)(count > 0 ? count : 1), sizeof *list);
    if (list == NULL) {
        errno = ENOMEM;
        return -1;
    }
    nfds_t used = 0;
    for (int fd = 0; fd < count; fd++) {
        short events = (reads != NULL && FD_ISSET(fd, reads) ? POLLIN : 0)
            | (writes != NULL && FD_ISSET(fd, writes) ? POLLOUT : 0);
        if (events)
            list[used++] = (struct pollfd){.fd = fd, .events = events};
    }
    long long wait = -1;
    if (time != NULL) {
        wait = (long long)time->tv_sec * 1000 + (time->tv_usec + 999) / 1000;
        wait = wait > INT32_MAX ? INT32_MAX : wait;
    }
    int ready = poll(list, used, (int)wait);
    if (ready >= 0) {
        fd_set *sets[] = {reads, writes, others};
        for (int i = 0; i < 3; i++)
            if (sets[i] != NULL)
                FD_ZERO(sets[i]);
        ready = 0;
        for (nfds_t i = 0; i < used; i++) {
            const struct pollfd *one = &list[i];
            if (one->revents & POLLNVAL) {
                errno = EBADF;
                ready = -1;
                break;
            }
            if (one->events & POLLIN && one->revents & (POLLIN | POLLHUP | POLLERR)) {
                FD_SET(one->fd, reads);
                ready++;
            }
            if (one->events & POLLOUT && one->revents & (POLLOUT | POLLHUP | POLLERR)) {
                FD_SET(one->fd, writes);
                ready++;
            }
        }
    }
    free(list);
    return ready;
}
