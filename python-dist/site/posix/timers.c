/* The timer of real time: setitimer(2), alarm(3). The kernel raises the signal (`proc_raise_interval`
 * of WASIX), once for each time that is set; a period is set again when it arrives. */
#include "wasix_calls.h"
#include "wasibox_posix.h"

#include <errno.h>
#include <wasi/api.h>

enum { SECOND = 1000000000, MICROSECOND = 1000 };

int wasibox_timer_is_set;

/* The time of the next signal on the monotonic clock, and the time from one to the next, in
 * nanoseconds; 0 for none. */
static uint64_t next, period;

static int refuse(int error)
{
    errno = error;
    return -1;
}

static uint64_t now(void)
{
    __wasi_timestamp_t time = 0;
    (void)__wasi_clock_time_get(__WASI_CLOCKID_MONOTONIC, 1, &time);
    return time;
}

/* Has the kernel raise the signal after this time; 0 for never. */
static int start(uint64_t time)
{
    int32_t error = wasix_proc_raise_interval(SIGALRM, time, 0);
    if (error != 0)
        return refuse(error);
    next = time == 0 ? 0 : now() + time;
    wasibox_timer_is_set = next != 0;
    return 0;
}

static int is_valid(const struct timeval *time)
{
    return time->tv_sec >= 0 && time->tv_usec >= 0 && time->tv_usec < 1000000;
}

static uint64_t nanoseconds(const struct timeval *time)
{
    uint64_t seconds = (uint64_t)time->tv_sec;
    if (seconds > UINT32_MAX)
        seconds = UINT32_MAX; /* a century */
    return seconds * SECOND + (uint64_t)time->tv_usec * MICROSECOND;
}

static struct timeval timeval_of(uint64_t time)
{
    return (struct timeval){
        .tv_sec = (time_t)(time / SECOND),
        .tv_usec = (suseconds_t)(time % SECOND / MICROSECOND),
    };
}

/* Only ITIMER_REAL: there are no timers of processor time. */
int getitimer(int which, struct itimerval *out)
{
    if (which != ITIMER_REAL)
        return refuse(EINVAL);
    uint64_t rest = 0, time = now();
    if (next != 0)
        /* A signal that is late but has not arrived is still to come. */
        rest = next > time + MICROSECOND ? next - time : MICROSECOND;
    *out = (struct itimerval){.it_interval = timeval_of(period), .it_value = timeval_of(rest)};
    return 0;
}

int setitimer(int which, const struct itimerval *restrict value, struct itimerval *restrict old)
{
    struct itimerval before;
    if (getitimer(which, &before) < 0)
        return -1;
    if (!is_valid(&value->it_value) || !is_valid(&value->it_interval))
        return refuse(EINVAL);
    if (start(nanoseconds(&value->it_value)) < 0)
        return -1;
    period = next == 0 ? 0 : nanoseconds(&value->it_interval);
    if (old != NULL)
        *old = before;
    return 0;
}

unsigned alarm(unsigned seconds)
{
    struct itimerval value = {.it_value = {.tv_sec = (time_t)seconds}}, before;
    if (setitimer(ITIMER_REAL, &value, &before) < 0)
        return 0;
    /* A rest of less than a second counts as one, so that 0 means none. */
    unsigned rest = (unsigned)before.it_value.tv_sec;
    return before.it_value.tv_usec >= 500000 || (rest == 0 && before.it_value.tv_usec > 0)
        ? rest + 1
        : rest;
}

/* SIGALRM has arrived: the timer is over, or begins its next period. */
void wasibox_alarm_arrived(void)
{
    uint64_t time = now();
    /* Not the timer's, but sent by somebody. */
    if (next == 0 || next > time)
        return;
    if (period == 0) {
        next = 0;
        wasibox_timer_is_set = 0;
        return;
    }
    uint64_t late = (time - next) % period;
    (void)start(period - late);
}
