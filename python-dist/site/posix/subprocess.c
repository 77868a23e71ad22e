/* What `_posixsubprocess.fork_exec` does between its arguments and the child's number: the
 * list of things that CPython's own child does between fork and exec (child_exec in
 * Modules/_posixsubprocess.c), as operations of one spawn.
 */
#include "process.h"
#include "subprocess.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int is_among(int fd, const int *list, ptrdiff_t count)
{
    for (ptrdiff_t i = 0; i < count; i++)
        if (list[i] == fd)
            return 1;
    return 0;
}

static int dup_op(struct wasibox_start *start, int to, int from)
{
    return wasibox_op(start, (struct wasix_fd_op){
        .command = WASIX_DUP2, .fd = (uint32_t)to, .from = (uint32_t)from});
}

static int close_op(struct wasibox_start *start, int fd)
{
    return wasibox_op(start, (struct wasix_fd_op){.command = WASIX_CLOSE, .fd = (uint32_t)fd});
}

static int descriptors(struct wasibox_start *start, const struct wasibox_child *child)
{
    const int sources[3] = {child->in, child->out, child->err};
    int error = 0, *open;
    /* By way of high numbers: a source may be another's place. */
    for (int i = 0; error == 0 && i < 3; i++)
        if (sources[i] >= 0)
            error = dup_op(start, WASIBOX_HIGH_FD + i, sources[i]);
    for (int i = 0; error == 0 && i < 3; i++)
        if (sources[i] >= 0)
            error = dup_op(start, i, WASIBOX_HIGH_FD + i);
    for (int i = 0; error == 0 && i < 3; i++)
        if (sources[i] >= 0)
            error = close_op(start, WASIBOX_HIGH_FD + i);
    size_t count = wasibox_open_fds(&open);
    for (size_t i = 0; error == 0 && i < count; i++) {
        int fd = open[i];
        int named = fd != child->report && is_among(fd, child->keep, child->keep_count);
        if (named || (!child->close_fds && wasibox_is_kept(fd)))
            error = wasibox_keep(start, fd);
        else if (child->close_fds)
            error = close_op(start, fd);
    }
    free(open);
    return error;
}

/* Says to the parent's reader what could not be done, as the child would have (the
 * protocol is that of subprocess.Popen._execute_child). */
static void report(const struct wasibox_child *child, int error, int before_exec)
{
    char text[64];
    int size = snprintf(text, sizeof text, "OSError:%X:%s", (unsigned)error,
                        before_exec ? "noexec:chdir" : "");
    (void)write(child->report, text, (size_t)size);
}

pid_t wasibox_fork_exec(const struct wasibox_child *child)
{
    struct wasibox_start start;
    char mask[32];
    pid_t pid = -1;
    int before_exec = 0, error = wasibox_start_begin(&start);
    if (error == 0)
        error = descriptors(&start, child);
    if (error == 0 && child->cwd != NULL) {
        error = wasibox_op(&start, (struct wasix_fd_op){
            .command = WASIX_CHDIR, .name = child->cwd, .name_len = strlen(child->cwd)});
        if (error == 0) {
            struct stat state;
            before_exec = stat(child->cwd, &state) < 0
                || (!S_ISDIR(state.st_mode) && (errno = ENOTDIR));
            error = before_exec ? errno : 0;
        }
    }
    if (child->umask >= 0) {
        snprintf(mask, sizeof mask, WASIBOX_UMASK "=%03o", (unsigned)child->umask & 0777);
        start.mask = mask;
    }
    if (child->restore_signals)
        start.defaults = (sigset_t)1 << (SIGPIPE - 1) | (sigset_t)1 << (SIGXFSZ - 1);
    for (int i = 0, first = 0; error == 0 && child->programs[i] != NULL; i++) {
        int now = wasibox_start(&pid, child->programs[i], &start, child->argv,
                                child->envp != NULL ? child->envp : environ);
        if (now == 0)
            break;
        if (first == 0 && now != ENOENT && now != ENOTDIR)
            first = now;
        if (child->programs[i + 1] == NULL)
            error = first != 0 ? first : now;
    }
    wasibox_start_end(&start);
    if (error == 0)
        return pid;
    if (error == ENOSYS) {
        errno = error;
        return -1;
    }
    report(child, error, before_exec);
    return WASIBOX_NO_CHILD;
}
