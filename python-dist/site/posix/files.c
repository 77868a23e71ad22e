/* Permission bits, owners, FIFOs, the creation mask: what preview 1 cannot express goes over the
 * bridge's metadata node (tools/abi). Where there is none, bits are what preview 1's are to
 * everybody, and changing them is refused. */
#include "process.h"

#undef stat
#undef lstat
#undef fstat
#undef access
#undef open
#undef mkdir
#undef fstatat
#undef O_CLOEXEC
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODE "/.box/meta"
enum { STAT = 1, CHMOD = 2, CHOWN = 3, MKFIFO = 5, STAT_LEN = 64 };

static int refuse(int error)
{
    errno = error;
    return -1;
}

/* The open node; -1 where there is none. Its number is above those that programs close
 * wholesale (os.closerange), and shifts none of theirs. */
static int node_fd = -2;

static int node(void)
{
    enum { NUMBER = 1000 };
    if (node_fd == -2) {
        uint32_t high;
        int low = open(NODE, O_RDWR);
        node_fd = low >= 0 && wasix_fd_dup2((uint32_t)low, NUMBER, 1, &high) == 0 ? (int)high : -1;
        if (low >= 0)
            close(low);
    }
    return node_fd;
}

/* One exchange: the reply's length after its errno, -1 with errno; ENOSYS without a bridge. */
static int exchange(const unsigned char *fixed, size_t fixed_len, const char *path,
                    unsigned char reply[2 + STAT_LEN])
{
    int fd = node();
    if (fd < 0)
        return refuse(ENOSYS);
    if (*path == '\0')
        return refuse(ENOENT);
    char *cwd = *path == '/' ? NULL : getcwd(NULL, 0);
    if (*path != '/' && cwd == NULL)
        return -1;
    size_t cwd_len = cwd == NULL ? 0 : strlen(cwd), path_len = strlen(path), at = 0;
    unsigned char *request = malloc(fixed_len + cwd_len + 1 + path_len);
    if (request == NULL) {
        free(cwd);
        return refuse(ENOMEM);
    }
    memcpy(request, fixed, at = fixed_len);
    if (cwd != NULL) {
        memcpy(request + at, cwd, cwd_len);
        at += cwd_len;
        request[at++] = '/';
    }
    memcpy(request + at, path, path_len);
    at += path_len;
    free(cwd);
    ssize_t sent = write(fd, request, at);
    free(request);
    ssize_t got = sent < 0 ? -1 : read(fd, reply, 2 + STAT_LEN);
    if (got < 2)
        return got < 0 ? -1 : refuse(EIO);
    int error = reply[0] | reply[1] << 8;
    return error ? refuse(error) : (int)got - 2;
}

static uint64_t number(const unsigned char *from, int bytes)
{
    uint64_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | from[bytes];
    return value;
}

static void take(const unsigned char *reply, struct stat *out)
{
    out->st_mode = (mode_t)(number(reply + 2, 1) << 12 | number(reply + 4, 2));
    out->st_uid = (uid_t)number(reply + 6, 4);
    out->st_gid = (gid_t)number(reply + 10, 4);
    out->st_nlink = (nlink_t)number(reply + 14, 4);
}

/* What preview 1 does not tell is put in; the rest is as it told it. */
static int complete(const char *path, int follow, struct stat *out)
{
    unsigned char request[2] = {STAT, (unsigned char)follow}, reply[2 + STAT_LEN];
    if (exchange(request, sizeof request, path, reply) != STAT_LEN) {
        /* Without a bridge, and for what went away meanwhile. */
        out->st_mode |= S_ISDIR(out->st_mode) ? 0755 : 0644;
        return 0;
    }
    take(reply, out);
    return 0;
}

int wasibox_stat(const char *path, struct stat *out)
{
    return stat(path, out) < 0 ? -1 : complete(path, 1, out);
}

int wasibox_lstat(const char *path, struct stat *out)
{
    return lstat(path, out) < 0 ? -1 : complete(path, 0, out);
}

/* What is most likely of a file that the bridge cannot be asked about: it has no name. */
static int guess(struct stat *out)
{
    /* Preview 1 has no type for pipes; the kernel says "unknown" for them alone. */
    if ((out->st_mode & S_IFMT) == 0)
        out->st_mode |= S_IFIFO | 0600;
    else if ((out->st_mode & 07777) == 0)
        out->st_mode |= S_ISDIR(out->st_mode) ? 0755 : S_ISCHR(out->st_mode) ? 0620 : 0644;
    out->st_uid = getuid();
    out->st_gid = getgid();
    return 0;
}

