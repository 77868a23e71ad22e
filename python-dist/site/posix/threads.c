/* Threads: pthreads over the kernel's threads and futexes.
 *
 * Of a process's threads one runs at a time, and another one only when the running one waits for
 * the host: between two calls of the host nobody else touches this memory. So nothing here is
 * atomic, and a look at a lock with the sleep that follows are one step. libc's own functions of
 * these names (which know one thread) are not linked; its attributes are. All other libc code, the
 * packages and the C++ library are compiled for one thread, which is right for the same reason.
 *
 * Variables that a thread must find as it left them are listed in `wasibox_thread_locals`: the kernel keeps
 * a copy for each thread and changes them with the thread that runs.
 *
 * Meaning of each function: POSIX.1-2017, System Interfaces, under its name. Deliberately absent:
 * cancellation, priorities, locks of several processes, names. Where the runtime has no threads
 * (plain preview 1), pthread_create says EAGAIN, and a wait that nobody could end is EDEADLK.
 */
#include "wasix_calls.h"
#include "wasibox_posix.h"
#include "threads.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wasi/api.h>

/* A thread's stack lies in the heap. At its end is no guard page, so CPython's own count of
 * recursion must end it (threads.h); smaller stacks than the usual one are not given. */
enum { STACK = WASIBOX_THREAD_STACK, KEPT = 4, DESTRUCTOR_ROUNDS = 4 };

struct value {
    void *value;
    unsigned generation; /* of the key when it was set */
};

struct thread {
    /* WASIX's `thread_start`; the stack's upper end comes first. */
    struct {
        void *stack;
        uint32_t tls, function, argument, reserved[10], stack_size, guard_size;
    } start;
    void *(*function)(void *);
    void *argument, *result;
    uint32_t done; /* a futex */
    bool detached;
    void *stack;
    size_t stack_size;
    struct thread *next; /* among those that have ended */
    struct value values[PTHREAD_KEYS_MAX];
};
_Static_assert(offsetof(struct thread, function) == 64, "WASIX's layout");

static struct thread first;
/* NULL for the first thread. */
static struct thread *me;
/* Those that have ended and that nobody waits for: at work until they have left the guest, so that
 * others take them away. */
static struct thread *ended;
static void *kept[KEPT];
static int kept_count;

int wasibox_thread_count;

/* --- variables of threads ------------------------------------------------- */

extern void *_Py_tss_tstate;
extern const char *pkgcontext;
extern int wasibox_float_flags;
/* Of the C++ library, where it is linked. */
__attribute__((weak)) void *__cxa_get_globals(void);

struct wasibox_thread_locals wasibox_thread_locals = {
    .count = 5,
    .list = {
        {&me, sizeof me},
        {&_Py_tss_tstate, sizeof _Py_tss_tstate},
        {&pkgcontext, sizeof pkgcontext},
        {&wasibox_float_flags, sizeof wasibox_float_flags},
    },
};

/* What only a running program knows the address of. */
static void complete_locals(void)
{
    enum { ERRNO = 4, EXCEPTIONS = 5, EXCEPTIONS_SIZE = 8 };
    wasibox_thread_locals.list[ERRNO].at = &errno;
    wasibox_thread_locals.list[ERRNO].size = sizeof errno;
    if (__cxa_get_globals != NULL) {
        wasibox_thread_locals.list[EXCEPTIONS].at = __cxa_get_globals();
        wasibox_thread_locals.list[EXCEPTIONS].size = EXCEPTIONS_SIZE;
        wasibox_thread_locals.count = EXCEPTIONS + 1;
    }
}

/* --- futexes ---------------------------------------------------------------- */

/* Sleeps until a wake-up of `word`, which holds `expected`; at the latest until then. 0, ETIMEDOUT,
 * EINTR after a signal, ENOSYS without threads. */
static int sleep_on(uint32_t *word, uint32_t expected, clockid_t clock, const struct timespec *until)
{
    struct wasix_option_time time = {0};
    uint8_t woken = 0;
    if (until != NULL) {
        struct timespec now;
        if (until->tv_nsec < 0 || until->tv_nsec >= 1000000000)
            return EINVAL;
        clock_gettime(clock, &now);
        long long seconds = (long long)until->tv_sec - now.tv_sec;
        long long left = until->tv_nsec - now.tv_nsec;
        if (seconds < 0 || (seconds == 0 && left <= 0))
            return ETIMEDOUT;
        time.given = 1;
        /* Longer than any process lives, and no overflow. */
        seconds = seconds > 1000000000 ? 1000000000 : seconds;
        time.ns = (uint64_t)(seconds * 1000000000 + left);
        if ((long long)time.ns <= 0)
            return ETIMEDOUT;
    }
    int32_t error = wasix_futex_wait(word, expected, &time, &woken);
    if (error != 0)
        return error;
    return woken ? 0 : ETIMEDOUT;
}

static void wake(uint32_t *word, bool all)
{
    uint8_t woken;
    (void)(all ? wasix_futex_wake_all(word, &woken) : wasix_futex_wake(word, &woken));
}

