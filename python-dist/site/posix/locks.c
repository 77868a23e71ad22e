/* Locks of files: flock(2), and the record locks of fcntl(2). The kernel has them
 * (tools/abi/src/lock.rs); a runtime without it has none: ENOLCK. */
#include "terminal_node.h"
#include "wasibox_posix.h"

#undef fstat
#undef fcntl
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHARED, EXCLUSIVE, RELEASE };
enum { GET, SET, SET_AND_WAIT };

/* The kernel's layout of a record lock. */
struct record {
    uint8_t request, kind, zero[2];
    uint32_t pid;
    uint64_t start, length;
};
_Static_assert(sizeof(struct record) == 24, "the kernel's layout");

static int refuse(int error)
{
    errno = error;
    return -1;
}

static int ask(enum wasibox_operation operation, int fd, const void *in, size_t count, void *out,
               size_t room)
{
    int answer = wasibox_node_request(operation, fd, in, count, out, room);
    return answer < 0 && errno == ENOTTY ? refuse(ENOLCK) : answer;
}

int flock(int fd, int operation)
{
    int kind = operation & ~LOCK_NB;
    if (kind != LOCK_SH && kind != LOCK_EX && kind != LOCK_UN)
        return refuse(EINVAL);
    uint8_t request[2] = {
        (uint8_t)(kind == LOCK_SH ? SHARED : kind == LOCK_EX ? EXCLUSIVE : RELEASE),
        (operation & LOCK_NB) == 0,
    };
    return ask(LOCK_FILE, fd, request, sizeof request, NULL, 0);
}

/* The place that a lock's start counts from; -1 and errno if there is none. */
static off_t origin(int fd, int whence)
{
    struct stat about;
    switch (whence) {
    case SEEK_SET:
        return 0;
    case SEEK_CUR:
        return lseek(fd, 0, SEEK_CUR);
    case SEEK_END:
        return fstat(fd, &about) < 0 ? -1 : about.st_size;
    default:
        return refuse(EINVAL);
    }
}

int wasibox_record_lock(int fd, int command, struct flock *lock)
{
    int kind = lock->l_type == F_RDLCK ? SHARED
        : lock->l_type == F_WRLCK ? EXCLUSIVE
        : lock->l_type == F_UNLCK ? RELEASE
                                  : -1;
    off_t from = kind < 0 ? refuse(EINVAL) : origin(fd, lock->l_whence);
    if (from < 0)
        return -1;
    /* A negative length is the bytes before the start (POSIX, fcntl). */
    off_t start = from + lock->l_start + (lock->l_len < 0 ? lock->l_len : 0);
    off_t length = lock->l_len < 0 ? -lock->l_len : lock->l_len;
    if (start < 0)
        return refuse(EINVAL);
    struct record record = {
        .request = command == F_GETLK ? GET : command == F_SETLK ? SET : SET_AND_WAIT,
        .kind = (uint8_t)kind,
        .start = (uint64_t)start,
        .length = (uint64_t)length,
    };
    struct record found;
    int is_question = command == F_GETLK;
    if (ask(LOCK_RANGE, fd, &record, sizeof record, is_question ? &found : NULL,
            is_question ? sizeof found : 0) < 0)
        return -1;
    if (is_question && found.kind == RELEASE)
        lock->l_type = F_UNLCK;
    else if (is_question)
        *lock = (struct flock){
            .l_type = found.kind == SHARED ? F_RDLCK : F_WRLCK,
            .l_whence = SEEK_SET,
            .l_start = (off_t)found.start,
            .l_len = (off_t)found.length,
            .l_pid = (pid_t)found.pid,
        };
    return 0;
}

/* lockf(3): an exclusive lock from the file's offset on. */
int lockf(int fd, int command, off_t length)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_len = length};
    switch (command) {
    case F_ULOCK:
        lock.l_type = F_UNLCK;
        return wasibox_record_lock(fd, F_SETLK, &lock);
    case F_LOCK:
        return wasibox_record_lock(fd, F_SETLKW, &lock);
    case F_TLOCK:
        return wasibox_record_lock(fd, F_SETLK, &lock);
    case F_TEST:
        if (wasibox_record_lock(fd, F_GETLK, &lock) < 0)
            return -1;
        return lock.l_type == F_UNLCK ? 0 : refuse(EACCES);
    default:
        return refuse(EINVAL);
    }
}
