/* Files, identity and terminals, beyond what the layer has for CPython; and the steps before
 * main().
 *
 * There is one user, who cannot become another one; each process is the leader of its own group.
 */
#include "guest_posix.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Bytes of a block of a file system, and of st_blocks. */
enum { FILE_BLOCK = 4096, STAT_BLOCK = 512 };

/* Variables of CPython that threads.c names. */
void *_Py_tss_tstate;
const char *pkgcontext;
int wasibox_float_flags;

extern void wasibox_adopt(void);
extern void wasibox_enter_cwd(void);

/* Takes over the descriptors that the parent has passed on, and its directory. */
__attribute__((constructor)) static void enter_process(void)
{
    wasibox_adopt();
    wasibox_enter_cwd();
}

static int refuse(int error)
{
    errno = error;
    return -1;
}

/* ---- files ---- */

/* Preview 1 has no number of blocks. A file takes as many as its size needs. */
static int add_blocks(int result, struct stat *out)
{
    if (result == 0 && out->st_blocks == 0)
        out->st_blocks = (out->st_size + FILE_BLOCK - 1) / FILE_BLOCK * (FILE_BLOCK / STAT_BLOCK);
    return result;
}

int guest_stat(const char *path, struct stat *out)
{
    return add_blocks(wasibox_stat(path, out), out);
}

int guest_lstat(const char *path, struct stat *out)
{
    return add_blocks(wasibox_lstat(path, out), out);
}

int guest_fstat(int fd, struct stat *out)
{
    return add_blocks(wasibox_fstat(fd, out), out);
}

int guest_fstatat(int dir, const char *path, struct stat *out, int flags)
{
    return add_blocks(wasibox_fstatat(dir, path, out, flags), out);
}

int guest_fchmod(int fd, mode_t mode)
{
    char name[32];
    (void)snprintf(name, sizeof name, "/dev/fd/%d", fd);
    return chmod(name, mode);
}

int fchown(int fd, uid_t owner, gid_t group)
{
    char name[32];
    (void)snprintf(name, sizeof name, "/dev/fd/%d", fd);
    return chown(name, owner, group);
}

/* The kernel writes nothing later. */
void sync(void)
{
}

/* ---- identity ---- */

int setuid(uid_t user)
{
    return user == getuid() ? 0 : refuse(EPERM);
}

int setgid(gid_t group)
{
    return group == getgid() ? 0 : refuse(EPERM);
}

int setpgid(pid_t process, pid_t group)
{
    (void)process;
    (void)group;
    return 0;
}

/* No timers: an alarm never comes. */
unsigned alarm(unsigned seconds)
{
    (void)seconds;
    return 0;
}

/* ---- terminals ---- */

pid_t tcgetpgrp(int fd)
{
    return isatty(fd) ? getpgrp() : -1;
}

char *ttyname(int fd)
{
    return isatty(fd) ? "/dev/tty" : NULL;
}

/* Returns NULL without a terminal; with one, the input is echoed. */
char *getpass(const char *prompt)
{
    static char line[256];
    if (!isatty(STDIN_FILENO)) {
        errno = ENXIO;
        return NULL;
    }
    (void)fputs(prompt, stderr);
    if (fgets(line, sizeof line, stdin) == NULL)
        return NULL;
    line[strcspn(line, "\n")] = '\0';
    return line;
}
