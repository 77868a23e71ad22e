/* Between subprocess.c and CPython's Modules/_posixsubprocess.c, as patched. */
#ifndef WASIBOX_SUBPROCESS_H
#define WASIBOX_SUBPROCESS_H

#include <stddef.h>
#include <stdlib.h>
#include <sys/types.h>

/* The arguments of `_posixsubprocess.fork_exec` that mean something here; -1 where there is none. */
struct wasibox_child {
    char *const *programs, *const *argv, *const *envp;
    const char *cwd;
    int in, out, err;
    /* Where the child would report that it cannot become the program. */
    int report;
    int close_fds, restore_signals, umask;
    const int *keep;
    ptrdiff_t keep_count;
};

/* A number no process has: of a child that reported and is gone (waiting says ECHILD). */
#define WASIBOX_NO_CHILD 0x7fffffff

/* The child's number; WASIBOX_NO_CHILD when it could not start and `report` says why; -1 with
 * errno where there are no processes at all. */
pid_t wasibox_fork_exec(const struct wasibox_child *child);

#endif
