/* Descriptors: duplicates, pipes, close-on-exec.
 *
 * wasi-libc knows no close-on-exec flag: its O_CLOEXEC is 0, its fcntl(F_SETFD) does nothing.
 * The kernel has one (PEP 446 rests on it), so fcntl goes there for that.
 *
 * Number 3 is the root directory, through which libc opens everything: to the program it is
 * not open and cannot be made so, since scripts close or replace whole ranges of descriptors.
 */
#include "wasix_calls.h"
#include "wasibox_posix.h"

#undef fcntl
#undef close
#undef sysconf
#include <errno.h>
#include <stdarg.h>
#include <wasi/api.h>

static int result(int32_t error)
{
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

int wasibox_is_preopened(int fd)
{
    enum { MOST = 32 }; /* runtimes put them first */
    __wasi_prestat_t what;
    return fd >= 3 && fd < MOST && __wasi_fd_prestat_get((__wasi_fd_t)fd, &what) == 0;
}

void (*wasibox_on_close)(int fd);

int wasibox_close(int fd)
{
    if (wasibox_is_preopened(fd))
        return result(EBADF);
    if (wasibox_on_close != NULL)
        wasibox_on_close(fd);
    return close(fd);
}

static int duplicate(int fd, int least, int cloexec)
{
    uint32_t to;
    if (fd < 0 || least < 0)
        return result(fd < 0 ? EBADF : EINVAL);
    return result(wasix_fd_dup2((uint32_t)fd, (uint32_t)least, (uint32_t)cloexec, &to)) < 0
        ? -1
        : (int)to;
}

int dup(int fd)
{
    return duplicate(fd, 0, 0);
}

/* The duplicate is made under a free number and moved: the kernel's own `fd_dup2` is
 * fcntl(F_DUPFD). */
static int place(int fd, int to, int cloexec)
{
    if (wasibox_is_preopened(to))
        return result(EBUSY);
    int copy = duplicate(fd, 0, cloexec);
    if (copy < 0)
        return -1;
    int32_t error = __wasi_fd_renumber((__wasi_fd_t)copy, (__wasi_fd_t)to);
    if (error == 0) {
        if (wasibox_on_close != NULL)
            wasibox_on_close(to);
        return to;
    }
    (void)__wasi_fd_close((__wasi_fd_t)copy);
    return result(error);
}

int dup2(int fd, int to)
{
    uint16_t flags;
    if (fd < 0 || to < 0)
        return result(EBADF);
    if (fd == to)
        return result(wasix_fd_fdflags_get((uint32_t)fd, &flags)) < 0 ? -1 : to;
    return place(fd, to, 0);
}

int dup3(int fd, int to, int flags)
{
    if (fd == to || (flags & ~O_CLOEXEC) != 0)
        return result(EINVAL);
    if (fd < 0 || to < 0)
        return result(EBADF);
    return place(fd, to, (flags & O_CLOEXEC) != 0);
}

int pipe2(int ends[2], int flags)
{
    uint32_t end[2];
    if (result(wasix_fd_pipe(&end[0], &end[1])) < 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        ends[i] = (int)end[i];
        if (flags & O_CLOEXEC)
            (void)wasix_fd_fdflags_set(end[i], 1);
        if (flags & O_NONBLOCK)
            (void)fcntl(ends[i], F_SETFL, O_NONBLOCK);
    }
    return 0;
}

int pipe(int ends[2])
{
    return pipe2(ends, 0);
}

int wasibox_fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    if (command == F_GETLK || command == F_SETLK || command == F_SETLKW) {
        struct flock *lock = va_arg(arguments, struct flock *);
        va_end(arguments);
        return wasibox_record_lock(fd, command, lock);
    }
    int argument = command == F_GETFD || command == F_GETFL ? 0 : va_arg(arguments, int);
    va_end(arguments);
    uint16_t flags;
    int32_t error;
    switch (command) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        return duplicate(fd, argument, command == F_DUPFD_CLOEXEC);
    case F_GETFD:
        error = wasix_fd_fdflags_get((uint32_t)fd, &flags);
        /* Without WASIX nothing is ever inherited. */
        if (error == ENOSYS)
            return fcntl(fd, F_GETFD);
        return result(error) < 0 ? -1 : flags & FD_CLOEXEC;
    case F_SETFD:
        error = wasix_fd_fdflags_set((uint32_t)fd, argument & FD_CLOEXEC);
        return error == ENOSYS ? fcntl(fd, F_SETFD, argument) : result(error);
    default:
        return fcntl(fd, command, argument);
    }
}

long wasibox_sysconf(int name)
{
    /* The kernel's limit is not told; POSIX's least would break programs that close all. */
    enum { OPEN_MAX = 1024 };
    if (name == _SC_OPEN_MAX)
        return OPEN_MAX;
    /* wasi-libc answers with a row of its table: nobody knows how much memory there is. */
    long answer = sysconf(name);
    return answer < -1 ? -1 : answer;
}
