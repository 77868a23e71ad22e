/* This header is included before each C file of QuickJS when it is compiled for the guest.
 *
 * If __wasi__ is defined, QuickJS turns its check of the stack off (update_stack_limit in
 * quickjs.c), because it does not know the stacks of most hosts. Endless recursion would then trap,
 * where JavaScript has a RangeError. So __wasi__ is undefined here. QuickJS can measure only the
 * frames in linear memory. js/node/src/start.rs limits these so that the engine's own stack, which
 * QuickJS cannot measure, suffices.
 *
 * The headers of libc need __wasi__, so they are included first. __GLIBC__ is defined because
 * cutils.h then uses malloc_usable_size, by which the engine counts its memory. QuickJS tests
 * __GLIBC__ nowhere else.
 *
 * QuickJS also leaves Atomics out if it has no threads (EMSCRIPTEN, which the crate's build script
 * defines for this target). They are turned on again here, with the functions of threads that they
 * need. These functions are made for a process with one thread: locks are always free, and no
 * thread can wake one that waits.
 *
 * The same compiler builds the C code of other crates, which need none of this. Only QuickJS is
 * built with EMSCRIPTEN defined.
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

/* Sleeps for `timeout` nanoseconds. Returns -1 (timed out), because each wait ends like this. */
static inline int js_cond_timedwait(js_cond_t *cond, js_mutex_t *mutex, uint64_t timeout) {
    struct timespec rest = { (time_t)(timeout / 1000000000), (long)(timeout % 1000000000) };
    (void)cond;
    (void)mutex;
    while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {
    }
    return -1;
}

/* Waits forever, which means until the sandbox's time limit. */
static inline void js_cond_wait(js_cond_t *cond, js_mutex_t *mutex) {
    for (;;)
        js_cond_timedwait(cond, mutex, UINT64_MAX);
}
#endif
