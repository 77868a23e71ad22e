/* What the rest of the layer and the interpreter know of threads (threads.c). */
#ifndef WASIBOX_THREADS_H
#define WASIBOX_THREADS_H

#include <stdint.h>

/* Bytes of a thread's stack, and how deep C functions may recur on it: the same share of CPython's
 * limit as the stack is of the first thread's (`stack` in pins.toml, 8 MiB). */
#define WASIBOX_THREAD_STACK (2 << 20)
#define WASIBOX_THREAD_C_RECURSION (Py_C_RECURSION_LIMIT / 4)

/* Threads besides the first one. */
extern int wasibox_thread_count;

/* Whether the caller is the first one: that which signals interrupt. */
int wasibox_is_first_thread(void);

/* What the kernel keeps for each thread: it reads this list when the first one begins. The name is
 * part of its interface (runner/sandbox/src/kernel/threads.rs). */
struct wasibox_thread_locals {
    uint32_t count;
    struct {
        void *at;
        uint32_t size;
    } list[6];
};
extern struct wasibox_thread_locals wasibox_thread_locals;

/* The first thread, which calls this, is the only one afterwards: the kernel ends the others where they wait. */
void wasibox_threads_end(void);

#endif