int wasibox_fstat(int fd, struct stat *out)
{
    char name[32];
    unsigned char request[2] = {STAT, 1}, reply[2 + STAT_LEN];
    if (fstat(fd, out) < 0)
        return -1;
    int error = errno;
    (void)snprintf(name, sizeof name, "/dev/fd/%d", fd);
    if ((out->st_mode & S_IFMT) != 0
        && exchange(request, sizeof request, name, reply) == STAT_LEN) {
        take(reply, out);
        return 0;
    }
    errno = error;
    return guess(out);
}

int wasibox_fstatat(int dir, const char *path, struct stat *out, int flags)
{
    if (dir == AT_FDCWD || *path == '/')
        return flags & AT_SYMLINK_NOFOLLOW ? wasibox_lstat(path, out) : wasibox_stat(path, out);
    return fstatat(dir, path, out, flags) < 0 ? -1 : guess(out);
}

int wasibox_access(const char *path, int mode)
{
    struct stat state;
    if (access(path, mode & ~X_OK) < 0)
        return -1;
    if (!(mode & X_OK))
        return 0;
    if (wasibox_stat(path, &state) < 0)
        return -1;
    mode_t bit = state.st_uid == getuid() ? 0100 : state.st_gid == getgid() ? 010 : 01;
    return state.st_mode & bit ? 0 : refuse(EACCES);
}

/* CPython's build for WASI takes chmod for granted and lets it do nothing; so it stays without
 * a bridge. */
int wasibox_chmod(const char *path, mode_t mode)
{
    unsigned char request[3] = {CHMOD, mode & 0xff, mode >> 8 & 0x0f}, reply[2 + STAT_LEN];
    int got = exchange(request, sizeof request, path, reply);
    return got >= 0 || errno == ENOSYS ? 0 : -1;
}

static int change_owner(const char *path, uid_t owner, gid_t group, int follow)
{
    unsigned char request[10] = {CHOWN, (unsigned char)follow}, reply[2 + STAT_LEN];
    for (int i = 0; i < 4; i++) {
        request[2 + i] = owner >> (8 * i) & 0xff;
        request[6 + i] = group >> (8 * i) & 0xff;
    }
    return exchange(request, sizeof request, path, reply) < 0 ? -1 : 0;
}

int chown(const char *path, uid_t owner, gid_t group)
{
    return change_owner(path, owner, group, 1);
}

int lchown(const char *path, uid_t owner, gid_t group)
{
    return change_owner(path, owner, group, 0);
}

int mkfifo(const char *path, mode_t mode)
{
    unsigned char request[3] = {MKFIFO, mode & 0xff, mode >> 8 & 0x0f}, reply[2 + STAT_LEN];
    return exchange(request, sizeof request, path, reply) < 0 ? -1 : 0;
}

/* The kernel applies the mask a process started with to what that process creates; a later
 * one holds for its children. What is to have other bits gets them right after its creation. */
enum { UNKNOWN = 01000 };
static mode_t now = UNKNOWN, at_start;

/* What was learned of another process is forgotten (snapshot.c). */
void wasibox_files_anew(void)
{
    node_fd = -2;
    now = UNKNOWN;
}

static mode_t current_mask(void)
{
    if (now == UNKNOWN) {
        const char *given = getenv(WASIBOX_UMASK);
        now = given == NULL ? WASIBOX_DEFAULT_UMASK : (mode_t)strtoul(given, NULL, 8) & 0777;
        at_start = now;
        unsetenv(WASIBOX_UMASK);
    }
    return now;
}

mode_t umask(mode_t mask)
{
    mode_t before = current_mask();
    now = mask & 0777;
    return before;
}

/* Whether something created with `mode` gets other bits from the kernel, which creates with
 * `full`; if so, `mode` becomes what it is to have. */
static int differs(mode_t *mode, mode_t full)
{
    *mode &= 07777 & ~current_mask();
    return *mode != (full & ~at_start);
}

int wasibox_open(const char *path, int flags, ...)
{
    if (!(flags & O_CREAT))
        return open(path, flags);
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    struct stat state;
    int changes = differs(&mode, 0666) && (flags & O_EXCL || lstat(path, &state) < 0);
    int fd = open(path, flags, mode);
    if (fd >= 0 && changes) {
        int error = errno;
        (void)wasibox_chmod(path, mode);
        errno = error;
    }
    return fd;
}

int wasibox_mkdir(const char *path, mode_t mode)
{
    if (mkdir(path, mode) < 0)
        return -1;
    if (differs(&mode, 0777))
        (void)wasibox_chmod(path, mode);
    return 0;
}
