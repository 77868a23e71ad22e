/* Sizes of file systems, priorities, identities, and other calls on the process itself. */
#include "wasix_calls.h"
#include "wasibox_posix.h"

#undef stat
#undef fstat
#undef open
#undef chmod
#undef chown
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/statvfs.h>
#include <unistd.h>

static int refuse(int error)
{
    errno = error;
    return -1;
}

/* ---- file systems ---- */

/* All of the session's files are in one, whose sizes `/proc/wasibox/space` has: total and used
 * bytes, total and used inodes. Where they are not known, everything is 0. */
static void measure(struct statvfs *out)
{
    enum { BLOCK = 4096, NAME_MOST = 255 };
    unsigned long long total = 0, used = 0, inodes = 0, inodes_used = 0;
    FILE *file = fopen("/proc/wasibox/space", "r");
    if (file != NULL) {
        if (fscanf(file, "%llu %llu %llu %llu", &total, &used, &inodes, &inodes_used) != 4)
            total = used = inodes = inodes_used = 0;
        (void)fclose(file);
    }
    memset(out, 0, sizeof *out);
    out->f_bsize = out->f_frsize = BLOCK;
    out->f_blocks = total / BLOCK;
    out->f_bfree = out->f_bavail = used < total ? (total - used) / BLOCK : 0;
    out->f_files = inodes;
    out->f_ffree = out->f_favail = inodes_used < inodes ? inodes - inodes_used : 0;
    out->f_namemax = NAME_MOST;
}

int wasibox_statvfs(const char *path, struct statvfs *out)
{
    struct stat about;
    if (stat(path, &about) < 0)
        return -1;
    measure(out);
    return 0;
}

int wasibox_fstatvfs(int fd, struct statvfs *out)
{
    struct stat about;
    if (fstat(fd, &about) < 0)
        return -1;
    measure(out);
    return 0;
}

/* ---- priorities: one is kept, and has no effect ---- */

static int niceness;

int getpriority(int which, id_t who)
{
    if (which < PRIO_PROCESS || which > PRIO_USER)
        return refuse(EINVAL);
    return which == PRIO_PROCESS && (who == 0 || who == (id_t)getpid()) ? niceness : 0;
}

int setpriority(int which, id_t who, int value)
{
    if (which < PRIO_PROCESS || which > PRIO_USER)
        return refuse(EINVAL);
    if (value < -20)
        value = -20;
    if (value > 19)
        value = 19;
    if (which != PRIO_PROCESS || (who != 0 && who != (id_t)getpid()))
        return refuse(EPERM);
    if (value < niceness)
        return refuse(EACCES);
    niceness = value;
    return 0;
}

int nice(int more)
{
    if (setpriority(PRIO_PROCESS, 0, niceness + more) < 0)
        return refuse(EPERM);
    return niceness;
}

/* ---- identities: a process is its user, and can become no other one ---- */

static int stay(unsigned own, unsigned wanted)
{
    return wanted == own || wanted == (unsigned)-1 ? 0 : refuse(EPERM);
}

int setuid(uid_t user) { return stay(getuid(), user); }
int seteuid(uid_t user) { return stay(getuid(), user); }
int setgid(gid_t group) { return stay(getgid(), group); }
int setegid(gid_t group) { return stay(getgid(), group); }

int setreuid(uid_t real, uid_t effective)
{
    return stay(getuid(), real) < 0 ? -1 : stay(getuid(), effective);
}

int setregid(gid_t real, gid_t effective)
{
    return stay(getgid(), real) < 0 ? -1 : stay(getgid(), effective);
}

int setresuid(uid_t real, uid_t effective, uid_t saved)
{
    return setreuid(real, effective) < 0 ? -1 : stay(getuid(), saved);
}

int setresgid(gid_t real, gid_t effective, gid_t saved)
{
    return setregid(real, effective) < 0 ? -1 : stay(getgid(), saved);
}

int getresuid(uid_t *real, uid_t *effective, uid_t *saved)
{
    *real = *effective = *saved = getuid();
    return 0;
}

int getresgid(gid_t *real, gid_t *effective, gid_t *saved)
{
    *real = *effective = *saved = getgid();
    return 0;
}

int setgroups(size_t count, const gid_t *list)
{
    (void)count;
    (void)list;
    return refuse(EPERM);
}

int initgroups(const char *user, gid_t group)
{
    (void)user;
    (void)group;
    return refuse(EPERM);
}

int getgrouplist(const char *user, gid_t group, gid_t *list, int *count)
{
    int found = 0;
    const struct group *entry;
    if (found < *count)
        list[found] = group;
    found++;
    setgrent();
    while ((entry = getgrent()) != NULL) {
        if (entry->gr_gid == group)
            continue;
        for (char *const *member = entry->gr_mem; *member != NULL; member++)
            if (strcmp(*member, user) == 0) {
                if (found < *count)
                    list[found] = entry->gr_gid;
                found++;
                break;
            }
    }
    endgrent();
    int fits = found <= *count;
    *count = found;
    return fits ? found : -1;
}

int setpgrp(void)
{
    return setpgid(0, 0);
}

/* ---- descriptors by their names ---- */

static const char *name_of(int fd, char name[32])
{
    (void)snprintf(name, 32, "/dev/fd/%d", fd);
    return name;
}

int wasibox_fchmod(int fd, mode_t mode)
{
    char name[32];
    return wasibox_chmod(name_of(fd, name), mode);
}

int fchown(int fd, uid_t owner, gid_t group)
{
    char name[32];
    return chown(name_of(fd, name), owner, group);
}

/* There is nothing to do, because the kernel delays no writes. */
void sync(void)
{
}

/* The source never waits, and flags ask for a better one or for one that does not. */
ssize_t getrandom(void *out, size_t count, unsigned flags)
{
    enum { MOST = 256 };
    (void)flags;
    size_t done = 0;
    while (done < count) {
        size_t part = count - done < MOST ? count - done : MOST;
        if (getentropy((char *)out + done, part) < 0)
            return done > 0 ? (ssize_t)done : -1;
        done += part;
    }
    return (ssize_t)done;
}
