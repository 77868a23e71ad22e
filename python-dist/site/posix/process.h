/* Starting a process, between process.c and its users (spawn.c, _posixsubprocess). */
#ifndef WASIBOX_PROCESS_H
#define WASIBOX_PROCESS_H

#include "wasix_calls.h"
#include "wasibox_posix.h"

/* Names and default of tools/abi and tools/sys/src/stdio.rs: which descriptors from 3 up a
 * child has, and where. Number 3 is the root directory in a program of wasi-libc, so
 * the image's shell and tools find descriptor N at another number: N + 29, or the next that is free. */
#define WASIBOX_FDS "BOX_FDS"
#define WASIBOX_UMASK "BOX_UMASK"
enum { WASIBOX_SHIFT = 29, WASIBOX_DEFAULT_UMASK = 022, WASIBOX_HIGH_FD = 4000 };

/* A child in the making. */
struct wasibox_start {
    struct wasix_fd_op *ops;
    size_t used, room;
    char *cwd;
    /* "N:AT,..." for WASIBOX_FDS. */
    char kept[1024];
    /* The AT of the last one. */
    int place;
    /* "BOX_UMASK=..." or NULL for the process's own. */
    char *mask;
    /* Signals that the child does not ignore, though we do. */
    sigset_t defaults;
};

/* All return an errno, 0 for success. `wasibox_start_end` is due after any result of
 * `wasibox_start_begin`. */
int wasibox_start_begin(struct wasibox_start *start);
int wasibox_op(struct wasibox_start *start, struct wasix_fd_op op);
/* The child shall have descriptor `fd` (nothing needs to be done for 0 to 2). */
int wasibox_keep(struct wasibox_start *start, int fd);
int wasibox_start(pid_t *pid, const char *path, struct wasibox_start *start,
                  char *const argv[], char *const envp[]);
void wasibox_start_end(struct wasibox_start *start);

/* Open descriptors from 3 up, without preopened directories; to be freed. */
size_t wasibox_open_fds(int **list);
int wasibox_is_open(int fd);
/* Whether it is open and not close-on-exec. */
int wasibox_is_kept(int fd);

#endif