/* --- threads ------------------------------------------------------------------ */

static struct thread *self(void)
{
    return me == NULL ? &first : me;
}

/* For CPython: the number by which the system knows the calling thread. */
unsigned long PyThread_get_thread_native_id(void)
{
    uint32_t number = 0;
    return wasix_thread_id(&number) == 0 ? number : (unsigned long)getpid();
}

pthread_t pthread_self(void)
{
    return (pthread_t)self();
}

int wasibox_is_first_thread(void)
{
    return me == NULL;
}

static void drop(struct thread *t)
{
    if (t->stack_size == STACK && kept_count < KEPT)
        kept[kept_count++] = t->stack;
    else
        free(t->stack);
    free(t);
}

static void drop_ended(void)
{
    while (ended != NULL) {
        struct thread *t = ended;
        ended = t->next;
        drop(t);
    }
}

int pthread_create(pthread_t *restrict out, const pthread_attr_t *restrict attributes,
                   void *(*function)(void *), void *restrict argument)
{
    size_t size = STACK;
    int state = PTHREAD_CREATE_JOINABLE;
    if (attributes != NULL) {
        size_t wanted = 0;
        pthread_attr_getstacksize(attributes, &wanted);
        pthread_attr_getdetachstate(attributes, &state);
        size = wanted > size ? (wanted + 15) & ~(size_t)15 : size;
    }
    drop_ended();
    struct thread *t = calloc(1, sizeof *t);
    if (t == NULL)
        return EAGAIN;
    t->stack = size == STACK && kept_count > 0 ? kept[--kept_count] : malloc(size);
    if (t->stack == NULL) {
        free(t);
        return EAGAIN;
    }
    t->stack_size = size;
    t->start.stack = (char *)t->stack + size;
    t->start.stack_size = (uint32_t)size;
    t->function = function;
    t->argument = argument;
    t->detached = state == PTHREAD_CREATE_DETACHED;
    if (wasibox_thread_count == 0)
        complete_locals();
    uint32_t number;
    if (wasix_thread_spawn_v2(t, &number) != 0) {
        drop(t);
        return EAGAIN;
    }
    wasibox_thread_count++;
    *out = (pthread_t)t;
    return 0;
}

static void run_destructors(void);

/* The thread is still on its stack afterwards, but nobody else runs before it has left the guest. */
static void end(void *result)
{
    run_destructors();
    wasibox_thread_count--;
    me->result = result;
    me->done = 1;
    if (me->detached) {
        me->next = ended;
        ended = me;
    } else {
        wake(&me->done, true);
    }
}

/* Called by thread_start.s. */
void wasibox_thread_main(struct thread *t)
{
    me = t;
    end(t->function(t->argument));
}

_Noreturn void pthread_exit(void *result)
{
    if (me == NULL)
        exit(0); /* the first thread's end is the process's */
    end(result);
    wasix_thread_exit(0);
    __builtin_trap();
}

int pthread_join(pthread_t thread, void **result)
{
    struct thread *t = (struct thread *)thread;
    if (t == self())
        return EDEADLK;
    while (!t->done) {
        int error = sleep_on(&t->done, 0, CLOCK_MONOTONIC, NULL);
        if (error == ENOSYS)
            return EDEADLK;
    }
    if (result != NULL)
        *result = t->result;
    drop(t);
    return 0;
}

int pthread_detach(pthread_t thread)
{
    struct thread *t = (struct thread *)thread;
    if (t->done)
        drop(t);
    else
        t->detached = true;
    return 0;
}

void wasibox_threads_end(void)
{
    if (wasix_proc_signal(0, WASIBOX_ALONE) != 0)
        abort();
    /* Their stacks are left as they are: something may still point there. */
    wasibox_thread_count = 0;
}

/* --- values of threads ---------------------------------------------------------- */

static struct {
    bool used;
    unsigned generation;
    void (*destructor)(void *);
} keys[PTHREAD_KEYS_MAX];

int pthread_key_create(pthread_key_t *out, void (*destructor)(void *))
{
    for (unsigned k = 0; k < PTHREAD_KEYS_MAX; k++)
        if (!keys[k].used) {
            keys[k].used = true;
            keys[k].generation++;
            keys[k].destructor = destructor;
            *out = k;
            return 0;
        }
    return EAGAIN;
}

int pthread_key_delete(pthread_key_t key)
{
    if (key >= PTHREAD_KEYS_MAX || !keys[key].used)
        return EINVAL;
    keys[key].used = false;
    return 0;
}

void *pthread_getspecific(pthread_key_t key)
{
    const struct value *v = &self()->values[key];
    return v->generation == keys[key].generation ? v->value : NULL;
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
    if (key >= PTHREAD_KEYS_MAX || !keys[key].used)
        return EINVAL;
    self()->values[key] = (struct value){(void *)value, keys[key].generation};
    return 0;
}

