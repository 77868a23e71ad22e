/* Signals.
 *
 * The kernel calls the export `__wasm_signal` at the end of a system call for each
 * signal that has arrived, as WASIX's libc has it; a waiting call ends with EINTR then. It is
 * one handler for all signals. Our kernel is told which ones it takes, and does the others'
 * default action at once, also while the program computes (`control::CATCH` in tools/abi). Other
 * hosts give it all signals: what is not caught is raised again without it.
 * Replaces wasi-libc's emulation (-lwasi-emulated-signal), which knows raise() only.
 */
#include "threads.h"
#include "wasix_calls.h"
#include "wasibox_posix.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "pycore_emscripten_signal.h"

typedef void handler(int);

static const char HANDLER[] = "__wasm_signal";

/* In place of a signal: the caller's handler takes exactly the signals of a set, and the caller
 * stops as by a signal's default action (`control` in tools/abi). */
enum { CATCH = 0x2000, STOP = 0x1000 };

static handler *handlers[_NSIG]; /* zeroed: SIG_DFL */
/* `inherited` are the signals that the parent had ignored: the kernel would drop them if the
 * handler did not take them, whatever the program has set since. */
static wasibox_sigset blocked, pending, inherited;
/* Whether the kernel hands us signals; decided at the first change. */
static int registered;
/* Signals whose handlers let an interrupted read begin again (SA_RESTART), and the number of
 * handlers of others that have run. */
static wasibox_sigset restarting;
static unsigned interruptions;
/* What the kernel was last told of, bit N for signal N. It begins with all. */
static uint32_t caught = UINT32_MAX;

int wasibox_poll_countdown = WASIBOX_POLL_EVERY;

/* wasi-libc's SIG_IGN and SIG_ERR are the addresses of these. */
void __SIG_IGN(int number)
{
    (void)number;
}

void __SIG_ERR(int number)
{
    (void)number;
    abort();
}

static wasibox_sigset bit(int number)
{
    return (wasibox_sigset)1 << (number - 1);
}

static int valid(int number)
{
    return number > 0 && number < 64;
}

static int refuse(int error)
{
    errno = error;
    return -1;
}

/* What the parent had ignored stays ignored (POSIX 2.4.3, exec). */
static void inherit(void)
{
    static int done;
    struct wasix_disposition list[64];
    uint32_t count = 0;
    if (done++)
        return;
    if (wasix_proc_signals_sizes_get(&count) != 0 || count > 64
        || wasix_proc_signals_get(list) != 0)
        return;
    for (uint32_t i = 0; i < count; i++)
        if (valid(list[i].signal) && list[i].ignored) {
            handlers[list[i].signal] = SIG_IGN;
            inherited |= bit(list[i].signal);
        }
}

/* Tells the kernel which signals the handler takes: those that are caught, ignored or blocked here.
 * Ignored ones are among them because of SIGALRM, whose timer goes on (timers.c), and because they
 * become pending while they are blocked. Registers the handler if it is not yet, after that. */
static void update_kernel(void)
{
    wasibox_sigset set = blocked | inherited;
    for (int number = 1; number < 64; number++)
        if (handlers[number] != SIG_DFL)
            set |= bit(number);
    if (!registered && set == inherited)
        return;
    uint32_t now = (uint32_t)(set << 1);
    if (now != caught) {
        /* Other hosts know nothing of it, and give the handler all signals. */
        (void)wasix_proc_signal(now, CATCH);
        caught = now;
    }
    if (!registered)
        registered = wasix_callback_signal(HANDLER, sizeof HANDLER - 1) == 0;
}

size_t wasibox_ignored_signals(struct wasix_disposition list[64])
{
    size_t count = 0;
    inherit();
    for (int number = 1; number < 64; number++)
        if (handlers[number] == SIG_IGN)
            list[count++] = (struct wasix_disposition){(uint8_t)number, 1};
    return count;
}

