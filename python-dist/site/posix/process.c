/* Processes: identity, waiting, starting, replacing.
 *
 * There is no fork: a child starts as another program, with the descriptors that a list of
 * operations gives it. A started process counts as the leader of its own group, which consists
 * of its descendants: `getpgid` of a child is the child. The caller's own group and session are the
 * kernel's (terminals.c).
 */
#include "process.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <wasi/api.h>

extern size_t wasibox_ignored_signals(struct wasix_disposition list[64]);

/* What wasi-libc's own emulation answers, for runtimes without processes. */
enum { LONELY_PID = 42 };

/* The image's user (tools/sys/src/meta.rs). */
enum { USER = 1000 };

static int result(int32_t error)
{
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

pid_t getpid(void)
{
    uint32_t pid;
    return wasix_proc_id(&pid) == 0 ? (pid_t)pid : LONELY_PID;
}

pid_t getppid(void)
{
    uint32_t parent;
    return wasix_proc_parent((uint32_t)getpid(), &parent) == 0 ? (pid_t)parent : 0;
}

pid_t getpgid(pid_t pid)
{
    if (pid == 0 || pid == getpid())
        return getpgrp();
    return result(wasix_proc_signal((uint32_t)pid, 0)) < 0 ? -1 : pid;
}

uid_t getuid(void) { return USER; }
uid_t geteuid(void) { return USER; }
gid_t getgid(void) { return USER; }
gid_t getegid(void) { return USER; }

int getgroups(int size, gid_t *list)
{
    if (size > 0)
        list[0] = USER;
    return size < 0 ? result(EINVAL) : 1;
}

char *getlogin(void)
{
    char *name = getenv("LOGNAME");
    return name != NULL && *name ? name : "user";
}

pid_t waitpid(pid_t pid, int *status, int options)
{
    /* -1 and 0 are any child, -N is group N: its leader is all that can be our child. */
    struct wasix_option_pid which = {pid != -1 && pid != 0, (uint32_t)(pid < -1 ? -pid : pid)};
    struct wasix_join_status how = {0};
    if (result(wasix_proc_join(&which, options & WNOHANG, &how)) < 0)
        return -1;
    if (how.tag == 0)
        return 0;
    if (status != NULL)
        *status = how.tag == 2 && how.signal != 0 ? how.signal & 0x7f : (how.code & 0xff) << 8;
    return (pid_t)which.pid;
}

pid_t wait(int *status)
{
    return waitpid(-1, status, 0);
}

/* ---- starting ---- */

int wasibox_is_open(int fd)
{
    __wasi_fdstat_t state;
    return fd >= 0 && __wasi_fd_fdstat_get((__wasi_fd_t)fd, &state) == 0;
}

int wasibox_is_kept(int fd)
{
    uint16_t flags;
    return wasix_fd_fdflags_get((uint32_t)fd, &flags) == 0 && !(flags & FD_CLOEXEC);
}

size_t wasibox_open_fds(int **list)
{
    /* WASI cannot list descriptors. Numbers are given from below, so that a long gap is the end. */
    enum { GAP = 64 };
    size_t count = 0, room = 0;
    *list = NULL;
    for (int fd = 3, missed = 0; missed < GAP; fd++) {
        if (!wasibox_is_open(fd)) {
            missed++;
            continue;
        }
        missed = 0;
        if (wasibox_is_preopened(fd))
            continue;
        if (count == room) {
            int *more = realloc(*list, (room = room * 2 + 16) * sizeof **list);
            if (more == NULL)
                break;
            *list = more;
        }
        (*list)[count++] = fd;
    }
    return count;
}

static size_t length(char *const *list)
{
    size_t count = 0;
    while (list != NULL && list[count] != NULL)
        count++;
    return count;
}

int wasibox_op(struct wasibox_start *start, struct wasix_fd_op op)
{
    if (start->used == start->room) {
        size_t room = start->room * 2 + 16;
        struct wasix_fd_op *more = realloc(start->ops, room * sizeof *more);
        if (more == NULL)
            return ENOMEM;
        start->ops = more;
        start->room = room;
    }
    start->ops[start->used++] = op;
    return 0;
}

/* Whether the child has a descriptor of that number, or may get one. */
static int is_taken(const struct wasibox_start *start, int fd)
{
    for (size_t i = 0; i < start->used; i++)
        if (start->ops[i].fd == (uint32_t)fd)
            return 1;
    return wasibox_is_open(fd);
}

int wasibox_keep(struct wasibox_start *start, int fd)
{
    size_t at = strlen(start->kept);
    start->place = fd + WASIBOX_SHIFT;
    if (fd < 3 || at + 24 > sizeof start->kept)
        return 0;
    while (!wasibox_is_preopened(fd) && is_taken(start, start->place))
        start->place++;
    snprintf(start->kept + at, sizeof start->kept - at, "%s%d:%d", at ? "," : "", fd,
             start->place);
    if (wasibox_is_preopened(fd))
        return 0; /* nothing of ours has that number; spawn.c has put what is to have it there */
    int error = wasibox_op(start, (struct wasix_fd_op){
        .command = WASIX_DUP2, .fd = (uint32_t)fd, .from = (uint32_t)fd});
    return error ? error : wasibox_op(start, (struct wasix_fd_op){
        .command = WASIX_DUP2, .fd = (uint32_t)start->place, .from = (uint32_t)fd});
}

/* The environment with what our own programs tell each other in it. */
static char **environment(char *const *envp, char *kept, char *mask)
{
    size_t count = length(envp), to = 0;
    char **list = malloc((count + 3) * sizeof *list);
    if (list == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (strncmp(envp[i], WASIBOX_FDS "=", sizeof WASIBOX_FDS) != 0
            && strncmp(envp[i], WASIBOX_UMASK "=", sizeof WASIBOX_UMASK) != 0)
            list[to++] = envp[i];
    if (strchr(kept, ':') != NULL)
        list[to++] = kept;
    if (mask != NULL)
        list[to++] = mask;
    list[to] = NULL;
    return list;
}

static char *mask_entry(char room[32])
{
    mode_t mask = umask(0);
    umask(mask);
    if (mask == WASIBOX_DEFAULT_UMASK)
        return NULL;
    snprintf(room, 32, WASIBOX_UMASK "=%03o", (unsigned)mask);
    return room;
}

int wasibox_start(pid_t *pid, const char *path, struct wasibox_start *start,
                  char *const argv[], char *const envp[])
{
    char kept[sizeof start->kept + sizeof WASIBOX_FDS + 1], mask[32];
    struct wasix_disposition signals[64];
    snprintf(kept, sizeof kept, WASIBOX_FDS "=%s", start->kept);
    char **env = environment(envp, kept, start->mask != NULL ? start->mask : mask_entry(mask));
    if (env == NULL)
        return ENOMEM;
    size_t ignored = wasibox_ignored_signals(signals), count = 0;
    for (size_t i = 0; i < ignored; i++)
        if (!sigismember(&start->defaults, signals[i].signal))
            signals[count++] = signals[i];
    uint32_t number = 0;
    int error = wasix_proc_spawn3(path, strlen(path), argv, length(argv), env, length(env),
                                  start->ops, start->used, signals, count, 0, NULL, 0, &number);
    free(env);
    *pid = (pid_t)number;
    return error;
}

void wasibox_start_end(struct wasibox_start *start)
{
    free(start->ops);
    free(start->cwd);
}

int wasibox_start_begin(struct wasibox_start *start)
{
    memset(start, 0, sizeof *start);
    /* libc's current directory is the process's own, the kernel does not know it. */
    start->cwd = getcwd(NULL, 0);
    if (start->cwd == NULL)
        return errno;
    return wasibox_op(start, (struct wasix_fd_op){
        .command = WASIX_CHDIR, .name = start->cwd, .name_len = strlen(start->cwd)});
}

int system(const char *command)
{
    if (command == NULL)
        return 1;
    struct wasibox_start start;
    char *argv[] = {"sh", "-c", (char *)command, NULL};
    pid_t pid;
    int *open, status, error = wasibox_start_begin(&start);
    size_t count = wasibox_open_fds(&open);
    for (size_t i = 0; error == 0 && i < count; i++)
        if (wasibox_is_kept(open[i]))
            error = wasibox_keep(&start, open[i]);
    free(open);
    if (error == 0)
        error = wasibox_start(&pid, "/bin/sh", &start, argv, environ);
    wasibox_start_end(&start);
    if (error != 0)
        return result(error);
    void (*interrupt)(int) = signal(SIGINT, SIG_IGN);
    void (*quit)(int) = signal(SIGQUIT, SIG_IGN);
    pid_t ended;
    while ((ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR) {
    }
    signal(SIGINT, interrupt);
    signal(SIGQUIT, quit);
    return ended < 0 ? -1 : status;
}

/* ---- replacing ---- */

/* Strings joined by line feeds, as WASIX's call takes them; NULL where one has a line feed. */
static char *joined(char *const *list, size_t *size)
{
    size_t count = length(list), total = 0;
    for (size_t i = 0; i < count; i++) {
        if (strchr(list[i], '\n') != NULL)
            return NULL;
        total += strlen(list[i]) + 1;
    }
    char *text = malloc(total + 1), *to = text;
    if (text == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        to = stpcpy(to, list[i]);
        *to++ = '\n';
    }
    *size = total == 0 ? 0 : total - 1;
    text[*size] = '\0';
    return text;
}

/* Whether a program put in our place would treat signals as it should: the kernel does
 * not know what we ignore. What Python itself ignores makes no difference. */
static int signals_allow(void)
{
    struct wasix_disposition list[64];
    for (size_t i = 0, count = wasibox_ignored_signals(list); i < count; i++)
        if (list[i].signal != SIGPIPE && list[i].signal != SIGXFSZ)
            return 0;
    return 1;
}

/* For what the call cannot express: the program runs as a child, and we end as it does. */
static int run_instead(const char *path, struct wasibox_start *start, char *const argv[],
                       char *const envp[])
{
    pid_t pid;
    int status, error = wasibox_start(&pid, path, start, argv, envp);
    if (error != 0)
        return error;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            _Exit(127);
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    _Exit(WEXITSTATUS(status));
}

int execve(const char *path, char *const argv[], char *const envp[])
{
    struct wasibox_start start;
    int *open, error = wasibox_start_begin(&start);
    size_t count = wasibox_open_fds(&open), kept = 0;
    int *places = malloc((count + 1) * sizeof *places);
    if (error == 0 && places == NULL)
        error = ENOMEM;
    for (size_t i = 0; error == 0 && i < count; i++)
        if (wasibox_is_kept(open[i])) {
            error = wasibox_keep(&start, open[i]);
            places[kept] = start.place;
            open[kept++] = open[i];
        }
    size_t argv_size = 0, env_size = 0;
    char entry[sizeof start.kept + sizeof WASIBOX_FDS + 1], mask[32];
    snprintf(entry, sizeof entry, WASIBOX_FDS "=%s", start.kept);
    char **env = error == 0 ? environment(envp, entry, mask_entry(mask)) : NULL;
    char *args = joined(argv, &argv_size), *envs = joined(env, &env_size);
    if (error == 0 && (args == NULL || envs == NULL || !signals_allow())) {
        error = run_instead(path, &start, argv, envp);
    } else if (error == 0) {
        error = wasix_chdir(start.cwd, strlen(start.cwd));
        for (size_t i = 0; error == 0 && i < kept; i++)
            (void)dup2(open[i], places[i]);
        /* A null list would keep the old environment; one empty line is none. */
        if (error == 0)
            error = wasix_proc_exec3(path, strlen(path), args, argv_size, envs, env_size, 0, NULL, 0);
        for (size_t i = 0; i < kept; i++)
            (void)__wasi_fd_close((__wasi_fd_t)places[i]);
    }
    free(open);
    free(places);
    free(args);
    free(envs);
    free(env);
    wasibox_start_end(&start);
    return result(error);
}

int execv(const char *path, char *const argv[])
{
    return execve(path, argv, environ);
}

/* ---- being started ---- */

void wasibox_adopt(void)
{
    (void)umask(umask(0));
    char *list = getenv(WASIBOX_FDS), *save = NULL;
    if (list == NULL || (list = strdup(list)) == NULL)
        return;
    for (char *entry = strtok_r(list, ",", &save); entry; entry = strtok_r(NULL, ",", &save)) {
        int number, at;
        if (sscanf(entry, "%d:%d", &number, &at) != 2 || number < 3 || number == at
            || !wasibox_is_open(at))
            continue;
        if (wasibox_is_preopened(number))
            continue; /* it stays at `at`: descriptor 3 is the root directory */
        if (wasibox_is_open(number))
            (void)__wasi_fd_close((__wasi_fd_t)at);
        else
            (void)__wasi_fd_renumber((__wasi_fd_t)at, (__wasi_fd_t)number);
    }
    free(list);
    unsetenv(WASIBOX_FDS);
}