static void run_destructors(void)
{
    bool found = true;
    for (int round = 0; found && round < DESTRUCTOR_ROUNDS; round++) {
        found = false;
        for (unsigned k = 0; k < PTHREAD_KEYS_MAX; k++) {
            void *value = keys[k].used && keys[k].destructor != NULL ? pthread_getspecific(k) : NULL;
            if (value != NULL) {
                me->values[k].value = NULL;
                keys[k].destructor(value);
                found = true;
            }
        }
    }
}

int pthread_once(pthread_once_t *control, void (*function)(void))
{
    enum { NEW, BUSY, DONE };
    uint32_t *state = (uint32_t *)control;
    while (*state == BUSY)
        if (sleep_on(state, BUSY, CLOCK_MONOTONIC, NULL) == ENOSYS)
            return EDEADLK;
    if (*state == NEW) {
        *state = BUSY;
        function();
        *state = DONE;
        wake(state, true);
    }
    return 0;
}

/* --- locks --------------------------------------------------------------------- */

/* In libc's type, whose first word is the kind. All zeros is a lock that is free. */
struct mutex {
    int kind;
    uint32_t owner; /* a futex: the thread's address */
    int waiting, again;
};
_Static_assert(sizeof(struct mutex) <= sizeof(pthread_mutex_t), "libc's type");

static struct mutex *mutex_of(pthread_mutex_t *m)
{
    return (struct mutex *)m;
}

static uint32_t own_address(void)
{
    return (uint32_t)(uintptr_t)self();
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    struct mutex *m = mutex_of(mutex);
    if (m->owner == 0) {
        m->owner = own_address();
        return 0;
    }
    if (m->owner != own_address() || (m->kind & 3) != PTHREAD_MUTEX_RECURSIVE)
        return EBUSY;
    if (m->again == INT_MAX)
        return EAGAIN;
    m->again++;
    return 0;
}

int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict until)
{
    struct mutex *m = mutex_of(mutex);
    int error;
    while ((error = pthread_mutex_trylock(mutex)) == EBUSY) {
        if (m->owner == own_address() && (m->kind & 3) == PTHREAD_MUTEX_ERRORCHECK)
            return EDEADLK;
        m->waiting++;
        error = sleep_on(&m->owner, m->owner, CLOCK_REALTIME, until);
        m->waiting--;
        if (error == ENOSYS)
            return EDEADLK;
        if (error == ETIMEDOUT || error == EINVAL)
            return error;
    }
    return error;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    return pthread_mutex_timedlock(mutex, NULL);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    struct mutex *m = mutex_of(mutex);
    if (m->owner == 0)
        return EPERM;
    if (m->again > 0) {
        m->again--;
        return 0;
    }
    m->owner = 0;
    if (m->waiting > 0)
        wake(&m->owner, false);
    return 0;
}

int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    return mutex_of(mutex)->owner == 0 ? 0 : EBUSY;
}

/* --- conditions -------------------------------------------------------------------- */

struct condition {
    int is_monotonic; /* else times are of the real clock */
    uint32_t count; /* a futex: of wake-ups */
    int waiting;
};
_Static_assert(sizeof(struct condition) <= sizeof(pthread_cond_t), "libc's type");

static struct condition *condition_of(pthread_cond_t *c)
{
    return (struct condition *)c;
}

int pthread_cond_init(pthread_cond_t *restrict cond, const pthread_condattr_t *restrict attributes)
{
    memset(cond, 0, sizeof *cond);
    /* As pthread_condattr_setclock left it; wasi-libc's pthread_condattr_getclock never answers. */
    condition_of(cond)->is_monotonic = attributes != NULL
        && (attributes->__attr & 0x7fffffff) == __WASI_CLOCKID_MONOTONIC;
    return 0;
}

int pthread_cond_destroy(pthread_cond_t *cond)
{
    (void)cond;
    return 0;
}

int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until)
{
    struct condition *c = condition_of(cond);
    clockid_t clock = c->is_monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    uint32_t count = c->count;
    int error = pthread_mutex_unlock(mutex);
    if (error != 0)
        return error;
    c->waiting++;
    error = sleep_on(&c->count, count, clock, until);
    c->waiting--;
    if (error == ENOSYS && until != NULL)
        error = clock_nanosleep(clock, TIMER_ABSTIME, until, NULL) == 0 ? ETIMEDOUT : EINTR;
    else if (error == ENOSYS)
        error = EDEADLK;
    int locked = pthread_mutex_lock(mutex);
    /* A signal ends the wait as a wake-up without cause does: callers look again. */
    if (error == EINTR)
        error = 0;
    return locked != 0 ? locked : error;
}

int pthread_cond_wait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex)
{
    return pthread_cond_timedwait(cond, mutex, NULL);
}

static int notify(pthread_cond_t *cond, bool all)
{
    struct condition *c = condition_of(cond);
    c->count++;
    if (c->waiting > 0)
        wake(&c->count, all);
    return 0;
}

int pthread_cond_signal(pthread_cond_t *cond)
{
    return notify(cond, false);
}

int pthread_cond_broadcast(pthread_cond_t *cond)
{
    return notify(cond, true);
}