/* Ends or stops the process as the signal does by default, or does nothing if that is the default. */
static void by_default(int number)
{
    switch (number) {
    case SIGCHLD: case SIGCONT: case SIGURG: case SIGWINCH:
        return;
    case SIGTSTP: case SIGTTIN: case SIGTTOU:
        (void)wasix_proc_signal((uint32_t)number, STOP);
        return;
    case SIGSTOP:
        (void)wasix_proc_signal((uint32_t)getpid(), SIGSTOP);
        return;
    default:
        (void)wasix_callback_signal(HANDLER, 0);
        (void)wasix_proc_signal((uint32_t)getpid(), (uint32_t)number);
        _Exit(128 + number);
    }
}

static void deliver(int number)
{
    handler *function = handlers[number];
    if (function == SIG_DFL)
        by_default(number);
    else if (function != SIG_IGN) {
        if (!(restarting & bit(number)))
            interruptions++;
        function(number);
    }
}

/* The kernel's way in. */
__attribute__((export_name("__wasm_signal"))) void wasibox_signal_arrived(int number)
{
    if (!valid(number))
        return;
    if (number == SIGALRM)
        wasibox_alarm_arrived();
    if (blocked & bit(number))
        pending |= bit(number);
    else
        deliver(number);
}

void wasibox_poll_signals(void)
{
    uint32_t pid;
    if (wasibox_thread_count > 0) {
        /* Any call would do for signals; this one lets other threads run. */
        wasibox_poll_countdown = WASIBOX_POLL_EVERY_WITH_THREADS;
        (void)wasix_sched_yield();
        return;
    }
    wasibox_poll_countdown = WASIBOX_POLL_EVERY;
    if (registered || wasibox_timer_is_set)
        (void)wasix_proc_id(&pid);
}

handler *signal(int number, handler *function)
{
    if (!valid(number) || number == SIGKILL || number == SIGSTOP) {
        errno = EINVAL;
        return SIG_ERR;
    }
    inherit();
    handler *before = handlers[number];
    handlers[number] = function;
    restarting &= ~bit(number);
    update_kernel();
    return before;
}

/* The handler of a valid signal, including what the parent has ignored. */
handler *wasibox_handler_of(int number)
{
    inherit();
    return handlers[number];
}

/* Gives the handler of a valid signal SA_RESTART, until the next one is set. */
void wasibox_set_restarting(int number)
{
    restarting |= bit(number);
}

ssize_t wasibox_restarting_read(int fd, void *out, size_t count)
{
    for (;;) {
        unsigned before = interruptions;
        ssize_t got = read(fd, out, count);
        if (got >= 0 || errno != EINTR || interruptions != before)
            return got;
    }
}

/* In a process that goes on from another one's memory (snapshot.c): the kernel is told
 * again. False if the parent has ignored signals, which that memory does not know. */
int wasibox_signals_anew(void)
{
    uint32_t count = 0;
    if (wasix_proc_signals_sizes_get(&count) == 0 && count > 0)
        return 0;
    caught = UINT32_MAX;
    if (registered) {
        registered = 0;
        update_kernel();
    }
    return 1;
}

int raise(int number)
{
    if (!valid(number))
        return refuse(EINVAL);
    /* Not by way of the kernel: it must have happened when raise returns. */
    wasibox_signal_arrived(number);
    return 0;
}

int kill(pid_t pid, int number)
{
    if (number < 0 || number > 63)
        return refuse(EINVAL);
    /* Of another thread by way of the kernel, which interrupts what the first one waits for. */
    if (pid == getpid() && number != 0 && number != SIGKILL && number != SIGSTOP
        && wasibox_is_first_thread())
        return raise(number);
    /* Process 0 is "my group" to POSIX and "all" to the kernel; there are no groups. */
    int32_t error = wasix_proc_signal((uint32_t)pid, (uint32_t)number);
    return error == 0 ? 0 : refuse(error);
}

/* There are no process groups: a process and its descendants. */
int killpg(pid_t group, int number)
{
    return group <= 0 ? refuse(EINVAL) : kill(-group, number);
}

int pause(void)
{
    struct timespec forever = {1 << 30, 0};
    while (nanosleep(&forever, NULL) == 0) {
    }
    return -1;
}

