/* What the compiler wheel's libc forgets for a program with one thread.
 *
 * Its start-up code sets the main thread's descriptor up only when threads are
 * compiled in, but its thread functions are the threaded ones: the list of
 * threads, walked by pthread_key_delete() until it comes back to the caller,
 * is a null pointer, and CPython's shutdown walks it for ever. The descriptor
 * is private to libc, so this file is compiled against libc's own headers.
 */
#include "pthread_impl.h"

__attribute__((constructor(101))) static void init_main_thread(void)
{
    pthread_t self = __pthread_self();
    self->self = self;
    self->prev = self;
    self->next = self;
    self->robust_list.head = &self->robust_list.head;
}
