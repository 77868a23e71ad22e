/* SQLite's locks.
 *
 * The system has no locks of files, so SQLite falls back to a VFS that knows one lock per
 * database and nobody to share it with: two connections of one process were enough for
 * "database is locked". Here the usual VFS is the default one, which settles what the
 * connections of a process do between them (reading together, one of them writing) and asks the
 * system only for the process as a whole; what it asks is answered here. A process that has any
 * lock of a database has the file DATABASE.lock, with its number in it, so processes exclude each
 * other altogether. The lock of a process that has ended is taken over.
 *
 * Where such a file cannot be made (a read-only mount) nobody could write either.
 */
#include "wasibox_posix.h"

#undef fcntl
#undef open
#undef close
#undef fstat
#include <errno.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As sqlite3.c takes them where libc has none. */
enum { GETLK = 12, SETLK = 13, SETLKW = 14, WRLCK = 1, UNLCK = 2 };

/* The bytes that SQLite locks (section "File Locking" of sqlite3.c). */
enum { PENDING = 0x40000000, RESERVED = PENDING + 1, SHARED = PENDING + 2 };

struct file {
    struct file *next;
    int fd;
    dev_t device;
    ino_t inode;
    char *path;
    /* One bit for each of the three; the first record of a file has them. */
    unsigned held;
};

static struct file *files;

static int refuse(int error)
{
    errno = error;
    return -1;
}

static int sqlite_open(const char *path, int flags, int mode)
{
    struct stat state;
    int fd = open(path, flags, mode);
    if (fd < 0 || fstat(fd, &state) < 0)
        return fd;
    struct file *file = calloc(1, sizeof *file);
    if (file == NULL || (file->path = strdup(path)) == NULL) {
        free(file);
        close(fd);
        return refuse(ENOMEM);
    }
    file->fd = fd;
    file->device = state.st_dev;
    file->inode = state.st_ino;
    file->next = files;
    files = file;
    return fd;
}

static struct file *of(int fd)
{
    for (struct file *file = files; file != NULL; file = file->next)
        if (file->fd == fd)
            return file;
    return NULL;
}

/* The record that has the locks of the file behind `file`: any with a lock, else itself. */
static struct file *holder(struct file *file)
{
    for (struct file *other = files; other != NULL; other = other->next)
        if (other->held && other->inode == file->inode && other->device == file->device)
            return other;
    return file;
}

static char *with_suffix(const char *path, const char *suffix)
{
    size_t size = strlen(path) + strlen(suffix) + 1;
    char *name = malloc(size);
    if (name != NULL)
        (void)snprintf(name, size, "%s%s", path, suffix);
    return name;
}

/* Whether the lock of that name is of a process that has ended. */
static int is_left_over(const char *name)
{
    char text[24] = "";
    int fd = open(name, O_RDONLY);
    if (fd < 0)
        return errno == ENOENT;
    ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    long pid = size > 0 ? strtol(text, NULL, 10) : 0;
    return pid > 0 && pid != getpid() && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

/* Removes the lock of a process that has ended, unless somebody else is about to. No two look at
 * the lock and remove it at a time: the second could remove what the first has just made. Should a
 * process end between the two, its NAME.take stays and the database is locked until it is removed. */
static void remove_left_over(const char *name)
{
    char *guard = with_suffix(name, ".take");
    int fd = guard == NULL ? -1 : open(guard, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd >= 0) {
        close(fd);
        if (is_left_over(name))
            (void)unlink(name);
        (void)unlink(guard);
    }
    free(guard);
}

static int take(const char *name)
{
    for (int attempt = 0; attempt < 2; attempt++) {
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (fd >= 0) {
            char text[24];
            int size = snprintf(text, sizeof text, "%ld\n", (long)getpid());
            int whole = write(fd, text, (size_t)size) == size;
            close(fd);
            return whole ? 0 : refuse(EIO);
        }
        if (errno == EROFS || errno == EACCES || errno == EPERM)
            return 0;
        if (errno != EEXIST)
            return -1;
        if (!is_left_over(name))
            break;
        remove_left_over(name);
    }
    return refuse(EAGAIN);
}

static int is_free(const char *name)
{
    struct stat state;
    return stat(name, &state) < 0 || is_left_over(name);
}

static unsigned bits(const struct flock *lock)
{
    const off_t starts[] = {PENDING, RESERVED, SHARED};
    unsigned all = 0;
    for (unsigned i = 0; i < 3; i++)
        if (lock->l_start <= starts[i]
            && (lock->l_len == 0 || lock->l_start + lock->l_len > starts[i]))
            all |= 1U << i;
    return all;
}

static int change(struct file *file, int command, struct flock *lock)
{
    struct file *has = holder(file);
    char *name = with_suffix(has->path, ".lock");
    int result = 0;
    if (name == NULL)
        return refuse(ENOMEM);
    if (command == GETLK) {
        lock->l_type = has->held || is_free(name) ? UNLCK : WRLCK;
    } else if (lock->l_type == UNLCK) {
        if (has->held && (has->held &= ~bits(lock)) == 0)
            (void)unlink(name);
    } else if (has->held || (result = take(name)) == 0) {
        has->held |= bits(lock);
    }
    free(name);
    return result;
}

static int sqlite_fcntl(int fd, int command, ...)
{
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (command != GETLK && command != SETLK && command != SETLKW)
        return fcntl(fd, command, (int)(intptr_t)argument);
    struct file *file = of(fd);
    return file == NULL ? 0 : change(file, command, argument);
}

static int sqlite_close(int fd)
{
    for (struct file **at = &files; *at != NULL; at = &(*at)->next) {
        struct file *file = *at;
        if (file->fd != fd)
            continue;
        struct flock all = {.l_type = UNLCK};
        /* SQLite keeps a descriptor open as long as another one's lock would go with it. */
        if (file->held)
            (void)change(file, SETLK, &all);
        *at = file->next;
        free(file->path);
        free(file);
        break;
    }
    return close(fd);
}

void wasibox_sqlite_begin(void)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find("unix");
    if (vfs == NULL)
        return;
    vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)sqlite_open);
    vfs->xSetSystemCall(vfs, "close", (sqlite3_syscall_ptr)sqlite_close);
    vfs->xSetSystemCall(vfs, "fcntl", (sqlite3_syscall_ptr)sqlite_fcntl);
    (void)sqlite3_vfs_register(vfs, 1);
}