/* A caught signal always interrupts; callers of CPython retry (PEP 475). */
int siginterrupt(int number, int flag)
{
    (void)flag;
    return valid(number) ? 0 : refuse(EINVAL);
}

int sigemptyset(sigset_t *set)
{
    *set = 0;
    return 0;
}

int sigfillset(sigset_t *set)
{
    *set = ~(sigset_t)0 >> 1;
    return 0;
}

int sigaddset(sigset_t *set, int number)
{
    if (!valid(number))
        return refuse(EINVAL);
    *set |= bit(number);
    return 0;
}

int sigdelset(sigset_t *set, int number)
{
    if (!valid(number))
        return refuse(EINVAL);
    *set &= ~bit(number);
    return 0;
}

int sigismember(const sigset_t *set, int number)
{
    return valid(number) ? (*set & bit(number)) != 0 : refuse(EINVAL);
}

int sigpending(sigset_t *set)
{
    wasibox_poll_signals();
    *set = pending;
    return 0;
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t before = blocked;
    if (set != NULL) {
        switch (how) {
        case SIG_BLOCK: blocked |= *set; break;
        case SIG_UNBLOCK: blocked &= ~*set; break;
        case SIG_SETMASK: blocked = *set; break;
        default: return EINVAL;
        }
        sigset_t never = bit(SIGKILL) | bit(SIGSTOP);
        blocked &= ~never;
        update_kernel();
    }
    if (old != NULL)
        *old = before;
    for (int number = 1; number < 64; number++)
        if (pending & ~blocked & bit(number)) {
            pending &= ~bit(number);
            deliver(number);
        }
    return 0;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    int error = pthread_sigmask(how, set, old);
    return error == 0 ? 0 : refuse(error);
}

/* Takes the first signal of the set that is pending; 0 if there is none. */
static int take(wasibox_sigset set)
{
    wasibox_sigset found = pending & set;
    if (found == 0)
        return 0;
    int number = __builtin_ctzll(found) + 1;
    pending &= ~bit(number);
    return number;
}

/* Waits for a signal of the set, until `time` on the monotonic clock (NULL: for ever). Signals of
 * the set do not reach their handlers meanwhile. Returns 0 if another signal came, or if the time
 * is up; `error` tells which. */
static int wait_for(wasibox_sigset set, const struct timespec *until, int *error)
{
    static const struct timespec forever = {1 << 30, 0};
    wasibox_sigset before = blocked;
    int number;
    blocked |= set;
    update_kernel();
    wasibox_poll_signals();
    *error = 0;
    while ((number = take(set)) == 0 && *error == 0) {
        *error = wasibox_clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME,
                                         until == NULL ? &forever : until, NULL);
        if (*error == 0)
            *error = until == NULL ? EINTR : EAGAIN;
        number = take(set);
        if (number != 0)
            break;
    }
    blocked = before;
    update_kernel();
    return number;
}

static void describe(int number, siginfo_t *info)
{
    if (info != NULL)
        *info = (siginfo_t){.si_signo = number};
}

int sigwait(const sigset_t *set, int *number)
{
    int error;
    while ((*number = wait_for(*set, NULL, &error)) == 0) {
    }
    return 0;
}

int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    int error, number = wait_for(*set, NULL, &error);
    describe(number, info);
    return number != 0 ? number : refuse(error);
}

int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *time)
{
    struct timespec until;
    if (time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec >= 1000000000)
        return refuse(EINVAL);
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += time->tv_sec;
    until.tv_nsec += time->tv_nsec;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    int error, number = wait_for(*set, &until, &error);
    describe(number, info);
    return number != 0 ? number : refuse(error);
}

/* Handlers run in the first thread, whichever was meant, so a signal for another one is one for the
 * process. */
int pthread_kill(pthread_t thread, int number)
{
    if (number < 0 || number > 63)
        return EINVAL;
    if (number == 0)
        return 0;
    if (pthread_equal(thread, pthread_self()) && wasibox_is_first_thread())
        return raise(number) < 0 ? errno : 0;
    int32_t error = wasix_proc_signal((uint32_t)getpid(), (uint32_t)number);
    return error;
}
