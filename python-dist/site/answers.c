/* Answers of libc's that users see or programs rest on, put right at the link (--wrap). */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <wasi/api.h>

char *__real_strerror(int number);

/* glibc's words (taken from there by Python's os.strerror): scripts and tests know them, and
 * musl's say "Not a tty" of a pipe. */
char *__wrap_strerror(int number)
{
    static const char *const words[] = {
        [E2BIG] = "Argument list too long",
        [EACCES] = "Permission denied",
        [EADDRINUSE] = "Address already in use",
        [EADDRNOTAVAIL] = "Cannot assign requested address",
        [EAFNOSUPPORT] = "Address family not supported by protocol",
        [EAGAIN] = "Resource temporarily unavailable",
        [EALREADY] = "Operation already in progress",
        [EBADF] = "Bad file descriptor",
        [EBADMSG] = "Bad message",
        [EBUSY] = "Device or resource busy",
        [ECANCELED] = "Operation canceled",
        [ECHILD] = "No child processes",
        [ECONNABORTED] = "Software caused connection abort",
        [ECONNREFUSED] = "Connection refused",
        [ECONNRESET] = "Connection reset by peer",
        [EDEADLK] = "Resource deadlock avoided",
        [EDESTADDRREQ] = "Destination address required",
        [EDOM] = "Numerical argument out of domain",
        [EDQUOT] = "Disk quota exceeded",
        [EEXIST] = "File exists",
        [EFAULT] = "Bad address",
        [EFBIG] = "File too large",
        [EHOSTUNREACH] = "No route to host",
        [EIDRM] = "Identifier removed",
        [EILSEQ] = "Invalid or incomplete multibyte or wide character",
        [EINPROGRESS] = "Operation now in progress",
        [EINTR] = "Interrupted system call",
        [EINVAL] = "Invalid argument",
        [EIO] = "Input/output error",
        [EISCONN] = "Transport endpoint is already connected",
        [EISDIR] = "Is a directory",
        [ELOOP] = "Too many levels of symbolic links",
        [EMFILE] = "Too many open files",
        [EMLINK] = "Too many links",
        [EMSGSIZE] = "Message too long",
        [EMULTIHOP] = "Multihop attempted",
        [ENAMETOOLONG] = "File name too long",
        [ENETDOWN] = "Network is down",
        [ENETRESET] = "Network dropped connection on reset",
        [ENETUNREACH] = "Network is unreachable",
        [ENFILE] = "Too many open files in system",
        [ENOBUFS] = "No buffer space available",
        [ENODEV] = "No such device",
        [ENOENT] = "No such file or directory",
        [ENOEXEC] = "Exec format error",
        [ENOLCK] = "No locks available",
        [ENOLINK] = "Link has been severed",
        [ENOMEM] = "Cannot allocate memory",
        [ENOMSG] = "No message of desired type",
        [ENOPROTOOPT] = "Protocol not available",
        [ENOSPC] = "No space left on device",
        [ENOSYS] = "Function not implemented",
        [ENOTCONN] = "Transport endpoint is not connected",
        [ENOTDIR] = "Not a directory",
        [ENOTEMPTY] = "Directory not empty",
        [ENOTRECOVERABLE] = "State not recoverable",
        [ENOTSOCK] = "Socket operation on non-socket",
        [ENOTSUP] = "Operation not supported",
        [ENOTTY] = "Inappropriate ioctl for device",
        [ENXIO] = "No such device or address",
        [EOVERFLOW] = "Value too large for defined data type",
        [EOWNERDEAD] = "Owner died",
        [EPERM] = "Operation not permitted",
        [EPIPE] = "Broken pipe",
        [EPROTO] = "Protocol error",
        [EPROTONOSUPPORT] = "Protocol not supported",
        [EPROTOTYPE] = "Protocol wrong type for socket",
        [ERANGE] = "Numerical result out of range",
        [EROFS] = "Read-only file system",
        [ESPIPE] = "Illegal seek",
        [ESRCH] = "No such process",
        [ESTALE] = "Stale file handle",
        [ETIMEDOUT] = "Connection timed out",
        [ETXTBSY] = "Text file busy",
        [EXDEV] = "Invalid cross-device link",
    };
    if (number > 0 && (size_t)number < sizeof words / sizeof *words && words[number] != NULL)
        return (char *)words[number];
    if (number == 0 || number == ENOTCAPABLE)
        return __real_strerror(number);
    static char unknown[32];
    (void)snprintf(unknown, sizeof unknown, "Unknown error %d", number);
    return unknown;
}

__wasi_errno_t __real___wasi_poll_oneoff(const __wasi_subscription_t *in, __wasi_event_t *out,
                                         __wasi_size_t count, __wasi_size_t *ready);

/* Where wasmer-wasix is the runtime, a clock of no time at all never comes, so that
 * `select.poll().poll(0)` waits for ever. A nanosecond is as good. */
__wasi_errno_t __wrap___wasi_poll_oneoff(const __wasi_subscription_t *in, __wasi_event_t *out,
                                         __wasi_size_t count, __wasi_size_t *ready)
{
    for (__wasi_size_t i = 0; i < count; i++) {
        /* Callers made the list for this call, none of them constant. */
        __wasi_subscription_u_t *what = (__wasi_subscription_u_t *)&in[i].u;
        if (what->tag == __WASI_EVENTTYPE_CLOCK && what->u.clock.timeout == 0
            && (what->u.clock.flags & __WASI_SUBCLOCKFLAGS_SUBSCRIPTION_CLOCK_ABSTIME) == 0)
            what->u.clock.timeout = 1;
    }
    return __real___wasi_poll_oneoff(in, out, count, ready);
}
