/* Included before each C file of QuickJS when it is compiled for the guest.
 *
 * QuickJS turns its check of the stack off under __wasi__ (update_stack_limit in quickjs.c), since most hosts'
 * stacks are unknown to it: endless recursion would be a trap, where JavaScript has a RangeError. The frames that
 * it can see lie in linear memory; js/node/src/start.rs bounds these so that ours, which it cannot see, suffice.
 *
 * libc's headers need the name, so they come first. The other name that is set keeps malloc_usable_size, by which
 * the engine counts its memory (cutils.h); QuickJS asks for it nowhere else.
 *
 * It also leaves Atomics out where it has no threads (EMSCRIPTEN, which the crate's build script says of this target). They
 * are turned on again, with what they need of threads for a process that has one: locks are free, and nobody can
 * wake who waits.
 *
 * The same compiler builds the C of other crates, which need none of this: only QuickJS is built with that name.
 */
#ifdef EMSCRIPTEN
#include <alloca.h>
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#undef __wasi__
#define __GLIBC__ 2

#define CONFIG_ATOMICS
#define JS_ONCE_INIT false
typedef bool js_once_t;
typedef char js_mutex_t;
typedef char js_cond_t;

static inline void js_once(js_once_t *done, void (*callback)(void)) {
    if (!*done)
        callback();
    *done = true;
}

static inline void js_mutex_init(js_mutex_t *mutex) { (void)mutex; }
static inline void js_mutex_lock(js_mutex_t *mutex) { (void)mutex; }
static inline void js_mutex_unlock(js_mutex_t *mutex) { (void)mutex; }
static inline void js_cond_init(js_cond_t *cond) { (void)cond; }
static inline void js_cond_destroy(js_cond_t *cond) { (void)cond; }
static inline void js_cond_signal(js_cond_t *cond) { (void)cond; }

/* Nanoseconds that pass; -1, since that is how each wait ends. */
static inline int js_cond_timedwait(js_cond_t *cond, js_mutex_t *mutex, uint64_t timeout) {
    struct timespec rest = { (time_t)(timeout / 1000000000), (long)(timeout % 1000000000) };
    (void)cond;
    (void)mutex;
    while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {
    }
    return -1;
}

/* For ever, which is until the sandbox's limit of time. */
static inline void js_cond_wait(js_cond_t *cond, js_mutex_t *mutex) {
    for (;;)
        js_cond_timedwait(cond, mutex, UINT64_MAX);
}
#endif
